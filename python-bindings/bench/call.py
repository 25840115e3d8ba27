#!/usr/bin/env python3
"""What a call of a µGraph costs the CPU beside the driver's own launch, on a machine without a GPU.

    MIRAGE_CUDA_LIBRARY=build/lib/libmirage_fake_cuda.so PYTHONPATH=build/python call.py [--inputs 2] [--repeat WAY CALLS]

PyTorch's tensors in host memory pretend to lie on a GPU (pretend.c), the driver is the tests', whose launch is a lock and a few
stores. One line of JSON a way: nanoseconds a call, the median and the least of rounds; on a busy machine the least holds.
`empty` is what torch.empty itself takes. --repeat only makes calls, for `perf record -e cpu-clock`."""
import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch

import mirage_mlir as mi

HERE = pathlib.Path(__file__).resolve().parent


def pretend():
    """From here on tensors in host memory are taken for tensors on cuda:0."""
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder, "pretend.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", HERE / "pretend.c", "-o", library], check=True)
        functions = ctypes.CDLL(str(library))
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    functions.pretend.restype, functions.pretend.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    name = b"dlpack_exchange_api"
    table = functions.pretend(api.PyCapsule_GetPointer(torch.Tensor.__dlpack_c_exchange_api__, name))
    torch.Tensor.__dlpack_c_exchange_api__ = api.PyCapsule_New(table, name, None)
    return functions  # which the table lives in


def program(inputs):
    g = mi.new_graph("sum")
    y, *rest = [g.new_input((8, 64)) for _ in range(inputs)]
    for x in rest:
        y = g.add(y, x)
    g.mark_output(g.exp(y))
    return mi.superoptimize(g, measure="no", target="h200", max_states=50, progress=False)


def ways(inputs):
    best = program(inputs)
    graph = best[0]
    tensors = [torch.zeros(8, 64, dtype=torch.float16) for _ in range(inputs)]
    out = torch.zeros(8, 64, dtype=torch.float16)
    # What torch.compile's returned callable runs for a graph that is one part.
    from mirage_mlir._torch_runtime import Kept
    kept = Kept(graph, [[0, 1]] * inputs)
    given = tuple(tensors)
    return {
        "call": lambda: graph(*tensors),
        "out=": lambda: graph(*tensors, out=out),
        "result": lambda: best(*tensors),
        "backend": lambda: kept(given),
        "empty": lambda: torch.empty(8, 64, dtype=torch.float16),
        "nothing": lambda: None,
    }


def nanoseconds(function, rounds=30, calls=5000):
    taken = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        for _ in range(calls):
            function()
        taken.append((time.perf_counter_ns() - start) / calls)
    return statistics.median(taken), min(taken)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--inputs", type=int, default=2)
    p.add_argument("--repeat", nargs=2, metavar=("WAY", "CALLS"), help="only make so many calls")
    c = p.parse_args()
    library = pretend()  # noqa: F841
    found = ways(c.inputs)
    if c.repeat:
        function = found[c.repeat[0]]
        for _ in range(int(c.repeat[1])):
            function()
        return
    for way, function in found.items():
        function()
        median, least = nanoseconds(function)
        row = {"way": way, "inputs": c.inputs, "median_ns": round(median), "least_ns": round(least)}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
