"""Programs while they are read from elsewhere: values that are known, and operators that are tidied as they are made.

Exporters write what a person would not: reshapes of reshapes, transposes of extents of 1, arithmetic on shapes and
masks, a stretched operand for each broadcast. Here a value is either a Const, whose arithmetic NumPy does at once, or a
Node; equal nodes are one object, and the functions that make them leave out what says nothing. Only what outputs need
reaches the Graph (`emit`).

    x = program.input("float16", (8, 16));  y = transpose(reshape(x, (1, 8, 16)), (0, 2, 1));  emit(program, [y])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Sequence, TypeGuard, Union

import numpy

from ._graph import Graph, Tensor
from ._mirage import MirageError

Shape = tuple[int, ...]
FLOATS = ("float16", "bfloat16", "float32")


class Unsupported(MirageError):
    """What the dialect cannot say, in words for the person who wrote the program."""


@dataclass(frozen=True, eq=False)
class Const:
    """Known elements. `array` broadcasts to `shape`; dtype is our name, or NumPy's of integers and booleans."""

    array: numpy.ndarray
    dtype: str
    shape: Shape

    @property
    def splat(self) -> float | int | bool | None:
        """The value of all elements; None where they differ."""
        if self.array.size and (self.array == self.array.flat[0]).all() or self.array.size == 1:
            value: float | int | bool = self.array.flat[0].item()
            return value
        return None


class Node:
    """A value that is computed. Made by the functions below."""

    __slots__ = ("op", "operands", "attrs", "dtype", "shape")

    def __init__(self, op: str, operands: tuple[Any, ...], attrs: tuple[Any, ...], dtype: str, shape: Shape):
        self.op, self.operands, self.attrs, self.dtype, self.shape = op, operands, attrs, dtype, shape

    def __repr__(self) -> str:
        return f"<{self.op} {self.dtype} {list(self.shape)}>"


Value = Union[Const, Node]


def are_known(values: Sequence[Value]) -> TypeGuard[Sequence[Const]]:
    return all(isinstance(x, Const) for x in values)


class Builder:
    """The nodes of one program."""

    def __init__(self) -> None:
        self.inputs: list[Node] = []
        self._known: dict[tuple[Any, ...], Node] = {}

    def input(self, dtype: str, shape: Shape) -> Node:
        if dtype not in FLOATS or len(shape) > 6 or 0 in shape:
            raise Unsupported(f"input {len(self.inputs)} is {dtype} {list(shape)}: expected float16, bfloat16 or "
                              "float32, at most 6 extents of at least 1")
        self.inputs.append(Node("input", (), (len(self.inputs),), dtype, shape))
        return self.inputs[-1]

    def make(self, op: str, operands: Sequence[Value], attrs: tuple[Any, ...], dtype: str, shape: Shape) -> Node:
        if dtype not in FLOATS:
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
            full = x.array if x.array.size == 1 else numpy.broadcast_to(x.array, x.shape).reshape(shape)
            return Const(full.reshape((1,) * len(shape)) if x.array.size == 1 else full, x.dtype, shape)
        if x.shape == shape:
            return x
        if x.op == "reshape":
            return self.reshape(x.operands[0], shape)
        return self.make("reshape", [x], (), x.dtype, shape)

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """Dimension i of the result is dimension perm[i] of x. Extents of 1 move by a reshape."""
        shape = tuple(x.shape[d] for d in perm)
        if isinstance(x, Const):
            return Const(x.array if x.array.ndim == 0 or x.array.size == 1 else
                         numpy.broadcast_to(x.array, x.shape).transpose(perm), x.dtype, shape)
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
            return Const(x.array, x.dtype, shape)
        if x.shape == shape:
            return x
        if x.op == "broadcast":
            return self.broadcast(x.operands[0], shape)
        return self.make("broadcast", [x], (), x.dtype, shape)

    def slice(self, x: Value, dim: int, begin: int, end: int) -> Value:
        shape = x.shape[:dim] + (end - begin,) + x.shape[dim + 1:]
        if isinstance(x, Const):
            index = (slice(None),) * dim + (slice(begin, end),)
            return Const(numpy.broadcast_to(x.array, x.shape)[index] if x.splat is None else x.array, x.dtype, shape)
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
        return self.make("constant", [], (_finite(x),), x.dtype, x.shape)

    def unary(self, op: str, x: Value) -> Value:
        x = self.known(x)
        if x.op in ("reshape", "broadcast"):
            return getattr(self, x.op)(self.unary(op, x.operands[0]), x.shape)
        return self.make(op, [x], (), x.dtype, x.shape)

    def cast(self, x: Value, dtype: str) -> Value:
        if isinstance(x, Const):
            return Const(x.array.astype(numpy_dtype(dtype)), dtype, x.shape)
        if x.dtype == dtype:
            return x
        if x.op in ("reshape", "broadcast"):
            return getattr(self, x.op)(self.cast(x.operands[0], dtype), x.shape)
        if x.op == "transpose":
            return self._transpose_dense(self.known(self.cast(x.operands[0], dtype)), x.attrs)
        if x.op == "cast" and x.dtype == "float32" and x.operands[0].dtype == dtype:
            return x.operands[0]  # there and back: every float16 and bfloat16 is a float32
        if x.op == "wide_matmul" and x.operands[0].dtype == dtype:
            return self.make("matmul", x.operands, x.attrs, dtype, x.shape)  # sums are in float32, rounded once
        return self.make("cast", [x], (), dtype, x.shape)

    def binary(self, op: str, a: Value, b: Value) -> Value:
        """Of one shape. `op`: add, sub, mul, div, max, min."""
        shape, dtype = a.shape, a.dtype
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Const) and isinstance(y, Node) and self._is_neutral(op, x, x is b):
                return y
        a, b = (v.operands[0] if isinstance(v, Node) and v.op == "broadcast" else v for v in (a, b))
        for v in (a, b):
            if isinstance(v, Const):
                _finite(v)
        inner = tuple(max(1 if isinstance(v, Const) else v.shape[d] for v in (a, b)) for d in range(len(shape)))
        kept = [d for d in range(len(shape)) if inner[d] != 1]  # extents of 1 are a reshape's business
        a, b = (self.reshape(v, tuple(v.shape[d] for d in kept)) for v in (a, b))
        dense = self._named(op, a, b) or self.make(op, [a, b], (), dtype, tuple(inner[d] for d in kept))
        return self.broadcast(self.reshape(dense, inner), shape)

    def _is_neutral(self, op: str, x: Const, is_second: bool) -> bool:
        value = x.splat
        neutral = {"add": (0,), "sub": (0,) if is_second else (), "mul": (1,), "div": (1,) if is_second else (),
                   "max": (-math.inf,), "min": (math.inf,)}[op]
        return value is not None and value in neutral

    def _named(self, op: str, a: Value, b: Value) -> Node | None:
        """sigmoid, silu and GELU, which exporters write out: as one operator they are rounded once."""
        if op == "div" and _is(a, 1) and _made_by(b, "add") and _is(b.operands[0], 1) and \
                _made_by(b.operands[1], "exp"):
            inner = b.operands[1].operands[0]
            if inner.op == "neg":
                return self.make("sigmoid", inner.operands, (), inner.dtype, inner.shape)
        if op == "mul" and _made_by(b, "sigmoid") and b.operands[0] is a:
            return self.make("silu", [a], (), a.dtype, a.shape)
        if op == "mul" and _made_by(b, "erfc") and _made_by(a, "mul") and _is(a.operands[0], 0.5):
            x, inner = a.operands[1], b.operands[0]
            if inner.op == "mul" and _is(inner.operands[1], math.sqrt(0.5)) and _made_by(inner.operands[0], "neg") and \
                    inner.operands[0].operands[0] is x:
                return self.make("gelu", [x], (), x.dtype, x.shape)
        if op == "mul" and isinstance(a, Node) and _made_by(b, "mul") and _is(b.operands[0], 0.5) and \
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
        if a.dtype != b.dtype or dtype not in (a.dtype, "float32"):
            raise Unsupported(f"a product of {a.dtype} and {b.dtype} as {dtype}")
        free = [[d for d in range(len(v.shape)) if d not in batch[i] and d not in contract[i]]
                for i, v in enumerate((a, b))]
        outer = tuple(a.shape[d] for d in batch[0])
        m, n = (math.prod(v.shape[d] for d in f) for v, f in zip((a, b), free))
        k = math.prod(a.shape[d] for d in contract[0])
        wide = tuple(e for e in outer if e != 1)
        left, turned_a = self._side(a, batch[0], free[0], contract[0], wide, m, k)
        right, turned_b = self._side(b, batch[1], contract[1], free[1], wide, k, n)
        op = "matmul" if dtype == a.dtype else "wide_matmul"
        product = self._attention(left, turned_a, right, turned_b, dtype) or \
            self.make(op, [left, right], (turned_a, turned_b), dtype, wide + (m, n))
        shape = outer + tuple(a.shape[d] for d in free[0]) + tuple(b.shape[d] for d in free[1])
        return self.reshape(product, shape)

    def _attention(self, a: Node, turned_a: bool, b: Node, turned_b: bool, dtype: str) -> Value | None:
        """softmax(scale * q k^T) v as one operator, also where the whole is written turned: v^T (softmax ..)^T."""
        if not turned_a and (found := _softmax_of_scores(a)):
            return self._attend(*found, self._turned(b) if turned_b else b, dtype)
        if turned_b and (found := _softmax_of_scores(b)):
            whole = self._attend(*found, a if turned_a else self._turned(a), dtype)
            return whole and self._turned(whole)
        return None

    def _attend(self, scores: Node, scale: float, v: Node, dtype: str) -> Node | None:
        q, k = scores.operands
        if not q.dtype == k.dtype == v.dtype == dtype:
            return None
        q, k = (self._turned(x) if turned else x for x, turned in zip((q, k), (scores.attrs[0], not scores.attrs[1])))
        return self.make("attention", [q, k, v], (scale,), dtype, q.shape[:-1] + v.shape[-1:])

    def _turned(self, x: Node) -> Node:
        last = len(x.shape) - 1
        return self.known(self.transpose(x, [*range(last - 1), last, last - 1]))

    def _side(self, x: Node, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int], wide: Shape, m: int,
              n: int) -> tuple[Node, bool]:
        """x as [wide.., m, n], or turned as [wide.., n, m] where that spares a transpose."""
        plain = self.known(self.reshape(self.transpose(x, [*batch, *rows, *columns]), wide + (m, n)))
        turned = self.known(self.reshape(self.transpose(x, [*batch, *columns, *rows]), wide + (n, m)))
        return (turned, True) if _is_moved(plain) and not _is_moved(turned) else (plain, False)


def _softmax_of_scores(x: Node) -> tuple[Node, float] | None:
    """(the product q k^T, scale) where x is softmax(scale * q k^T) along the last dimension, rounded or not."""
    shape = x.shape
    x = _dense(x)
    x = x.operands[0] if x.op == "cast" else x
    if x.op != "div" or not _made_by(x.operands[0], "exp") or not _is_last(x.operands[1], "reduce_sum", x.operands[0]):
        return None
    shifted = x.operands[0].operands[0]
    if shifted.op != "sub" or not _is_last(shifted.operands[1], "reduce_max", shifted.operands[0]):
        return None
    scores, scale = shifted.operands[0], 1.0
    if scores.op in ("mul", "div"):
        a, b = scores.operands
        if scores.op == "mul" and isinstance(a, Const):
            a, b = b, a
        if not isinstance(b, Const) or not isinstance(a, Node):
            return None
        scores, scale = a, _finite(b) if scores.op == "mul" else 1 / _finite(b)
    scores = _dense(scores)
    return (scores, scale) if scores.op in ("matmul", "wide_matmul") and scores.shape == shape else None


def _dense(x: Node) -> Node:
    """x without a reshape that adds or drops extents of 1, as there is where attention is of one row."""
    if x.op != "reshape":
        return x
    inner = x.operands[0]
    return inner if [e for e in inner.shape if e != 1] == [e for e in x.shape if e != 1] else x


def _is_last(x: Value, op: str, of: Value) -> bool:
    """Whether x is the reduction `op` of `of` along its last dimension."""
    return _made_by(x, op) and x.operands[0] is of and x.attrs == (len(of.shape) - 1,)


def _is_moved(x: Node) -> bool:
    return x.op == "transpose" or x.op == "reshape" and x.operands[0].op == "transpose"


def _is_one_and_tanh_of(node: Value, x: Node) -> bool:
    """Whether node is 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)), as JAX writes it."""
    if not (_made_by(node, "add") and _is(node.operands[0], 1) and _made_by(node.operands[1], "tanh")):
        return False
    inner = node.operands[1].operands[0]
    if inner.op != "mul" or not _is(inner.operands[0], math.sqrt(2 / math.pi)):
        return False
    if not _made_by(inner.operands[1], "add"):
        return False
    first, last = inner.operands[1].operands
    return first is x and _made_by(last, "mul") and _is(last.operands[0], 0.044715) and _is_cube(last.operands[1], x)


def _is_cube(node: Value, x: Node) -> bool:
    if not _made_by(node, "mul") or node.operands[1] is not x:
        return False
    square = node.operands[0]
    return _made_by(square, "square") and square.operands[0] is x or \
        _made_by(square, "mul") and square.operands[0] is x and square.operands[1] is x


def _runs(dims: Sequence[int]) -> list[tuple[int, int]]:
    """(first, last) of neighbours."""
    runs: list[tuple[int, int]] = []
    for d in dims:
        if runs and runs[-1][1] == d - 1:
            runs[-1] = runs[-1][0], d
        else:
            runs.append((d, d))
    return runs


def _made_by(x: Value, op: str) -> TypeGuard[Node]:
    return isinstance(x, Node) and x.op == op


def _is(x: Value, value: float) -> bool:
    """Whether x is `value`, rounded to x's type."""
    if not isinstance(x, Const) or x.splat is None:
        return False
    return x.splat == numpy.asarray(value, numpy_dtype(x.dtype)).item()


def _identity(x: Value) -> Any:
    return ("const", x.dtype, x.splat) if isinstance(x, Const) else id(x)


def _finite(x: Const) -> float:
    value = x.splat
    if value is None:
        raise Unsupported(f"a constant {x.dtype} tensor {list(x.shape)} whose elements differ: pass it as an argument")
    if not math.isfinite(value):
        raise Unsupported(f"a constant {value}: masks by infinity cannot be said")
    return float(value)


def numpy_dtype(name: str) -> Any:
    if name == "bfloat16":
        import ml_dtypes
        return ml_dtypes.bfloat16
    return numpy.dtype(name)


# ----------------------------------------------------------------------------------------------------------- emission


def emit(builder: Builder, outputs: Sequence[Value], name: str, names: Sequence[str]) -> Graph:
    """The Graph that computes `outputs`. Tensors of rank 0 become [1]."""
    graph = Graph(name)
    done: dict[int, Tensor] = {id(x): graph.new_input(x.shape or (1,), x.dtype, name=n)
                               for x, n in zip(builder.inputs, names)}
    for value in outputs:
        node = builder.known(value)
        if node.op == "input":
            raise Unsupported("an output that is an input")
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [v for v in top.operands if isinstance(v, Node) and id(v) not in done]
            if id(top) in done or not missing:
                stack.pop()
                if id(top) not in done:
                    done[id(top)] = _emit_one(graph, top, done)
            stack.extend(missing)
        graph.mark_output(done[id(node)])
    return graph


_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "max": "maximum", "min": "minimum"}


def _emit_one(graph: Graph, node: Node, done: dict[int, Tensor]) -> Any:
    operands: list[Any] = [done[id(v)] if isinstance(v, Node) else _finite(v) for v in node.operands]
    shape = node.shape or (1,)
    if node.op in _BINARY:
        return getattr(graph, _BINARY[node.op])(*operands)
    if node.op == "constant":
        return graph.constant(node.attrs[0], shape, node.dtype)
    if node.op in ("reshape", "broadcast"):
        if operands[0].shape == shape:  # [1], which is also what rank 0 becomes
            return operands[0]
        return getattr(graph, node.op)(operands[0], shape)
    if node.op == "cast":
        return graph.cast(operands[0], node.dtype)
    if node.op == "transpose":
        return graph.transpose(operands[0], node.attrs)
    if node.op in ("slice", "reduce_sum", "reduce_max"):
        return getattr(graph, node.op)(operands[0], *node.attrs)
    if node.op == "concat":
        return graph.concat(operands, *node.attrs)
    if node.op in ("matmul", "wide_matmul"):
        transpose_a, transpose_b = node.attrs or (False, False)
        return graph.matmul(operands[0], operands[1], transpose_a, transpose_b, dtype=node.dtype)
    if node.op == "attention":
        return graph.scaled_dot_product_attention(*operands, *node.attrs)
    if node.op == "gelu_tanh":
        return graph.gelu(operands[0], "tanh")
    if node.op == "erfc":
        raise Unsupported("erfc other than in GELU")
    return getattr(graph, node.op)(*operands)
