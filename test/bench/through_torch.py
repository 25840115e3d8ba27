#!/usr/bin/env python3
"""The same kernels by two roads on one GPU, as CSV: torch.compile(backend="mirage") beside mirage-run.

    through_torch.py [--bin bin] [--output results.csv] [--seconds N] FILE.mlir|FOLDER ...

Both are CUDA-graph replays over inputs that together overflow the L2 cache, and both choose by measuring, with one tuning database. Errors are
against float64, eager's beside ours; `graph_error` is of a replay of a captured graph. `first_s` is the first call without, `again_s`
with what the first run left in the cache. Wants PyTorch with CUDA and the package mirage_mlir; without --bin, mirage-run's column is
empty."""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

import mirage_mlir
from against_pytorch import cold_us, input_sets, sources
from torch_program import Program, relative_error


def run_us(options, path, folder):
    """mirage-run's cold time of what mirage-mlir-opt selects; NaN without the tools."""
    if not options.bin:
        return float("nan")
    compiled = pathlib.Path(folder) / "c.mlir"
    subprocess.run([options.bin / "mirage-mlir-opt", f"--mirage-superoptimize={options.superoptimize}", path, "-o", compiled],
                   check=True, capture_output=True, timeout=options.timeout)
    done = subprocess.run([options.bin / "mirage-run", "--benchmark", "--csv", compiled], capture_output=True, text=True,
                          timeout=options.timeout)
    (row,) = csv.DictReader(done.stdout.splitlines())
    return float(row["cold_us"])


def captured(function, inputs):
    """What a replay of a graph gives, captured after one warm-up call."""
    function(*inputs)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = function(*inputs)
    for tensor in outputs:
        tensor.zero_()
    graph.replay()
    torch.cuda.synchronize()
    return outputs


def compiled(program, inputs):
    """The program through the backend, every part of it ours, and the seconds of its first call."""
    torch._dynamo.reset()
    function = torch.compile(program, backend="mirage", options={"force": True}, dynamic=False)
    start = time.perf_counter()
    outputs = function(*inputs)
    torch.cuda.synchronize()
    return function, outputs, time.perf_counter() - start


def measure(options, path, folder):
    program = Program.read(path)
    inputs = program.draw(1, "cuda")
    sets = input_sets(inputs)
    with torch.no_grad():
        references = program.reference(inputs)
        eager_error = relative_error(program(*inputs), references)
        function, outputs, first = compiled(program, inputs)
        row = {"name": path.stem, "error": f"{relative_error(outputs, references):.2e}",
               "graph_error": f"{relative_error(captured(function, inputs), references):.2e}",
               "eager_error": f"{eager_error:.2e}", "torch_us": cold_us(function, sets), "first_s": first}
        row["again_s"] = compiled(program, inputs)[2]
    row["run_us"] = run_us(options, path, folder)
    row["ratio"] = row["torch_us"] / row["run_us"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, help="folder of mirage-mlir-opt and mirage-run")
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no program after so many")
    parser.add_argument("--superoptimize", default="target=h200", metavar="OPTIONS", help="of --mirage-superoptimize")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    fields = "name,torch_us,run_us,ratio,error,graph_error,eager_error,first_s,again_s".split(",")
    writer = csv.DictWriter(options.output, fields, lineterminator="\n")
    writer.writeheader()
    start = time.time()
    print(f"mirage_mlir {mirage_mlir.__version__}, torch {torch.__version__}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        for path in sources(options.paths):
            if time.time() - start > options.seconds:
                print("stopped: out of time", file=sys.stderr)
                break
            try:
                row = measure(options, path, folder)
            except Exception as failure:  # any of two compilers'
                print(f"{path.stem}: {type(failure).__name__}: {str(failure).splitlines()[0][:300]}", file=sys.stderr, flush=True)
                continue
            writer.writerow({k: f"{v:.3f}" if isinstance(v, float) else v for k, v in row.items()})
            options.output.flush()
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
