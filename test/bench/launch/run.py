#!/usr/bin/env python3
"""Runs the function of this folder (prepare.py made it) on this machine's GPU, compares with PyTorch, and prints the time.

  python3 run.py [--calls N] [--tolerance T] [--seed S]

Inputs come from reference.py's inputs(torch), or are random; results are compared with its reference(torch, *inputs) on the GPU,
evaluated in f32: Frobenius-relative. Without reference.py nothing is compared, and that is said. The same reference is timed in
the inputs' own types, as PyTorch runs it, beside it.
"""
import argparse
import importlib.util
import json
import os
import subprocess
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i1": torch.bool,
         "i8": torch.int8, "i32": torch.int32, "i64": torch.int64}
TOLERANCE = {"f16": 5e-3, "bf16": 4e-2, "f32": 1e-4, "f64": 1e-4}


def load_reference():
    path = os.path.join(HERE, "reference.py")
    if not os.path.exists(path):
        return None
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def save(tensor, name):
    tensor.contiguous().cpu().view(torch.uint8).numpy().tofile(os.path.join(HERE, name))


def load(name, element, shape):
    raw = bytearray(open(os.path.join(HERE, name), "rb").read())
    return torch.frombuffer(raw, dtype=TYPES[element]).reshape(shape)


def make_inputs(wanted, reference):
    made = reference.inputs(torch) if reference and hasattr(reference, "inputs") else [
        torch.randn(shape, dtype=torch.float32).mul_(shape[-1] ** -0.5 if len(shape) > 1 else 1).to(TYPES[t]) for t, shape in wanted]
    for i, ((element, shape), tensor) in enumerate(zip(wanted, made)):
        if list(tensor.shape) != shape or tensor.dtype != TYPES[element]:
            sys.exit(f"run.py: input {i} is {tensor.dtype} {list(tensor.shape)}, the function takes {element} {shape}")
        save(tensor, f"input{i}.bin")
    return made


def compare(results, expected, tolerance):
    worst = True
    for i, ((element, shape), right) in enumerate(zip(results, expected)):
        got = load(f"output{i}.bin", element, shape).double()
        right = right.detach().double().cpu().reshape(shape)
        error = ((got - right).norm() / right.norm()).item()
        most = tolerance or TOLERANCE.get(element, 0)
        good = error <= most  # false for NaN
        worst = worst and good
        print(f"output {i}: error {error:.2e} (Frobenius-relative, PyTorch in f32), tolerance {most:.0e}: {'ok' if good else 'WRONG'}")
    return worst


def time_reference(reference, inputs, calls):
    with torch.no_grad():
        for _ in range(10):
            reference.reference(torch, *inputs)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            reference.reference(torch, *inputs)
        end.record()
        torch.cuda.synchronize()
    print(f"{1000 * begin.elapsed_time(end) / calls:.2f} us a call: PyTorch, eager, the mean of {calls} enqueued calls")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--tolerance", type=float)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    args = arguments()
    torch.manual_seed(args.seed)
    tensors, reference = json.load(open(os.path.join(HERE, "tensors.json"))), load_reference()
    inputs = make_inputs(tensors["inputs"], reference)
    if subprocess.run([os.path.join(HERE, "bench"), HERE, str(args.calls)]).returncode:
        sys.exit("run.py: bench failed")
    if not reference:
        print("nothing compared: there is no reference.py")
        return
    place = "cuda" if torch.cuda.is_available() else "cpu"
    wide = [t.to(place).float() if t.is_floating_point() else t.to(place) for t in inputs]
    with torch.no_grad():
        good = compare(tensors["results"], reference.reference(torch, *wide), args.tolerance)
    if place == "cuda" and args.calls:
        time_reference(reference, [t.to(place) for t in inputs], args.calls)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
