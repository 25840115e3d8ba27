"""PyTorch's comparisons, masks and choices in the kernel dialect (_torch_ops has the rules; _known what is known)."""

from __future__ import annotations

import math
from typing import Any

import torch

from ._graph import Graph, Tensor
from . import _known as known
from ._known import Known
from ._torch_table import (
    FLOATS,
    FROM_TORCH,
    TO_TORCH,
    Unsupported,
    as_tensor,
    binary,
    cast_to,
    is_number,
    op,
    sizes_of,
)

_INTEGERS = {torch.int64: "int64", torch.int32: "int32"}
_NAMES = {**_INTEGERS, torch.bool: "bool", torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32"}


def _dtype_name(dtype: torch.dtype) -> str:
    if dtype not in _NAMES:
        raise Unsupported(str(dtype).removeprefix("torch."))
    return _NAMES[dtype]


# --------------------------------------------------------------------------------------------------------- known tensors


@op("arange", takes_known=True)
def arange(g, start, end=None, step=1, *, dtype=None, **_):
    start, end = (0, start) if end is None else (start, end)
    if not all(isinstance(v, int) for v in (start, end, step)) or step == 0 or (dtype or torch.int64) not in _INTEGERS:
        raise Unsupported("an arange of other numbers than integers")
    return known.arange(_INTEGERS[dtype or torch.int64], start, end, step)


def _filled(shape: Any, value: Any, dtype: torch.dtype | None) -> Known:
    if not is_number(value) and not isinstance(value, bool):
        raise Unsupported(f"filled with {type(value).__name__}")
    implied = torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.float32
    return known.full(_dtype_name(dtype or implied), sizes_of((list(shape),)), value)


@op("full", takes_known=True)
def full(g, size, fill_value, *, dtype=None, **_):
    return _filled(size, fill_value, dtype)


@op("ones", takes_known=True)
def ones(g, *size, dtype=None, **kwargs):
    return _filled(sizes_of(size or (kwargs["size"],)), 1, dtype or torch.float32)


@op("zeros", takes_known=True)
def zeros(g, *size, dtype=None, **kwargs):
    return _filled(sizes_of(size or (kwargs["size"],)), 0, dtype or torch.float32)


@op("tensor", takes_known=True)
def tensor(g, data, *, dtype=None, **_):
    """A number; or nothing, which an empty cache is."""
    if data == []:
        return known.full(_dtype_name(dtype or torch.float32), (0,), 0)
    return _filled((), data, dtype)


def _dtype_of(x: Any) -> torch.dtype:
    names = {name: dtype for dtype, name in _NAMES.items()}
    if not isinstance(x, (Tensor, Known)) or x.dtype not in names:
        raise Unsupported("like something else than a tensor of numbers")
    return names[x.dtype]


@op("new_full", takes_known=True)
def new_full(g, x, size, fill_value, *, dtype=None, **_):
    return _filled(size, fill_value, dtype or _dtype_of(x))


@op("new_ones", takes_known=True)
def new_ones(g, x, *size, dtype=None, **kwargs):
    return _filled(sizes_of(size or (kwargs["size"],)), 1, dtype or _dtype_of(x))


@op("new_zeros", takes_known=True)
def new_zeros(g, x, *size, dtype=None, **kwargs):
    return _filled(sizes_of(size or (kwargs["size"],)), 0, dtype or _dtype_of(x))


@op("full_like", takes_known=True)
def full_like(g, x, fill_value, *, dtype=None, **_):
    return _filled(x.shape, fill_value, dtype or _dtype_of(x))


@op("ones_like", takes_known=True)
def ones_like(g, x, *, dtype=None, **_):
    return _filled(x.shape, 1, dtype or _dtype_of(x))


@op("zeros_like", takes_known=True)
def zeros_like(g, x, *, dtype=None, **_):
    return _filled(x.shape, 0, dtype or _dtype_of(x))


# ---------------------------------------------------------------------------------------------------------- comparisons


def _tensor(g: Graph, x: Any) -> Any:
    return known.tensor_of(g, x) if isinstance(x, Known) else x


def _compare(g: Graph, name: str, a: Any, b: Any) -> Any:
    if isinstance(a, Known) or isinstance(b, Known):
        like = a if isinstance(a, Known) else b
        if not isinstance(a, Tensor) and not isinstance(b, Tensor):
            return known.compare(name, known.lifted(a, like), known.lifted(b, like))
        a, b = _tensor(g, a), _tensor(g, b)
    if isinstance(a, Tensor) and a.dtype == "bool":
        return _compared_mask(g, name, a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return g.apply(name, a, b) if a.dtype == b.dtype == "int32" else binary(g, name, a, b)
    for value in (a, b):  # a number is rounded to the tensor's dtype, as PyTorch does
        if not isinstance(value, Tensor):
            _finite(value)
    result: Tensor = getattr(g, name)(a, b)
    return result


def _compared_mask(g: Graph, name: str, a: Tensor, b: Any) -> Tensor:
    if name not in ("equal", "not_equal") or isinstance(b, Tensor) or b not in (0, 1):
        raise Unsupported("a mask compared with something else than 0 and 1")
    return a if (name == "equal") == (b == 1) else g.logical_not(a)


def _comparison(name: str, *names: str) -> None:
    op(*names, takes_known=True)(lambda g, a, b: _compare(g, name, a, b))


_comparison("less", "lt", "less")
_comparison("less_equal", "le", "less_equal")
_comparison("greater", "gt", "greater")
_comparison("greater_equal", "ge", "greater_equal")
_comparison("equal", "eq")
_comparison("not_equal", "ne", "not_equal")


def _join(g: Graph, name: str, a: Any, b: Any) -> Any:
    if isinstance(a, Known) and isinstance(b, Known):
        return known.joined(name, a, b)
    return g.apply(name, known.mask_of(g, as_mask(a)), known.mask_of(g, as_mask(b)))


def as_mask(x: Any) -> Known | Tensor:
    if not isinstance(x, (Known, Tensor)) or x.dtype != "bool":
        raise Unsupported(f"{getattr(x, 'dtype', type(x).__name__)} as a mask")
    return x


@op("logical_and", "and_", "bitwise_and", "__and__", takes_known=True)
def logical_and(g, a, b):
    return _join(g, "and", a, b)


@op("logical_or", "or_", "bitwise_or", "__or__", takes_known=True)
def logical_or(g, a, b):
    return _join(g, "or", a, b)


@op("logical_not", "invert", "bitwise_not", takes_known=True)
def logical_not(g, x):
    return known.negated(x) if isinstance(x, Known) else g.logical_not(as_mask(x))


# -------------------------------------------------------------------------------------------------------------- choices


def _stretched(g: Graph, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x if x.shape == shape else g.broadcast(x, shape)


def _shape_of(*values: Any) -> tuple[int, ...]:
    return tuple(torch.broadcast_shapes(*[v.shape for v in values if isinstance(v, (Known, Tensor))]))


def _is_bottom(x: Any) -> bool:
    if isinstance(x, Known):
        return x.expr[0] == "number" and x.expr[1] == -math.inf
    return is_number(x) and x == -math.inf


def _choose(g: Graph, mask: Any, yes: Any, no: Any) -> Any:
    """yes where the mask holds, no elsewhere."""
    mask = as_mask(mask)
    shape = _shape_of(mask, yes, no)
    if isinstance(mask, Known) and not isinstance(yes, Tensor) and not isinstance(no, Tensor):
        like = next((v for v in (yes, no) if isinstance(v, Known)), known.full("float32", (), 0))
        return known.chosen(mask, known.lifted(yes, like), known.lifted(no, like), like.dtype)
    certain = known.always(mask)
    for value, other, visible in ((no, yes, mask), (yes, no, None)):
        if _is_bottom(value) and certain is None:
            seen = known.mask_of(g, mask) if visible is not None else _negated(g, mask)
            shown = _tensor(g, other)
            if is_number(shown):
                shown = g.constant(_finite(shown), (1,) * seen.ndim, "float32")
            return _stretched(g, g.mask(seen, as_tensor(shown)), shape)
    if certain is not None:
        value = _tensor(g, yes if certain else no)
        return _stretched(g, as_tensor(value), shape)
    return _stretched(g, _where(g, known.mask_of(g, mask), _tensor(g, yes), _tensor(g, no)), shape)


def _negated(g: Graph, mask: Known | Tensor) -> Tensor:
    return known.mask_of(g, known.negated(mask)) if isinstance(mask, Known) else g.logical_not(mask)


def _where(g: Graph, mask: Tensor, yes: Any, no: Any) -> Tensor:
    """With PyTorch's promotion; a mask chosen by a mask by its parts."""
    if all(isinstance(v, Tensor) and v.dtype == "bool" for v in (yes, no)):
        return g.logical_or(g.logical_and(mask, yes), g.logical_and(g.logical_not(mask), no))
    if isinstance(yes, Tensor) and isinstance(no, Tensor):
        dtype = FROM_TORCH[torch.promote_types(TO_TORCH[yes.dtype], TO_TORCH[no.dtype])]
        return g.where(mask, cast_to(g, yes, dtype), cast_to(g, no, dtype))
    if not isinstance(yes, Tensor) and not isinstance(no, Tensor):
        yes = g.constant(_finite(yes), (1,) * mask.ndim, "float32")
    return g.where(mask, *(v if isinstance(v, Tensor) else _finite(v) for v in (yes, no)))


def _finite(x: Any) -> float:
    if not is_number(x) or not math.isfinite(x):
        raise Unsupported(f"the choice of {x}")
    return float(x)


@op("where", takes_known=True)
def where(g, condition, x=None, y=None, **kwargs):
    x, y = kwargs.get("self", x), kwargs.get("other", y)
    if getattr(condition, "dtype", None) != "bool" and getattr(x, "dtype", None) == "bool":  # the method: x.where(condition, y)
        condition, x = x, condition
    if x is None or y is None:
        raise Unsupported("the places where something holds")
    return _choose(g, condition, x, y)


@op("masked_fill", takes_known=True)
def masked_fill(g, x, mask, value):
    """Keeps x's dtype, whatever the value's."""
    if isinstance(value, (Tensor, Known)) and value.shape == () and isinstance(value, Known) and value.expr[0] == "number":
        value = value.expr[1]
    if not is_number(value) and not isinstance(value, bool):
        raise Unsupported("filled with a tensor")
    y = _choose(g, mask, float(value) if x.dtype in FLOATS else value, x)
    if isinstance(y, Known):
        return Known(x.dtype, y.shape, y.expr)
    return cast_to(g, y, x.dtype)


def _triangle(g: Graph, x: Any, upper: bool, diagonal: int) -> Any:
    if isinstance(x, Known):
        return known.triangle(x, upper, diagonal)
    kept = known.triangle(known.full("bool", as_tensor(x).shape, True), upper, diagonal)
    if x.dtype == "bool":
        return g.logical_and(x, known.mask_of(g, kept))
    return _choose(g, kept, x, 0.0)


@op("tril", takes_known=True)
def tril(g, x, diagonal=0):
    return _triangle(g, x, False, diagonal)


@op("triu", takes_known=True)
def triu(g, x, diagonal=0):
    return _triangle(g, x, True, diagonal)


# ----------------------------------------------------------------------------------------- what known tensors go through


def with_known(g: Graph, name: str, args: tuple, kwargs: dict) -> Any:
    """An operator that elsewhere is one of tensors, on known ones; None: it has to see tensors."""
    x = args[0] if args else None
    view = _view(name, x, args, kwargs) if isinstance(x, Known) else None
    if view is not None:
        return view
    if name in ("add", "sub", "subtract") and not kwargs and len(args) == 2:
        return _add(g, args[0], args[1], 1 if name == "add" else -1)
    if name in ("mul", "multiply") and len(args) == 2 and any(isinstance(a, Known) and a.is_integer for a in args):
        a, b = args if isinstance(args[0], Known) else args[::-1]
        return known.scaled(a, b) if isinstance(b, int) else None
    return None


def _add(g: Graph, a: Any, b: Any, sign: int) -> Any:
    """Positions; and scores plus what is 0 or -inf, which is a mask."""
    like = a if isinstance(a, Known) else b
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return known.add(known.lifted(a, like), known.lifted(b, like), sign) if like.is_integer else None
    scores, bias = (a, b) if isinstance(a, Tensor) else (b, a)
    visible = known.added_mask(bias)
    if sign < 0 or visible is None or as_tensor(scores).dtype != bias.dtype:
        return None
    return _stretched(g, g.mask(known.mask_of(g, visible), scores), _shape_of(a, b))


def masked_sum(g: Graph, a: Tensor, b: Tensor) -> Tensor | None:
    """a + b, where one of them is 0 where a mask holds and less than every number elsewhere: the other, masked."""
    for scores, bias in ((a, b), (b, a)):
        name, operands, _ = g._nodes[bias.index]
        shown = g._nodes[operands[1]] if name == "mask" else None
        if shown is not None and shown[0] == "constant" and shown[2]["value"] == 0 and scores.dtype == bias.dtype:
            return _stretched(g, g.mask(g._tensors[operands[0]], scores), _shape_of(a, b))
    return None


def _view(name: str, x: Known, args: tuple, kwargs: dict) -> Known | None:
    if name in ("to", "type", "_to_copy", "long", "int", "bool", "float", "half", "bfloat16"):
        return _converted(name, x, args, kwargs)
    if name in ("contiguous", "clone", "detach", "alias", "lift_fresh_copy"):
        return x
    if name in ("view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "t", "transpose", "permute", "getitem", "slice"):
        return _moved(name, x, args[1:], kwargs)
    return None


def _moved(name: str, x: Known, args: tuple, kwargs: dict) -> Known:
    """By the functions that move tensors (_torch_shapes), which ask a graph for what is left here to three functions."""
    from . import _torch_shapes as shapes

    by_name = {"slice": "aten_slice", "t": "matrix_transpose", "view": "reshape"}
    result: Known = getattr(shapes, by_name.get(name, name))(_Moves(), x, *args, **kwargs)
    return result


class _Moves:
    """Of a Graph, what moves a Known."""

    reshape = staticmethod(known.reshaped)
    transpose = staticmethod(known.permuted)
    broadcast = staticmethod(known.broadcast)
    slice = staticmethod(known.sliced)


def _converted(name: str, x: Known, args: tuple, kwargs: dict) -> Known | None:
    names = {"long": torch.int64, "int": torch.int32, "bool": torch.bool, "float": torch.float32, "half": torch.float16,
             "bfloat16": torch.bfloat16}
    dtype = names.get(name) or kwargs.get("dtype")
    for a in args[1:]:
        dtype = a if isinstance(a, torch.dtype) else dtype
        if isinstance(a, (Known, Tensor)):
            return None
    target = x.dtype if dtype is None else _dtype_name(dtype)
    if target == x.dtype:
        return x
    if x.dtype == "bool":  # 0 and 1
        return Known(target, x.shape, ("where", x.expr, 1, 0))
    if target == "bool":
        if x.expr[0] == "where" and set(x.expr[2:]) == {0, 1}:
            return Known("bool", x.shape, x.expr[1] if x.expr[2] else known.negated(Known("bool", x.shape, x.expr[1])).expr)
        return known.compare("not_equal", x, known.lifted(0, x)) if x.is_integer else None
    if x.expr[0] == "number" and any(x.expr[2]) and not target.startswith("int"):
        return None
    return Known(target, x.shape, x.expr)
