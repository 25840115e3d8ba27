#!/usr/bin/env python3
"""Rounding errors of the benchmark programs beside those of PyTorch's eager mode, both against float64.

  precision.py --bin build/bin [--seeds N] [--superoptimize] [--gpu] [NAME|FILE.mlir...]

Every program of workloads/ is shrunk (see SMALL), lowered by its own operators - or, with --superoptimize, by what the pipeline
selects - and run on the emulator; PyTorch runs the same inputs on the CPU in f16. The figure is ours over eager's, of the Frobenius
norms of the errors, the mean of some seeds. With --gpu nothing is shrunk: ours, PyTorch and the float64 reference run on the GPU.
Exit status 1 when one is above 1.5. Wants PyTorch and numpy."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from torch_program import Program, relative_error, run_arguments

HERE = Path(__file__).resolve().parent
LIMIT = 1.5
# Extents that become smaller; what is not named stays. Keys and contractions stay long enough for sums to round.
SMALL = {"attention_prefill": {32: 2, 4096: 128}, "linear_8192": {8192: 256}, "linear_4096": {4096: 256}, "moe_8x8": {4096: 192}}
PREFILL = {2048: 128, 4096: 256, 6144: 192}
DEFAULT = {4096: 512, 6144: 192, 1024: 64, 256: 32, 32: 4, 16: 16}


def shrink(name, text):
    sizes = SMALL.get(name) or (PREFILL if name.endswith("prefill") else DEFAULT)
    shape = lambda m: "x".join(str(sizes.get(int(e), int(e))) for e in m[1].split("x")) + "xf16"
    return re.sub(r"(\d+(?:x\d+)*)xf16", shape, text)


def ours(args, scratch, inputs, references):
    command = [args.bin / "mirage-run", f"--target={'gpu' if args.gpu else 'emulator'}", "--tolerance=1", scratch / "lowered.mlir",
               f"--save-output={scratch}", *run_arguments(scratch, inputs, references)]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"precision.py: mirage-run: {done.stderr}{done.stdout}")
    return [torch.from_numpy(np.load(scratch / f"output{i}.npy")).to(r.device) for i, r in enumerate(references)]


def compare(args, path, scratch):
    """Mean errors: ours, eager's."""
    name = path.stem
    text = path.read_text() if args.gpu else shrink(name, path.read_text())
    program = Program(text)
    (scratch / "program.mlir").write_text(text)
    passes = [f"--mirage-{'superoptimize' if args.superoptimize else 'lower'}={'target=h200' if args.gpu else ''}"]
    command = [args.bin / "mirage-mlir-opt", scratch / "program.mlir", *passes, "-o", scratch / "lowered.mlir"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"precision.py: {name}: {done.stderr}")
    errors = []
    for seed in range(args.seeds):
        inputs = program.draw(seed, "cuda" if args.gpu else "cpu")
        references = program.reference(inputs)
        found = ours(args, scratch, inputs, references)
        errors.append((relative_error(found, references), relative_error(program(*inputs), references)))
    return np.mean(errors, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of mirage-mlir-opt and mirage-run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--superoptimize", action="store_true", help="what the pipeline selects instead of own lowerings")
    parser.add_argument("--gpu", action="store_true", help="full size, on the GPU")
    parser.add_argument("names", nargs="*", help="only these workloads, or programs in other files")
    args = parser.parse_args()
    worse = 0
    print(f"{'program':24s} {'ours':>9s} {'eager':>9s} {'ratio':>6s}")
    named = [Path(name) if name.endswith(".mlir") else HERE / "workloads" / f"{name}.mlir" for name in args.names]
    for path in named or sorted((HERE / "workloads").glob("*.mlir")):
        with tempfile.TemporaryDirectory() as scratch:
            mine, eager = compare(args, path, Path(scratch))
        bad = mine > LIMIT * eager + 1e-6
        worse += bad
        print(f"{path.stem:24s} {mine:9.2e} {eager:9.2e} {mine / eager:6.2f}{'  above ' + str(LIMIT) if bad else ''}", flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
