#!/usr/bin/env python3
"""A program's candidates and PyTorch's two on one GPU, with what power the GPU has: at rest, as a benchmark goes, and hot.

    at_rest.py FILE.mlir ...

Cold, as in against_pytorch.py; microseconds a call. `rest`: replays of four calls, each after 0.15 s of nothing and one replay before;
the median of six. `run`: the median of 30 replays after 0.6 s of nothing, as others time. `hot`: the median of 20 right behind them.
Each candidate with its predicted time and its grids. Wants PyTorch with CUDA and the package mirage_mlir."""
import argparse
import pathlib
import re
import statistics
import time

import torch

import mirage_mlir
from against_pytorch import capture, input_sets, replay_us
from torch_program import Program, relative_error


def at_rest(graph):
    times = []
    for _ in range(6):
        time.sleep(0.15)
        replay_us(*graph)
        times.append(replay_us(*graph))
    return statistics.median(times)


def in_a_run(graph):
    time.sleep(0.6)
    run = statistics.median([replay_us(*graph) for _ in range(33)][3:])
    return run, statistics.median([replay_us(*graph) for _ in range(20)])


def contestants(text, program):
    torch._dynamo.reset()
    found = {"eager": program, "compile": torch.compile(program, mode="max-autotune-no-cudagraphs", dynamic=False)}
    for graph in mirage_mlir.superoptimize(text, measure="no", progress=False, cache=False):
        predicted = graph.cost.time_us if graph.cost else float("nan")
        grids = " ".join(re.findall(r"grid \[[^\]]*\](?: cluster \[[^\]]*\])?", graph.mlir))
        found[f"{graph.name} {predicted:.1f} {grids}"] = graph
    return found


def measure(path):
    program = Program.read(path)
    inputs = program.draw(1, "cuda")
    with torch.no_grad():
        references, sets = program.reference(inputs), input_sets(inputs)
        for name, function in contestants(path.read_text(), program).items():
            outputs = function(*inputs)
            error = relative_error(outputs if isinstance(outputs, (list, tuple)) else [outputs], references)
            rest = at_rest(capture(function, sets[:4], least=4))
            run, hot = in_a_run(capture(function, sets, least=24))
            print(f"{path.stem}: rest {rest:8.2f}  run {run:8.2f}  hot {hot:8.2f}  error {error:.1e}  {name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    for path in parser.parse_args().paths:
        measure(path)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
