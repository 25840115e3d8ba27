#!/usr/bin/env python3
"""µGraphs of a program and PyTorch on one GPU, in turns, as CSV: which of them is the fastest when all have the same power and heat.

    candidates_in_turns.py [--candidates 10] [--output results.csv] [--modules FOLDER] [--laps 30] FILE.mlir|FOLDER ...

As turns.py, but ours are the µGraphs that the search predicts to be the fastest, nothing measured before. A row a contestant: its time and spread, its
`error` against float64, what was `predicted`, and of each kernel the grid and the tile of sums. ranking.py takes the rows, and FOLDER's modules as an
archive beside them: results.tar.xz. Wants PyTorch with CUDA and the package mirage_mlir."""
import argparse
import csv
import datetime
import pathlib
import re
import sys

import torch

import mirage_mlir
from against_pytorch import capture, input_sets, sources
from torch_program import Program, relative_error
from turns import median_and_spread, race


COLUMNS = ["date", "run", "program", "candidate", "cold_us", "cold_spread", "error", "predicted", "kernels"]


def kernels_of(graph):
    """[64, 4] 128x160 turns; ...: what tells candidates of products apart."""
    found = []
    body = graph.mlir.partition("source = @")[2]
    for kernel in re.finditer(r"= custom .*? grid (\[[^\]]*\])(.*?) : \(", body):
        tile = re.search(r"tile<([0-9x]+)xf32", body[kernel.end():])
        marks = [mark for mark, text in (("swapped", "swap = true"), ("turns", "overlap = tiles"), ("persistent", "persistent = ")) if text in kernel[2]]
        found.append(" ".join([kernel[1], tile[1] if tile else "-", *marks]))
    return "; ".join(found)


def measure(path, options):
    """A dictionary a contestant."""
    program = Program.read(path)
    inputs = program.draw(1, "cuda")
    found = mirage_mlir.superoptimize(path.read_text(), target=options.target, measure="no", progress=False, cache=False)
    graphs = found[:options.candidates]
    if options.modules:
        texts = [graphs[0].program_description["text"], *(graph.description["text"] for graph in graphs)]
        (options.modules / f"{path.stem}-1.mlir").write_text("module {\n" + "\n".join(texts) + "\n}\n")
    torch._dynamo.reset()
    contestants = {"eager": program, "compile": torch.compile(program, mode="max-autotune-no-cudagraphs", dynamic=False)}
    contestants |= {graph.name: graph for graph in graphs}
    captured, rows = {}, {}
    with torch.no_grad():
        references, sets = program.reference(inputs), input_sets(inputs)
        for name, function in contestants.items():
            outputs = function(*inputs)
            error = relative_error(outputs if isinstance(outputs, (tuple, list)) else (outputs,), references)
            rows[name] = {"date": datetime.date.today().isoformat(), "run": 1, "program": path.stem, "candidate": name, "error": f"{error:.1e}"}
            captured[name] = capture(function, sets, least=24)
        del references
        for name, times in race(captured, options.laps).items():
            median, spread = median_and_spread(times)
            rows[name] |= {"cold_us": f"{median:.2f}", "cold_spread": f"{spread:.3f}"}
    for graph in graphs:
        rows[graph.name] |= {"predicted": f"{graph.cost.time_us:.2f}" if graph.cost else "", "kernels": kernels_of(graph)}
    return rows.values()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--modules", type=pathlib.Path, help="where each program is written with these candidates")
    parser.add_argument("--candidates", type=int, default=10)
    parser.add_argument("--laps", type=int, default=30)
    parser.add_argument("--target", default="h200")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if options.modules:
        options.modules.mkdir(parents=True, exist_ok=True)
    writer = csv.DictWriter(options.output, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for path in sources(options.paths):
        try:
            writer.writerows(measure(path, options))
        except Exception as failure:  # any of two compilers'
            print(f"{path.stem}: {type(failure).__name__}: {str(failure).splitlines()[0][:300]}", file=sys.stderr, flush=True)
        options.output.flush()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
