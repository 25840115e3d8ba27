#!/usr/bin/env python3
"""Prints a product with one chosen kernel that streams its weights: what results/*-streams.csv times, tile by tile.

    streams.py 5 2560 9728 --tile 32 --loops 5 --dtype bf16 --residual > p.mlir
    mirage-mlir-opt p.mlir --mirage-verify --mirage-layout=target=h100 | sed 's/source = @p}/selected, source = @p}/' |
      mirage-mlir-opt - --mirage-lower=target=h100 -o p.c.mlir

Activations are [m, k], weights [k, n], or [n, k] with --rows.
"""
import argparse


def graph(m, k, n, tile, loops, norm=False, rows=False, dtype="f16", residual=False):
    """The program @p and its candidate @p_0, of ceil(n / tile) blocks and `loops` iterations over k."""
    step = k // loops

    def tensor(rows_of, columns):
        return f"tensor<{rows_of}x{columns}x{dtype}>"

    def held(rows_of, columns, of="f32"):
        return f"!mirage_block.tile<{rows_of}x{columns}x{of}>"

    x, w, y = tensor(m, k), tensor(n, k) if rows else tensor(k, n), tensor(m, n)
    weights = held(tile, step, dtype) if rows else held(step, tile, dtype)
    turned = " {transpose_b}" if rows else ""
    ragged = n % tile != 0
    columns = "grid = [1]" + (f", tiles = [0, {tile}]" if ragged else "")
    if rows:
        taken = "grid = [0], loop = [1]" + (f", tiles = [{tile}, 0]" if ragged else "")
    else:
        taken = "grid = [1], loop = [0]" + (f", tiles = [0, {tile}]" if ragged else "")
    names = ["%x", "%w"] + ["%r"] * residual
    types = [x, w] + [y] * residual
    scales = ["1.0", "0.03"] + ["1.0"] * residual

    def arguments(prefix):
        return ", ".join(f"{prefix(i)}: {t}" for i, t in enumerate(types))

    out = [f"mirage_kernel.graph @p({arguments(lambda i: names[i])}) -> {y}"
           f" attributes {{mirage_kernel.input_scales = array<f64: {', '.join(scales)}>}} {{"]
    if norm:
        out.append(f"  %h = rms_norm %x {{eps = 0.0}} : {x}")
    out.append(f"  %y = matmul {'%h' if norm else '%x'}, %w{turned} : {x}, {w}")
    if residual:
        out.append(f"  %z = add %y, %r : {y}, {y}")
    out += [f"  return {'%z' if residual else '%y'} : {y}", "}"]

    operands = ", ".join(f"%b{i} = %arg{i}" for i in range(len(types)))
    acc, sums = held(m, tile), held(m, 1)
    carries, carried = "%a0 = %c sum", acc
    out += [f"mirage_kernel.graph @p_0({arguments(lambda i: f'%arg{i}')}) -> {y} attributes {{source = @p}} {{",
            f"  %0 = custom ({operands}) outs(%o) grid [{-(-n // tile)}] : ({', '.join(types)}) -> {y} {{",
            f"    %c = constant 0.0 : {acc}"]
    if norm:
        out.append(f"    %d = constant 0.0 : {sums}")
        carries, carried = f"{carries}, %a1 = %d sum", f"{acc}, {sums}"
    piece = held(m, step, dtype)
    out += [f"    %l{':2' if norm else ''} = loop {loops} ({carries}) : {carried} {{",
            f"      %1 = load %b0 {{loop = [1]}} : {x} -> {piece}",
            f"      %2 = load %b1 {{{taken}}} : {w} -> {weights}",
            f"      %3 = matmul %1, %2{turned} : {piece}, {weights}"]
    if norm:
        out += [f"      %4 = mul %1, %1 : {piece}, {piece}",
                f"      %5 = reduce_sum %4 {{dim = 1}} : {held(m, step)}"]
    out += [f"      yield {'%3, %5' if norm else '%3'} : {carried}", "    }"]
    value = "%l"
    if norm:
        one, value = held(1, 1), "%8"
        out += [f"    %n = constant {k}.0 : {one}",
                f"    %6 = div %l#1, %n : {sums}, {one}",
                f"    %7 = sqrt %6 : {sums}",
                f"    %8 = div %l#0, %7 : {acc}, {sums}"]
    if residual:
        added = held(m, tile, dtype)
        out += [f"    %9 = load %b2 {{{columns}}} : {y} -> {added}", f"    %10 = add {value}, %9 : {acc}, {added}"]
        value = "%10"
    out += [f"    store {value}, %o {{{columns}}} : {acc}, {y}", "  }", f"  return %0 : {y}", "}"]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("m", "k", "n"):
        parser.add_argument(name, type=int)
    parser.add_argument("--tile", type=int, required=True, help="columns of a block")
    parser.add_argument("--loops", type=int, required=True, help="iterations; they divide k")
    parser.add_argument("--dtype", choices=("f16", "bf16"), default="f16")
    parser.add_argument("--norm", action="store_true", help="an RMS norm of the activations before it")
    parser.add_argument("--rows", action="store_true", help="weights [n, k]")
    parser.add_argument("--residual", action="store_true", help="a tensor that is added to it")
    a = parser.parse_args()
    if min(a.m, a.k, a.n, a.tile, a.loops) < 1 or a.k % a.loops:
        parser.error("shapes are positive, and --loops divides k")
    print(graph(a.m, a.k, a.n, a.tile, a.loops, a.norm, a.rows, a.dtype, a.residual), end="")


if __name__ == "__main__":
    main()
