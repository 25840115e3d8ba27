#!/usr/bin/env python3
"""Compares the cost model with measured candidates: Spearman's rank correlation, for each program and over all.

    python3 ranking.py --bin ../../build/bin results/2026-11-20-h200-candidates.csv [--table]

Rows of the CSV name a program, the grids, clusters, warps, loop ranges, side blocks and number of operators of a
candidate, and its measured time (mirage-run --tune). The candidates are searched and planned anew, and found again by
these; of several that are alike, the ones predicted fastest are taken, in the order of the rows. Needs no GPU.
"""
import argparse
import collections
import csv
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def candidates(tool, program, target):
    """(key, predicted us) of every candidate, best predicted first; key = what the rows name."""
    command = [str(tool), str(HERE / "workloads" / f"{program}.mlir"), "--mirage-enumerate=max-candidates=512 target=" + target,
               "--mirage-layout=target=" + target]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = []
    for graph in re.split(r"(?=mirage_kernel\.graph @)", text)[1:]:
        cost = re.search(r"time_us = ([0-9.e+-]+)", graph)
        if f"source = @{program}" not in graph.split("\n", 1)[0] or not cost:
            continue
        kernels = re.findall(r" grid (\[[^\]]*\])(?: cluster (\[[^\]]*\]))?(?: schedule <(.*?)>)?", graph)
        warps = [re.search(r"warps = (\d+)", schedule) for _, _, schedule in kernels]
        side = re.search(r"side_blocks = (\d+)", graph)
        key = {"grid": " ".join(grid for grid, _, _ in kernels),
               "cluster": " ".join(filter(None, (cluster for _, cluster, _ in kernels))),
               "warps": " ".join(w.group(1) if w else "" for w in warps),
               "loop": " ".join(re.findall(r"= loop (\d+)", graph)), "side": side.group(1) if side else "",
               "operators": str(len(re.findall(r"^ *%\S+ = |^ *store ", graph, re.M)))}
        found.append((key, float(cost.group(1))))
    return sorted(found, key=lambda item: item[1])


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    for i, index in enumerate(order):
        same = [j for j, other in enumerate(order) if values[other] == values[index]]
        result[index] = sum(same) / len(same)
    return result


def spearman(pairs):
    if len(pairs) < 3:
        return float("nan")
    x, y = ranks([a for a, _ in pairs]), ranks([b for _, b in pairs])
    mean = (len(pairs) - 1) / 2
    top = sum((a - mean) * (b - mean) for a, b in zip(x, y))
    bottom = (sum((a - mean) ** 2 for a in x) * sum((b - mean) ** 2 for b in y)) ** 0.5
    return top / bottom if bottom else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build" / "bin")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--table", action="store_true", help="print every candidate")
    options = parser.parse_args()
    rows = collections.defaultdict(list)
    for row in csv.DictReader(options.measured.open()):
        rows[row["program"]].append(row)
    everything = []
    for program, measured in rows.items():
        left, pairs = candidates(options.bin / "mirage-mlir-opt", program, options.target), []
        for row in measured:
            at = next((i for i, (key, _) in enumerate(left) if all(row[name] == key[name] for name in key)), None)
            predicted = left.pop(at)[1] if at is not None else None
            if predicted is not None:
                pairs.append((predicted, float(row["cold_us"])))
            if options.table:
                print(f"  {row['candidate']:14} {row['grid']:22} {row['cluster']:10} warps {row['warps']:6} loop {row['loop']:4}"
                      f" predicted {predicted if predicted is None else round(predicted, 2)!s:>7} measured {row['cold_us']:>7}")
        everything += pairs
        best = min(pairs)[1] / min(cold for _, cold in pairs) if pairs else float("nan")
        print(f"{program:12} {len(pairs):3} of {len(measured):3} candidates found, rank correlation {spearman(pairs):5.2f}, "
              f"the first is {best:.2f} times the fastest")
    print(f"{'all':12} {len(everything):3} candidates, rank correlation {spearman(everything):5.2f}")


if __name__ == "__main__":
    main()
