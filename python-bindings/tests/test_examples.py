"""The scripts of examples/ run at their small sizes, find something proven, and compute what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "common")


@pytest.mark.parametrize("name", SCRIPTS)
def test_example(name, tmp_path):
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py", "--target=h200", "--report", tmp_path / "r.html", "--svg",
                           tmp_path / "g.svg"], capture_output=True, text=True, env=os.environ | {"MIRAGE_MEASURE": "no"})
    assert done.returncode == 0, done.stderr
    proven, own = re.match(r"<Graph \w+: \d+ inputs, \d+ operators>: (\d+) µGraphs proven; the own lowering would take (\S+) us",
                           done.stdout).groups()
    first = re.search(r"<UGraph \w+: (\S+) us predicted, \d+ kernels?, proven to 2\^-\d+", done.stdout)
    assert int(proven) >= 1 and float(first.group(1)) < float(own)
    assert "against float64" in done.stdout
    assert (tmp_path / "r.html").stat().st_size > 10_000 and "<svg" in (tmp_path / "g.svg").read_text(encoding="utf-8")


def test_there_are_examples():
    assert SCRIPTS == ["gqa_attention", "llama_block", "quantised_mlp", "rmsnorm_linear"]


@pytest.fixture
def quantised(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return __import__("quantised_mlp")


def test_the_scales_move_behind_the_products(quantised):
    """What quantised_mlp.py says of itself: no kernel's loop touches a scale."""
    import mirage_mlir as mi
    best = mi.superoptimize(quantised.program(8, 128, 256), target="h200", measure="no", progress=False).best
    kernels = [n for n in best.description["nodes"] if n["op"] == "custom"]
    scales = {value["id"] for value in best.description["arguments"][3:]}
    read = 0
    for kernel in kernels:
        inner = {a["id"] for a, o in zip(kernel["arguments"], kernel["operands"]) if o in scales}
        loops = [n for n in kernel["nodes"] if n["op"] == "loop"]
        read += sum(bool(inner & set(n["operands"])) for n in kernel["nodes"])
        assert loops and not any(inner & set(n["operands"]) for loop in loops for n in loop["nodes"])
    assert read >= 2
