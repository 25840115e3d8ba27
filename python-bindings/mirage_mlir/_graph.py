"""Programs, operator by operator: Graph and its tensors."""

from __future__ import annotations

import json
import math
import operator
from typing import Any, Iterable, Sequence, Union

from . import _mirage
from ._mirage import MirageError

float16 = "float16"
bfloat16 = "bfloat16"
float32 = "float32"

bool_ = "bool"  # predicates
int32 = "int32"  # indices, and products of int8

_STORED = ("int8", "int4", "float8_e4m3fn", "float8_e5m2")  # of inputs, which are cast, or multiplied with their like
_NO_NUMBERS = (bool_, int32)
_ALIASES = {"f16": float16, "bf16": bfloat16, "f32": float32, "half": float16, "float": float32, "i1": bool_, "bool_": bool_, "i32": int32}

# Attributes of operators, by the dialect's names: those that are needed, those that may be left out.
ATTRIBUTES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "matmul": ((), ("transpose_a", "transpose_b", "dtype")), "reduce_sum": (("dim",), ("extent", "dtype")),
    "reduce_max": (("dim",), ("extent", "dtype")), "reduce_mean": (("dim",), ("extent", "dtype")), "broadcast": (("shape",), ()), "repeat": (("dim", "times"), ()),
    "transpose": (("perm",), ()), "reshape": (("shape",), ()), "slice": (("dim", "begin", "end"), ()), "concat": (("dim",), ()),
    "cast": (("dtype",), ()), "constant": (("dtype", "value"), ("shape",)), "softmax": (("dim",), ()), "rms_norm": ((), ("eps",)),
    "layer_norm": ((), ("eps",)), "scaled_dot_product_attention": ((), ("scale", "cap", "causal", "offset", "window")), "iota": (("shape",), ("dim", "start")),
    "leaky_relu": (("slope",), ()), "pow": (("exponent",), ()), "clamp": (("low", "high"), ()),
}

Number = Union[int, float]
Operand = Union["Tensor", int, float]


def dtype_name(dtype: Any) -> str:
    """"float16", "bfloat16" or "float32" for what names it here, in NumPy, PyTorch or JAX.

    >>> dtype_name("f16")
    'float16'
    """
    name = _plain_name(dtype)
    if name not in (float16, bfloat16, float32):
        raise TypeError(f"dtype {dtype!r} is not supported: use float16, bfloat16 or float32")
    return name


def _plain_name(dtype: Any) -> str:
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    name = name.rsplit(".", 1)[-1]
    return _ALIASES.get(name, name)


def _input_dtype(dtype: Any) -> str:
    """The same of an input, which may hold predicates or indices, or be of a stored type."""
    name = _plain_name(dtype)
    if name not in (float16, bfloat16, float32) + _NO_NUMBERS + _STORED:
        raise TypeError(f"dtype {dtype!r} is not supported: use float16, bfloat16, float32, bool, int32, or stored: "
                        f"{', '.join(_STORED)}")
    return name


class Tensor:
    """A value of a Graph: an input, or what an operator gives. Made by the Graph's methods alone.

    `shape` is a tuple of extents, `dtype` one of "float16", "bfloat16", "float32"; "bool" of predicates, "int32" of indices. The
    operators + - * / @ ** < <= > >= and unary - work between tensors of one graph, and with numbers; & | ~ between predicates.
    Element-wise operators on two dtypes give float32. == compares Tensor objects, not elements: Graph.equal does those.
    """

    __slots__ = ("graph", "index", "dtype", "shape")

    def __init__(self, graph: "Graph", index: int, dtype: str, shape: tuple[int, ...]):
        self.graph, self.index, self.dtype, self.shape = graph, index, dtype, shape

    @property
    def dims(self) -> tuple[int, ...]:
        return self.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<{self.dtype} {list(self.shape)} of {self.graph.name}>"

    def __add__(self, other: Operand) -> Tensor: return self.graph.add(self, other)
    def __radd__(self, other: Operand) -> Tensor: return self.graph.add(other, self)
    def __sub__(self, other: Operand) -> Tensor: return self.graph.sub(self, other)
    def __rsub__(self, other: Operand) -> Tensor: return self.graph.sub(other, self)
    def __mul__(self, other: Operand) -> Tensor: return self.graph.mul(self, other)
    def __rmul__(self, other: Operand) -> Tensor: return self.graph.mul(other, self)
    def __truediv__(self, other: Operand) -> Tensor: return self.graph.div(self, other)
    def __rtruediv__(self, other: Operand) -> Tensor: return self.graph.div(other, self)
    def __matmul__(self, other: Tensor) -> Tensor: return self.graph.matmul(self, other)
    def __neg__(self) -> Tensor: return self.graph.neg(self)
    def __pow__(self, exponent: Number) -> Tensor: return self.graph.pow(self, exponent)
    def __lt__(self, other: Operand) -> Tensor: return self.graph.less(self, other)
    def __le__(self, other: Operand) -> Tensor: return self.graph.less_equal(self, other)
    def __gt__(self, other: Operand) -> Tensor: return self.graph.greater(self, other)
    def __ge__(self, other: Operand) -> Tensor: return self.graph.greater_equal(self, other)
    def __and__(self, other: Tensor) -> Tensor: return self.graph.logical_and(self, other)
    def __or__(self, other: Tensor) -> Tensor: return self.graph.logical_or(self, other)
    def __invert__(self) -> Tensor: return self.graph.logical_not(self)


class Graph:
    """A tensor program that is being written: inputs, operators, outputs.

    Each operator is checked when it is added; a mistake is a MirageError that names the operator and both shapes, and the
    graph stays as it was.

    >>> g = Graph("linear")
    >>> x = g.new_input((2, 64), "float16")
    >>> w = g.new_input((64, 32), "float16", name="w")
    >>> y = g.matmul(x, w)
    >>> y.shape
    (2, 32)
    >>> g.mark_output(y)
    >>> print(g.mlir)
    module attributes {mirage.python = "{\\22names\\22: [\\22\\22, \\22w\\22]}"} {
      mirage_kernel.graph @linear(%arg0: tensor<2x64xf16>, %arg1: tensor<64x32xf16>) -> tensor<2x32xf16> {
        %0 = matmul %arg0, %arg1 : tensor<2x64xf16>, tensor<64x32xf16>
        return %0 : tensor<2x32xf16>
      }
    }
    <BLANKLINE>
    >>> g.matmul(x, x)
    Traceback (most recent call last):
    mirage_mlir.MirageError: matmul: inner dimensions differ: 64 vs 2
    """

    def __init__(self, name: str = "program"):
        if not name.isidentifier():
            raise ValueError(f"graph name {name!r}: expected letters, digits and underscores")
        self.name = name
        self._nodes: list[tuple[str, tuple[int, ...], dict]] = []  # what made value i
        self._inputs: list[int] = []
        self._names: list[str] = []
        self._perms: list[list[int] | None] = []
        self._outputs: list[int] = []
        self._tensors: list[Tensor] = []

    # ------------------------------------------------------------------------------------------------- inputs, outputs

    def new_input(self, dims: Sequence[int], dtype: Any = float16, strides: Sequence[int] | None = None,
                  name: str = "") -> Tensor:
        """Adds an input.

        dims:    extents, outermost first, each at least 1; at most 6.
        dtype:   float16, bfloat16, float32; also NumPy's and PyTorch's names of them. Weights may be stored as int8, int4,
                 float8_e4m3fn or float8_e5m2, and are cast before anything else but a product with their like; two int4 are passed as one int8, the first in
                 its low half, in a tensor whose last dimension is half as long. bool is for masks, int32 for positions, which are
                 compared.
        strides: in elements, where the tensor that will be passed is a transposed view of a contiguous one; a permutation of
                 the contiguous strides. Omitted: row-major.
        name:    what error messages call it.

        >>> Graph().new_input((4, 8), "float16", strides=(1, 4)).shape
        (4, 8)
        """
        value, back = self._strided_input(dims, dtype, strides, name)
        return value if back is None else self._apply("transpose", [value], {"perm": back})

    def _strided_input(self, dims: Sequence[int], dtype: Any, strides: Sequence[int] | None,
                       name: str) -> tuple[Tensor, list[int] | None]:
        """An input as it lies in memory, and the permutation that makes the tensor of it; None where it is that already."""
        dims = _integers(dims, "new_input: dims")
        dtype = _input_dtype(dtype)
        if any(d < 1 for d in dims) or not 1 <= len(dims) <= 6:
            raise ValueError(f"new_input: dims {list(dims)}: expected 1 to 6 extents of at least 1")
        order = _stride_order(dims, strides)
        stored = dims if order is None else tuple(dims[d] for d in order)
        value = self._value("input", (), {}, dtype, stored)
        self._inputs.append(value.index)
        self._names.append(name)
        self._perms.append(order)
        return value, None if order is None else [order.index(d) for d in range(len(dims))]

    def mark_output(self, *tensors: Tensor) -> None:
        """Makes tensors outputs, in this order behind those that are."""
        for tensor in tensors:
            self._outputs.append(self._operand(tensor, "mark_output").index)

    @property
    def inputs(self) -> list[Tensor]:
        return [self._tensors[i] for i in self._inputs]

    @property
    def outputs(self) -> list[Tensor]:
        return [self._tensors[i] for i in self._outputs]

    @property
    def mlir(self) -> str:
        """The program as MLIR. MirageError when it has no output."""
        if not self._outputs:
            raise MirageError(f"graph {self.name}: no output: call mark_output(tensor)")
        return self._build(self.name)

    # ------------------------------------------------------------------------------------------------------ element-wise

    def add(self, a: Operand, b: Operand) -> Tensor:
        """a + b. Shapes broadcast as in PyTorch (an extent of 1 stretches); one of the two may be a number."""
        return self._binary("add", a, b)

    def sub(self, a: Operand, b: Operand) -> Tensor:
        """a - b, broadcasting as add."""
        return self._binary("sub", a, b)

    def mul(self, a: Operand, b: Operand) -> Tensor:
        """a * b, broadcasting as add."""
        return self._binary("mul", a, b)

    def div(self, a: Operand, b: Operand) -> Tensor:
        """a / b, broadcasting as add."""
        return self._binary("div", a, b)

    def maximum(self, a: Operand, b: Operand) -> Tensor:
        """The larger of a and b, broadcasting as add."""
        return self._binary("max", a, b)

    def minimum(self, a: Operand, b: Operand) -> Tensor:
        """The smaller of a and b, broadcasting as add."""
        return self._binary("min", a, b)

    def exp(self, x: Tensor) -> Tensor:
        """e to the x, element by element."""
        return self._apply("exp", [x])

    def log(self, x: Tensor) -> Tensor:
        """The natural logarithm."""
        return self._apply("log", [x])

    def sqrt(self, x: Tensor) -> Tensor:
        """The square root."""
        return self._apply("sqrt", [x])

    def rsqrt(self, x: Tensor) -> Tensor:
        """1 / sqrt(x)."""
        return self._apply("rsqrt", [x])

    def square(self, x: Tensor) -> Tensor:
        """x * x."""
        return self._apply("square", [x])

    def neg(self, x: Tensor) -> Tensor:
        """-x."""
        return self._apply("neg", [x])

    def sigmoid(self, x: Tensor) -> Tensor:
        """1 / (1 + exp(-x))."""
        return self._apply("sigmoid", [x])

    def silu(self, x: Tensor) -> Tensor:
        """x * sigmoid(x)."""
        return self._apply("silu", [x])

    def gelu(self, x: Tensor, approximate: str = "none") -> Tensor:
        """GELU: exact ("none") or by tanh ("tanh"), as in PyTorch."""
        if approximate not in ("none", "tanh"):
            raise ValueError(f"gelu: approximate {approximate!r}: expected 'none' or 'tanh'")
        return self._apply("gelu_tanh" if approximate == "tanh" else "gelu", [x])

    def erf(self, x: Tensor) -> Tensor:
        """The error function."""
        return self._apply("erf", [x])

    def tanh(self, x: Tensor) -> Tensor:
        """The hyperbolic tangent."""
        return self._apply("tanh", [x])

    def relu(self, x: Tensor) -> Tensor:
        """max(x, 0)."""
        return self._apply("relu", [x])

    def sin(self, x: Tensor) -> Tensor:
        """The sine, of radians."""
        return self._apply("sin", [x])

    def cos(self, x: Tensor) -> Tensor:
        """The cosine, of radians."""
        return self._apply("cos", [x])

    def abs(self, x: Tensor) -> Tensor:
        """|x|."""
        return self._apply("abs", [x])

    def sign(self, x: Tensor) -> Tensor:
        """1 above 0, -1 below, 0 for 0."""
        return self._apply("sign", [x])

    def log1p(self, x: Tensor) -> Tensor:
        """log(1 + x), computed like that: near 0 it is right in absolute terms alone."""
        return self._apply("log1p", [x])

    def softplus(self, x: Tensor) -> Tensor:
        """log(1 + exp(x)), without overflow."""
        return self._apply("softplus", [x])

    def hard_sigmoid(self, x: Tensor) -> Tensor:
        """x / 6 + 1/2, from 0 to 1."""
        return self._apply("hard_sigmoid", [x])

    def hard_swish(self, x: Tensor) -> Tensor:
        """x * hard_sigmoid(x)."""
        return self._apply("hard_swish", [x])

    def leaky_relu(self, x: Tensor, slope: float = 0.01) -> Tensor:
        """x above 0, slope * x below."""
        return self._apply("leaky_relu", [x], {"slope": float(slope)})

    def pow(self, x: Tensor, exponent: Number) -> Tensor:
        """x to the power of a number. Where that is neither whole nor half a whole one, NaN for x below 0."""
        return self._apply("pow", [x], {"exponent": float(exponent)})

    def clamp(self, x: Tensor, low: Number, high: Number) -> Tensor:
        """min(max(x, low), high)."""
        return self._apply("clamp", [x], {"low": float(low), "high": float(high)})

    # ------------------------------------------------------------------------------------------------- predicates, masks

    def less(self, a: Operand, b: Operand) -> Tensor:
        """Whether a < b, as bool: of numbers, or of indices. Broadcasts as add; one of the two may be a number. Also a < b."""
        return self._binary("less", a, b)

    def less_equal(self, a: Operand, b: Operand) -> Tensor:
        """Whether a <= b, as less."""
        return self._binary("less_equal", a, b)

    def greater(self, a: Operand, b: Operand) -> Tensor:
        """Whether a > b, as less."""
        return self._binary("greater", a, b)

    def greater_equal(self, a: Operand, b: Operand) -> Tensor:
        """Whether a >= b, as less."""
        return self._binary("greater_equal", a, b)

    def equal(self, a: Operand, b: Operand) -> Tensor:
        """Whether a = b, as less."""
        return self._binary("equal", a, b)

    def not_equal(self, a: Operand, b: Operand) -> Tensor:
        """Whether a differs from b, as less."""
        return self._binary("not_equal", a, b)

    def logical_and(self, a: Tensor, b: Tensor) -> Tensor:
        """Whether both hold. Also a & b."""
        return self._apply("and", [a, b])

    def logical_or(self, a: Tensor, b: Tensor) -> Tensor:
        """Whether one holds, or both. Also a | b."""
        return self._apply("or", [a, b])

    def logical_not(self, x: Tensor) -> Tensor:
        """Whether it does not hold. Also ~x."""
        return self._apply("not", [x])

    def iota(self, shape: Sequence[int], dim: int = 0, start: int = 0) -> Tensor:
        """The positions start, start + 1, .. along `dim`, as int32.

        >>> g = Graph(); scores = g.new_input((8, 16))
        >>> causal = g.iota((1, 16), 1) <= g.iota((8, 1), 0)
        >>> g.softmax(g.mask(causal, scores)).shape
        (8, 16)
        """
        shape = list(_integers(shape, "iota: shape"))
        if not -len(shape) <= dim < len(shape):
            raise IndexError(f"iota: dim {dim} of a tensor with {len(shape)} dimensions: expected {-len(shape)} to {len(shape) - 1}")
        return self._apply("iota", [], {"shape": shape, "dim": dim % len(shape), "start": operator.index(start)})

    def mask(self, condition: Tensor, x: Tensor) -> Tensor:
        """x where the condition holds, elsewhere less than every number: a maximum passes over it, exp of it is 0."""
        return self._apply("mask", [condition, x])

    def where(self, condition: Tensor, x: Operand, y: Operand) -> Tensor:
        """x where the condition holds, y elsewhere. Broadcasts as add; one of x and y may be a number."""
        like = x if isinstance(x, Tensor) else y
        if not isinstance(like, Tensor):
            raise TypeError("where: at least one choice has to be a tensor")
        choices = [t if isinstance(t, Tensor) else self._number(t, like, "where") for t in (x, y)]
        return self._apply("select", [condition, *choices])

    # ------------------------------------------------------------------------------------------------------- contractions

    def matmul(self, a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False, dtype: Any = None) -> Tensor:
        """a @ b over the last two dimensions; leading ones are batch and broadcast. Accumulates in float32. Two int8 give int32,
        exactly; two float8, of either kind each, float32.

        Shapes: [.., m, k] @ [.., k, n] -> [.., m, n]; transpose_a: a is [.., k, m]; transpose_b: b is [.., n, k].
        dtype:  of the result: that of the operands (omitted), or float32, which keeps the sums as they are.

        >>> g = Graph(); x = g.new_input((2, 8)); w = g.new_input((8, 4))
        >>> g.matmul(x, w, dtype="float32").dtype
        'float32'
        """
        attrs = {"transpose_a": bool(transpose_a), "transpose_b": bool(transpose_b)}
        return self._apply("matmul", [a, b], attrs | _result_dtype(dtype))

    # --------------------------------------------------------------------------------------------------------- reductions

    def reduce_sum(self, x: Tensor, dim: int, dtype: Any = None) -> Tensor:
        """The sum along `dim`, which stays with extent 1. dtype: as for matmul."""
        return self._reduce("reduce_sum", x, dim, dtype)

    def reduce_max(self, x: Tensor, dim: int, dtype: Any = None) -> Tensor:
        """The maximum along `dim`, which stays with extent 1. dtype: as for matmul."""
        return self._reduce("reduce_max", x, dim, dtype)

    def reduce_mean(self, x: Tensor, dim: int, dtype: Any = None) -> Tensor:
        """The mean along `dim`, which stays with extent 1. dtype: as for matmul."""
        return self._reduce("reduce_mean", x, dim, dtype)

    def reduction(self, x: Tensor, dim: int) -> Tensor:
        """reduce_sum, by the name that Mirage's own interface has."""
        return self.reduce_sum(x, dim)

    # ------------------------------------------------------------------------------------------------------------- shapes

    def broadcast(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """x stretched to `shape`: extents of 1 repeat, missing leading ones are added."""
        return self._apply("broadcast", [x], {"shape": list(_integers(shape, "broadcast: shape"))})

    def repeat(self, x: Tensor, dim: int, times: int) -> Tensor:
        """x, `times` times behind itself along `dim`."""
        return self._apply("repeat", [x], {"dim": self._dim(x, dim, "repeat"), "times": times})

    def transpose(self, x: Tensor, perm: Sequence[int]) -> Tensor:
        """Dimension i of the result is dimension perm[i] of x."""
        dims = [self._dim(x, d, "transpose") for d in _integers(perm, "transpose: perm")]
        if sorted(dims) != list(range(x.ndim)):
            raise MirageError(f"transpose: perm {list(perm)} of a tensor with {x.ndim} dimensions: expected each dimension once")
        return self._apply("transpose", [x], {"perm": dims})

    def reshape(self, x: Tensor, shape: Sequence[int]) -> Tensor:
        """x's elements in another shape; one extent may be -1."""
        x = self._operand(x, "reshape")
        shape = list(_integers(shape, "reshape: shape"))
        if shape.count(-1) == 1:
            known = math.prod(d for d in shape if d != -1)
            size = math.prod(x.shape)
            if known < 1 or size % known:
                raise MirageError(f"reshape: {size} elements of {list(x.shape)} do not fit {shape}")
            shape[shape.index(-1)] = size // known
        return self._apply("reshape", [x], {"shape": shape})

    def slice(self, x: Tensor, dim: int, begin: int, end: int) -> Tensor:
        """Elements begin .. end - 1 along `dim`."""
        return self._apply("slice", [x], {"dim": self._dim(x, dim, "slice"), "begin": begin, "end": end})

    def concat(self, tensors: Iterable[Tensor], dim: int) -> Tensor:
        """The tensors behind each other along `dim`."""
        if isinstance(tensors, Tensor):
            raise TypeError("concat: expected a list of tensors, got one tensor")
        tensors = list(tensors)
        if not tensors:
            raise MirageError("concat: no tensors")
        return self._apply("concat", tensors, {"dim": self._dim(tensors[0], dim, "concat")})

    def cast(self, x: Tensor, dtype: Any) -> Tensor:
        """x, rounded to another dtype."""
        return self._apply("cast", [x], {"dtype": dtype_name(dtype)})

    def constant(self, value: Number, dims: Sequence[int] = (1,), dtype: Any = float16) -> Tensor:
        """A tensor of `dims` that holds `value`, rounded to `dtype`, everywhere."""
        return self._apply("constant", [], {"dtype": dtype_name(dtype), "shape": list(dims), "value": float(value)})

    # ---------------------------------------------------------------------------------------------------- whole functions

    def softmax(self, x: Tensor, dim: int = -1) -> Tensor:
        """Softmax along `dim`."""
        return self._apply("softmax", [x], {"dim": self._dim(x, dim, "softmax")})

    def rms_norm(self, x: Tensor, weight: Tensor | None = None, eps: float = 0.0) -> Tensor:
        """x / sqrt(mean(x * x) + eps), times `weight` if there is one, along the last dimension."""
        return self._apply("rms_norm", [x] if weight is None else [x, weight], {"eps": eps})

    def layer_norm(self, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
        """(x - mean) / sqrt(variance + eps), times `weight`, plus `bias`, along the last dimension."""
        if weight is None and bias is not None:
            raise ValueError("layer_norm: a bias needs a weight")
        return self._apply("layer_norm", [t for t in (x, weight, bias) if t is not None], {"eps": eps})

    def scaled_dot_product_attention(self, q: Tensor, k: Tensor, v: Tensor, scale: float | None = None,
                                     mask: Tensor | None = None, causal: bool = False, offset: int = 0, window: int = 0,
                                     cap: float = 0.0) -> Tensor:
        """softmax(scale * q @ k^T) @ v. Shapes: q [.., m, d], k [.., n, d], v [.., n, e] -> [.., m, e].

        scale:  1 / sqrt(d) where it is omitted, as in PyTorch.
        mask:   broadcasts to the scores [.., m, n]: of bool, whether a query sees a key; of the scores' dtype, what is added.
        causal: query i sees the keys up to i + offset, and with a window the last that many of these.
        cap:    scores become cap * tanh(score / cap).

        A query that sees no key gives 0.

        >>> g = Graph(); q = g.new_input((4, 16, 64)); k = g.new_input((4, 32, 64))
        >>> g.scaled_dot_product_attention(q, k, k, causal=True, offset=16, window=8).shape
        (4, 16, 64)
        """
        attributes: dict[str, Any] = {"scale": 1 / math.sqrt(q.shape[-1]) if scale is None else scale}
        given = {"cap": float(cap), "causal": bool(causal), "offset": operator.index(offset), "window": operator.index(window)}
        attributes |= {name: value for name, value in given.items() if value}
        return self._apply("scaled_dot_product_attention", [q, k, v] if mask is None else [q, k, v, mask], attributes)

    # -------------------------------------------------------------------------------------------------------- underneath

    def apply(self, op: str, *tensors: Tensor, **attributes: Any) -> Tensor:
        """An operator by the dialect's name, with its attributes (dialect/README.md).

        >>> g = Graph(); x = g.new_input((2, 8))
        >>> g.apply("reduce_sum", x, dim=1).shape
        (2, 1)
        >>> g.apply("exp", x, dim=1)
        Traceback (most recent call last):
        TypeError: exp: no attribute 'dim'; it has none
        """
        needed, possible = ATTRIBUTES.get(op, ((), ()))
        for name in attributes:
            if name not in needed + possible:
                raise TypeError(f"{op}: no attribute '{name}'; it has {', '.join(needed + possible) or 'none'}")
        for name in needed:
            if name not in attributes:
                raise TypeError(f"{op}: the attribute '{name}' is missing")
        return self._apply(op, list(tensors), attributes)

    def _value(self, op: str, operands: tuple[int, ...], attrs: dict, dtype: str, shape: tuple[int, ...]) -> Tensor:
        tensor = Tensor(self, len(self._nodes), dtype, shape)
        self._nodes.append((op, operands, attrs))
        self._tensors.append(tensor)
        return tensor

    def _operand(self, tensor: Any, op: str) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{op}: expected a tensor of this graph, got {type(tensor).__name__}")
        if tensor.graph is not self:
            raise MirageError(f"{op}: the operand belongs to graph {tensor.graph.name}, another one")
        return tensor

    def _apply(self, op: str, tensors: list, attrs: dict | None = None) -> Tensor:
        attrs = attrs or {}
        tensors = [self._operand(t, op) for t in tensors]
        dtype, shape = _mirage.infer(op, [(t.dtype, t.shape) for t in tensors], attrs)
        return self._value(op, tuple(t.index for t in tensors), attrs, dtype, shape)

    def _binary(self, op: str, a: Operand, b: Operand) -> Tensor:
        if isinstance(a, Tensor):
            return self._apply(op, [a, b if isinstance(b, Tensor) else self._number(b, a, op)])
        if isinstance(b, Tensor):
            return self._apply(op, [self._number(a, b, op), b])
        raise TypeError(f"{op}: at least one operand has to be a tensor")

    def _number(self, value: Any, like: Tensor, op: str) -> Tensor:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{op}: expected a tensor or a number, got {type(value).__name__}")
        if like.dtype == int32:
            if isinstance(value, float):
                raise TypeError(f"{op}: expected an index beside indices, got {value}")
            return self._apply("constant", [], {"dtype": int32, "shape": [1] * like.ndim, "value": float(value)})
        if like.dtype == bool_:
            raise TypeError(f"{op}: expected predicates, got a number")
        return self.constant(value, (1,) * like.ndim, like.dtype)

    def _reduce(self, op: str, x: Tensor, dim: int, dtype: Any) -> Tensor:
        return self._apply(op, [x], {"dim": self._dim(x, dim, op)} | _result_dtype(dtype))

    def _dim(self, x: Any, dim: int, op: str) -> int:
        rank = self._operand(x, op).ndim
        if not hasattr(type(dim), "__index__"):
            raise TypeError(f"{op}: dim {dim!r}: expected an integer")
        dim = operator.index(dim)
        if not -rank <= dim < rank:
            raise IndexError(f"{op}: dim {dim} of a tensor with {rank} dimensions: expected {-rank} to {rank - 1}")
        return dim % rank

    def _build(self, name: str) -> str:
        builder = _mirage.Builder(name)
        ids: dict[int, int] = {}
        for index in self._inputs:
            tensor = self._tensors[index]
            ids[index] = builder.input(tensor.dtype, tensor.shape)
        for index, (op, operands, attrs) in enumerate(self._nodes):
            if op != "input":
                ids[index] = builder.apply(op, [ids[i] for i in operands], attrs)
        text = builder.finish([ids[i] for i in self._outputs])
        note: dict[str, list] = {"names": self._names}
        if any(self._perms):
            note["perms"] = self._perms
        if not any(self._names) and "perms" not in note:
            return text
        quoted = json.dumps(note).replace("\\", "\\\\").replace('"', "\\22")
        return text.replace("module {", f'module attributes {{mirage.python = "{quoted}"}} {{', 1)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {len(self._inputs)} inputs, {len(self._nodes) - len(self._inputs)} operators>"


def _result_dtype(dtype: Any) -> dict[str, str]:
    """The attribute that states a result's dtype; none where it is omitted."""
    return {} if dtype is None else {"dtype": dtype_name(dtype)}


def _integers(values: Any, what: str) -> tuple[int, ...]:
    """A sequence of integers. TypeError for anything else.

    >>> _integers(8, "reshape: shape")
    Traceback (most recent call last):
    TypeError: reshape: shape 8: expected a sequence of integers
    """
    try:
        return tuple(operator.index(v) for v in values)
    except TypeError:
        raise TypeError(f"{what} {values!r}: expected a sequence of integers") from None


def _stride_order(dims: tuple[int, ...], strides: Sequence[int] | None) -> list[int] | None:
    """The order of dimensions in memory, outermost first, where it is not that of the tensor."""
    if strides is None:
        return None
    strides = [operator.index(s) for s in strides]
    order = sorted(range(len(dims)), key=lambda d: (-strides[d], d)) if len(strides) == len(dims) else []
    dense = 1
    for d in reversed(order):
        if dims[d] != 1 and strides[d] != dense:
            order = []
            break
        dense *= dims[d]
    if not order:
        raise ValueError(f"new_input: strides {strides} of dims {list(dims)}: expected a permutation of contiguous strides; "
                         "copy the tensor to a contiguous one first")
    return None if order == list(range(len(dims))) else order


def new_graph(name: str = "program") -> Graph:
    """An empty program. `name` is the symbol it gets in MLIR."""
    return Graph(name)
