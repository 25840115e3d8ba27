"""Attention that is written out: softmax(mask(scale q k^T)) v as one operator, which is what the search knows best.

It is found from its end, the product of weights and values. Between that and the product of queries and keys, tensors are
reshaped and transposed at will; an Axis says what became of the dimensions of the latter, [.., m, n]. Heads that share keys are
among its m rows.

A query that sees no key gives 0 in our operator, but in JAX the mean of all values where scores are replaced by a number, and NaN
where they are replaced by minus infinity. What is made here means the same: where a row may see nothing, the former is left as it
is written, and the latter divided by 0 in such rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Sequence

from . import _known as known
from ._known import Known
from ._known_arrays import has_empty_rows
from ._lazy_values import Const, Node, Value, is_moved, made_by, ruled

if TYPE_CHECKING:
    from ._lazy import Builder

_MOST_DIMENSIONS = 6
_MOST_ELEMENTS = 1 << 24  # of a mask that is looked through for rows without a key


@dataclass(frozen=True)
class Axis:
    """A piece of dimension `dim` of the product of queries and keys: `extent` places, `stride` apart."""

    dim: int
    extent: int
    stride: int


Layout = list[list[Axis]]  # the axes of each dimension, outermost first; none of an extent of 1


@dataclass
class Scores:
    """What lies under a softmax. Levels count the moves above."""

    product: Node
    of_keys: bool = False  # the product is k q^T
    scale: float = 1.0
    cap: float = 0.0
    moves: list[Node] = field(default_factory=list)  # reshapes and transposes, the last first
    masks: list[tuple[Value, float, int]] = field(default_factory=list)  # (where scores are seen, what is elsewhere, level)
    biases: list[tuple[Value, int]] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """[.., m, n], of q k^T."""
        *wide, m, n = self.product.shape
        return (*wide, n, m) if self.of_keys else (*wide, m, n)

    @property
    def axes(self) -> Layout:
        """Of the product's dimensions."""
        found = [[Axis(d, e, 1)] if e > 1 else [] for d, e in enumerate(self.shape)]
        return found[:-2] + found[:-3:-1] if self.of_keys else found

    def sides(self, builder: Builder) -> tuple[Node, Node]:
        """q and k, [.., m, d] and [.., n, d]."""
        a, b = (builder.turned(x) if turned else x for x, turned in
                zip(self.product.operands, (self.product.attrs[0], not self.product.attrs[1])))
        return (b, a) if self.of_keys else (a, b)


# ---------------------------------------------------------------------------------------------------------- what there is


def _softmax_of(x: Node) -> Node | None:
    """The scores where x is their softmax along the last dimension, which may have summed in float32."""
    if x.op != "div":
        return None
    e, total = x.operands
    if not made_by(e, "exp") or not made_by(e.operands[0], "sub"):
        return None
    if made_by(total, "cast") and made_by(total.operands[0], "reduce_sum"):
        total = total.operands[0]
        summed = total.operands[0]
        summed = summed.operands[0] if summed.op == "cast" else summed
    else:
        summed = total.operands[0] if made_by(total, "reduce_sum") else None
    scores, shift = e.operands[0].operands
    if summed is not e or total.attrs != (len(x.shape) - 1,) or shift.shape[-1:] != (1,):  # any shift of a row will do
        return None
    return scores if isinstance(scores, Node) and scores.shape == x.shape else None


def _scores_of(builder: Builder, x: Value) -> Scores | None:
    """What is done to a product of two tensors to give x; None: something else."""
    if not isinstance(x, Node):
        return None
    if x.op in ("matmul", "wide_matmul"):
        return Scores(x)
    if x.op in ("reshape", "transpose") or x.op == "cast" and x.dtype == "float32":
        found = _scores_of(builder, x.operands[0])
        return _moved(found, x) if found and x.op != "cast" else found
    step = {"mul": _scaled, "div": _scaled, "add": _biased, "mask": _masked, "select": _chosen}.get(x.op)
    return step(builder, x) if step else None


def _moved(found: Scores, x: Node) -> Scores:
    found.moves.insert(0, x)
    found.masks = [(mask, fill, level + 1) for mask, fill, level in found.masks]
    found.biases = [(bias, level + 1) for bias, level in found.biases]
    return found


def _scaled(builder: Builder, x: Node) -> Scores | None:
    """scale * scores; cap * tanh(scores / cap)."""
    scores, by = x.operands if isinstance(x.operands[1], Const) or x.op == "div" else x.operands[::-1]
    if not isinstance(scores, Node) or not isinstance(by, Const) or not by.splat or by.splat <= 0:
        return None
    factor = float(by.splat) if x.op == "mul" else 1 / float(by.splat)
    capped = scores.op == "tanh"
    found = _scores_of(builder, scores.operands[0] if capped else scores)
    if not found or found.masks or found.biases or found.cap:
        return None
    found.cap = factor if capped else 0.0
    found.scale *= factor  # factor * tanh(scale * s) is cap * tanh(cap * scale * s / cap)
    return found


def _biased(builder: Builder, x: Node) -> Scores | None:
    for scores, bias in (x.operands, x.operands[::-1]):
        found = _scores_of(builder, scores) if scores.shape == x.shape else None
        if found and isinstance(bias, Node) and not any(math.isfinite(fill) for _, fill, _ in found.masks):
            found.biases.insert(0, (bias, 0))
            return found
    return None


def _masked(builder: Builder, x: Node) -> Scores | None:
    mask, scores = x.operands
    return _seen(builder, x, scores, mask, -math.inf)


def _chosen(builder: Builder, x: Node) -> Scores | None:
    mask, yes, no = x.operands
    if isinstance(no, Const):
        return _seen(builder, x, yes, mask, float(no.splat))  # type: ignore[arg-type]
    return _seen(builder, x, no, builder.negated(mask), float(yes.splat)) if isinstance(yes, Const) else None  # type: ignore[arg-type]


def _seen(builder: Builder, x: Node, scores: Value, mask: Value, fill: float) -> Scores | None:
    found = _scores_of(builder, scores) if scores.shape == x.shape else None
    if found:
        found.masks.insert(0, (mask, fill, 0))
    return found


# ------------------------------------------------------------------------------------------------------------------- axes


def _regrouped(layout: Layout, shape: Sequence[int]) -> Layout | None:
    """The axes in dimensions of other extents, split where these ask for it. None: that is no split."""
    rest = [axis for group in layout for axis in group]
    result: Layout = []
    for extent in shape:
        group: list[Axis] = []
        while extent > 1:
            axis = rest.pop(0)
            if axis.extent > extent:
                if axis.extent % extent:
                    return None
                inner = axis.extent // extent
                rest.insert(0, Axis(axis.dim, inner, axis.stride))
                axis = Axis(axis.dim, extent, axis.stride * inner)
            if extent % axis.extent:
                return None
            group.append(axis)
            extent //= axis.extent
        result.append(group)
    return result


def _through(layout: Layout | None, moves: Sequence[Node]) -> Layout | None:
    """After moves, of which the first is done last."""
    for move in reversed(moves):
        if layout is None:
            return None
        layout = [layout[d] for d in move.attrs] if move.op == "transpose" else _regrouped(layout, move.shape)
    return layout


def _extents(axes: Sequence[Axis]) -> tuple[int, ...]:
    return tuple(axis.extent for axis in axes)


@dataclass
class Frame:
    """How the operator sees the dimensions of the first product: [batch.., rows, n]."""

    atoms: list[Axis]  # the finest pieces
    batch: list[Axis]
    rows: list[Axis]
    last: Axis

    def pieces(self, axes: Sequence[Axis]) -> list[Axis]:
        found: list[Axis] = []
        for axis in axes:
            inside = [a for a in self.atoms if a.dim == axis.dim and axis.stride <= a.stride < axis.stride * axis.extent]
            found += sorted(inside, key=lambda a: -a.stride)
        return found

    def placed(self, builder: Builder, x: Value, layout: Layout, tail: tuple[int, ...] = ()) -> Value:
        """x, whose dimensions have these axes and then `tail`, as [batch.., rows, n] and the tail; 1 where x does not depend on an
        axis; without rows or n where the tail stands for them."""
        dims = [self.pieces(axes) if extent > 1 else [] for axes, extent in zip(layout, x.shape)]
        flat = [a for group in dims for a in group]
        places = [*self.batch, *([] if len(tail) > 1 else self.rows), *([] if tail else [self.last])]
        x = builder.reshape(x, _extents(flat) + tail)
        order = sorted(range(len(flat)), key=lambda i: places.index(flat[i]))
        x = builder.transpose(x, [*order, *range(len(flat), len(flat) + len(tail))])
        shape = [a.extent if a in flat else 1 for a in self.batch]
        shape += [] if len(tail) > 1 else [math.prod(a.extent for a in self.rows if a in flat)]
        shape += [] if tail else [self.last.extent if self.last in flat else 1]
        return builder.reshape(x, (*shape, *tail))


# ------------------------------------------------------------------------------------------------------------------ masks


def _conjuncts(builder: Builder, x: Value) -> list[Value]:
    """What has to hold together, each of x's rank, with an extent of 1 where it does not depend on a dimension."""
    if made_by(x, "known"):
        return [ruled(x.attrs[0])]
    if made_by(x, "broadcast"):
        return _conjuncts(builder, x.operands[0])
    if made_by(x, "and"):
        return [part for operand in x.operands for part in _conjuncts(builder, operand)]
    return [x]


@dataclass
class Visibility:
    """Which keys the queries see: by a rule of their positions, and by tensors."""

    rule: Known | None
    tensors: list[Value]
    fills: list[float]

    @property
    def causal(self) -> tuple[int, int] | None:
        return known.as_causal(self.rule) if self.rule else None

    def may_be_empty(self) -> bool:
        """Whether a query may see no key."""
        if self.tensors or self.rule is None:
            return bool(self.tensors)
        queries, keys = self.rule.shape[-2:]
        if self.causal:
            offset, window = self.causal
            return offset < 0 or bool(window) and queries - 1 + offset - window >= keys - 1
        rule = known.compacted(self.rule)
        return math.prod(rule.shape) > _MOST_ELEMENTS or has_empty_rows(rule, -1)

    def mask(self, builder: Builder, without_causal: bool) -> Value | None:
        """As one tensor; without_causal: less what the operator's own attributes say."""
        parts = list(self.tensors)
        if self.rule is not None and not (without_causal and self.causal):
            parts.append(ruled(known.compacted(self.rule)))
        whole: Value | None = None
        for part in parts:
            whole = part if whole is None else _together(builder, whole, part)
        return whole


def _together(builder: Builder, a: Value, b: Value) -> Value:
    shape = tuple(max(e, f) for e, f in zip(a.shape, b.shape))
    return builder.logic("and", builder.broadcast(a, shape), builder.broadcast(b, shape))


def _visibility(builder: Builder, found: Scores, frame: Frame, views: list[Layout]) -> Visibility | None:
    """None where a constant mask follows no rule."""
    shape = (*_extents(frame.batch), math.prod(_extents(frame.rows)), frame.last.extent)
    seen = Visibility(None, [], [fill for _, fill, _ in found.masks])
    for mask, _, level in found.masks:
        for part in _conjuncts(builder, mask):
            placed = frame.placed(builder, part, views[level])
            if isinstance(placed, Node):
                seen.tensors.append(placed)
                continue
            if placed.rule is None:
                return None
            rule = known.broadcast(placed.rule, shape)
            seen.rule = rule if seen.rule is None else known.joined("and", seen.rule, rule)
    return seen


# -------------------------------------------------------------------------------------------------------------- the whole


@dataclass
class Values:
    """The tensor that weights multiply, and which of its dimensions go with which of the weights'."""

    tensor: Node
    batch: Sequence[int]
    contract: Sequence[int]

    @property
    def free(self) -> list[int]:
        return [d for d in range(len(self.tensor.shape)) if d not in self.batch and d not in self.contract]


def attention(builder: Builder, weights: Node, batch: Sequence[int], contract: Sequence[int], values: Values,
              dtype: str) -> Value | None:
    """The product of weights and values, [batch.., the weights' other dimensions.., the values' own as one]; None: these are no
    weights of attention, or what they mean cannot be said by the operator."""
    above, x = [], weights
    while x.op in ("reshape", "transpose", "cast"):
        above += [x] if x.op != "cast" else []
        x = x.operands[0]
    scores = _softmax_of(x)
    found = _scores_of(builder, scores) if scores is not None else None
    if not found or len(contract) != 1 or {t.dtype for t in (*found.product.operands, values.tensor)} != {dtype}:
        return None
    views = [_through(found.axes, found.moves[level:]) for level in range(len(found.moves) + 1)]
    if None not in views and views[0][-1:] == found.axes[-2:-1]:  # type: ignore[index]
        found.of_keys = True
        views = [_through(found.axes, found.moves[level:]) for level in range(len(found.moves) + 1)]
    top = _through(views[0], above)
    keys = [Axis(len(found.shape) - 1, found.shape[-1], 1)]
    if None in views or top is None or views[0][-1] != keys or top[contract[0]] != keys:  # type: ignore[index]
        return None
    own = [d for d in range(len(weights.shape)) if d not in (*batch, *contract)]
    return _made(builder, found, views, [top[d] for d in batch], [top[d] for d in own], values)  # type: ignore[arg-type]


def _made(builder: Builder, found: Scores, views: list[Layout], shared: Layout, own: Layout, values: Values) -> Value | None:
    frame = _frame(found, views, [axis for group in shared + own for axis in group])
    if len(frame.atoms) + 1 > _MOST_DIMENSIONS or any(axis in frame.rows for group in shared for axis in frame.pieces(group)):
        return None
    seen = _visibility(builder, found, frame, views)
    bias = _bias(builder, found, frame, views)
    if seen is None or bias is False or not _says_the_same(builder, seen):
        return None
    v, keys = values.tensor, frame.last.extent
    v_batch = tuple(v.shape[d] for d in values.batch)
    tail = keys, math.prod(v.shape[d] for d in values.free)
    v = builder.known(builder.transpose(v, [*values.batch, *values.contract, *values.free]))
    v = frame.placed(builder, builder.reshape(v, v_batch + tail), shared, tail)  # type: ignore[assignment]
    return _back(builder, frame, _operator(builder, found, frame, seen, bias, v), shared + own)


def _frame(found: Scores, views: list[Layout], axes: list[Axis]) -> Frame:
    """Rows are all m of them; or the innermost axis that masks and biases depend on, and the others are heads that share keys. Also
    where queries were transposed to make the m rows: the search takes them better as they were."""
    last = len(found.shape) - 1
    keys = Axis(last, found.shape[-1], 1)
    ordered = sorted(axes, key=lambda a: (a.dim, -a.stride))
    batch, rows = [a for a in ordered if a.dim < last - 1], [a for a in ordered if a.dim == last - 1]
    frame = Frame([*batch, *rows, keys], batch, rows, keys)
    told: set[Axis] = set(rows if is_moved(found.product.operands[found.of_keys]) else [])
    for mask, level in [(mask, level) for mask, _, level in found.masks] + found.biases:
        told.update(a for group, extent in zip(views[level], mask.shape) if extent > 1 for a in frame.pieces(group))
    inner = [a for group in views[0] for a in frame.pieces(group) if a in rows and a in told]
    if inner:
        frame.batch, frame.rows = batch + [a for a in rows if a != inner[-1]], inner[-1:]
    return frame


_LOWEST = -3.3895313892515355e38  # of bfloat16; float32's is a little lower, and float16 has no number like that


def _says_the_same(builder: Builder, seen: Visibility) -> bool:
    """Whether numbers in place of scores are as good as nothing: so low that scores beside them would have to overflow, and beside
    such scores in each row."""
    numbers = [fill for fill in seen.fills if math.isfinite(fill)]
    if not numbers:
        return True
    return max(numbers) <= _LOWEST / 2 and (builder.every_row_sees or not seen.may_be_empty())


def _bias(builder: Builder, found: Scores, frame: Frame, views: list[Layout]) -> Value | None | bool:
    """What is added to scores, in the type of the queries; False where that would round it."""
    if not found.biases:
        return None
    (bias, level), *others = found.biases
    dtype = found.product.operands[0].dtype
    if not others and bias.dtype != dtype:
        wide, bias = bias, builder.cast(bias, dtype)
        if builder.cast(bias, wide.dtype) is not wide:
            return False
    return False if others else frame.placed(builder, bias, views[level])


def _operator(builder: Builder, found: Scores, frame: Frame, seen: Visibility, bias: Value | None | bool, v: Value) -> Value:
    left, right = found.sides(builder)
    whole = [frame.pieces([Axis(d, e, 1)]) for d, e in enumerate(found.shape)]
    q = frame.placed(builder, left, whole[:-1], left.shape[-1:])
    k = frame.placed(builder, right, whole[:-2], right.shape[-2:])
    mask = seen.mask(builder, without_causal=True)
    if bias is not None and not isinstance(bias, bool):
        mask = bias if mask is None else _masked_bias(builder, mask, bias)
    offset, window = seen.causal or (0, 0)
    operands = [q, k, v] + ([] if mask is None else [builder.known(mask)])
    attrs = (found.scale, seen.causal is not None, offset, window, found.cap)
    shape = _extents(frame.batch) + (math.prod(_extents(frame.rows)), v.shape[-1])
    y = builder.make("attention", operands, attrs, q.dtype, shape)
    if builder.every_row_sees or not seen.may_be_empty() or not seen.fills:
        return y
    anywhere = builder.reduce("reduce_max", seen.mask(builder, without_causal=False), [len(shape) - 1])  # type: ignore[arg-type]
    number = builder.cast(builder.reshape(anywhere, (*anywhere.shape, 1)), y.dtype)
    return builder.binary("div", y, builder.broadcast(number, shape))


def _masked_bias(builder: Builder, mask: Value, bias: Value) -> Value:
    shape = tuple(max(e, f) for e, f in zip(mask.shape, bias.shape))
    return builder.mask(builder.broadcast(mask, shape), builder.broadcast(bias, shape))


def _back(builder: Builder, frame: Frame, y: Value, layout: Layout) -> Value:
    """[batch.., rows, e] with the dimensions that have these axes in place of the former."""
    flat, tail = frame.batch + frame.rows, y.shape[-1:]
    wanted = [axis for group in layout for axis in frame.pieces(group)]
    y = builder.reshape(y, _extents(flat) + tail)
    y = builder.transpose(y, [*(flat.index(axis) for axis in wanted), len(flat)])
    return builder.reshape(y, tuple(math.prod(_extents(group)) for group in layout) + tail)
