"""torch.compile(f, backend="mirage"): parts of f run as µGraphs, the rest as before.

    f = torch.compile(f, backend="mirage", options={"fallback": "eager", "time_budget": 5})
    f(x)                       the first call of a shape searches, measures, compiles
    print(mi.replaced())       what was replaced, by how much, and what stayed outside and why

Options, beside the fields of SearchOptions (time_budget is 15 seconds a part here):
    force       replace all that can be, also where it is slower, and on the CPU; never what is less exact.
    fallback    who computes the rest: "inductor" or "eager".
    shapes      at most so many shapes of one graph are compiled; then the fallback computes.
    min_nodes   element-wise operators that make a part worth replacing, where it has no contraction and no reduction.
    max_nodes   arithmetic operators of a part, at most.
    executor    where to search: any concurrent.futures.Executor (superoptimize_many). Without one several parts are
                searched at a time, in threads that share the cores.
    mode        torch.compile's, for what is left to Inductor; so may each of Inductor's own options be given.

The way of a graph: dynamo's, before decomposition -> _torch_partition cuts it, for the shapes of the call -> equal
parts are searched once -> each part runs both ways on its own tensors (_torch_measure) -> what is kept becomes
mirage_mlir::call (_torch_runtime), the rest goes to Inductor. A graph is never refused: what cannot be had is left to
the fallback. Under autograd all is, and where torch.func transforms functions.

What was searched and timed is kept in the tuning database, also where the time budget ended the search.
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Sequence

import torch
from torch import fx
from torch.fx.node import map_arg

from . import _jobs, _mirage, _torch_measure, _torch_runtime
from ._graph import Graph
from ._mirage import MirageError
from ._torch_import import apply_node, check_type, memory_order, value_of
from ._torch_ops import Unsupported, input_of, name_of
from ._torch_partition import Limits, Outside, Split, partition, specialise
from ._torch_rows import rows
from ._torch_settings import Settings
from ._ugraph import UGraph

# ------------------------------------------------------------------------------------------------------------- warnings

_said: set[str] = set()


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=3)


# ------------------------------------------------------------------------------------------------------------ the table


@dataclass
class Part:
    """A part of a graph: its operators, and what became of it. Times in microseconds, None where nobody measured."""

    operators: str
    kept: bool = False
    reason: str = ""
    ours_us: float | None = None
    theirs_us: float | None = None
    ugraph: UGraph | None = field(default=None, repr=False)


@dataclass
class Replaced:
    """What the backend did in this process. parts: one row each; outside: operators that no part can hold.

    searches: how many programs were searched for; equal parts share one.
    seconds: of first calls: cutting, searching, checking numbers, timing (and compiling what ours is timed against),
        compiling what is left; the whole is "first calls".
    """

    parts: list[Part] = field(default_factory=list)
    outside: list[Outside] = field(default_factory=list)
    searches: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def reasons(self) -> dict[tuple[str, str], int]:
        """How often an operator stayed outside for a reason."""
        counts: dict[tuple[str, str], int] = {}
        for row in self.outside:
            counts[row.op, row.reason] = counts.get((row.op, row.reason), 0) + 1
        return counts

    def clear(self) -> None:
        """Forgets the rows; what is compiled stays."""
        self.parts, self.outside, self.searches, self.seconds = [], [], 0, {}

    @contextmanager
    def timing(self, what: str) -> Iterator[None]:
        """Adds what passes to seconds[what]."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - start

    def __str__(self) -> str:
        lines = [f"{sum(p.kept for p in self.parts)} of {len(self.parts)} parts replaced, {self.searches} searched"]
        for part in self.parts:
            took = (
                f"{part.ours_us:.2f} us, was {part.theirs_us:.2f} us"
                if part.ours_us and part.theirs_us
                else "not measured"
            )
            lines.append(
                f"  {'replaced' if part.kept else 'left':8}  {took:26}  {part.operators}"
                + (f"  ({part.reason})" if part.reason else "")
            )
        if self.seconds:
            lines.append("seconds: " + ", ".join(f"{what} {took:.1f}" for what, took in self.seconds.items()))
        if self.outside:
            lines.append("outside:")
        lines += [
            f"  {count:4} x {op}: {reason}"
            for (op, reason), count in sorted(self.reasons().items(), key=lambda i: -i[1])
        ]
        return "\n".join(lines)


_table = Replaced()


def replaced() -> Replaced:
    """The table of this process: what was replaced, by how much, what was not and why. Printed, it is a text."""
    return _table


# ---------------------------------------------------------------------------------------------------------- one program


@dataclass
class _Program:
    """A part as a program of ours. orders: how its inputs lie in memory; turned: how its outputs have to."""

    graph: Graph
    orders: list[list[int]]
    copied: list[bool]
    turned: list[list[int] | None]
    key: tuple = ()


def _program_of(module: fx.GraphModule) -> _Program:
    """A part as a Graph. Inputs that are a permutation of a contiguous tensor are taken as they are, others as
    copies."""
    graph, values = Graph("part"), {}
    program = _Program(graph, [], [], [])
    for node in module.graph.nodes:
        if node.op == "placeholder":
            x = value_of(node)
            shape, dtype = check_type(x)
            order = list(range(x.ndim)) if x.is_contiguous() else memory_order(x)
            program.copied.append(order is None)
            program.orders.append(list(range(x.ndim)) if order is None else order)
            strides = None if order is None or x.is_contiguous() else x.stride()
            values[node] = input_of(graph, shape, dtype, strides)
        elif node.op == "output":
            for result in node.args[0]:
                graph.mark_output(_turned(program, value_of(result), values[result]))
        else:
            values[node] = apply_node(graph, node, values.__getitem__)
    program.graph = rows(graph)
    described = json.loads(_mirage.describe(program.graph.mlir))["graphs"][0]
    program.key = (described["hash"], str(described["inputs"]), str(described["outputs"]), str(program.orders))
    return program


def _turned(program: _Program, like: torch.Tensor, value: Any) -> Any:
    """An output in the order in which PyTorch's lies in memory; the graph around takes a view of it."""
    order = None if like.is_contiguous() else memory_order(like)
    if order is None or order == list(range(like.ndim)):
        program.turned.append(None)
        return value
    program.turned.append(order)
    return program.graph.apply("transpose", value, perm=order)


def _operators(module: fx.GraphModule) -> str:
    names = [name_of(n) for n in module.graph.nodes if n.meta.get("kind") in ("arith", "strong")]
    return " ".join(names[:8]) + (f" ... {len(names)} in all" if len(names) > 8 else "")


# ------------------------------------------------------------------------------------------------------------- searches

_searched: dict[tuple, Any] = {}  # by program and options: a UGraph, or the reason why there is none
_timed: dict[tuple, tuple[float, float]] = {}
_lock = threading.RLock()


_AT_A_TIME = 4  # searches, each of which may hold gigabytes


def _search(texts: list[str], settings: Settings) -> list[Any]:
    """A Result for each program, or an exception in its place."""
    from ._many import superoptimize_many

    options, executor = settings.search, settings.executor
    shared = executor is None and len(texts) > 1 and options.num_threads == 0
    if shared:
        cores = len(os.sched_getaffinity(0))
        workers = min(len(texts), cores, _AT_A_TIME)
        options = options.replace(num_threads=cores // workers)
        executor = ThreadPoolExecutor(workers, "mirage-mlir-search")
    try:
        return superoptimize_many(
            texts, options, executor=executor, progress=False, cache="always", return_exceptions=True
        )
    finally:
        if shared:
            executor.shutdown()


def _search_all(programs: Sequence[_Program], settings: Settings) -> None:
    """Fills _searched for these programs, each once."""
    missing = {}
    for program in programs:
        key = (program.key, settings.search_key)
        if key not in _searched:
            missing[key] = program.graph.mlir
    _table.searches += len(missing)
    with _table.timing("search"):
        results = _search(list(missing.values()), settings) if missing else []
    for key, found in zip(missing, results):
        failed = isinstance(found, Exception)
        _searched[key] = f"search: {_first_line(found)}" if failed else found[0]


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


# ------------------------------------------------------------------------------------------------------- the first call


class _FirstCall(fx.Interpreter):
    """Runs a cut graph with PyTorch's own operators, and decides about each part on the tensors that come by."""

    def __init__(self, split: Split, settings: Settings):
        super().__init__(split.module)
        self.split, self.settings = split, settings
        self.programs: dict[str, _Program] = {}
        self.kept: dict[str, _torch_runtime.Kept] = {}
        self.rows = {name: Part(_operators(module)) for name, module in split.parts.items()}

    def search(self) -> None:
        for name, module in self.split.parts.items():
            try:
                self.programs[name] = _program_of(module)
            except (Unsupported, MirageError) as reason:
                self.rows[name].reason = str(reason)
        _search_all(list(self.programs.values()), self.settings)

    def call_module(self, target: Any, args: tuple, kwargs: dict) -> Any:
        theirs = super().call_module(target, args, kwargs)
        if target in self.programs:
            try:
                self._decide(target, args, theirs)
            except Exception as error:  # of a GPU, of a compiler: the part stays PyTorch's
                self.rows[target].reason = _first_line(error)
        return theirs

    def _decide(self, name: str, inputs: tuple, theirs: tuple) -> None:
        program, row, module = self.programs[name], self.rows[name], self.split.parts[name]
        found = _searched[program.key, self.settings.search_key]
        if isinstance(found, str):
            row.reason = found
            return
        kept = _torch_runtime.Kept(found, program.orders)
        inputs = tuple(x.contiguous() if copied else x for x, copied in zip(inputs, program.copied))
        row.ugraph = found
        with _table.timing("numbers"):
            ours = _restored(kept(inputs), program.turned)
            reason = _torch_measure.numbers_differ(module, inputs, ours, theirs)
        if reason is None and _can_measure(inputs):
            with _table.timing("timing"):
                row.ours_us, row.theirs_us = self._times(program, kept, module, inputs)
            if row.ours_us >= row.theirs_us and not self.settings.force:
                reason = "slower"
        row.reason = reason or ""
        row.kept = reason is None
        if row.kept:
            self.kept[name] = kept

    def _times(self, program: _Program, kept: _torch_runtime.Kept, module: fx.GraphModule, inputs: tuple) -> tuple:
        key = (program.key, self.settings.search_key, self.settings.rest_key)
        if key not in _timed:
            place = _place_of_times(program, kept, self.settings)
            found = _find_times(place)
            if found is None:
                # A copy: Inductor rewrites the graph that it is given.
                copy = fx.GraphModule(module, _copied(module.graph))
                theirs = _compiled_by_fallback(copy, list(inputs), self.settings, captured=True)
                ours_us, theirs_us = _torch_measure.times([lambda *x: kept(x), theirs], inputs)
                found = ours_us, theirs_us
                _keep_times(place, found)
            _timed[key] = found
        return _timed[key]


def _place_of_times(program: _Program, kept: _torch_runtime.Kept, settings: Settings) -> tuple[str, str, str, str, int]:
    """Where the tuning database has what this part took, ours and PyTorch's."""
    ours = hashlib.sha256(kept.ugraph.mlir.encode()).hexdigest()
    options = json.dumps([program.key, ours, settings.rest_key, torch.__version__, "torch times"])
    return program.key[0], settings.search.target or "", options, *_jobs.device()


def _may_keep_times() -> bool:
    return os.environ.get("MIRAGE_CACHE") != "no"


def _find_times(place: tuple[str, str, str, str, int]) -> tuple[float, float] | None:
    text = _mirage.cache_find(*place)[0] if _may_keep_times() else None
    try:
        ours_us, theirs_us = json.loads(text or "null")
        return float(ours_us), float(theirs_us)
    except (ValueError, TypeError):
        return None


def _keep_times(place: tuple[str, str, str, str, int], times: tuple[float, float]) -> None:
    if _may_keep_times():
        _mirage.cache_store(*place, json.dumps(times))  # what is wrong with the database, the search says


def _can_measure(tensors: Sequence[torch.Tensor]) -> bool:
    return any(x.is_cuda for x in tensors)


def _restored(outputs: Sequence[torch.Tensor], turned: Sequence[list[int] | None]) -> list[torch.Tensor]:
    return [x if order is None else x.permute(_inverse(order)) for x, order in zip(outputs, turned)]


def _inverse(order: list[int]) -> list[int]:
    return [order.index(d) for d in range(len(order))]


# ----------------------------------------------------------------------------------------------------- what is compiled


def _rewritten(first: _FirstCall, through_dispatcher: bool) -> fx.GraphModule:
    """The cut graph with calls of what was kept, and the operators of what was not."""
    graph, env = fx.Graph(), dict[fx.Node, Any]()
    function = torch.ops.mirage_mlir.call.default if through_dispatcher else _torch_runtime.call
    node: Any
    for node in first.split.module.graph.nodes:
        if node.op == "output":
            graph.output(map_arg(node.args[0], env.__getitem__))
        elif node.op == "call_module" and node.target in first.kept:
            env[node] = _write_call(graph, function, first, node, env)
        elif node.op == "call_module" and node.target in first.split.parts:
            inner = dict(
                zip(
                    (n for n in first.split.parts[node.target].graph.nodes if n.op == "placeholder"),
                    (env[a] for a in node.args),
                )
            )
            env[node] = graph.graph_copy(first.split.parts[node.target].graph, inner)
        elif (
            node.op == "call_function"
            and node.target is operator.getitem
            and isinstance(env[node.args[0]], (tuple, list))
        ):
            env[node] = env[node.args[0]][node.args[1]]
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    for node in graph.nodes:
        node.meta = {k: v for k, v in node.meta.items() if k in ("stack_trace", "nn_module_stack")}
    return fx.GraphModule(first.split.module, graph)


def _write_call(graph: fx.Graph, function: Callable, first: _FirstCall, node: Any, env: dict) -> list[fx.Node]:
    program = first.programs[node.target]
    key = _torch_runtime.keep(first.kept[node.target])
    inputs = [
        graph.call_method("contiguous", (env[a],)) if copied else env[a] for a, copied in zip(node.args, program.copied)
    ]
    called = graph.call_function(function, (key, inputs))
    results = []
    for i, order in enumerate(program.turned):
        value = graph.call_function(operator.getitem, (called, i))
        results.append(value if order is None else graph.call_method("permute", (value, *_inverse(order))))
    return results


def _direct(module: fx.GraphModule) -> Callable | None:
    """For a graph that is one call of a program: that call, without a graph around it."""
    nodes = list(module.graph.nodes)
    calls = [n for n in nodes if n.op.startswith("call") and n.target is not operator.getitem]
    if len(calls) != 1 or calls[0].target is not _torch_runtime.call:
        return None
    places = {n: i for i, n in enumerate(n for n in nodes if n.op == "placeholder")}
    results = nodes[-1].args[0]
    if not all(isinstance(r, fx.Node) and r.target is operator.getitem for r in results):
        return None
    key, inputs = calls[0].args
    order, outputs = [places[i] for i in inputs], [r.args[1] for r in results]
    kept = _torch_runtime._KEPT[key]
    if outputs == list(range(len(kept.outputs))) and order == list(range(len(places))):
        return kept
    take = operator.itemgetter(*order) if len(order) > 1 else lambda args: (args[order[0]],)

    def run(args: tuple) -> list:
        given = kept(take(args))
        return [given[i] for i in outputs]

    return run


def _copied(graph: fx.Graph) -> fx.Graph:
    copy = fx.Graph()
    copy.output(copy.graph_copy(graph, {}))
    return copy


def _compiled_by_fallback(gm: fx.GraphModule, inputs: list, settings: Settings, captured: bool = False) -> Callable:
    """gm by Inductor or eager; `inputs` are tensors, fake or not, and ints. captured: it will be part of a CUDA
    graph."""
    if settings.fallback == "eager":
        forward: Any = gm.forward
        return forward
    from torch._inductor.compile_fx import compile_fx

    patches = settings.patches()
    if captured:
        patches.pop("triton.cudagraphs", None)
    compiled: Any = compile_fx(gm, inputs, config_patches=patches or None)
    return compiled


class _Compiled:
    """A graph of dynamo's, compiled anew for each shape that it meets."""

    def __init__(self, gm: fx.GraphModule, example_inputs: list, settings: Settings):
        self.gm, self.settings = gm, settings
        self.varying = [i for i, x in enumerate(example_inputs) if _is_symbolic(x)]  # the others stay as they are
        self.ready: dict[Any, Callable] = {}
        self.rest: Callable | None = None
        self.lock = threading.RLock()

    def __call__(self, *args: Any) -> Any:
        key = tuple([_layout(args[i]) for i in self.varying]) if self.varying else None
        run = self.ready.get(key)
        return self._first(key, args) if run is None else run(args)

    def _first(self, key: Any, args: tuple) -> Any:
        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            _say_once(
                "backend mirage: a first call inside of a CUDA graph is left to PyTorch: call once before capturing"
            )
            return self.gm(*args)
        with self.lock:
            if key in self.ready:
                return self.ready[key](args)
            if len(self.ready) >= self.settings.shapes:
                return self._beyond()(*args)
            with _table.timing("first calls"):
                result, run = self._compile(args)
            self.ready[key] = run
            return result

    def _beyond(self) -> Callable:
        """What computes shapes beyond the limit."""
        if self.rest is None:
            _say_once(
                f"backend mirage: more than {self.settings.shapes} shapes of one graph: the others are left to "
                f"{self.settings.fallback}; option 'shapes' is the limit"
            )
            self.rest = self._fallback(dynamic=True)
        return self.rest

    def _fallback(self, dynamic: bool) -> Callable:
        """The whole graph, without us."""
        if self.settings.fallback == "eager":
            return self.gm
        return torch.compile(self.gm, dynamic=dynamic, options=self.settings.patches() or None)

    def _compile(self, args: tuple) -> tuple[Any, Callable]:
        """The result of this call, and what computes the next ones."""
        try:
            with _table.timing("cutting"):
                whole = specialise(self.gm, list(args))
                split = partition(whole, Limits(self.settings.min_nodes, self.settings.max_nodes))
        except Exception as error:  # whatever a graph may hold: PyTorch can run it, and says what is wrong if it is
            _table.outside.append(Outside("graph", f"{type(error).__name__}: {_first_line(error)}", ""))
            rest = self._fallback(dynamic=False)
            return rest(*args), lambda given: rest(*given)
        tensors = [args[i] for i in whole.arguments]
        first = _FirstCall(split, self.settings)
        with _lock:
            first.search()
            result = first.run(*tensors)
            _table.parts += first.rows.values()
            _table.outside += split.outside
        with _table.timing("rest"):
            return result, self._assembled(first, whole.arguments, tensors, len(args))

    def _assembled(self, first: _FirstCall, arguments: list[int], tensors: list, count: int) -> Callable:
        module = _rewritten(first, through_dispatcher=False)
        run = _direct(module)
        if run is None and self.settings.fallback == "inductor":
            compiled = _compiled_by_fallback(_rewritten(first, through_dispatcher=True), tensors, self.settings)
        elif run is None:
            compiled = module.forward
        if run is None:
            run = lambda given: compiled(*given)  # noqa: E731
        if arguments == list(range(count)):
            return run
        return lambda given: run(tuple(given[i] for i in arguments))


def _layout(x: Any) -> Any:
    return (tuple(x.shape), x.stride()) if isinstance(x, torch.Tensor) else x


def _is_symbolic(x: Any) -> bool:
    if isinstance(x, torch.Tensor):
        return any(isinstance(s, torch.SymInt) for s in (*x.shape, *x.stride()))
    return True  # a number: as the next call has it


# ---------------------------------------------------------------------------------------------------------- the backend


def mirage(
    gm: fx.GraphModule, example_inputs: list, *, options: dict | None = None, mode: str | None = None
) -> Callable:
    """The backend (torch.compile(f, backend="mirage")): what computes `gm` from tensors and numbers as in
    example_inputs."""
    settings = Settings.of(options, mode)
    tensors = [x for x in example_inputs if isinstance(x, torch.Tensor)]
    if _wants_gradients(gm, tensors):
        _say_once(
            "backend mirage: autograd is on and an input requires a gradient: the graph is left to "
            f"{settings.fallback}; use torch.no_grad() for inference"
        )
        return _compiled_by_fallback(gm, example_inputs, settings)
    if _transforms_functions(gm):
        _table.outside.append(Outside("graph", "transforms functions (torch.func: grad, jvp, vmap)", ""))
        return _compiled_by_fallback(gm, example_inputs, settings)
    if not settings.force and not _can_measure(tensors):
        _say_once(
            "backend mirage: no tensor is on a GPU, so nothing is replaced; options={'force': True} replaces all the "
            "same, and evaluates it on the CPU, slowly"
        )
        return _compiled_by_fallback(gm, example_inputs, settings)
    return _Compiled(gm, example_inputs, settings)


def _transforms_functions(gm: fx.GraphModule) -> bool:
    """Whether values between two nodes may be more than tensors: batches, duals, what a gradient is taken of. An
    operator of ours would drop what such a value carries, and a part its levels."""
    homes = ("torch._functorch", "torch._C._functorch", "torch.autograd.forward_ad")
    modules = (getattr(n.target, "__module__", None) or "" for n in gm.graph.nodes if n.op == "call_function")
    return any(module.startswith(homes) for module in modules)


def _wants_gradients(gm: fx.GraphModule, tensors: list[torch.Tensor]) -> bool:
    if any(name_of(n) in ("requires_grad_", "grad", "backward") for n in gm.graph.nodes if n.op.startswith("call")):
        return True
    enables = any(n.target is torch._C._set_grad_enabled and n.args[0] for n in gm.graph.nodes)
    return (torch.is_grad_enabled() or enables) and any(x.requires_grad for x in (*tensors, *gm.parameters()))
