"""Measures programs on a GPU: one line of mirage-run --csv for each.

    workloads.py --bin build/bin [--output results.csv] [--superoptimize OPTIONS] [FILE.mlir|FOLDER ...]

Each program (by default, all of workloads/ beside this script) is compiled with
mirage-mlir-opt --mirage-superoptimize=OPTIONS and timed with mirage-run --benchmark. A program that fails has a line with
the reason instead. The attribute mirage_kernel.input_scales of a program holds the standard deviations of its random inputs,
so that products stay of size 1.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile


def measure(options, source, compiled):
    """The two lines of mirage-run --csv, or None and why not."""
    commands = [[options.bin / "mirage-mlir-opt", f"--mirage-superoptimize={options.superoptimize}", source, "-o", compiled],
                [options.bin / "mirage-run", *options.run, compiled]]
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return None, f"{command[0].name} took more than {options.timeout:g} s"
        if done.returncode != 0 and not done.stdout.startswith("program,"):
            return None, next((line for line in done.stderr.splitlines() if "error:" in line), f"status {done.returncode}")
    return done.stdout.splitlines(), ""


def sources(paths):
    for path in paths:
        yield from sorted(path.glob("*.mlir")) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of mirage-mlir-opt and mirage-run")
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--timeout", type=float, default=600, help="seconds for compiling, and for running, one program")
    parser.add_argument("--superoptimize", default="target=h200", metavar="OPTIONS",
                        help="of --mirage-superoptimize")
    parser.add_argument("--run", default="--benchmark --csv", type=str.split, metavar="OPTIONS", help="of mirage-run")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[pathlib.Path(__file__).parent / "workloads"])
    options = parser.parse_args()
    header = False
    with tempfile.TemporaryDirectory() as folder:
        for source in sources(options.paths):
            lines, why = measure(options, source, pathlib.Path(folder) / source.name)
            if lines and not header:
                print(lines[0], file=options.output)
                header = True
            print(lines[1] if lines else f"{source.stem}: {why}", file=options.output, flush=True)


if __name__ == "__main__":
    main()
