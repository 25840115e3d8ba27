"""What the extension promises to those who load it."""

import os
import subprocess
import sys

import pytest

import mirage_mlir
from mirage_mlir import _mirage


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ).stdout


def test_importing_brings_no_framework():
    loaded = run("import sys, mirage_mlir; print(sorted({'torch', 'jax', 'numpy', 'tqdm', 'dask'} & set(sys.modules)))")
    assert loaded == "[]\n"


def test_only_the_entry_is_exported():
    nm = subprocess.run(["nm", "-D", "--defined-only", _mirage.__file__], capture_output=True, text=True)
    if nm.returncode:
        pytest.skip("no nm here")
    assert [line.split()[-1] for line in nm.stdout.splitlines()] == ["PyInit__mirage"]


def test_nothing_of_llvm_is_needed():
    ldd = subprocess.run(["ldd", _mirage.__file__], check=True, capture_output=True, text=True).stdout
    assert "LLVM" not in ldd and "MLIR" not in ldd and "python" not in ldd


def test_only_the_limited_api_is_used():
    assert _mirage.__file__.endswith(".abi3.so")


def test_lives_beside_torch_and_jax_in_any_order():
    search = ("g = mirage_mlir.new_graph(); x = g.new_input((4, 64)); g.mark_output(g.exp(x)); "
              "print(len(mirage_mlir.superoptimize(g, progress=False)) > 0)")
    for order in (("torch", "jax", "mirage_mlir"), ("mirage_mlir", "jax", "torch")):
        for name in order:
            pytest.importorskip(name)
        use = "torch.ones(2).sum(); jax.numpy.ones(2).sum(); "
        assert run("; ".join(f"import {name}" for name in order) + "; " + use + search) == "True\n"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'superoptimise'"):
        mirage_mlir.superoptimise
