"""Masks of positions, brought to the attention that reads them.

A decoder with a static cache computes once which tokens are valid, `arange(cache) <= position`, and every layer reads the mask. A part to
which it comes from outside knows nothing of it; where the part compares itself, its kernels leave out what lies behind the position
(half of an empty cache, say). So each attention gets comparisons of its own. Positions become int32 where they were compared, so that no
write to them is seen that comes later.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from ._torch_import import is_of_positions, value_of
from ._torch_ops import name_of

_VIEWS = ("getitem", "unsqueeze", "view", "reshape", "expand", "squeeze")
_LOGIC = ("and_", "logical_and", "bitwise_and", "__and__", "or_", "logical_or", "bitwise_or", "__or__", "invert", "logical_not",
          "bitwise_not")
_COMPARISONS = ("lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal")
_MOST_POSITIONS = 1 << 16  # of one comparison; it is a row's, or a sequence's
_INT32 = torch.iinfo(torch.int32)


def mask_of(node: fx.Node) -> Any:
    """What attention takes as its mask; None for other nodes."""
    if name_of(node) != "scaled_dot_product_attention":
        return None
    return node.args[3] if len(node.args) > 3 else node.kwargs.get("attn_mask")


def bring_masks(graph: fx.Graph) -> None:
    """Gives attention the comparisons that make its mask, right before it. meta["mask"]: which these are; "narrows": what makes positions
    int32."""
    narrowed: dict[fx.Node, fx.Node] = {}
    for node in list(graph.nodes):
        mask, compared = mask_of(node), list[fx.Node]()
        if isinstance(mask, fx.Node) and _find(mask, compared) and compared:
            _bring(graph, node, mask, compared, narrowed)


def _find(node: fx.Node, compared: list[fx.Node]) -> bool:
    """Whether a mask is made of comparisons of positions alone; adds what makes it, operands first."""
    if is_of_positions(node) or node in compared:
        return True
    value = value_of(node)
    made = node.op.startswith("call") and isinstance(value, torch.Tensor) and value.dtype == torch.bool
    if not made or node.meta["barrier"] or node.meta.get("overwritten"):
        return False
    name, operands = name_of(node), node.all_input_nodes
    found = (
        _positions_in(node) is not None
        if name in _COMPARISONS
        else name in _LOGIC + _VIEWS and bool(operands) and all(_find(n, compared) for n in operands)
    )
    if found:
        compared.append(node)
    return found


def _positions_in(node: fx.Node) -> fx.Node | None:
    """The operand of a comparison with known positions that is a tensor of integers, one for all keys."""
    unknown = [n for n in node.all_input_nodes if not is_of_positions(n)]
    if len(unknown) != 1 or len(node.all_input_nodes) != 2:
        return None
    x = value_of(unknown[0])
    fits = isinstance(x, torch.Tensor) and x.dtype in (torch.int32, torch.int64) and 0 < x.numel() <= _MOST_POSITIONS
    return unknown[0] if fits and (x.ndim == 0 or x.shape[-1] == 1) else None


def _bring(graph: fx.Graph, attention: fx.Node, mask: fx.Node, compared: list[fx.Node], narrowed: dict[fx.Node, fx.Node]) -> None:
    env: dict[fx.Node, fx.Node] = {}
    for node in compared:
        positions = _positions_in(node) if name_of(node) in _COMPARISONS else None
        if positions is not None:
            if node not in narrowed:
                narrowed[node] = _narrow(graph, node, positions)
            env[positions] = narrowed[node]
        with graph.inserting_before(attention):
            env[node] = graph.node_copy(node, lambda n: env.get(n, n))
    attention.replace_input_with(mask, env[mask])
    attention.meta["mask"] = [env[node] for node in compared]
    for node in reversed(compared):
        if not node.users:
            graph.erase_node(node)


def _narrow(graph: fx.Graph, before: fx.Node, positions: fx.Node) -> fx.Node:
    """A copy of positions as int32, at least of rank 1. Those beyond int32 become its ends: no index of a tensor lies there."""
    node, value = positions, value_of(positions)
    steps: list[tuple[str, tuple]] = [("clamp", (_INT32.min, _INT32.max)), ("to", (torch.int32,))]
    if value.dtype == torch.int32:
        steps = [("clone", ())]
    if value.ndim == 0:
        steps.append(("reshape", ((1,),)))
    for name, args in steps:
        value = getattr(value, name)(*args)
        with graph.inserting_before(before):
            node = graph.call_method(name, (node, *args))
        node.meta = {"val": value, "barrier": None, "overwritten": False, "narrows": True,
                     "stack_trace": before.meta.get("stack_trace")}
    return node
