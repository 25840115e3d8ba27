"""TUTORIAL.md: its blocks of Python run one after the other in one namespace, and print what stands below them.

A line <!-- needs: a, b --> above a block names what it cannot run without; then it is skipped. "..." in an output is
any text.
"""

import contextlib
import doctest
import importlib.util
import io
import re
from pathlib import Path

import pytest

import mirage_mlir

PAGE = Path(__file__).resolve().parents[1] / "TUTORIAL.md"
BLOCK = re.compile(r"^(?:<!-- needs: (.*?) -->\n)?```python\n(.*?)^```\n(?:\n```output\n(.*?)^```\n)?", re.M | re.S)
NEEDS = {"torch": "torch", "backend": "mirage_mlir._torch_backend"}
NAMESPACE = {"__name__": "tutorial"}


def blocks():
    text = PAGE.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        line = text[:match.start()].count("\n") + 1
        heading = re.findall(r"^##? (.*)$", text[:match.start()], re.M)[-1]
        yield pytest.param(line, match, id=f"{heading}, line {line}")


@pytest.mark.parametrize("line, match", list(blocks()))
def test_block(line, match, tmp_path_factory, monkeypatch):
    needs, code, expected = match.groups()
    for name in needs.split(", ") if needs else []:
        if importlib.util.find_spec(NEEDS[name]) is None:
            pytest.skip(f"no {NEEDS[name]}")
    if "backend" in (needs or ""):
        __import__("torch")
        getattr(mirage_mlir, "_register_backend", lambda: None)()  # in a build tree no entry point is installed
    monkeypatch.chdir(tmp_path_factory.getbasetemp())
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile("\n" * line + code, str(PAGE), "exec"), NAMESPACE)
    wanted, got = ((text or "").rstrip() + "\n" for text in (expected, said.getvalue()))
    assert doctest.OutputChecker().check_output(wanted, got, doctest.ELLIPSIS), got


def test_every_block_is_found():
    text = PAGE.read_text(encoding="utf-8")
    assert len(list(blocks())) == text.count("```python") > 10
    assert text.count("```output") == sum(match.values[1].group(3) is not None for match in blocks())
