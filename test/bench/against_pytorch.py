#!/usr/bin/env python3
"""Programs of the kernel dialect on one GPU: what the search finds beside PyTorch, eager and compiled, as CSV.

    against_pytorch.py --bin build/bin [--output results.csv] [--superoptimize OPTIONS] FILE.mlir|FOLDER ...

All are timed in the same way: many calls captured in one CUDA graph, cold - every call reads other copies of the inputs, together
four times as large as the L2 cache - and the median of replays. `compile` is torch.compile(mode="max-autotune-no-cudagraphs"). Errors
are against float64, by PyTorch on the GPU. A program that fails has a line with the reason. Wants PyTorch with CUDA."""
import argparse
import csv
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch

from torch_program import Program, relative_error, run_arguments

REPLAYS = 30


def input_sets(inputs):
    """So many copies of the inputs that a set has left the L2 cache when its turn comes again."""
    size = sum(t.numel() * t.element_size() for t in inputs)
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    return [inputs] + [[t.clone() for t in inputs] for _ in range(min(256, 4 * l2 // size))]


def capture(function, sets, least=32):
    """A graph that calls `function` on each of the sets of inputs in turn, and how many calls it holds: `least`, or one for each set."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for inputs in sets[:3]:
            function(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph, calls = torch.cuda.CUDAGraph(), max(len(sets), least)
    with torch.cuda.graph(graph):
        for i in range(calls):
            function(*sets[i % len(sets)])
    return graph, calls


def replay_us(graph, calls):
    """Microseconds a call, of one replay."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return 1e3 * begin.elapsed_time(end) / calls


def cold_us(function, sets):
    """The median of replays."""
    graph, calls = capture(function, sets)
    return statistics.median([replay_us(graph, calls) for _ in range(REPLAYS + 3)][3:])


def pytorch(program, inputs):
    sets = input_sets(inputs)
    with torch.no_grad():
        eager = cold_us(program, sets)
        torch._dynamo.reset()
        try:
            compiled = cold_us(torch.compile(program, mode="max-autotune-no-cudagraphs"), sets)
        except Exception as failure:  # any of the compiler's
            print(f"{program.name}: torch.compile: {str(failure).splitlines()[0]}", file=sys.stderr)
            compiled = float("nan")
    return {"eager_us": eager, "compile_us": compiled}


def ours(options, path, folder, tensors, eager_error):
    """The row of mirage-run --csv; raises with the reason. Allows for roundings as large as eager's (which may be infinite)."""
    tolerance = min(1.0, max(1e-3, 1.5 * eager_error)) if eager_error < 1 else 1e-3
    compiled = folder / path.name
    commands = [[options.bin / "mirage-mlir-opt", f"--mirage-superoptimize={options.superoptimize}", path, "-o", compiled],
                [options.bin / "mirage-run", "--benchmark", "--csv", f"--tolerance={tolerance:g}", *tensors, compiled]]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        if done.returncode and not done.stdout.startswith("program,"):
            raise RuntimeError(next((line for line in done.stderr.splitlines() if "error:" in line), f"status {done.returncode}"))
    (row,) = csv.DictReader(done.stdout.splitlines())
    return row


def sources(paths):
    for path in paths:
        yield from sorted(path.glob("*.mlir")) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of mirage-mlir-opt and mirage-run")
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for compiling, and for running, one program")
    parser.add_argument("--superoptimize", default="target=h200", metavar="OPTIONS", help="of --mirage-superoptimize")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    writer = None
    with tempfile.TemporaryDirectory() as folder:
        for path in sources(options.paths):
            try:
                program = Program.read(path)
                inputs = program.draw(1, "cuda")
                references = program.reference(inputs)
                eager_error = relative_error(program(*inputs), references)
                row = ours(options, path, pathlib.Path(folder), run_arguments(folder, inputs, references), eager_error)
                row |= pytorch(program, inputs) | {"eager_error": f"{eager_error:.2e}"}
            except (RuntimeError, ValueError, subprocess.TimeoutExpired) as failure:
                print(f"{path.stem}: {failure}", file=options.output, flush=True)
                continue
            row["compile_ratio"] = row["compile_us"] / float(row["cold_us"])
            if not writer:
                writer = csv.DictWriter(options.output, row, extrasaction="ignore", lineterminator="\n")
                writer.writeheader()
            writer.writerow({name: f"{v:.2f}" if isinstance(v, float) else v for name, v in row.items()})
            options.output.flush()


if __name__ == "__main__":
    main()
