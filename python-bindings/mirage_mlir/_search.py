"""superoptimize, and modules from text and files."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Iterator, Union, overload

from ._graph import Graph
from ._jobs import Cache, Job, Outcome, error_of, find, graphs_of, keep, run
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
    cached:      whether it was found in the tuning database; then messages and funnel are those of that search.
    """

    def __init__(self, graphs: list[UGraph], program: str, messages: list, funnel: dict, interrupted: bool,
                 options: SearchOptions, cached: bool = False):
        self._graphs, self.program, self.messages, self.funnel = graphs, program, messages, funnel
        self.interrupted, self.options, self.cached = interrupted, options, cached

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
        if out is None and stream is None:
            return self._graphs[0](*tensors)
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
                  cache: Cache = True, **overrides: Any) -> Result:
    """Searches, proves, plans and compiles kernels for a program. [Mirage 3 to 6]

    program:   a Graph, or MLIR text with one mirage_kernel.graph.
    options:   SearchOptions; `overrides` are fields of it: superoptimize(g, target="a100", max_block_ops=9).
    progress:  None: a bar on terminals and in notebooks; True, False; or a function of a dictionary.
    cache:     takes the result from the tuning database where a program of the same structure was searched before, for
               the same target, with the same options, by the same compiler; and keeps it there, if the search came to
               its end. "always": also what was found when the time budget was over. False, or MIRAGE_CACHE=no in the
               environment: searches.
    Returns:   a Result: µGraphs, best first. Where nothing beats it, the program's own lowering is the first.
    Errors:    MirageError with the compiler's messages. Ctrl-C ends the search with what there is, if only the program's own
               lowering; KeyboardInterrupt where nothing was proven or compiled 0.7 seconds later.
    Threads:   any number of searches at a time; the GIL is released. Ctrl-C ends all.

    >>> g = Graph("scaled"); x = g.new_input((8, 64)); g.mark_output(g.exp(x))
    >>> best = superoptimize(g, measure="no", progress=False)
    >>> best[0].outputs
    [('float16', (8, 64))]
    >>> superoptimize(g, measure="no", progress=False).cached
    True
    """
    options = (options or SearchOptions()).replace(**overrides).resolved()
    job = Job.of(program_text(program), options)
    check_one_program(job)
    if cache not in (True, False, "always"):
        raise ValueError(f"cache {cache!r}: expected True, False or 'always'")
    outcome = find(job, cache)
    if outcome is not None:
        return result_of(job, outcome, cached=True)
    reporter = Reporter(progress, job.own_text)
    try:
        outcome = run(job.text, options.pipeline(), reporter)
    finally:
        reporter.close()
    reporter.log([(s, l, c, job.own_text(text)) for s, l, c, text in outcome.messages if outcome.ok or s != "error"])
    result = result_of(job, outcome)
    keep(job, outcome, cache)
    return result


def check_one_program(job: Job) -> None:
    """MirageError where the module holds none, or several."""
    count = job.num_programs
    if count == 0:
        raise MirageError("the module holds no mirage_kernel.graph to search for")
    if count > 1:
        raise MirageError(f"the module holds {count} programs: superoptimize takes one; superoptimize_many takes a "
                          "list")


def result_of(job: Job, outcome: Outcome, cached: bool = False) -> Result:
    """An outcome, or the exception that it is."""
    messages = [(severity, line, column, job.own_text(text)) for severity, line, column, text in outcome.messages]
    if not outcome.ok:
        raise error_of(dataclasses.replace(outcome, messages=messages))
    graphs = graphs_of(job, outcome)
    if not graphs:
        raise KeyboardInterrupt if outcome.interrupted else MirageError(f"@{job.name}: nothing was compiled")
    graphs.sort(key=_rank)
    funnel = json.loads(job.own_text(json.dumps(outcome.funnel)))
    return Result(graphs, job.name, messages, funnel, outcome.interrupted, job.options, cached)


def _rank(graph: UGraph) -> tuple:
    cost = graph.cost
    time = (cost.measured_us or cost.time_us) if cost else float("inf")
    return (not graph.description["selected"], graph.proof is None, time)


def from_mlir(text: Program) -> UGraph:
    """A module, as text or a Graph, as something to call: its selected µGraph, or else its program. MirageError with the
    place of a mistake.

    >>> f = from_mlir('''mirage_kernel.graph @twice(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    ...   %y = add %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
    ...   return %y : tensor<4x4xf32>
    ... }''')
    >>> f.name
    'twice'
    """
    graphs = ugraphs_of(program_text(text))
    if not graphs:
        raise MirageError("the module holds no mirage_kernel.graph")
    return min(graphs, key=_rank)


def load(path: str | os.PathLike) -> UGraph:
    """What UGraph.save or mirage-mlir-opt wrote."""
    with open(path, encoding="utf-8") as file:
        try:
            text = file.read()
        except UnicodeDecodeError as error:
            raise MirageError(f"{os.fspath(path)!r}: expected MLIR as text, got bytes that are none: {error}") from None
    return from_mlir(text)
