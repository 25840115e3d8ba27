"""The package's types: mypy finds nothing, the extension's stub has its names, and what users call says what it takes
and gives."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import mirage_mlir as mi
from mirage_mlir import _mirage

PACKAGE = Path(__file__).resolve().parents[1] / "mirage_mlir"
STUB = ast.parse((PACKAGE / "_mirage.pyi").read_text(encoding="utf-8"))
CHECKS = ["--config-file", PACKAGE.parent / "mypy.ini"]


def mypy(cache, *arguments, **more):
    pytest.importorskip("mypy")
    return subprocess.run([sys.executable, "-m", "mypy", *map(str, [*CHECKS, "--cache-dir", cache, *arguments])],
                          capture_output=True, text=True, **more)


def test_mypy_finds_nothing(tmp_path):
    done = mypy(tmp_path, PACKAGE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_finds_a_users_mistake(tmp_path):
    """The package's types reach its users: a wrong call is found, a right one is not."""
    (tmp_path / "user.py").write_text(
        "import mirage_mlir as mi\n"
        "g = mi.new_graph()\n"
        "x = g.new_input((4, 8), mi.float16)\n"
        "y: mi.Tensor = g.exp(x)\n"
        "best: mi.UGraph = mi.superoptimize(g, mi.SearchOptions(max_loops=2))[0]\n"
        "time: float | None = best.cost.time_us if best.cost else None\n"
        "wrong = g.exp('x')\n"
        "mi.SearchOptions(max_loops='two')\n")
    done = mypy(tmp_path / "cache", "user.py", cwd=tmp_path, env={"MYPYPATH": str(PACKAGE.parent), "PATH": ""})
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert lines == ["7", "8"], done.stdout


def stub_names(body):
    return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_the_stub_has_the_extensions_names():
    assert stub_names(STUB.body) == {name for name in dir(_mirage) if not name.startswith("__")}


@pytest.mark.parametrize("name", ["Builder", "Program"])
def test_the_stub_has_the_methods(name):
    body = next(node.body for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == name)
    assert stub_names(body) - {"__init__"} == {m for m in vars(getattr(_mirage, name)) if not m.startswith("__")}


PUBLIC = [(cls, name) for cls in (mi.Graph, mi.Tensor, mi.UGraph, mi.Result, mi.SearchOptions)
          for name, _ in inspect.getmembers(cls, inspect.isfunction)
          if name in vars(cls) and (not name.startswith("_") or name in ("__call__", "__add__", "__rsub__", "__getitem__"))]


@pytest.mark.parametrize("cls, name", PUBLIC, ids=[f"{c.__name__}.{n}" for c, n in PUBLIC])
def test_public_methods_are_typed_and_documented(cls, name):
    method = vars(cls)[name]
    signature = inspect.signature(method)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in list(signature.parameters.values())[1:])
    assert name.startswith("__") or inspect.getdoc(method)


@pytest.mark.parametrize("name", ["superoptimize", "from_mlir", "load", "new_graph", "SearchOptions", "Result", "UGraph", "Proof",
                                  "Guard", "Cost", "Tensor", "Graph", "MirageError"])
def test_public_names_are_documented(name):
    assert name in mi.__all__ and inspect.getdoc(getattr(mi, name))


def test_every_option_is_documented():
    text = inspect.getdoc(mi.SearchOptions)
    for name in mi.SearchOptions.__dataclass_fields__:
        assert f"{name}:" in text or f"{name}," in text, name


def test_there_is_no_other_public_name():
    """What `from mirage_mlir import *` gives, and the version, are what the package shows."""
    assert {n for n in dir(mi) if not n.startswith("_")} <= set(mi.__all__) | {"Any"}
