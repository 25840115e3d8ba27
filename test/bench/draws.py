#!/usr/bin/env python3
"""Draws in sum: best peer / ours by kind, as the geometric mean over programs (4 at most for one), from CSVs of the referee.

    draws.py results/*h200-drawn-16102958.csv ...          a line a file, then all together
"""
import argparse
import csv
import math
import pathlib
import statistics

KINDS = ("few", "middle", "large", "decode", "prefill", "rows", "chain", "mixed")
MOST = 4.0  # that one program counts


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def line(name, rows):
    """A line of the table. What failed counts as the loss that the referee wrote for it."""
    ratios = [min(MOST, float(row["ratio"])) for row in rows]
    kinds = [geomean([r for r, row in zip(ratios, rows) if row["kind"] == kind]) for kind in KINDS]
    number = len(rows)
    rows = [row for row in rows if not row["failed"]]
    if len(rows) < number:
        name += f", {number - len(rows)} failed"
    errors = [float(row["error"]) / float(row["eager_error"]) for row in rows if row["eager_error"] and float(row["eager_error"])]
    compiled = [float(row["compile_s"]) for row in rows]
    figures = "".join(f" | {kind:.2f}" for kind in [geomean(ratios), *kinds])
    print(f"| {name} | {number}{figures} | {sum(r < 0.95 for r in ratios)}, {sum(r < 1 for r in ratios)}, {min(ratios):.3f} | {max(errors):.2f} |"
          f" {statistics.median(compiled):.1f}, {max(compiled):.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    print("| draw | programs | all |", " | ".join(KINDS), "| below 0.95, below 1.0, worst | error / eager's | compile, s: median, most |")
    print("|---" * (len(KINDS) + 6) + "|")
    every = []
    for path in options.draws:
        rows = list(csv.DictReader(path.open()))
        line(path.stem.split("drawn-")[-1], rows)
        every += rows
    if len(options.draws) > 1:
        line("all", every)


if __name__ == "__main__":
    main()
