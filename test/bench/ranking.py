#!/usr/bin/env python3
"""Compares the cost model with measured candidates: Spearman's rank correlation and regret, for each program.

    python3 ranking.py --bin ../../build/bin results/2026-11-20-h200-candidates.csv [--table] [--planned]

Each row of the CSV is a planned candidate that was timed (date, run, program, candidate, cold_us and its spread ...). The
candidates themselves are in the archive beside it, a module a program and run, so that the model of today is asked
about exactly what ran - but for operators outside kernels, which are compiled by today's rules: --planned leaves such candidates out. Regret is the time of the one that is predicted to be the fastest, divided by that of the
fastest; only what was timed in one run is compared. Needs no GPU.
"""
import argparse
import collections
import csv
import math
import pathlib
import re
import subprocess
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def written_today(text):
    """A module of an earlier version as it is written today: where kernels start early, the planner says."""
    return re.sub(r"dependent_launch = \w+, |,? ?dependent_launch = \w+", "", text)


def predictions(tool, module, target):
    """What the model says of each candidate, by name."""
    command = [str(tool), "-", f"--mirage-layout=target={target}"]
    text = written_today(module.read_text())
    text = subprocess.run(command, check=True, input=text, capture_output=True, text=True).stdout
    found = {}
    for graph in re.split(r"(?=mirage_kernel\.graph @)", text)[1:]:
        cost = re.search(r"time_us = ([0-9.e+-]+)", graph)
        if "source = @" in graph.split("\n", 1)[0] and cost:
            found[re.match(r"mirage_kernel\.graph @(\w+)", graph).group(1)] = float(cost.group(1))
    return found


def with_own_kernels(module):
    """Candidates that hold an operator outside kernels."""
    graphs = re.split(r"(?=mirage_kernel\.graph @)", module.read_text())[1:]
    return {re.match(r"mirage_kernel\.graph @(\w+)", graph).group(1) for graph in graphs
            if re.search(r"\n    %\S+ = (?!custom|reshape)\w+", graph)}


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


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def mean(values):
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else float("nan")


def show_table(rows, predicted):
    for row in sorted(rows, key=lambda row: float(row["cold_us"])):
        print(f"    {row['candidate']:42} predicted {predicted[row['candidate']]:8.2f} measured {float(row['cold_us']):8.2f}"
              f" spread {float(row['cold_spread']):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build" / "bin")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--table", action="store_true", help="print every candidate")
    parser.add_argument("--planned", action="store_true", help="leave out candidates with operators outside kernels")
    options = parser.parse_args()
    groups = collections.defaultdict(list)
    for row in csv.DictReader(options.measured.open()):
        groups[row["program"], row["run"]].append(row)
    everything, within, regrets = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(options.measured.with_suffix(".tar.xz")) as archive:
            archive.extractall(folder, filter="data")
        for (program, run), rows in groups.items():
            module = pathlib.Path(folder) / f"{program}-{run}.mlir"
            predicted = predictions(options.bin / "mirage-mlir-opt", module, options.target)
            left_out = with_own_kernels(module) if options.planned else set()
            rows = [row for row in rows if row["candidate"] in predicted.keys() - left_out]  # some do not fit any more
            if not rows:
                continue
            pairs = [(predicted[row["candidate"]], float(row["cold_us"])) for row in rows]
            everything += pairs
            within.append(spearman(pairs))
            regrets.append(min(pairs)[1] / min(cold for _, cold in pairs))
            print(f"{program:24} run {run} {len(pairs):3} candidates, rank correlation {within[-1]:5.2f}, regret {regrets[-1]:.2f}")
            if options.table:
                show_table(rows, predicted)
    print(f"{'all':24}       {len(everything):3} candidates, rank correlation {spearman(everything):5.2f}, within a program "
          f"{mean(within):.2f}, regret {geomean(regrets):.3f}, the worst {max(regrets):.2f}")


if __name__ == "__main__":
    main()
