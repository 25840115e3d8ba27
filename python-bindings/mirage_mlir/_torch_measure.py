"""Whether a program may stand in for a part of a graph: are its numbers as good, is it faster?

Both are asked on the part's own tensors, at the first call. Numbers: errors against float64, beside PyTorch's own.
Times: on a GPU, replays of CUDA graphs that rotate over copies of the inputs, several times the L2 cache, ours and
theirs in turn.
"""

from __future__ import annotations

import math
import statistics
from typing import Callable, Sequence

import torch
import torch.utils._pytree as pytree
from torch import fx

# Errors that count as rounding, whatever PyTorch's own is.
_FLOORS = {torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float32: 1e-5}
_CALLS, _REPLAYS = 24, 20


class _Double(fx.Interpreter):
    """Runs a part in float64: casts do not round, and no operator is asked for a narrower result."""

    def run_node(self, node: fx.Node):
        if node.meta.get("kind") == "cast":
            return self.fetch_args_kwargs_from_env(node)[0][0].double()
        return pytree.tree_map(
            lambda x: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x, super().run_node(node)
        )

    def fetch_args_kwargs_from_env(self, node: fx.Node):
        return pytree.tree_map(
            lambda x: torch.float64 if isinstance(x, torch.dtype) and x.is_floating_point else x,
            super().fetch_args_kwargs_from_env(node),
        )


def _error(x: torch.Tensor, reference: torch.Tensor, finite: torch.Tensor) -> float:
    """Frobenius-relative, over the places that are finite everywhere."""
    x, reference = x.double()[finite], reference[finite]
    norm = float(reference.norm())
    return float((x - reference).norm()) / norm if norm else float((x - reference).norm())


def numbers_differ(
    module: fx.GraphModule, inputs: Sequence[torch.Tensor], ours: Sequence[torch.Tensor], theirs: Sequence[torch.Tensor]
) -> str | None:
    """None where ours is as near to float64 as PyTorch's own result is, half as much again; else how far it is."""
    try:
        references = _Double(module).run(*inputs)
    except torch.OutOfMemoryError:
        references = [t.double() for t in theirs]
    floor = max([_FLOORS.get(t.dtype, 1e-5) for t in (*inputs, *theirs)])
    for i, (mine, other, reference) in enumerate(zip(ours, theirs, references)):
        if any(not torch.equal(test(mine), test(other)) for test in (torch.isnan, torch.isposinf, torch.isneginf)):
            return f"output {i}: infinities or NaN elsewhere than in PyTorch's result"
        finite = mine.isfinite() & reference.isfinite()
        mine_error, other_error = _error(mine, reference, finite), _error(other, reference, finite)
        if not mine_error <= max(floor, 1.5 * other_error):
            return f"output {i}: error {mine_error:.1e}, PyTorch's is {other_error:.1e}"
    return None


def times(functions: Sequence[Callable], inputs: Sequence[torch.Tensor]) -> list[float]:
    """Microseconds a call of each function, on copies of `inputs` that are not in the cache."""
    graphs = []
    sets = _copies(inputs)
    calls = max(len(sets), _CALLS)
    for function in functions:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for i in range(3):
                function(*sets[i % len(sets)])
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(calls):
                function(*sets[i % len(sets)])
        graphs.append(graph)
    samples: list[list[float]] = [[] for _ in graphs]
    for _ in range(_REPLAYS + 3):
        for graph, taken in zip(graphs, samples):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            taken.append(1e3 * begin.elapsed_time(end) / calls)
    return [statistics.median(taken[3:]) for taken in samples]


def _copies(inputs: Sequence[torch.Tensor]) -> list[tuple[torch.Tensor, ...]]:
    """Sets of inputs, four times the L2 cache together, within half of the memory that is free."""
    size = sum(t.numel() * t.element_size() for t in inputs)
    cache = torch.cuda.get_device_properties(inputs[0].device).L2_cache_size
    room = torch.cuda.mem_get_info(inputs[0].device)[0] // 2
    count = max(1, min(128, math.ceil(4 * cache / max(size, 1)), room // max(size, 1)))
    return [tuple(inputs)] + [tuple(t.clone() for t in inputs) for _ in range(count - 1)]
