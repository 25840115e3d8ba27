#!/usr/bin/env python3
"""How time and memory grow with the module: seconds, megabytes, predicted gain, at sizes that double.

growth.py [--bin DIR] [--family NAME ...] [--least N] [--most N] [--full] [--limit SECONDS] [--emit FAMILY N] [--markdown]

Families:
  blocks    N Llama-style blocks in a row: norm, heads of grouped queries, attention, gated MLP, both residuals
  chain     N element-wise operators in a row, each of which takes the one before it twice
  dag       N element-wise operators, each of which takes the two before it: every value is used twice
  graphs    a module of N programs of three operators, of 16 different shapes
  products  N products that share no value, as N results of one program
The time is the processor time of the process, user and system, all threads: so a busy machine changes it little. The
last column is the time's step over the step in size: 1 is linear, and what is worse than 1.3 is marked. Steps from
less than 0.25 s say more about the start of the process than about the program, and are not marked.
Without --full only mirage-enumerate runs; with it, the whole pipeline, and two columns more: the processor time of each
pass, and the longest time between two questions whether there was an interrupt.
"""
import argparse
import os
import re
import signal
import sys
import tempfile
import time

WORST_STEP = 1.3
SHORT = 0.25  # seconds


def block(i, x):
    """Text of one block whose input is %x, and its result's name; t = 64 rows, d = 512, 8 heads on 2 of keys."""
    p = f"%b{i}_"
    row, kv, wide = "tensor<64x512xf16>", "tensor<64x128xf16>", "tensor<64x1408xf16>"
    lines = [
        f"{p}n = rms_norm {x}, %g{i}a {{eps = 1.0e-05}} : {row}, tensor<512xf16>",
        f"{p}q = matmul {p}n, %wq{i} : {row}, tensor<512x512xf16>",
        f"{p}k = matmul {p}n, %wk{i} : {row}, tensor<512x128xf16>",
        f"{p}v = matmul {p}n, %wv{i} : {row}, tensor<512x128xf16>",
        f"{p}q1 = reshape {p}q : {row} -> tensor<64x8x64xf16>",
        f"{p}q2 = transpose {p}q1 {{perm = [1, 0, 2]}} : tensor<64x8x64xf16>",
        f"{p}k1 = reshape {p}k : {kv} -> tensor<64x2x64xf16>",
        f"{p}k2 = transpose {p}k1 {{perm = [1, 0, 2]}} : tensor<64x2x64xf16>",
        f"{p}v1 = reshape {p}v : {kv} -> tensor<64x2x64xf16>",
        f"{p}v2 = transpose {p}v1 {{perm = [1, 0, 2]}} : tensor<64x2x64xf16>",
        f"{p}k3 = reshape {p}k2 : tensor<2x64x64xf16> -> tensor<2x1x64x64xf16>",
        f"{p}k4 = repeat {p}k3 {{dim = 1, times = 4}} : tensor<2x1x64x64xf16>",
        f"{p}k5 = reshape {p}k4 : tensor<2x4x64x64xf16> -> tensor<8x64x64xf16>",
        f"{p}v3 = reshape {p}v2 : tensor<2x64x64xf16> -> tensor<2x1x64x64xf16>",
        f"{p}v4 = repeat {p}v3 {{dim = 1, times = 4}} : tensor<2x1x64x64xf16>",
        f"{p}v5 = reshape {p}v4 : tensor<2x4x64x64xf16> -> tensor<8x64x64xf16>",
        f"{p}a = scaled_dot_product_attention {p}q2, {p}k5, {p}v5 {{scale = 0.125}} : "
        "tensor<8x64x64xf16>, tensor<8x64x64xf16>, tensor<8x64x64xf16>",
        f"{p}a1 = transpose {p}a {{perm = [1, 0, 2]}} : tensor<8x64x64xf16>",
        f"{p}a2 = reshape {p}a1 : tensor<64x8x64xf16> -> {row}",
        f"{p}o = matmul {p}a2, %wo{i} : {row}, tensor<512x512xf16>",
        f"{p}r = add {x}, {p}o : {row}, {row}",
        f"{p}m = rms_norm {p}r, %g{i}b {{eps = 1.0e-05}} : {row}, tensor<512xf16>",
        f"{p}u = matmul {p}m, %wu{i} : {row}, tensor<512x1408xf16>",
        f"{p}t = matmul {p}m, %wt{i} : {row}, tensor<512x1408xf16>",
        f"{p}s = silu {p}u : {wide}",
        f"{p}h = mul {p}s, {p}t : {wide}, {wide}",
        f"{p}d = matmul {p}h, %wd{i} : {wide}, tensor<1408x512xf16>",
        f"{p}y = add {p}r, {p}d : {row}, {row}",
    ]
    return lines, f"{p}y"


def graph(name, arguments, results, lines, returned):
    """One mirage_kernel.graph."""
    types = ", ".join(results) if len(results) == 1 else "(" + ", ".join(results) + ")"
    if len(results) == 1:
        types = results[0]
    body = "".join(f"  {line}\n" for line in lines)
    return (f"mirage_kernel.graph @{name}({', '.join(arguments)}) -> {types} {{\n{body}"
            f"  return {', '.join(returned)} : {', '.join(results)}\n}}\n")


def blocks(count):
    arguments, lines, x = ["%x: tensor<64x512xf16>"], [], "%x"
    for i in range(count):
        arguments += [f"%g{i}a: tensor<512xf16>", f"%wq{i}: tensor<512x512xf16>", f"%wk{i}: tensor<512x128xf16>",
                      f"%wv{i}: tensor<512x128xf16>", f"%wo{i}: tensor<512x512xf16>", f"%g{i}b: tensor<512xf16>",
                      f"%wu{i}: tensor<512x1408xf16>", f"%wt{i}: tensor<512x1408xf16>", f"%wd{i}: tensor<1408x512xf16>"]
        more, x = block(i, x)
        lines += more
    return graph("blocks", arguments, ["tensor<64x512xf16>"], lines, [x])


# Operators that neither overflow nor vanish, in turn.
BINARY, UNARY = ["add", "mul", "sub", "max"], ["sigmoid", "tanh"]


def chain(count):
    tensor, lines, x = "tensor<64x1024xf16>", [], "%x"
    for i in range(count):
        op = UNARY[i // 4 % 2] if i % 4 == 3 else ["add", "mul"][i % 2]
        twice = f"{x}, {x} : {tensor}, {tensor}" if op in BINARY else f"{x} : {tensor}"
        lines.append(f"%v{i} = {op} {twice}")
        x = f"%v{i}"
    return graph("chain", [f"%x: {tensor}"], [tensor], lines, [x])


def dag(count):
    tensor, lines, a, b = "tensor<64x1024xf16>", [], "%x", "%y"
    for i in range(count):
        lines.append(f"%v{i} = {BINARY[i % 4]} {a}, {b} : {tensor}, {tensor}")
        a, b = b, f"%v{i}"
    return graph("dag", [f"%x: {tensor}", f"%y: {tensor}"], [tensor], lines, [b])


def graphs(count):
    text = ""
    for i in range(count):
        columns = 256 * (1 + i % 16)
        arguments = ["%x: tensor<8x1024xf16>", "%g: tensor<1024xf16>", f"%w: tensor<1024x{columns}xf16>"]
        lines = ["%n = rms_norm %x, %g {eps = 0.0} : tensor<8x1024xf16>, tensor<1024xf16>",
                 f"%y = matmul %n, %w : tensor<8x1024xf16>, tensor<1024x{columns}xf16>",
                 f"%z = silu %y : tensor<8x{columns}xf16>"]
        text += graph(f"program_{i}", arguments, [f"tensor<8x{columns}xf16>"], lines, ["%z"])
    return text


def products(count):
    arguments, lines = [], []
    for i in range(count):
        arguments += [f"%x{i}: tensor<64x512xf16>", f"%w{i}: tensor<512x512xf16>"]
        lines.append(f"%y{i} = matmul %x{i}, %w{i} : tensor<64x512xf16>, tensor<512x512xf16>")
    return graph("products", arguments, ["tensor<64x512xf16>"] * count, lines, [f"%y{i}" for i in range(count)])


FAMILIES = {
    "blocks": (blocks, [1, 2, 4, 8, 16, 32, 64]),
    "chain": (chain, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000]),
    "dag": (dag, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000]),
    "graphs": (graphs, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]),
    "products": (products, [1, 2, 4, 8, 16, 32, 64]),
}


STAGE = re.compile(r"interrupts: mirage-(\w+): ([\d.]+) s of CPU, ([\d.]+) s at most")


def stages_of(text):
    """Columns for the passes that took at least 10 ms, and the longest wait in all."""
    stages = STAGE.findall(text)
    if not stages:
        return ""
    named = ", ".join(f"{name} {float(seconds):.2f}" for name, seconds, _ in stages if float(seconds) >= 0.01)
    return f" {named} | {max(float(wait) for *_, wait in stages):.3f} |"


def run(command, limit):
    """Processor seconds, megabytes, exit status (None: stopped at the limit) and what it said."""
    with tempfile.TemporaryFile() as log:
        pid = os.posix_spawn(command[0], command, dict(os.environ, MIRAGE_INTERRUPT_STATS="1"), file_actions=[(os.POSIX_SPAWN_DUP2, log.fileno(), 2)])
        end = time.monotonic() + limit
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                _, _, usage = os.wait4(pid, 0)
                status = None
                break
            time.sleep(0.005)
        log.seek(0)
        text = log.read().decode(errors="replace")
    code = None if status is None else os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, code, text


def gain_of(text):
    """Own lowering over the best, in the geometric mean over programs; None without both."""
    product, count = 1.0, 0
    for best, own in re.findall(r"the best predicted to take ([\d.]+) us on \w+, its own lowering ([\d.]+) us", text):
        product *= max(1.0, float(own) / float(best))
        count += 1
    return product ** (1 / count) if count else None


def measure(tool, family, sizes, passes, limit):
    make, last, rows = FAMILIES[family][0], None, []
    for size in sizes:
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as source:
            source.write(make(size))
            source.flush()
            seconds, megabytes, status, said = run([tool, source.name, passes, "-o", "/dev/null"], limit)
        step = seconds / last[1] / (size / last[0]) if last else None
        wrong = "over the limit" if status is None else f"exit {status}" if status else ""
        if last and last[1] >= SHORT and step > WORST_STEP:
            wrong += " steep"
        rows.append((size, seconds, megabytes, gain_of(said), step, wrong))
        last = (size, seconds)
        print_row(family, rows[-1], stages_of(said) if "superoptimize" in passes else "")
        if status is None:
            break
    return rows


def print_row(family, row, stages):
    size, seconds, megabytes, gain, step, wrong = row
    gain = f"{gain:.2f}" if gain else "-"
    step = f"{step:.2f}" if step else "-"
    print(f"| {family} | {size} | {seconds:.2f} | {megabytes:.0f} | {gain} | {step} |{stages}{' ' + wrong if wrong else ''}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--family", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--most", type=int, default=10**9, help="the largest size")
    parser.add_argument("--least", type=int, default=1, help="the smallest size")
    parser.add_argument("--limit", type=float, default=600, help="seconds of wall clock for one run")
    parser.add_argument("--full", action="store_true", help="the whole pipeline instead of mirage-enumerate")
    parser.add_argument("--passes", help="these passes instead")
    parser.add_argument("--emit", nargs=2, metavar=("FAMILY", "N"), help="print that program and nothing else")
    options = parser.parse_args()
    if options.emit:
        sys.stdout.write(FAMILIES[options.emit[0]][0](int(options.emit[1])))
        return 0
    passes = options.passes or ("--mirage-superoptimize=measure=no" if options.full else "--mirage-enumerate")
    more = (" of that, by pass | longest wait |", "---|---|") if "superoptimize" in passes else ("", "")
    print(f"| family | size | seconds | MB | gain | step |{more[0]}\n|---|---|---|---|---|---|{more[1]}")
    steep = 0
    for family in options.family:
        sizes = [size for size in FAMILIES[family][1] if size <= options.most and size >= options.least]
        steep += sum(bool(row[5]) for row in measure(os.path.join(options.bin, "mirage-mlir-opt"), family, sizes, passes, options.limit))
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
