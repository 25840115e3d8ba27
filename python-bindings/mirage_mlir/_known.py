"""Tensors of which all is known while a program of PyTorch's or JAX's is read: positions, and the masks that are made of them.

A Known has a shape and an expression over its indices:

    ("number", start, steps)       start + sum of steps[d] * index d: arange, full, ones, and sums of such
    ("holds", op, start, steps)    that number compared with 0: a mask
    ("and" | "or", a, b), ("not", a)
    ("where", mask, a, b)          one of two numbers, each of which may be infinite: masks that are added

Nothing of it reaches the Graph until an operator needs the tensor (`tensor_of`): then positions become iota, comparisons of them
predicates. Attention asks whether a mask is a causal one (`as_causal`).

    i = torch.arange(8); i[:, None] >= i     ("holds", "greater_equal", 0, (1, -1)) of shape [8, 8]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable

from ._graph import Graph, Tensor

Expr = tuple[Any, ...]
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
}
_OPPOSITES = {"less": "greater_equal", "greater_equal": "less", "greater": "less_equal", "less_equal": "greater",
              "equal": "not_equal", "not_equal": "equal"}
_TURNED = {"less": "greater", "greater": "less", "less_equal": "greater_equal", "greater_equal": "less_equal",
           "equal": "equal", "not_equal": "not_equal"}


class Unsupported(Exception):
    """What the dialect has no words for. The text is the reason."""


@dataclass(frozen=True)
class Known:
    """dtype: its name in PyTorch and NumPy, "int64", "bool", "float16", ..."""

    dtype: str
    shape: tuple[int, ...]
    expr: Expr

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_integer(self) -> bool:
        return self.dtype.startswith("int")


def full(dtype: str, shape: Any, value: float | bool) -> Known:
    shape = tuple(shape)
    if dtype == "bool":
        return Known(dtype, shape, ("holds", "not_equal", int(bool(value)), (0,) * len(shape)))
    return Known(dtype, shape, ("number", value, (0,) * len(shape)))


def arange(dtype: str, start: int, end: int, step: int) -> Known:
    return Known(dtype, (max(0, -(-(end - start) // step)),), ("number", start, (step,)))


# ------------------------------------------------------------------------------------------------------------- indices


def _over(expr: Expr, change: Callable[[float, tuple[int, ...]], tuple[float, tuple[int, ...]]]) -> Expr:
    """The expression with another (start, steps) in each leaf."""
    if expr[0] == "number":
        return ("number", *change(expr[1], expr[2]))
    if expr[0] == "holds":
        return ("holds", expr[1], *change(expr[2], expr[3]))
    if expr[0] == "where":
        return ("where", _over(expr[1], change), expr[2], expr[3])
    return (expr[0], *(_over(e, change) for e in expr[1:]))


def permuted(x: Known, perm: list[int]) -> Known:
    expr = _over(x.expr, lambda start, steps: (start, tuple(steps[d] for d in perm)))
    return Known(x.dtype, tuple(x.shape[d] for d in perm), expr)


def reshaped(x: Known, shape: Any) -> Known:
    """Only extents of 1 come and go."""
    shape = tuple(shape)
    if [e for e in shape if e != 1] != [e for e in x.shape if e != 1]:
        raise Unsupported(f"positions {list(x.shape)} as {list(shape)}")
    kept = [d for d, e in enumerate(x.shape) if e != 1]

    def change(start: float, steps: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        rest = iter(kept)
        return start, tuple(0 if e == 1 else steps[next(rest)] for e in shape)

    return Known(x.dtype, shape, _over(x.expr, change))


def broadcast(x: Known, shape: Any) -> Known:
    shape = tuple(shape)
    lead = len(shape) - x.ndim
    if lead < 0 or any(e not in (1, s) for e, s in zip(x.shape, shape[lead:])):
        raise Unsupported(f"positions {list(x.shape)} stretched to {list(shape)}")

    def change(start: float, steps: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        return start, (0,) * lead + tuple(0 if e == 1 else step for e, step in zip(x.shape, steps))

    return Known(x.dtype, shape, _over(x.expr, change))


def sliced(x: Known, dim: int, begin: int, end: int) -> Known:
    def change(start: float, steps: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        return start + begin * steps[dim], steps

    shape = (*x.shape[:dim], end - begin, *x.shape[dim + 1 :])
    return Known(x.dtype, shape, _over(x.expr, change))


# ----------------------------------------------------------------------------------------------------------- arithmetic


def _common(a: Known, b: Known) -> tuple[Known, Known]:
    rank = max(a.ndim, b.ndim)
    extents = [((1,) * (rank - x.ndim) + x.shape) for x in (a, b)]
    shape = tuple(max(e, f) for e, f in zip(*extents))
    return broadcast(a, shape), broadcast(b, shape)


def _number(x: Known) -> tuple[float, tuple[int, ...]]:
    if x.expr[0] != "number":
        raise Unsupported("arithmetic on a mask")
    return x.expr[1], x.expr[2]


def lifted(x: Any, like: Known) -> Known:
    """A Python number as a Known."""
    if isinstance(x, Known):
        return x
    if not isinstance(x, (int, float)):
        raise Unsupported(f"positions and {type(x).__name__}")
    return Known("bool" if isinstance(x, bool) else like.dtype, (), full("bool" if isinstance(x, bool) else like.dtype, (), x).expr)


def add(a: Known, b: Known, factor: int = 1) -> Known:
    """a + factor * b."""
    if not (a.is_integer and b.is_integer):
        raise Unsupported(f"a sum of {a.dtype} and {b.dtype} that are known")
    x, y = _common(a, b)
    (start, steps), (other, more) = _number(x), _number(y)
    return Known(a.dtype, x.shape, ("number", start + factor * other, tuple(s + factor * m for s, m in zip(steps, more))))


def scaled(x: Known, factor: Any) -> Known:
    start, steps = _number(x)
    if not x.is_integer or not isinstance(factor, int) or isinstance(factor, bool):
        raise Unsupported("a product of positions and no whole number")
    return Known(x.dtype, x.shape, ("number", start * factor, tuple(s * factor for s in steps)))


def compare(op: str, a: Known, b: Known) -> Known:
    """Of numbers; a mask and a number that is 0 or 1 are compared as what they hold."""
    if a.dtype == "bool":
        return _compared_mask(op, a, b)
    if a.expr[0] == "where" and b.expr[0] == "number" and not any(b.expr[2]):
        return _compared_choice(op, a, b.expr[1])
    if not (a.is_integer and b.is_integer):
        raise Unsupported(f"{a.dtype} and {b.dtype} compared while they are known")
    start, steps = _number(difference := add(a, b, -1))
    return Known("bool", difference.shape, ("holds", op, start, steps))


def _compared_mask(op: str, a: Known, b: Known) -> Known:
    value = b.expr[1] if b.expr[0] == "number" and not any(b.expr[2]) else None
    if op not in ("equal", "not_equal") or value not in (0, 1):
        raise Unsupported("a mask compared with something else than 0 and 1")
    return a if (op == "equal") == (value == 1) else negated(a)


def _compared_choice(op: str, a: Known, number: float) -> Known:
    """One of two numbers compared with a third: the mask that chooses, or its opposite, or no mask at all."""
    yes, no = (COMPARISONS[op](value, number) for value in a.expr[2:])
    if yes == no:
        return full("bool", a.shape, yes)
    return Known("bool", a.shape, a.expr[1] if yes else _not(a.expr[1]))


def negated(x: Known) -> Known:
    return Known("bool", x.shape, _not(_mask(x)))


def joined(op: str, a: Known, b: Known) -> Known:
    x, y = _common(a, b)
    return Known("bool", x.shape, (op, _mask(x), _mask(y)))


def triangle(x: Known, upper: bool, diagonal: int) -> Known:
    """What tril and triu leave of a matrix."""
    if x.ndim < 2:
        raise Unsupported(f"a triangle of {list(x.shape)}")
    kept = ("holds", "less_equal" if upper else "greater_equal", diagonal, (0,) * (x.ndim - 2) + (1, -1))
    if x.dtype == "bool":
        return Known(x.dtype, x.shape, ("and", _mask(x), kept))
    start, steps = _number(x)
    if any(steps):
        raise Unsupported("a triangle of positions")
    return Known(x.dtype, x.shape, ("where", kept, start, 0))


def chosen(mask: Known, a: Known, b: Known, dtype: str) -> Known:
    """One of two numbers, or of two masks, by a third mask."""
    x, y = _common(a, b)
    m, x = _common(mask, x)
    y = broadcast(y, x.shape)
    if x.dtype == y.dtype == "bool":
        return Known("bool", x.shape, ("or", ("and", _mask(m), _mask(x)), ("and", _not(_mask(m)), _mask(y))))
    values = [_number(v) for v in (x, y)]
    if any(any(steps) for _, steps in values):
        raise Unsupported("a choice between positions")
    return Known(dtype, x.shape, ("where", _mask(m), values[0][0], values[1][0]))


def _mask(x: Known) -> Expr:
    if x.dtype != "bool":
        raise Unsupported(f"{x.dtype} as a mask")
    return x.expr


def _not(expr: Expr) -> Expr:
    if expr[0] == "not":
        return tuple(expr[1])
    if expr[0] == "holds":
        return ("holds", _OPPOSITES[expr[1]], *expr[2:])
    return ("not", expr)


# ------------------------------------------------------------------------------------------------------------- tensors


def _is_true(expr: Expr) -> bool | None:
    """Whether a mask holds everywhere, or nowhere; None: it depends."""
    if expr[0] == "holds":
        return None if any(expr[3]) else COMPARISONS[expr[1]](expr[2], 0)
    if expr[0] == "not":
        inner = _is_true(expr[1])
        return None if inner is None else not inner
    parts = [_is_true(e) for e in expr[1:]]
    decides = expr[0] == "or"
    return decides if decides in parts else not decides if parts == [not decides] * 2 else None


def _shortened(expr: Expr) -> Expr:
    """Without what always holds."""
    if expr[0] in ("and", "or"):
        for this, other in ((expr[1], expr[2]), (expr[2], expr[1])):
            if _is_true(this) is (expr[0] == "and"):
                return _shortened(other)
        return (expr[0], _shortened(expr[1]), _shortened(expr[2]))
    return _not(_shortened(expr[1])) if expr[0] == "not" else expr


def settled(x: Known) -> Known:
    """A mask without comparisons that hold everywhere within its extents, or nowhere."""
    return Known(x.dtype, x.shape, _shortened(_settled(_mask(x), x.shape)))


def _settled(expr: Expr, shape: tuple[int, ...]) -> Expr:
    if expr[0] != "holds":
        return (expr[0], *(_settled(e, shape) for e in expr[1:]))
    _, op, start, steps = expr
    ends = [step * (extent - 1) for step, extent in zip(steps, shape)]
    low, high = start + sum(min(e, 0) for e in ends), start + sum(max(e, 0) for e in ends)
    decided = {COMPARISONS[op](value, 0) for value in (low, high)}
    if len(decided) > 1 or op in ("equal", "not_equal") and low <= 0 <= high and low != high:
        return expr
    return ("holds", "not_equal", int(decided.pop()), (0,) * len(steps))


def splat_of(x: Known) -> float | bool | None:
    """The one number or truth that all elements are; None where they differ, or may."""
    if x.dtype == "bool":
        return _is_true(x.expr)
    return None if x.expr[0] != "number" or any(x.expr[2]) else x.expr[1]


def mapped(x: Known, dtype: str, function: Callable[[float], float]) -> Known | None:
    """A function of each element, where there are two at most."""
    if x.expr[0] == "where":
        return Known(dtype, x.shape, ("where", x.expr[1], *(function(v) for v in x.expr[2:])))
    value = splat_of(x)
    return None if value is None else full(dtype, x.shape, function(value))


def compacted(x: Known) -> Known:
    """With an extent of 1 where the elements do not differ."""
    walked: set[int] = set()

    def look(start: float, steps: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        walked.update(d for d, step in enumerate(steps) if step)
        return start, steps

    _over(x.expr, look)
    return Known(x.dtype, tuple(e if d in walked else 1 for d, e in enumerate(x.shape)), x.expr)


def _iota(g: Graph, shape: tuple[int, ...], dim: int, start: int) -> Tensor:
    return g.iota([e if d == dim else 1 for d, e in enumerate(shape)], dim, start)


def _predicate(g: Graph, expr: Expr, shape: tuple[int, ...]) -> Tensor:
    if expr[0] == "not":
        return g.logical_not(_predicate(g, expr[1], shape))
    if expr[0] in ("and", "or"):
        join = g.logical_and if expr[0] == "and" else g.logical_or
        return join(_predicate(g, expr[1], shape), _predicate(g, expr[2], shape))
    _, op, start, steps = expr
    rising, falling = ([d for d, s in enumerate(steps) if s == sign] for sign in (1, -1))
    if len(rising) > 1 or len(falling) > 1 or len(rising) + len(falling) != sum(s != 0 for s in steps) or start != int(start):
        raise Unsupported(f"a mask by {start} + {list(steps)} times the positions")
    start = int(start)
    if rising and falling:
        return g.apply(op, _iota(g, shape, rising[0], start), _iota(g, shape, falling[0], 0))
    if rising:
        return g._binary(op, _iota(g, shape, rising[0], start), 0)
    if falling:
        return g._binary(_TURNED[op], _iota(g, shape, falling[0], -start), 0)
    raise Unsupported("a mask that always holds, or never")


def mask_of(g: Graph, x: Known | Tensor) -> Tensor:
    """A mask as a tensor that broadcasts to its shape."""
    if isinstance(x, Tensor):
        if x.dtype != "bool":
            raise Unsupported(f"{x.dtype} as a mask")
        return x
    return _predicate(g, _shortened(_mask(x)), x.shape)


def always(x: Known | Tensor) -> bool | None:
    """Whether a mask holds everywhere (True), nowhere (False), or one cannot say."""
    return _is_true(_mask(x)) if isinstance(x, Known) else None


def tensor_of(g: Graph, x: Known) -> Tensor:
    """As a tensor of its shape, of numbers or a mask."""
    if not 1 <= x.ndim <= 6 or 0 in x.shape:
        raise Unsupported(f"a known tensor of shape {list(x.shape)}")
    if x.dtype == "bool":
        tensor = mask_of(g, x)
        return tensor if tensor.shape == x.shape else g.broadcast(tensor, x.shape)
    if x.expr[0] == "where" and x.expr[2] == -math.inf:
        zeros = g.constant(x.expr[3], x.shape, x.dtype)
        return g.mask(mask_of(g, Known("bool", x.shape, _not(x.expr[1]))), zeros)
    if x.expr[0] == "where" and x.expr[3] == -math.inf:
        return g.mask(mask_of(g, Known("bool", x.shape, x.expr[1])), g.constant(x.expr[2], x.shape, x.dtype))
    if x.expr[0] == "where":
        yes = g.constant(_finite(x.expr[2]), x.shape, x.dtype)
        return g.where(mask_of(g, Known("bool", x.shape, x.expr[1])), yes, _finite(x.expr[3]))
    start, steps = _number(x)
    if not any(steps) and not x.is_integer:
        return g.constant(_finite(start), x.shape, x.dtype)
    walked = [d for d, s in enumerate(steps) if s]
    if [steps[d] for d in walked] != [1]:
        raise Unsupported(f"positions {start} + {list(steps)} times the indices")
    tensor = _iota(g, x.shape, walked[0], int(start))
    return tensor if tensor.shape == x.shape else g.broadcast(tensor, x.shape)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Unsupported(f"the number {value}")
    return float(value)


def added_mask(x: Known) -> Known | None:
    """What has to hold where a tensor is 0 that is -inf elsewhere; None: it is no such tensor."""
    if x.expr[0] == "where" and set(x.expr[2:]) == {0, -math.inf}:
        return Known("bool", x.shape, x.expr[1] if x.expr[2] == 0 else _not(x.expr[1]))
    return None


def as_causal(x: Known) -> tuple[int, int] | None:
    """(offset, window) of a causal mask: key j is seen by query i where j <= i + offset, and j > i + offset - window unless the
    window is 0. None: another mask."""
    bounds = [_bound(leaf, x.ndim) for leaf in _conjuncts(_shortened(_mask(x)))]
    if None in bounds:
        return None
    later = [b[1] for b in bounds if b and b[0] == "up to"]
    earlier = [b[1] for b in bounds if b and b[0] == "from"]
    if not later:
        return None
    window = min(later) - max(earlier) + 1 if earlier else 0
    return None if earlier and window < 1 else (min(later), window)


def _conjuncts(expr: Expr) -> list[Expr]:
    return [*_conjuncts(expr[1]), *_conjuncts(expr[2])] if expr[0] == "and" else [expr]


def _bound(expr: Expr, rank: int) -> tuple[str, int] | None:
    """("up to", s): j <= i + s;  ("from", s): j >= i + s. Queries are the last dimension but one, keys the last."""
    if expr[0] != "holds" or rank < 2 or any(expr[3][:-2]):
        return None
    _, op, start, steps = expr
    if steps[-2:] == (-1, 1):
        op, start, steps = _TURNED[op], -start, tuple(-s for s in steps)
    if steps[-2:] != (1, -1) or start != int(start):
        return None
    shift = {"greater_equal": ("up to", 0), "greater": ("up to", -1), "less_equal": ("from", 0), "less": ("from", 1)}
    if op not in shift:
        return None
    kind, by = shift[op]
    return kind, int(start) + by
