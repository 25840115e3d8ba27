"""Kept programs, and the operator mirage_mlir::call by which an FX graph calls them.

    key = keep(program)                                   from then on, in this process
    torch.ops.mirage_mlir.call(key, [x, w]) -> [y]        in graphs that Inductor compiles; on fake tensors: shapes
    alone call(key, [x, w]) -> [y]                              the same without PyTorch's dispatcher

A key is made from what the program computes, so that code which Inductor keeps on disk means the same in another
process.
"""

from __future__ import annotations

import hashlib
from typing import Any, Sequence

import torch

from ._torch_import import memory_order
from ._torch_ops import TO_TORCH
from ._ugraph import UGraph


class Kept:
    """A µGraph that stands in for a part of a graph.

    inputs:  (dtype, shape, order of dimensions in memory) of each.
    outputs: (dtype, shape) of each; they are contiguous.
    """

    def __init__(self, ugraph: UGraph, orders: Sequence[Sequence[int]]):
        self.ugraph = ugraph
        self.orders = [list(order) for order in orders]
        self.outputs = [(TO_TORCH[dtype], shape) for dtype, shape in ugraph.outputs]
        self.is_single = len(self.outputs) == 1
        self.call = ugraph._callable().call
        self.key = int.from_bytes(hashlib.sha256(f"{ugraph.mlir}{self.orders}".encode()).digest()[:7], "big")

    def __call__(self, inputs: tuple) -> Sequence[torch.Tensor]:
        try:
            result = self.call(inputs, None, None)
        except ValueError:
            # Strides or an alignment that nobody promised: Inductor may choose a layout, a caller pass a slice.
            result = self.call(tuple(map(self._repaired, inputs, self.orders)), None, None)
        return (result,) if self.is_single else result

    def _repaired(self, x: torch.Tensor, order: list[int]) -> torch.Tensor:
        """A copy of x that lies as the program wants it."""
        x = x.resolve_neg()
        if memory_order(x) == order and x.data_ptr() % 16 == 0:
            return x
        back = [order.index(d) for d in range(len(order))]
        return x.permute(order).clone(memory_format=torch.contiguous_format).permute(back)


_KEPT: dict[int, Kept] = {}


def keep(kept: Kept) -> int:
    """Makes a program callable by its key."""
    _KEPT.setdefault(kept.key, kept)
    return kept.key


def call(key: int, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Runs a kept program. KeyError for a key that keep has not given."""
    return list(_KEPT[key](tuple(inputs)))


def _fake_call(key: int, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [inputs[0].new_empty(shape, dtype=dtype) for dtype, shape in _KEPT[key].outputs]


def _define() -> Any:
    library = torch.library.Library("mirage_mlir", "DEF")
    exact = getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order)
    library.define("call(int key, Tensor[] inputs) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag, exact))
    library.impl("call", call, "CompositeExplicitAutograd")
    torch.library.register_fake("mirage_mlir::call", _fake_call, lib=library)
    return library


_library = _define()
