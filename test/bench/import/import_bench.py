#!/usr/bin/env python3
# How long convert-linalg-to-mirage takes: a transformer block, and modules of more and more functions.
#
#   test/bench/import/import_bench.py --bin build/bin [--output results.csv]
#
# Times are those of the pass alone (MLIR's --mlir-timing, one thread), the median of several runs. A module's functions are small and alike;
# the time of a function must not grow with their number.
import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile

HEADS, WIDTH, ROWS = 4, 64, 32
T, W = f"tensor<{ROWS}x{WIDTH}xf32>", f"tensor<{WIDTH}x{WIDTH}xf32>"
COLUMN, SCORES = f"tensor<{ROWS}x1xf32>", f"tensor<{ROWS}x{ROWS}xf32>"
ROW_MAP, COLUMN_MAP = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d0, 0)>"


class Function:
    """The text of one function."""

    def __init__(self, name, arguments):
        self.lines = [f"func.func @{name}({arguments}) -> {T} {{", "  %zero = arith.constant 0.0 : f32",
                      "  %low = arith.constant 0xFF800000 : f32"]
        self.count = 0

    def value(self, text):
        self.count += 1
        self.lines.append(f"  %n{self.count} = {text}")
        return f"%n{self.count}"

    def empty(self, type_, start=None):
        empty = self.value(f"tensor.empty() : {type_}")
        return empty if start is None else self.value(f"linalg.fill ins({start} : f32) outs({empty} : {type_}) -> {type_}")

    def named(self, op, type_, *operands):
        return self.value(f"linalg.{op} ins({', '.join(operands)} : {', '.join([type_] * len(operands))}) "
                          f"outs({self.empty(type_)} : {type_}) -> {type_}")

    def matmul(self, a, a_type, b, b_type, type_):
        return self.value(f"linalg.matmul ins({a}, {b} : {a_type}, {b_type}) outs({self.empty(type_, '%zero')} : {type_}) -> {type_}")

    def reduce(self, op, x, type_):
        start = "%low" if op == "maximumf" else "%zero"
        return self.value(
            f'linalg.generic {{indexing_maps = [{ROW_MAP}, {COLUMN_MAP}], iterator_types = ["parallel", "reduction"]}} '
            f"ins({x} : {type_}) outs({self.empty(COLUMN, start)} : {COLUMN}) {{\n  ^bb0(%a: f32, %b: f32):\n"
            f"    %c = arith.{op} %a, %b : f32\n    linalg.yield %c : f32\n  }} -> {COLUMN}")

    def with_column(self, op, x, column, type_):
        return self.value(
            f'linalg.generic {{indexing_maps = [{ROW_MAP}, {COLUMN_MAP}, {ROW_MAP}], iterator_types = ["parallel", "parallel"]}} '
            f"ins({x}, {column} : {type_}, {COLUMN}) outs({self.empty(type_)} : {type_}) {{\n  ^bb0(%a: f32, %b: f32, %o: f32):\n"
            f"    %c = arith.{op} %a, %b : f32\n    linalg.yield %c : f32\n  }} -> {type_}")

    def finish(self, result):
        return "\n".join([*self.lines, f"  return {result} : {T}", "}"])


def softmax(f, x):
    e = f.named("exp", SCORES, f.with_column("subf", x, f.reduce("maximumf", x, SCORES), SCORES))
    return f.with_column("divf", e, f.reduce("addf", e, SCORES), SCORES)


def transformer_block(name="block"):
    """Attention head by head, a residual, two linear layers with an exponential between them, a residual."""
    weights = [f"%{kind}{head}" for head in range(HEADS) for kind in "qkvo"] + ["%up", "%down"]
    f = Function(name, ", ".join([f"%x: {T}"] + [f"{weight}: {W}" for weight in weights]))
    total = "%x"
    turned = f"tensor<{WIDTH}x{ROWS}xf32>"
    for head in range(HEADS):
        q, k, v = (f.matmul("%x", T, f"%{kind}{head}", W, T) for kind in "qkv")
        kt = f.value(f"linalg.transpose ins({k} : {T}) outs({f.empty(turned)} : {turned}) permutation = [1, 0]")
        scores = softmax(f, f.matmul(q, T, kt, turned, SCORES))
        out = f.matmul(f.matmul(scores, SCORES, v, T, T), T, f"%o{head}", W, T)
        total = f.named("add", T, total, out)
    inner = f.named("exp", T, f.matmul(total, T, "%up", W, T))
    return f.finish(f.named("add", T, total, f.matmul(inner, T, "%down", W, T)))


def small_function(number):
    f = Function(f"f{number}", f"%x: {T}, %w: {W}")
    return f.finish(f.named("add", T, "%x", f.named("exp", T, f.matmul("%x", T, "%w", W, T))))


def milliseconds(tool, path, runs):
    """The pass's time, and how many operations are in programs."""
    times = []
    for _ in range(runs):
        run = subprocess.run([tool, path, "--convert-linalg-to-mirage", "--mlir-timing", "--mlir-disable-threading", "-o", os.devnull],
                             capture_output=True, text=True, check=True)
        times.append(1e3 * float(re.search(r"^\s*([\d.]+) .*convert-linalg-to-mirage$", run.stderr, re.M)[1]))
    return statistics.median(times), (max(times) - min(times)) / statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output")
    options = parser.parse_args()
    tool = os.path.join(options.bin, "mirage-mlir-opt")
    modules = {"transformer block": (1, transformer_block())}
    for count in (125, 250, 500, 1000, 2000):
        modules[f"{count} functions"] = (count, "\n".join(small_function(i) for i in range(count)))
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, (count, text) in modules.items():
            path = os.path.join(scratch, "module.mlir")
            with open(path, "w") as file:
                file.write(text)
            time, spread = milliseconds(tool, path, options.runs)
            rows.append([name, f"{time:.1f}", f"{time / count:.3f}", f"{100 * spread:.0f}"])
            print("{:20} {:>8} ms {:>8} ms a function, spread {:>3} %".format(*rows[-1]))
    if options.output:
        with open(options.output, "w", newline="") as file:
            csv.writer(file).writerows([["module", "ms", "ms_per_function", "spread_percent"], *rows])


if __name__ == "__main__":
    sys.exit(main())
