"""Programs while they are read from elsewhere: values that are known, and operators that are tidied as they are made.

Exporters write what a person would not: reshapes of reshapes, transposes of extents of 1, arithmetic on shapes and
masks, a stretched operand for each broadcast. Here a value is either a Const, whose arithmetic NumPy does at once, or a
Node; equal nodes are one object, and the functions that make them leave out what says nothing. Only what outputs need
reaches the Graph (_lazy_emit).

    x = program.input("float16", (8, 16));  y = transpose(reshape(x, (1, 8, 16)), (0, 2, 1));  emit(program, [y])
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy

from . import _known as known
from ._known import COMPARISONS
from ._lazy_attention import Values, attention
from ._lazy_values import (
    FLOATS,
    PRODUCTS,
    STORED,
    Const,
    Node,
    Shape,
    Unsupported,
    Value,
    are_known,
    by_rule,
    converted,
    is_bottom,
    is_moved,
    is_number,
    made_by,
    number_of,
    numpy_dtype,
    ruled,
)

_PREDICATES = (*COMPARISONS, "and", "or", "not")
_MOVES = ("reshape", "transpose", "broadcast", "slice", "concat", "known", "constant")


class Builder:
    """The nodes of one program."""

    def __init__(self, every_row_sees: bool = False) -> None:
        self.every_row_sees = every_row_sees  # as from_jax's caller promises
        self.inputs: list[Node] = []
        self._known: dict[tuple[Any, ...], Node] = {}

    def input(self, dtype: str, shape: Shape) -> Node:
        if dtype not in FLOATS + STORED + ("bool", "int32") or len(shape) > 6 or 0 in shape:
            raise Unsupported(f"input {len(self.inputs)} is {dtype} {list(shape)}: expected float16, bfloat16, float32, bool, int32, "
                              f"or stored {', '.join(STORED)}, at most 6 extents of at least 1")
        if dtype == "int4" and (not shape or shape[-1] % 2):
            raise Unsupported(f"input {len(self.inputs)} is int4 {list(shape)}: rows of int4 have an even number of elements")
        self.inputs.append(Node("input", (), (len(self.inputs),), dtype, shape))
        return self.inputs[-1]

    def make(self, op: str, operands: Sequence[Value], attrs: tuple[Any, ...], dtype: str, shape: Shape) -> Node:
        known_otherwise = (dtype == "bool" and op in (*_PREDICATES, "reduce_max")) or (dtype == "int32" and op == "matmul")
        if dtype not in FLOATS and op not in _MOVES and not known_otherwise:
            raise Unsupported(f"{op} in {dtype}: only float16, bfloat16 and float32 are computed")
        if 0 in shape:
            raise Unsupported(f"{op}: a tensor without elements, {list(shape)}")
        key = op, tuple(_identity(v) for v in operands), attrs, dtype, shape
        if key not in self._known:
            self._known[key] = Node(op, tuple(operands), attrs, dtype, shape)
        return self._known[key]

    # --------------------------------------------------------------------------------------------------------- shapes

    def reshape(self, x: Value, shape: Shape) -> Value:
        if isinstance(x, Const):
            moved = by_rule(lambda: known.reshaped(x.rule, shape)) if x.is_ruled else None  # type: ignore[arg-type]
            return moved or Const(numpy.broadcast_to(x.array, x.shape).reshape(shape), x.dtype, shape)
        if x.shape == shape:
            return x
        if x.op == "reshape":
            return self.reshape(x.operands[0], shape)
        if [e for e in shape if e != 1] == [e for e in x.shape if e != 1]:
            if x.op == "known":
                return self._rule(self.reshape(ruled(x.attrs[0]), shape))
            if x.op == "broadcast":
                return self.broadcast(self._like(x.operands[0], x.shape, shape), shape)
            if x.op in _PREDICATES:  # masks are made in the shape in which they are used: the search fuses no reshape of them
                return self.make(x.op, [self._like(v, x.shape, shape) for v in x.operands], (), x.dtype, shape)
        return self.make("reshape", [x], (), x.dtype, shape)

    def _like(self, x: Value, old: Shape, new: Shape) -> Value:
        """x, which broadcasts to `old`, where only extents of 1 come and go."""
        extents = iter([x.shape[d] for d, e in enumerate(old) if e != 1])
        return self.reshape(x, new if isinstance(x, Const) else tuple(1 if e == 1 else next(extents) for e in new))

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """Dimension i of the result is dimension perm[i] of x. Extents of 1 move by a reshape."""
        shape = tuple(x.shape[d] for d in perm)
        if isinstance(x, Const):
            moved = by_rule(lambda: known.permuted(x.rule, list(perm))) if x.is_ruled else None  # type: ignore[arg-type]
            return moved or Const(x.array.transpose(perm), x.dtype, shape)
        if x.op == "broadcast":
            return self.broadcast(self.transpose(x.operands[0], perm), shape)
        kept = [d for d in range(len(x.shape)) if x.shape[d] != 1]
        order = [kept.index(d) for d in perm if x.shape[d] != 1]
        dense = self.known(self.reshape(x, tuple(x.shape[d] for d in kept)))
        return self.reshape(self._transpose_dense(dense, tuple(order)), shape)

    def _transpose_dense(self, x: Node, perm: tuple[int, ...]) -> Node:
        if perm == tuple(range(len(perm))):
            return x
        if x.op == "transpose":
            return self._transpose_dense(x.operands[0], tuple(x.attrs[d] for d in perm))
        return self.make("transpose", [x], perm, x.dtype, tuple(x.shape[d] for d in perm))

    def broadcast(self, x: Value, shape: Shape) -> Value:
        """x, of the same rank, with extents of 1 stretched to `shape`."""
        if isinstance(x, Const):
            moved = by_rule(lambda: known.broadcast(x.rule, shape)) if x.is_ruled else None  # type: ignore[arg-type]
            return moved or Const(x.array, x.dtype, shape)
        if x.shape == shape:
            return x
        if x.op == "broadcast":
            return self.broadcast(x.operands[0], shape)
        return self.make("broadcast", [x], (), x.dtype, shape)

    def slice(self, x: Value, dim: int, begin: int, end: int) -> Value:
        shape = x.shape[:dim] + (end - begin,) + x.shape[dim + 1:]
        if isinstance(x, Const):
            moved = by_rule(lambda: known.sliced(x.rule, dim, begin, end)) if x.is_ruled else None  # type: ignore[arg-type]
            index = (slice(None),) * dim + (slice(begin, end),)
            return moved or Const(numpy.broadcast_to(x.array, x.shape)[index], x.dtype, shape)
        if shape == x.shape:
            return x
        return self.make("slice", [x], (dim, begin, end), x.dtype, shape)

    def concat(self, values: Sequence[Value], dim: int, dtype: str, shape: Shape) -> Value:
        if are_known(values):
            return Const(numpy.concatenate([numpy.broadcast_to(v.array, v.shape) for v in values], dim), dtype, shape)
        return self.make("concat", [self.known(v) for v in values], (dim,), dtype, shape)

    # --------------------------------------------------------------------------------------------------- element-wise

    def known(self, x: Value) -> Node:
        """A Const as a node."""
        if isinstance(x, Node):
            return x
        if x.splat is None and x.rule is not None:
            return self.known(self.broadcast(self._rule(x), x.shape))
        return self.make("constant", [], (number_of(x),), x.dtype, x.shape)

    def _rule(self, x: Value) -> Node:
        """A Const with a rule, with an extent of 1 where it does not depend on a dimension."""
        assert isinstance(x, Const) and x.rule is not None
        rule = known.compacted(x.rule)
        return self.make("known", [], (rule,), x.dtype, rule.shape)

    def unary(self, op: str, x: Value) -> Value:
        x = self.known(x)
        if x.op in ("reshape", "broadcast"):
            return getattr(self, x.op)(self.unary(op, x.operands[0]), x.shape)
        return self.make(op, [x], (), x.dtype, x.shape)

    def cast(self, x: Value, dtype: str) -> Value:
        if x.dtype == dtype:
            return x
        if isinstance(x, Const):
            moved = by_rule(lambda: converted(x.rule, dtype)) if x.is_ruled else None
            return moved or Const(x.array.astype(numpy_dtype(dtype)), dtype, x.shape)
        if x.op in ("reshape", "broadcast"):
            return getattr(self, x.op)(self.cast(x.operands[0], dtype), x.shape)
        if x.op == "transpose":
            return self._transpose_dense(self.known(self.cast(x.operands[0], dtype)), x.attrs)
        if x.dtype in STORED and x.op == "slice":  # nothing is done with a stored type but to cast it
            return self.slice(self.cast(x.operands[0], dtype), *x.attrs)
        if x.dtype in STORED and x.op == "concat":
            return self.concat([self.cast(v, dtype) for v in x.operands], x.attrs[0], dtype, x.shape)
        if x.op == "cast" and x.operands[0].dtype in (*STORED, "bool") and dtype in FLOATS:
            return self.cast(x.operands[0], dtype)  # which every type of numbers holds as they are
        if x.op == "cast" and x.dtype == "float32" and x.operands[0].dtype == dtype:
            return x.operands[0]  # there and back: every float16 and bfloat16 is a float32
        if x.op == "wide_matmul" and x.operands[0].dtype == dtype:
            return self.make("matmul", x.operands, x.attrs, dtype, x.shape)  # sums are in float32, rounded once
        return self.make("cast", [x], (), dtype, x.shape)

    def binary(self, op: str, a: Value, b: Value) -> Value:
        """Of one shape. `op`: add, sub, mul, div, max, min."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Const) and isinstance(y, Node) and self._is_neutral(op, x, x is b):
                return y
            if op == "add" and (mask := self._added_mask(x)) is not None:
                return self.mask(mask, y)
        return self.elementwise(op, [a, b], a.dtype)

    def elementwise(self, op: str, values: Sequence[Value], dtype: str) -> Value:
        """Of one shape: what is stretched, and extents of 1, are the business of what comes after."""
        shape = values[0].shape
        bare = [self._bare(v) for v in values]
        inner = tuple(max(1 if isinstance(v, Const) else v.shape[d] for v in bare) for d in range(len(shape)))
        kept = [d for d in range(len(shape)) if inner[d] != 1]
        bare = [self.reshape(v, tuple(v.shape[d] for d in kept)) for v in bare]
        named = self._named(op, *bare) if len(bare) == 2 else None
        dense = named or self.make(op, bare, (), dtype, tuple(inner[d] for d in kept))
        return self.broadcast(self.reshape(dense, inner), shape)

    def _bare(self, x: Value) -> Value:
        """x before it was stretched; a number stays a Const."""
        if isinstance(x, Const) and x.splat is not None:
            number_of(x)
            return x
        x = self.known(x)
        return x.operands[0] if x.op == "broadcast" else x

    # ----------------------------------------------------------------------------------------------- predicates, choices

    def compare(self, op: str, a: Value, b: Value) -> Value:
        if a.dtype == "bool":
            return self._compared_masks(op, a, b)
        if a.dtype not in (*FLOATS, "int32"):
            raise Unsupported(f"{a.dtype} that is compared: only int32, float16, bfloat16 and float32 are")
        return self.elementwise(op, [a, b], "bool")

    def _compared_masks(self, op: str, a: Value, b: Value) -> Value:
        if op not in ("equal", "not_equal"):
            raise Unsupported("masks of which one is less than another")
        both, none = self.logic("and", a, b), self.logic("and", self.negated(a), self.negated(b))
        same = self.logic("or", both, none)
        return same if op == "equal" else self.negated(same)

    def logic(self, op: str, a: Value, b: Value) -> Value:
        """and, or; what always holds, or never, leaves no trace."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Const) and x.splat is not None:
                return y if bool(x.splat) == (op == "and") else x
        if isinstance(a, Const) and isinstance(b, Const) and a.rule is not None and b.rule is not None:
            first, second = a.rule, b.rule
            return ruled(known.joined(op, first, second))
        return self.elementwise(op, [a, b], "bool")

    def negated(self, x: Value) -> Value:
        if isinstance(x, Node):
            return x.operands[0] if x.op == "not" else self.unary("not", x)
        rule = x.rule
        return Const(~x.array, x.dtype, x.shape) if rule is None else ruled(known.negated(rule))

    def select(self, which: Value, a: Value, b: Value) -> Value:
        """a where it holds, b elsewhere. Minus infinity is what a mask leaves out."""
        if isinstance(which, Const) and which.splat is not None:
            return a if which.splat else b
        if a.dtype == "bool":
            return self.logic("or", self.logic("and", which, a), self.logic("and", self.negated(which), b))
        if is_bottom(b):
            return self.mask(which, a)
        if is_bottom(a):
            return self.mask(self.negated(which), b)
        return self.elementwise("select", [which, a, b], a.dtype)

    def mask(self, which: Value, x: Value) -> Value:
        if x.dtype not in FLOATS:
            raise Unsupported(f"a choice between {x.dtype} and infinity")
        return self.elementwise("mask", [which, x], x.dtype)

    def _added_mask(self, x: Value) -> Value | None:
        """What has to hold where x is 0, which is minus infinity elsewhere; None: x is no such tensor."""
        if isinstance(x, Const):
            visible = None if x.splat is not None or x.rule is None else known.added_mask(x.rule)
            return None if visible is None else ruled(visible)
        if x.op == "mask" and is_number(x.operands[1], 0):
            return self.broadcast(self.known(x.operands[0]), x.shape)
        if x.op not in ("reshape", "broadcast", "cast"):
            return None
        inner = self._added_mask(x.operands[0])
        return inner if inner is None or x.op == "cast" else getattr(self, x.op)(inner, x.shape)

    def _is_neutral(self, op: str, x: Const, is_second: bool) -> bool:
        value = x.splat
        neutral = {"add": (0,), "sub": (0,) if is_second else (), "mul": (1,), "div": (1,) if is_second else (),
                   "max": (-math.inf,), "min": (math.inf,)}[op]
        return value is not None and value in neutral

    def _named(self, op: str, a: Value, b: Value) -> Node | None:
        """sigmoid, silu and GELU, which exporters write out: as one operator they are rounded once."""
        if op == "div" and is_number(a, 1) and made_by(b, "add") and is_number(b.operands[0], 1) and \
                made_by(b.operands[1], "exp"):
            inner = b.operands[1].operands[0]
            if inner.op == "neg":
                return self.make("sigmoid", inner.operands, (), inner.dtype, inner.shape)
        if op == "mul" and made_by(b, "sigmoid") and b.operands[0] is a:
            return self.make("silu", [a], (), a.dtype, a.shape)
        if op == "mul" and made_by(b, "erfc") and made_by(a, "mul") and is_number(a.operands[0], 0.5):
            x, inner = a.operands[1], b.operands[0]
            if inner.op == "mul" and is_number(inner.operands[1], math.sqrt(0.5)) and made_by(inner.operands[0], "neg") and \
                    inner.operands[0].operands[0] is x:
                return self.make("gelu", [x], (), x.dtype, x.shape)
        if op == "mul" and isinstance(a, Node) and made_by(b, "mul") and is_number(b.operands[0], 0.5) and \
                _is_one_and_tanh_of(b.operands[1], a):
            return self.make("gelu_tanh", [a], (), a.dtype, a.shape)
        return None

    # ----------------------------------------------------------------------------------------------------- reductions

    def reduce(self, op: str, x: Value, dims: Sequence[int]) -> Value:
        """reduce_sum or reduce_max over `dims`, which go."""
        x = self.known(x)
        rest = tuple(e for d, e in enumerate(x.shape) if d not in dims)
        kept = [d for d in range(len(x.shape)) if x.shape[d] != 1]
        dims = [kept.index(d) for d in dims if d in kept]
        x = self.reshape(x, tuple(x.shape[d] for d in kept))
        for first, last in reversed(_runs(sorted(dims))):  # neighbours are one dimension
            merged = math.prod(x.shape[first:last + 1])
            flat = self.reshape(x, x.shape[:first] + (merged,) + x.shape[last + 1:])
            shape = x.shape[:first] + (1,) + x.shape[last + 1:]
            x = self.make(op, [flat], (first,), flat.dtype, shape) if merged != 1 else self.reshape(flat, shape)
        return self.reshape(x, rest)

    def dot(self, a: Value, b: Value, batch: tuple[Sequence[int], Sequence[int]],
            contract: tuple[Sequence[int], Sequence[int]], dtype: str) -> Value:
        """The product of two tensors; the result has batch dimensions, then a's others, then b's."""
        a, b = self.known(a), self.known(b)
        numbers = a.dtype == b.dtype and a.dtype in FLOATS and dtype in (a.dtype, "float32")
        if not numbers and PRODUCTS.get((a.dtype, b.dtype)) != dtype:
            raise Unsupported(f"a product of {a.dtype} and {b.dtype} as {dtype}")
        if (whole := self._attention(a, b, batch, contract, dtype)) is not None:
            return whole
        free = [[d for d in range(len(v.shape)) if d not in batch[i] and d not in contract[i]]
                for i, v in enumerate((a, b))]
        outer = tuple(a.shape[d] for d in batch[0])
        m, n = (math.prod(v.shape[d] for d in f) for v, f in zip((a, b), free))
        k = math.prod(a.shape[d] for d in contract[0])
        wide = tuple(e for e in outer if e != 1)
        left, turned_a = self._side(a, batch[0], free[0], contract[0], wide, m, k)
        right, turned_b = self._side(b, batch[1], contract[1], free[1], wide, k, n)
        for side in (left, right):
            if side.dtype in STORED and is_moved(side):
                raise Unsupported(f"{side.dtype} whose dimensions change places: a product takes it as it lies, or with its last two turned")
        op = "matmul" if dtype == a.dtype or not numbers else "wide_matmul"
        product = self.make(op, [left, right], (turned_a, turned_b), dtype, wide + (m, n))
        shape = outer + tuple(a.shape[d] for d in free[0]) + tuple(b.shape[d] for d in free[1])
        return self.reshape(product, shape)

    def _attention(self, a: Node, b: Node, batch: tuple[Sequence[int], Sequence[int]],
                   contract: tuple[Sequence[int], Sequence[int]], dtype: str) -> Value | None:
        """Where a or b are weights of attention. Its last dimension is the other's own."""
        for i, j, weights, values in ((0, 1, a, b), (1, 0, b, a)):
            own = Values(values, batch[j], contract[j])
            y = attention(self, weights, batch[i], contract[i], own, dtype)
            if y is not None:
                outer, last = len(batch[0]), len(y.shape) - 1
                if i:
                    y = self.transpose(y, [*range(outer), last, *range(outer, last)])
                rows = tuple(weights.shape[d] for d in range(len(weights.shape)) if d not in (*batch[i], *contract[i]))
                columns = tuple(values.shape[d] for d in own.free)
                shape = tuple(a.shape[d] for d in batch[0])
                return self.reshape(y, shape + (columns + rows if i else rows + columns))
        return None

    def turned(self, x: Node) -> Node:
        last = len(x.shape) - 1
        return self.known(self.transpose(x, [*range(last - 1), last, last - 1]))

    def _side(self, x: Node, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int], wide: Shape, m: int,
              n: int) -> tuple[Node, bool]:
        """x as [wide.., m, n], or turned as [wide.., n, m] where that spares a transpose."""
        plain = self.known(self.reshape(self.transpose(x, [*batch, *rows, *columns]), wide + (m, n)))
        turned = self.known(self.reshape(self.transpose(x, [*batch, *columns, *rows]), wide + (n, m)))
        return (turned, True) if is_moved(plain) and not is_moved(turned) else (plain, False)


def _is_one_and_tanh_of(node: Value, x: Node) -> bool:
    """Whether node is 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)), as JAX writes it."""
    if not (made_by(node, "add") and is_number(node.operands[0], 1) and made_by(node.operands[1], "tanh")):
        return False
    inner = node.operands[1].operands[0]
    if inner.op != "mul" or not is_number(inner.operands[0], math.sqrt(2 / math.pi)):
        return False
    if not made_by(inner.operands[1], "add"):
        return False
    first, last = inner.operands[1].operands
    return first is x and made_by(last, "mul") and is_number(last.operands[0], 0.044715) and _is_cube(last.operands[1], x)


def _is_cube(node: Value, x: Node) -> bool:
    if not made_by(node, "mul") or node.operands[1] is not x:
        return False
    square = node.operands[0]
    return made_by(square, "square") and square.operands[0] is x or \
        made_by(square, "mul") and square.operands[0] is x and square.operands[1] is x


def _runs(dims: Sequence[int]) -> list[tuple[int, int]]:
    """(first, last) of neighbours."""
    runs: list[tuple[int, int]] = []
    for d in dims:
        if runs and runs[-1][1] == d - 1:
            runs[-1] = runs[-1][0], d
        else:
            runs.append((d, d))
    return runs


def _identity(x: Value) -> Any:
    return ("const", x.dtype, x.splat) if isinstance(x, Const) else id(x)
