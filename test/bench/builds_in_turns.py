#!/usr/bin/env python3
"""What several builds of the compiler make of the same µGraphs, on one GPU and in turns, as CSV: what a change of the code generator does.

    for build in old new; do
        for graph in graphs/*.mlir; do $build/mirage-mlir-opt $graph --mirage-lower=target=h200 -o lowered/$build/$(basename $graph); done
    done
    builds_in_turns.py [--output results.csv] [--laps 40] lowered/old lowered/new

A graph is a module of its program and of one planned µGraph that is selected (ranking.py's archives hold such). A row a graph and build: cold us, spread (p90 - p10) /
median, the error against float64, and `ratio`, by the time of the first build's. Wants PyTorch with CUDA and the package mirage_mlir, whose
compiler is not asked."""
import argparse
import csv
import pathlib
import sys

import torch

import mirage_mlir
from against_pytorch import capture, input_sets
from torch_program import Program, relative_error
from turns import median_and_spread, race

COLUMNS = ["graph", "build", "cold_us", "cold_spread", "error", "ratio"]


def measure(name, folders, laps):
    """A dictionary a build."""
    program = Program.read(folders[0] / name)
    inputs = program.draw(1, "cuda")
    functions = {folder: mirage_mlir.load(folder / name) for folder in folders}
    captured, rows = {}, {}
    with torch.no_grad():
        references, sets = program.reference(inputs), input_sets(inputs)
        for folder, function in functions.items():
            outputs = function(*inputs)
            error = relative_error(outputs if isinstance(outputs, (tuple, list)) else (outputs,), references)
            rows[folder] = {"graph": pathlib.Path(name).stem, "build": folder.name, "error": f"{error:.1e}"}
            captured[folder] = capture(function, sets, least=24)
        times = race(captured, laps)
    first, _ = median_and_spread(times[folders[0]])
    for folder, laps_us in times.items():
        median, spread = median_and_spread(laps_us)
        rows[folder] |= {"cold_us": f"{median:.2f}", "cold_spread": f"{spread:.3f}", "ratio": f"{median / first:.3f}"}
    return rows.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--laps", type=int, default=40)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    writer = csv.DictWriter(options.output, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for name in sorted(path.name for path in options.folders[0].glob("*.mlir")):
        folders = [folder for folder in options.folders if (folder / name).exists()]
        try:
            writer.writerows(measure(name, folders, options.laps))
        except Exception as failure:  # of a build's kernels
            print(f"{name}: {type(failure).__name__}: {str(failure).splitlines()[0][:300]}", file=sys.stderr, flush=True)
        options.output.flush()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
