"""From an exporter's text to numbers: convert, superoptimize, run."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from ml_dtypes import bfloat16

import host
import inputs
from mirage_mlir._ugraph import ugraphs_of
from mlir import TOSA_TO_LINALG, functions_of, parse, passes, stock

PREPARE = os.path.join(os.path.dirname(__file__), "..", "bench", "launch", "prepare.py")
# Small searches of small programs; the code is run on the CPU, and nothing is measured.
SUPEROPTIMIZE = ("mirage-superoptimize{target=a100 measure=no max-states=600 max-candidates=1 progress=none num-threads=2 "
                 "opt-level=1}")


def convert(road, text):
    """The module with programs cut out, and the remarks."""
    name = "convert-tosa-to-mirage" if road == "torch-tosa" else "convert-linalg-to-mirage"
    return passes(text, f"{name}{{explain=true}}")


def as_linalg(road, text):
    """The same program before we look at it."""
    return stock(text, "--pass-pipeline=" + TOSA_TO_LINALG) if road == "torch-tosa" else text


def compiled(module):
    """The module with the selected µGraphs and their code."""
    text, _ = passes(module, SUPEROPTIMIZE)
    graphs = {g.source: g for g in ugraphs_of(text)}
    assert all(g.proof or g.is_own_lowering for g in graphs.values()), "nothing unproven is selected"
    return text


def called(graph, operands):
    """A program's results: NumPy in, NumPy out; bfloat16, which DLPack gives to nobody but PyTorch, by way of it."""
    operands = [np.ascontiguousarray(x) for x in operands]
    if any(x.dtype == bfloat16 for x in operands):
        operands = [torch.from_numpy(x.view(np.int16)).view(torch.bfloat16) if x.dtype == bfloat16 else torch.from_numpy(x)
                    for x in operands]
    results = graph(*operands)
    return inputs.arrays(results if isinstance(results, tuple) else (results,))


def execute(module, tensors):
    """The function's results: its programs compiled, launched by what stock MLIR makes of the module (test/bench/launch/prepare.py), on
    the emulated GPU, which checks every access. What stays outside is stock MLIR's, too.
    """
    with tempfile.TemporaryDirectory(prefix="mirage-exporters-") as name:
        folder = pathlib.Path(name)
        (folder / "program.mlir").write_text(compiled(module))
        done = subprocess.run([sys.executable, PREPARE, folder / "program.mlir", "--bin", os.environ["MIRAGE_BIN"], "--out", folder,
                               "--convert", "async emulation"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        wanted = json.loads((folder / "tensors.json").read_text())
        for i, tensor in enumerate(tensors):
            (folder / f"input{i}.bin").write_bytes(np.ascontiguousarray(tensor).tobytes())
        done = subprocess.run([folder / "bench", folder, "0"], capture_output=True, text=True,
                              env={**os.environ, "MIRAGE_EMULATOR": "1"})
        assert done.returncode == 0, done.stdout + done.stderr
        return [np.frombuffer((folder / f"output{i}.bin").read_bytes(), host.DTYPES[element]).reshape(shape)
                for i, (element, shape) in enumerate(wanted["results"])]


def evaluate(module, tensors):
    """The same without kernels: the programs as they are written, in their own types."""
    graphs = {g.name: g for g in ugraphs_of(module)}
    return host.run(parse(stock(functions_of(module), "--linalg-generalize-named-ops")), tensors,
                    lambda name, operands: called(graphs[name], operands))
