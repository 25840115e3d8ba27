#!/usr/bin/env python3
"""Prints a module for test/launch: a function on linalg that is compiled, the same in f64 that is not, and a @main that calls both.

  case.py KIND TYPE [--sizes M,K,N] [--times N] [--call PROGRAM]      KIND: a key of KINDS; TYPE: f16, bf16, f32

@main prints 1 for each result whose Frobenius-relative distance to the f64 one is below the tolerance of its type, else 0. Inputs
are multiples of 1/16 that every type holds.
"""
import argparse

TOLERANCE = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 1e-5}
ID = "affine_map<(d0, d1) -> (d0, d1)>"
ROW = "affine_map<(d0, d1) -> (d0, 0)>"


class Function:
    """Linalg with elements of one type and sums of another."""

    def __init__(self, name, element, accumulator, inputs):
        self.name, self.element, self.accumulator, self.lines, self.count = name, element, accumulator, [], 0
        self.inputs = inputs
        self.types = {f"%a{i}": f"tensor<{m}x{n}x{element}>" for i, (m, n) in enumerate(inputs)}
        self.line("%zero = arith.constant 0.0 : " + accumulator)
        self.line("%low = arith.constant 0x" + {"f32": "FF800000", "f64": "FFF0000000000000"}[accumulator] + " : " + accumulator)

    def line(self, text):
        self.lines.append("  " + text)

    def new(self):
        self.count += 1
        return f"%v{self.count}"

    def empty(self, shape, element):
        value, kind = self.new(), f"tensor<{shape[0]}x{shape[1]}x{element}>"
        self.line(f"{value} = tensor.empty() : {kind}")
        self.types[value] = kind
        return value

    def filled(self, shape, constant):
        out = self.empty(shape, self.accumulator)
        value = self.new()
        kind = self.types[value] = self.types[out]
        self.line(f"{value} = linalg.fill ins({constant} : {self.accumulator}) outs({out} : {kind}) -> {kind}")
        return value

    def generic(self, operands, maps, iterators, out, body):
        value, kind = self.new(), self.types[out]
        self.types[value] = kind
        elements = [self.types[o].rsplit("x", 1)[1][:-1] for o in operands + [out]]
        arguments = ", ".join(f"%i{i}: {e}" for i, e in enumerate(elements))
        self.line(f"{value} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}} "
                  f"ins({', '.join(operands)} : {', '.join(self.types[o] for o in operands)}) outs({out} : {kind}) {{")
        self.line(f"^bb0({arguments}):")
        for text in body:
            self.line("  " + text)
        self.line(f"  linalg.yield %r : {elements[-1]}")
        self.line(f"}} -> {kind}")
        return value

    def pointwise(self, operands, maps, shape, element, body):
        return self.generic(operands, maps + [ID], '"parallel", "parallel"', self.empty(shape, element), body)

    def cast(self, value, shape, element):
        """To that element type."""
        old = self.types[value].rsplit("x", 1)[1][:-1]
        if old == element:
            return value
        name = "arith.truncf" if self.accumulator == old else "arith.extf"
        return self.pointwise([value], [ID], shape, element, [f"%r = {name} %i0 : {old} to {element}"])

    def matmul(self, a, b, m, n):
        out, value = self.filled((m, n), "%zero"), self.new()
        kind = self.types[value] = self.types[out]
        self.line(f"{value} = linalg.matmul ins({a}, {b} : {self.types[a]}, {self.types[b]}) outs({out} : {kind}) -> {kind}")
        return value

    def unary(self, name, value, shape):
        return self.pointwise([value], [ID], shape, self.accumulator, [f"%r = {name} %i0 : {self.accumulator}"])

    def reduce(self, value, m, start, name):
        return self.generic([value], [ID, ROW], '"parallel", "reduction"', self.filled((m, 1), start),
                            [f"%r = {name} %i1, %i0 : {self.accumulator}"])

    def with_row(self, name, value, row, shape):
        return self.pointwise([value, row], [ID, ROW], shape, self.accumulator,
                              [f"%r = {name} %i0, %i1 : {self.accumulator}"])

    def calls(self, program, results):
        """In place of all that: a call of a program that stands elsewhere."""
        kinds = [self.types[r] for r in results]
        names = [f"%a{i}" for i in range(len(self.inputs))]
        self.lines = []
        count = f":{len(kinds)}" if len(kinds) > 1 else ""
        self.line(f"%c{count} = mirage_kernel.call @{program}({', '.join(names)}) : "
                  f"({', '.join(self.types[n] for n in names)}) -> ({', '.join(kinds)})")
        results = [f"%c#{i}" for i in range(len(kinds))] if len(kinds) > 1 else ["%c"]
        self.types.update(zip(results, kinds))
        return results

    def text(self, results):
        kinds = ", ".join(self.types[r] for r in results)
        arguments = ", ".join(f"%a{i}: {self.types[f'%a{i}']}" for i in range(len(self.inputs)))
        head = f"func.func @{self.name}({arguments}) -> ({kinds}) {{"
        return "\n".join([head] + self.lines + [f"  return {', '.join(results)} : {kinds}", "}"])


def exp_linear(f, m, k, n):
    return [f.cast(f.unary("math.exp", f.matmul("%a0", "%a1", m, n), (m, n)), (m, n), f.element)]


def linear(f, m, k, n):
    return [f.cast(f.matmul("%a0", "%a1", m, n), (m, n), f.element)]


def softmax(f, m, k, n):
    x = f.cast("%a0", (m, k), f.accumulator)
    e = f.unary("math.exp", f.with_row("arith.subf", x, f.reduce(x, m, "%low", "arith.maximumf"), (m, k)), (m, k))
    return [f.cast(f.with_row("arith.divf", e, f.reduce(e, m, "%zero", "arith.addf"), (m, k)), (m, k), f.element)]


def two_results(f, m, k, n):
    p = f.matmul("%a0", "%a1", m, n)
    return [f.cast(p, (m, n), f.element), f.cast(f.unary("math.exp", p, (m, n)), (m, n), f.element)]


def with_exp2(f, m, k, n):
    """Two programs, and between them what no program can say."""
    y = f.cast(f.unary("math.exp2", exp_wide(f, m, n), (m, n)), (m, n), f.element)
    return [f.cast(f.unary("math.tanh", f.matmul(y, "%a2", m, n), (m, n)), (m, n), f.element)]


def exp_wide(f, m, n):
    return f.unary("math.exp", f.matmul("%a0", "%a1", m, n), (m, n))


KINDS = {  # function, shapes of its inputs, sizes
    "exp_linear": (exp_linear, lambda m, k, n: [(m, k), (k, n)], (16, 64, 32)),
    "linear": (linear, lambda m, k, n: [(m, k), (k, n)], (64, 4096, 256)),
    "softmax": (softmax, lambda m, k, n: [(m, k)], (4, 32768, 1)),
    "two_results": (two_results, lambda m, k, n: [(m, k), (k, n)], (16, 64, 32)),
    "with_exp2": (with_exp2, lambda m, k, n: [(m, k), (k, n), (n, n)], (16, 64, 32)),
}

INPUT = """func.func private @{name}() -> tensor<{m}x{n}x{t}> {{
  %value = tensor.generate {{
  ^bb0(%i: index, %j: index):
    %a = arith.constant {a} : index
    %b = arith.constant {b} : index
    %modulus = arith.constant {modulus} : index
    %u = arith.muli %i, %a : index
    %v = arith.muli %j, %b : index
    %w = arith.addi %u, %v : index
    %k = arith.remui %w, %modulus : index
    %l = arith.index_cast %k : index to i64
    %half = arith.constant {half} : i64
    %c = arith.subi %l, %half : i64
    %f = arith.sitofp %c : i64 to {t}
    %scale = arith.constant 0.0625 : {t}
    %r = arith.mulf %f, %scale : {t}
    tensor.yield %r : {t}
  }} : tensor<{m}x{n}x{t}>
  return %value : tensor<{m}x{n}x{t}>
}}"""

COMPARE = """func.func private @compare{i}(%y: tensor<{m}x{n}x{t}>, %ref: tensor<{m}x{n}xf64>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant {m} : index
  %n = arith.constant {n} : index
  %zero = arith.constant 0.0 : f64
  %d, %s = scf.for %i = %c0 to %m step %c1 iter_args(%d0 = %zero, %s0 = %zero) -> (f64, f64) {{
    %d1, %s1 = scf.for %j = %c0 to %n step %c1 iter_args(%d2 = %d0, %s2 = %s0) -> (f64, f64) {{
      %a = tensor.extract %y[%i, %j] : tensor<{m}x{n}x{t}>
      %b = tensor.extract %ref[%i, %j] : tensor<{m}x{n}xf64>
      %w = arith.extf %a : {t} to f64
      %e = arith.subf %w, %b : f64
      %ee = arith.mulf %e, %e : f64
      %bb = arith.mulf %b, %b : f64
      %d3 = arith.addf %d2, %ee : f64
      %s3 = arith.addf %s2, %bb : f64
      scf.yield %d3, %s3 : f64, f64
    }}
    scf.yield %d1, %s1 : f64, f64
  }}
  %tolerance = arith.constant {tolerance} : f64
  %most = arith.mulf %s, %tolerance : f64
  %ok = arith.cmpf olt, %d, %most : f64
  %number = arith.extui %ok : i1 to i64
  func.call @printI64(%number) : (i64) -> ()
  func.call @printNewline() : () -> ()
  return
}}"""


def shape_of(kind):
    m, n, _ = kind[len("tensor<"):-1].split("x")
    return int(m), int(n)


def main_function(f, ref, results, references, times):
    lines = ["func.func @main() {"]
    for g in (f, ref):
        for i in range(len(g.inputs)):
            lines.append(f"  %{g.name}_x{i} = func.call @{g.name}_input{i}() : () -> {g.types[f'%a{i}']}")
    kinds = [f.types[r] for r in results]
    wide = [ref.types[r] for r in references]

    def call(g, kinds):
        count = f":{len(kinds)}" if len(kinds) > 1 else ""
        inputs = ", ".join(f"%{g.name}_x{i}" for i in range(len(g.inputs)))
        types = ", ".join(g.types[f"%a{i}"] for i in range(len(g.inputs)))
        return f"  %{g.name}_y{count} = func.call @{g.name}({inputs}) : ({types}) -> ({', '.join(kinds)})"

    lines.append(call(ref, wide))
    loop = ["  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index",
            f"  %times = arith.constant {times} : index", "  scf.for %t = %c0 to %times step %c1 {"]
    lines += loop + [call(f, kinds)]
    for i, (a, b) in enumerate(zip(kinds, wide)):
        at = f"#{i}" if len(kinds) > 1 else ""
        lines.append(f"    func.call @compare{i}(%f_y{at}, %ref_y{at}) : ({a}, {b}) -> ()")
    return "\n".join(lines + ["  }", "  return", "}"])


def module(kind, element, sizes, times, program):
    build, shapes, default = KINDS[kind]
    m, k, n = sizes or default
    f, ref = (Function(name, t, a, shapes(m, k, n)) for name, t, a in (("f", element, "f32"), ("ref", "f64", "f64")))
    results, references = build(f, m, k, n), build(ref, m, k, n)
    if program:
        results = f.calls(program, results)
    parts = ["func.func private @printI64(i64)", "func.func private @printNewline()",
             main_function(f, ref, results, references, times), f.text(results), ref.text(references)]
    for g in (f, ref):
        for i, (rows, columns) in enumerate(g.inputs):
            modulus = (7, 5, 3)[i % 3]
            parts.append(INPUT.format(name=f"{g.name}_input{i}", m=rows, n=columns, t=g.element, a=3 + i, b=1 + 2 * i,
                                      modulus=modulus, half=modulus // 2))
    for i, r in enumerate(results):
        rows, columns = shape_of(f.types[r])
        parts.append(COMPARE.format(i=i, m=rows, n=columns, t=element, tolerance=f"{TOLERANCE[element] ** 2:.10e}"))
    return "\n".join(parts)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("type", choices=TOLERANCE)
    parser.add_argument("--sizes", type=lambda text: tuple(int(s) for s in text.split(",")))
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--call", help="the function calls this program")
    return parser.parse_args()


if __name__ == "__main__":
    args = arguments()
    print(module(args.kind, args.type, args.sizes, args.times, args.call))
