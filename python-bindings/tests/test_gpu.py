"""on_gpu.py, where there is a GPU that PyTorch can use."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
def test_on_gpu():
    script = os.path.join(os.path.dirname(__file__), "on_gpu.py")
    environment = {k: v for k, v in os.environ.items() if k != "MIRAGE_MEASURE"}
    subprocess.run([sys.executable, script], check=True, env=environment)
