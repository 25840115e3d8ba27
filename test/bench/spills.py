#!/usr/bin/env python3
"""Which kernels of programs spill, by ptxas -v, as CSV: those that the model chooses, or those of all candidates that hold a text. Needs no GPU.

    spills.py [--bin ../../build/bin] [--output spills.csv] FILE.mlir ...
    spills.py --having 'maxima = first' --variants 2 FILE.mlir ...     # candidates, and other schedules of the two best

A row a kernel: `registers` of a thread, bytes that it stores to its stack. Ends with 77 where there is no ptxas."""
import argparse
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CHIPS = {"h200": "sm_90a", "h100": "sm_90a", "a100": "sm_80"}
SKIPPED = 77


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def kernels_of(module, chip, folder):
    """(kernel, registers, bytes) of all code in a module."""
    for code in re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', module):
        path = pathlib.Path(folder, "kernel.ptx")
        path.write_text(re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), code).replace("\\\\", "\\").rstrip("\0"))
        said = subprocess.run(["ptxas", f"-arch={chip}", "-v", "-o", pathlib.Path(folder, "kernel.cubin"), path], check=True,
                              capture_output=True, text=True).stderr
        yield from re.findall(r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", said, re.S)


def candidates(options, path, folder):
    """(name, module with its code) of each candidate that holds the text."""
    passes = [f"--mirage-{name}=target={options.target}" for name in ("enumerate", "prune")]
    layout = f"--mirage-layout=target={options.target} variants={options.variants}"
    text = run(options.bin / "mirage-mlir-opt", path, "--mirage-expand", *passes, "--mirage-verify", layout)
    program, *graphs = re.split(r"\n  (?=mirage_kernel\.graph )", text.rstrip().removesuffix("}"))[1:]
    for graph in graphs:
        if options.having not in graph:
            continue
        alone = pathlib.Path(folder, "candidate.mlir")
        alone.write_text(program + "\n" + graph.replace("source = @", "selected, source = @", 1))
        yield re.match(r"mirage_kernel\.graph @(\w+)", graph)[1], run(options.bin / "mirage-mlir-opt", alone, f"--mirage-lower=target={options.target}")


def modules(options, path, folder):
    if options.having is not None:
        return candidates(options, path, folder)
    return [(path.stem, run(options.bin / "mirage-mlir-opt", path, f"--mirage-superoptimize=target={options.target} measure=no"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build" / "bin")
    parser.add_argument("--target", choices=CHIPS, default="h200")
    parser.add_argument("--having", help="all candidates whose text this is in, in place of what the model chooses")
    parser.add_argument("--variants", type=int, default=0, help="of so many of the best, other schedules too")
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if not shutil.which("ptxas"):
        print("spills: skipped: there is no ptxas in PATH", file=sys.stderr)
        return SKIPPED
    writer = csv.writer(options.output, lineterminator="\n")
    writer.writerow(["program", "graph", "kernel", "registers", "spill_bytes"])
    graphs = spilling = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in options.paths:
            for graph, module in modules(options, path, folder):
                rows = [[path.stem, graph, kernel, registers, stored] for kernel, stored, registers in kernels_of(module, CHIPS[options.target], folder)]
                writer.writerows(rows)
                graphs += 1
                spilling += any(int(row[-1]) for row in rows)
    print(f"spills: {graphs} graphs, {spilling} with spills", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
