"""on_gpu.py and jax_gpu_cases.py, where there is a GPU that PyTorch and JAX can use."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")


def run(name):
    script = os.path.join(os.path.dirname(__file__), name)
    environment = {k: v for k, v in os.environ.items() if k != "MIRAGE_MEASURE"}
    subprocess.run([sys.executable, script], check=True, env=environment)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
def test_on_gpu():
    run("on_gpu.py")


def test_jax_on_gpu():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("no GPU that JAX can use")
    run("jax_gpu_cases.py")
