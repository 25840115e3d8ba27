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
import torch.nn.functional as F

HERE = Path(__file__).resolve().parent
LIMIT = 1.5
# Extents that become smaller; what is not named stays. Keys and contractions stay long enough for sums to round.
SMALL = {"attention_prefill": {32: 2, 4096: 128}, "linear_8192": {8192: 256}, "linear_4096": {4096: 256}, "moe_8x8": {4096: 192}}
PREFILL = {2048: 128, 4096: 256, 6144: 192}
DEFAULT = {4096: 512, 6144: 192, 1024: 64, 256: 32, 32: 4, 16: 16}
SCALES = {"gqa": {"q": 0.125}, "mha": {"q": 0.125}, "mqa": {"q": 0.125}, "attention": {"q": 0.125}}  # as a model's 1/sqrt(d)


def rms(x, gain=None):
    return F.rms_norm(x, (x.shape[-1],), weight=gain, eps=0.0)


def attention(q, k, v):
    return torch.softmax(q @ k, dim=-1) @ v


EAGER = {
    "gqa": attention,
    "mha": attention,
    "mqa": attention,
    "attention": attention,
    "qknorm": lambda q, k, v: torch.softmax(rms(q) @ rms(k).transpose(-1, -2), dim=-1) @ v,
    "rmsnorm": lambda x, g, w: rms(x, g) @ w,
    "lora": lambda x, w, a, b: x @ w + (x @ a) @ b,
    "gated": lambda x, w1, w3: F.silu(x @ w1) * (x @ w3),
    "ntrans": lambda h, x, alpha: rms(x + alpha * (rms(h) - x)),
    "experts": lambda x, a, b: F.silu(x @ a) @ b,
    "moe": lambda x, a, b: F.silu(x @ a) @ b,
    "linear": lambda x, w: x @ w,
}


def shrink(name, text):
    sizes = SMALL.get(name) or (PREFILL if name.endswith("prefill") else DEFAULT)
    shape = lambda m: "x".join(str(sizes.get(int(e), int(e))) for e in m[1].split("x")) + "xf16"
    return re.sub(r"(\d+(?:x\d+)*)xf16", shape, text)


def draw(name, program, text, seed):
    rng = torch.Generator().manual_seed(seed)
    inputs = []
    for i, (label, shape) in enumerate(re.findall(r"%(\w+): tensor<([\dx]+)xf16>", text)):
        extents = [int(e) for e in shape.split("x")]
        weight = len(extents) > 1 and program in ("rmsnorm", "lora", "gated", "moe", "linear") and i > 0
        scale = extents[-2] ** -0.5 if weight else SCALES.get(program, {}).get(label, 1.0)
        inputs.append((torch.randn(extents, generator=rng) * scale).half())
    return inputs


def ours(args, scratch, inputs, reference):
    # The reference is this script's: the output is all that is wanted.
    np.save(scratch / "reference.npy", reference.float().cpu().numpy())
    command = [args.bin / "mirage-run", f"--target={'gpu' if args.gpu else 'emulator'}", "--tolerance=1", scratch / "lowered.mlir",
               f"--save-output={scratch}", f"--reference=0={scratch}/reference.npy"]
    for i, tensor in enumerate(inputs):
        np.save(scratch / f"in{i}.npy", tensor.cpu().numpy())
        command += ["--input", f"{i}={scratch}/in{i}.npy"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"precision.py: mirage-run: {done.stderr}{done.stdout}")
    return torch.from_numpy(np.load(scratch / "output0.npy").astype(np.float64)).to(reference.device)


def error(got, reference):
    return float((got.double() - reference).norm() / reference.norm())


def compare(args, path, scratch):
    """Mean errors: ours, eager's."""
    name = path.stem
    program = name.split("_")[0]
    text = path.read_text() if args.gpu else shrink(name, path.read_text())
    (scratch / "program.mlir").write_text(text)
    passes = [f"--mirage-{'superoptimize' if args.superoptimize else 'lower'}={'target=h200 tensor-maps=true' if args.gpu else ''}"]
    command = [args.bin / "mirage-mlir-opt", scratch / "program.mlir", *passes, "-o", scratch / "lowered.mlir"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"precision.py: {name}: {done.stderr}")
    errors = []
    for seed in range(args.seeds):
        inputs = [tensor.cuda() if args.gpu else tensor for tensor in draw(name, program, text, seed)]
        reference = EAGER[program](*[tensor.double() for tensor in inputs])
        errors.append((error(ours(args, scratch, inputs, reference), reference), error(EAGER[program](*inputs), reference)))
    return np.mean(errors, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of mirage-mlir-opt and mirage-run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--superoptimize", action="store_true", help="what the pipeline selects instead of own lowerings")
    parser.add_argument("--gpu", action="store_true", help="full size, on the GPU")
    parser.add_argument("names", nargs="*", help="only these workloads, or programs of this kind in other files")
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
