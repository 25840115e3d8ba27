#!/usr/bin/env python3
"""What is lost by measuring some of a program's candidates: of sets that were timed as a whole, the fastest of those that
mirage-select would time, by the fastest of all.

    python3 picked.py results/2026-11-28-h100-one-row-and-rows.csv ... [--of 16] [--measured 1 8 10 12]

Of each program the `--of` candidates that were predicted best are those that a search keeps; the rule by which some of
them are timed is that of passes/differ.c, repeated here with its features read from the text. Needs no GPU.
"""
import argparse
import csv
import math
import pathlib
import re
import tarfile

SLOWNESS = (1, 4)  # to which power best / predicted counts: before, and now
LEAST = 12  # candidates of a program


def features(graph):
    """As features_of in passes/differ.c."""
    kernels = blocks = ranges = warps = operators = collectives = 0
    for line in graph.split("\n")[1:]:
        line = line.strip()
        if "= custom " in line:
            grid = re.search(r"grid \[([^]]*)\]", line)
            kernels += 1
            blocks += math.log2(math.prod(map(int, grid.group(1).split(",")))) if grid else 0
            asked = re.search(r"warps = (\d+)", line)
            warps += math.log2(int(asked.group(1))) if asked else 0
            continue
        operator = re.match(r"(?:%\S+ = )?([a-z_]+)", line)
        if not operator or operator.group(1) == "return":
            continue
        operators += 1
        collectives += operator.group(1).startswith(("grid_", "cluster_"))
        loop = re.search(r"= loop (\d+)", line)
        ranges += math.log2(int(loop.group(1))) if loop else 0
    moved = re.search(r"bytes = ([0-9.e+]+)", graph)
    return 2 * kernels, blocks, ranges, warps, operators / 4, collectives, 4 * math.log2(float(moved.group(1))) if moved else 0


def pick(candidates, most, slowness):
    """Indices of those that are timed; candidates: (predicted us, features, measured us), best predicted first."""
    best = candidates[0][0]
    nearest = [math.inf if c[0] <= max(2 * best, best + 3) else -1 for c in candidates]
    picked, following = [], 0
    while following is not None and len(picked) < most:
        taken = candidates[following][1]
        picked.append(following)
        nearest[following] = -1
        following, farthest = None, -1
        for i, candidate in enumerate(candidates):
            if nearest[i] < 0:
                continue
            nearest[i] = min(nearest[i], sum(abs(a - b) for a, b in zip(taken, candidate[1])))
            weighted = nearest[i] * (best / max(candidate[0], 1e-9)) ** slowness
            if weighted > farthest:
                following, farthest = i, weighted
    return picked


def programs_of(path):
    """For each program and run of a set, its candidates."""
    measured = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            measured.setdefault((row["program"], row["run"]), {})[row["candidate"]] = float(row["cold_us"])
    with tarfile.open(path.with_suffix(".tar.xz")) as archive:
        for (program, run), times in measured.items():
            text = archive.extractfile(f"{program}-{run}.mlir").read().decode()
            found = []
            for graph in re.split(r"\n(?=  mirage_kernel\.graph @)", text):
                name = re.search(r"mirage_kernel\.graph @(\w+)\(", graph)
                predicted = re.search(r"time_us = ([0-9.]+)", graph)
                if name and predicted and name.group(1) in times:
                    found.append((float(predicted.group(1)), features(graph), times[name.group(1)]))
            if len(found) >= LEAST:
                yield program, sorted(found, key=lambda c: c[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sets", nargs="+", type=pathlib.Path)
    parser.add_argument("--of", type=int, default=16)
    parser.add_argument("--measured", nargs="+", type=int, default=[1, 8, 10, 12, 16])
    options = parser.parse_args()
    programs = [p for path in options.sets for p in programs_of(path)]
    if not programs:
        raise SystemExit(f"picked.py: no program has {LEAST} timed candidates in these sets")
    print(f"{len(programs)} programs, {options.of} candidates of each at most")
    for slowness in SLOWNESS:
        for most in options.measured:
            lost = []
            for name, candidates in programs:
                kept = candidates[: options.of]
                fastest = min(kept[i][2] for i in pick(kept, most, slowness))
                lost.append((fastest / min(c[2] for c in candidates), name))
            mean = math.exp(sum(math.log(x) for x, _ in lost) / len(lost))
            worst = ", ".join(f"{x:.2f} {name}" for x, name in sorted(lost, reverse=True)[:3])
            print(f"slowness to the power {slowness}, {most:2} measured: {mean:.4f} (worst {worst})")


if __name__ == "__main__":
    main()
