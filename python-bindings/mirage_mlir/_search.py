"""superoptimize, and modules from text and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Iterator, Union, overload

from . import _mirage
from ._graph import Graph
from ._mirage import MirageError
from ._options import SearchOptions
from ._progress import Progress, Reporter
from ._ugraph import UGraph, ugraphs_of

if TYPE_CHECKING:  # imported where they are used: a search needs neither
    from ._draw import Drawing
    from ._report import Report

Program = Union[Graph, str, UGraph]


class Result(Sequence[UGraph]):
    """What a search found: proven µGraphs, best first. Called on tensors it is the best one.

    messages:    what the passes said: (severity, line, column, text).
    funnel:      the search's counts (states, cuts by reason, schedules, candidates, whether the space was exhausted).
    interrupted: whether Ctrl-C ended it; then these are the best until then.
    options:     what was asked for.
    """

    def __init__(self, graphs: list[UGraph], program: str, messages: list, funnel: dict, interrupted: bool,
                 options: SearchOptions):
        self._graphs, self.program, self.messages, self.funnel = graphs, program, messages, funnel
        self.interrupted, self.options = interrupted, options

    @property
    def best(self) -> UGraph:
        return self._graphs[0]

    @overload
    def __getitem__(self, index: int) -> UGraph: ...
    @overload
    def __getitem__(self, index: slice) -> list[UGraph]: ...

    def __getitem__(self, index: int | slice) -> UGraph | list[UGraph]:
        return self._graphs[index]

    def __len__(self) -> int:
        return len(self._graphs)

    def __iter__(self) -> Iterator[UGraph]:
        return iter(self._graphs)

    def __call__(self, *tensors: Any, out: Any = None, stream: int | None = None) -> Any:
        return self.best(*tensors, out=out, stream=stream)

    def report(self, path: str | os.PathLike | None = None) -> Report:
        """The search as one HTML page without any reference to a network; written to `path` where one is given."""
        from ._report import Report
        return Report.of(self, path)

    def visualize(self) -> Drawing:
        """The best one as a drawing (UGraph.visualize)."""
        return self.best.visualize()

    def __repr__(self) -> str:
        lines = "\n".join(f"  {graph!r}" for graph in self._graphs)
        return f"<Result of {len(self)} µGraphs{', interrupted' if self.interrupted else ''}:\n{lines}>"


def program_text(program: Program) -> str:
    """A program as MLIR. TypeError for what is none."""
    if isinstance(program, Graph):
        return program.mlir
    if isinstance(program, UGraph):
        return program.mlir
    if isinstance(program, str):
        return program
    raise TypeError(f"expected a Graph or MLIR text, got {type(program).__name__}")


def superoptimize(program: Program, options: SearchOptions | None = None, *, progress: Progress = None,
                  **overrides: Any) -> Result:
    """Searches, proves, plans and compiles kernels for a program. [Mirage 3 to 6]

    program:   a Graph, or MLIR text with one mirage_kernel.graph.
    options:   SearchOptions; `overrides` are fields of it: superoptimize(g, target="a100", max_block_ops=9).
    progress:  None: a bar on terminals and in notebooks; True, False; or a function of a dictionary.
    Returns:   a Result: µGraphs, best first. Where nothing beats it, the program's own lowering is the first.
    Errors:    MirageError with the compiler's messages. KeyboardInterrupt when Ctrl-C came before anything was found;
               afterwards it ends the search with what there is.
    Threads:   any number of searches at a time; the GIL is released. Ctrl-C ends all.

    >>> g = Graph("scaled"); x = g.new_input((8, 64)); g.mark_output(g.exp(x))
    >>> best = superoptimize(g, measure="no", progress=False)
    >>> best[0].outputs
    [('float16', (8, 64))]
    """
    options = (options or SearchOptions()).replace(**overrides).resolved()
    text = program_text(program)
    _use_own_worker()
    reporter = Reporter(progress)
    try:
        ok, compiled, messages, interrupted = _mirage.run(text, options.pipeline(), reporter)
    finally:
        reporter.close()
    reporter.log([m for m in messages if ok or m[0] != "error"])
    if not ok:
        raise MirageError(_error_text(messages))
    # Ctrl-C may leave candidates behind that nobody has proven.
    graphs = [g for g in ugraphs_of(compiled) if g.proof is not None or g.is_own_lowering]
    if not graphs:
        if interrupted:
            raise KeyboardInterrupt
        raise MirageError("the module holds no mirage_kernel.graph to search for")
    programs = {g.source for g in graphs}
    if len(programs) > 1:
        raise MirageError(f"the module holds {len(programs)} programs: superoptimize takes one; superoptimize_many takes a list")
    graphs.sort(key=_rank)
    return Result(graphs, graphs[0].source or "", messages, reporter.found.get(graphs[0].source or "", {}), interrupted, options)


def _rank(graph: UGraph) -> tuple:
    cost = graph.cost
    time = (cost.measured_us or cost.time_us) if cost else float("inf")
    return (not graph.description["selected"], graph.proof is None, time)


def _error_text(messages: list) -> str:
    parts = [f"line {line}, column {column}: {text}" if line else text
             for severity, line, column, text in messages if severity == "error"]
    return "\n".join(parts) or "the pipeline failed without a message"


_worker_is_set = False


def _use_own_worker() -> None:
    """Measurements run in processes of this interpreter."""
    global _worker_is_set
    if not _worker_is_set:
        _worker_is_set = True
        _mirage.set_measure_command([sys.executable, "-m", "mirage_mlir._tune"])


def from_mlir(text: str) -> UGraph:
    """A module as something to call: its selected µGraph, or else its program. MirageError with the place of a mistake.

    >>> f = from_mlir('''mirage_kernel.graph @twice(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    ...   %y = add %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
    ...   return %y : tensor<4x4xf32>
    ... }''')
    >>> f.name
    'twice'
    """
    graphs = ugraphs_of(text)
    if not graphs:
        raise MirageError("the module holds no mirage_kernel.graph")
    return min(graphs, key=_rank)


def load(path: str | os.PathLike) -> UGraph:
    """What UGraph.save or mirage-mlir-opt wrote."""
    with open(path, encoding="utf-8") as file:
        return from_mlir(file.read())
