"""The examples in the package's docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import mirage_mlir

MODULES = sorted(m.name for m in pkgutil.iter_modules(mirage_mlir.__path__) if m.name != "_mirage")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, monkeypatch):
    monkeypatch.setenv("MIRAGE_MEASURE", "no")
    module = importlib.import_module(f"mirage_mlir.{name}")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    """The finder sees those that the modules have: an empty run would pass, too."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in ("_graph", "_options", "_search"):
        assert any(test.examples for test in finder.find(importlib.import_module(f"mirage_mlir.{name}")))
