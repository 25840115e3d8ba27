#!/usr/bin/env python3
"""Programs on one GPU, ours and PyTorch's in turns, as CSV: what large products take when all have the same power and heat.

    turns.py [--output results.csv] [--laps 60] FILE.mlir|FOLDER ...

A large product draws so much power that clocks fall within a tenth of a second: who is timed first, on a GPU that was idle, is faster.
So each contestant's calls are captured in a graph (cold, as in against_pytorch.py), and a lap replays each graph once, each lap
beginning with another. Medians of the laps, spreads (p90 - p10) / median, and `ratio`: the faster of PyTorch's two by ours. Wants
PyTorch with CUDA and the package mirage_mlir."""
import argparse
import csv
import pathlib
import statistics
import sys

import torch

import mirage_mlir  # the backend
from against_pytorch import capture, input_sets, replay_us, sources
from torch_program import Program, relative_error

WARM_UPS = 5


def contestants(program):
    torch._dynamo.reset()
    return {"eager": program, "compile": torch.compile(program, mode="max-autotune-no-cudagraphs", dynamic=False),
            "mirage": torch.compile(program, backend="mirage", options={"force": True}, dynamic=False)}


def race(graphs, laps):
    """Microseconds a call of each graph: all laps'."""
    names, times = list(graphs), {name: [] for name in graphs}
    for lap in range(laps + WARM_UPS):
        for i in range(len(names)):
            name = names[(lap + i) % len(names)]
            us = replay_us(*graphs[name])
            if lap >= WARM_UPS:
                times[name].append(us)
    return times


def median_and_spread(times):
    cut, median = statistics.quantiles(times, n=10), statistics.median(times)
    return median, (cut[-1] - cut[0]) / median


def measure(path, laps):
    program = Program.read(path)
    inputs = program.draw(1, "cuda")
    row = {"name": path.stem}
    graphs = {}
    with torch.no_grad():
        references, sets = program.reference(inputs), input_sets(inputs)
        for name, function in contestants(program).items():
            row[f"{name}_error"] = f"{relative_error(function(*inputs), references):.1e}"
            graphs[name] = capture(function, sets, least=24)
        del references
        for name, times in race(graphs, laps).items():
            row[f"{name}_us"], row[f"{name}_spread"] = median_and_spread(times)
    row["ratio"] = min(row["eager_us"], row["compile_us"]) / row["mirage_us"]
    return {key: f"{value:.3f}" if isinstance(value, float) else value for key, value in row.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--laps", type=int, default=60)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    writer = None
    print(f"mirage_mlir {mirage_mlir.__version__}, torch {torch.__version__}", file=sys.stderr)
    for path in sources(options.paths):
        try:
            row = measure(path, options.laps)
        except Exception as failure:  # any of two compilers'
            print(f"{path.stem}: {type(failure).__name__}: {str(failure).splitlines()[0][:300]}", file=sys.stderr, flush=True)
            continue
        if not writer:
            writer = csv.DictWriter(options.output, row, lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)
        options.output.flush()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
