"""What PyTorch's operators are in the kernel dialect: one small function an operator, found by its name.

The same name serves a function (torch.softmax), a method (x.softmax), an operator of ATen (aten.softmax.int): the
order of arguments is the same. Each function takes the Graph, tensors of it, and Python values, and gives a tensor or
a tuple. What cannot be said raises Unsupported with the reason; whoever calls compares shape and dtype of the result
with PyTorch's.

Rounding is PyTorch's: operands of two dtypes are cast to the common one; a Python number that the tensor's dtype
cannot hold works in float32; reductions of several dimensions stay in float32 between them.
"""

from __future__ import annotations

import math
import operator
import struct
from typing import Any, Callable

import torch
import torch.nn.functional as F

from ._graph import Graph, Tensor, float32

TO_TORCH = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}
FROM_TORCH = {value: key for key, value in TO_TORCH.items()}


class Unsupported(Exception):
    """An operator, or a use of it, that the dialect has no words for. The text is the reason."""


OPS: dict[str, Callable] = {}


def op(*names: str):
    """Enters a function under these names."""

    def enter(function: Callable) -> Callable:
        for name in names:
            OPS[name] = function
        return function

    return enter


_HOMES = (torch, F, torch._C._nn, operator, torch.special, torch.linalg)


def name_of(node: torch.fx.Node) -> str:
    """What an FX node's target is called: "softmax" for torch.softmax, x.softmax and aten.softmax.int alike."""
    target = node.target
    if node.op == "call_method":
        return str(target)
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name.split("::")[1] if target.namespace == "aten" else str(target)
    return getattr(target, "__name__", str(target))


def find(node: torch.fx.Node) -> Callable:
    """The function for an FX node. Unsupported where there is none, also for another function of a name that we
    know."""
    name, target = name_of(node), node.target
    known = OPS.get(name)
    if known is None:
        raise Unsupported("no such operator")
    ours = (
        node.op == "call_method"
        or isinstance(target, torch._ops.OpOverload)
        or target is getattr
        or any(getattr(home, name, None) is target for home in _HOMES)
    )
    if not ours:
        raise Unsupported(f"a function of {getattr(target, '__module__', None)}, not PyTorch's")
    return known


# -------------------------------------------------------------------------------------------------------------- helpers


def _tensor(x: Any, what: str = "operand") -> Tensor:
    if not isinstance(x, Tensor):
        raise Unsupported(f"{what} is {type(x).__name__}, not a tensor")
    return x


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _holds(dtype: str, value: float) -> bool:
    """Whether `dtype` has this number exactly (float32: to its own rounding, as in PyTorch)."""
    if dtype == float32:
        return True
    try:
        if dtype == "float16":
            return struct.unpack("e", struct.pack("e", value))[0] == value
        return struct.unpack("f", struct.pack("f", value))[0] == value and struct.pack(">f", value)[2:] == b"\0\0"
    except OverflowError:
        return False


def _cast(g: Graph, x: Tensor, dtype: str) -> Tensor:
    return x if x.dtype == dtype else g.cast(x, dtype)


def _in_float32(g: Graph, x: Tensor, body: Callable[[Tensor], Tensor]) -> Tensor:
    """body(x) in float32, rounded once, to x's dtype."""
    return _cast(g, body(_cast(g, x, float32)), x.dtype)


def _binary(g: Graph, name: str, a: Any, b: Any) -> Tensor:
    """An operator of the Graph on tensors and numbers, with PyTorch's promotion."""
    apply = getattr(g, name)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        dtype = FROM_TORCH[torch.promote_types(TO_TORCH[a.dtype], TO_TORCH[b.dtype])]
        return apply(_cast(g, a, dtype), _cast(g, b, dtype))
    x, number = (a, b) if isinstance(a, Tensor) else (b, a)
    if not isinstance(x, Tensor) or not _is_number(number):
        raise Unsupported(f"operands are {type(a).__name__} and {type(b).__name__}")
    if not math.isfinite(number):
        raise Unsupported(f"the number {number}")
    put = (lambda t: apply(t, float(number))) if x is a else (lambda t: apply(float(number), t))
    return put(x) if _holds(x.dtype, float(number)) else _in_float32(g, x, put)


def _dim(dim: Any, rank: int) -> int:
    if isinstance(dim, bool) or not isinstance(dim, int) or not -rank <= dim < rank:
        raise Unsupported(f"dimension {dim!r} of {rank}")
    return dim % rank


def _dims(dim: Any, rank: int) -> list[int]:
    """Dimensions in order; None and () mean all."""
    if dim is None or dim == () or dim == []:
        return list(range(rank))
    return sorted(_dim(d, rank) for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))


def _sizes(sizes: tuple) -> list[int]:
    """view(2, 3), view((2, 3)): [2, 3]."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    if not all(isinstance(s, int) and not isinstance(s, bool) for s in sizes):
        raise Unsupported(f"sizes {list(sizes)}")
    return list(sizes)


def _reshape(g: Graph, x: Tensor, shape: Any) -> Tensor:
    shape = list(shape)
    if not shape:
        raise Unsupported("a result of rank 0")
    return x if tuple(shape) == x.shape else g.reshape(x, shape)


# --------------------------------------------------------------------------------------------------------- element-wise


@op("add")
def add(g, a, b, *, alpha=1):
    return _binary(g, "add", a, b if alpha == 1 else _binary(g, "mul", b, alpha))


@op("sub", "subtract")
def sub(g, a, b, *, alpha=1):
    return _binary(g, "sub", a, b if alpha == 1 else _binary(g, "mul", b, alpha))


@op("rsub")
def rsub(g, a, b, *, alpha=1):
    return _binary(g, "sub", b, a if alpha == 1 else _binary(g, "mul", a, alpha))


@op("mul", "multiply")
def mul(g, a, b):
    return _binary(g, "mul", a, b)


@op("div", "truediv", "true_divide", "divide")
def div(g, a, b, *, rounding_mode=None):
    if rounding_mode is not None:
        raise Unsupported(f"rounding_mode={rounding_mode!r}")
    return _binary(g, "div", a, b)


@op("maximum")
def maximum(g, a, b):
    return _binary(g, "maximum", a, b)


@op("minimum")
def minimum(g, a, b):
    return _binary(g, "minimum", a, b)


def _unary(name: str, *names: str) -> None:
    def apply(g, x, inplace=False):
        return getattr(g, name)(_tensor(x))

    op(name, *names)(apply)


for _names in (
    ("exp",),
    ("log",),
    ("sqrt",),
    ("rsqrt",),
    ("square",),
    ("neg", "negative"),
    ("sigmoid", "special_expit"),
    ("silu",),
    ("erf", "special_erf"),
    ("tanh",),
    ("relu",),
):
    _unary(*_names)


@op("gelu")
def gelu(g, x, approximate="none"):
    return g.gelu(_tensor(x), approximate)


@op("abs", "absolute")
def absolute(g, x):
    return g.maximum(_tensor(x), g.neg(x))


@op("reciprocal")
def reciprocal(g, x):
    return g.div(1.0, _tensor(x))


@op("hardtanh")
def hardtanh(g, x, min_val=-1.0, max_val=1.0, inplace=False):
    return clamp(g, x, min_val, max_val)


@op("relu6")
def relu6(g, x, inplace=False):
    return clamp(g, x, 0.0, 6.0)


@op("clamp", "clip")
def clamp(g, x, min=None, max=None):
    for name, bound in (("maximum", min), ("minimum", max)):
        if bound is not None:
            x = _binary(g, name, x, bound)
    return x


@op("clamp_min")
def clamp_min(g, x, min):
    return _binary(g, "maximum", x, min)


@op("clamp_max")
def clamp_max(g, x, max):
    return _binary(g, "minimum", x, max)


_POWERS = {
    2: lambda g, x: g.square(x),
    3: lambda g, x: g.mul(g.square(x), x),
    4: lambda g, x: g.square(g.square(x)),
    0.5: lambda g, x: g.sqrt(x),
    -0.5: lambda g, x: g.rsqrt(x),
    -1: lambda g, x: g.div(1.0, x),
    -2: lambda g, x: g.div(1.0, g.square(x)),
    1: lambda g, x: x,
}


@op("pow")
def power(g, x, exponent):
    if not isinstance(x, Tensor) or not _is_number(exponent) or exponent not in _POWERS:
        raise Unsupported(
            f"exponent {exponent if _is_number(exponent) else type(exponent).__name__}: "
            f"only {', '.join(str(e) for e in sorted(_POWERS))} are possible"
        )
    body = _POWERS[exponent]
    return body(g, x) if exponent in (1, 2, 0.5, -0.5) else _in_float32(g, x, lambda t: body(g, t))


@op("glu")
def glu(g, x, dim=-1):
    d = _dim(dim, _tensor(x).ndim)
    half, rest = divmod(x.shape[d], 2)
    if rest:
        raise Unsupported(f"an extent of {x.shape[d]}")
    return g.mul(g.slice(x, d, 0, half), g.sigmoid(g.slice(x, d, half, 2 * half)))


# --------------------------------------------------------------------------------------------------------- contractions


def _matmul(g: Graph, a: Tensor, b: Tensor, transpose_b: bool = False) -> Tensor:
    """a @ b for any ranks. A matrix b meets all of a's leading dimensions as rows of one matrix."""
    left, right = a.ndim == 1, b.ndim == 1
    if left:
        a = _reshape(g, a, (1, a.shape[0]))
    if right:
        b = _reshape(g, b, (1, b.shape[0]) if transpose_b else (b.shape[0], 1))
    lead = a.shape[:-1]
    flat = b.ndim == 2 and a.ndim > 2
    if flat:
        a = _reshape(g, a, (math.prod(lead), a.shape[-1]))
    y = g.matmul(a, b, transpose_b=transpose_b)
    if flat:
        y = _reshape(g, y, (*lead, y.shape[-1]))
    shape = [e for d, e in enumerate(y.shape) if not (left and d == y.ndim - 2) and not (right and d == y.ndim - 1)]
    return _reshape(g, y, shape)


@op("matmul", "mm", "bmm", "mv")
def matmul(g, a, b):
    return _matmul(g, _tensor(a), _tensor(b))


@op("linear")
def linear(g, x, weight, bias=None):
    y = _matmul(g, _tensor(x), _tensor(weight), transpose_b=True)
    return y if bias is None else g.add(y, bias)


@op("addmm", "baddbmm")
def addmm(g, x, a, b, *, beta=1, alpha=1):
    y = _matmul(g, _tensor(a), _tensor(b))
    y = y if alpha == 1 else _binary(g, "mul", y, alpha)
    return y if beta == 0 else g.add(x if beta == 1 else _binary(g, "mul", x, beta), y)


@op("einsum")
def einsum(g, equation, *operands):
    """Two operands whose indices occur once each: permutations around one product of matrices."""
    operands = tuple(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    terms, arrow, result = equation.replace(" ", "").partition("->")
    terms = terms.split(",")
    letters = "".join(terms) + result
    if (
        len(terms) != 2
        or len(operands) != 2
        or not arrow
        or not letters.isalpha()
        or any(len(set(t)) != len(t) for t in (*terms, result))
    ):
        raise Unsupported(f"{equation!r}: only two operands, each index once in each, and a result are possible")
    (a, b), (ia, ib) = (_tensor(o) for o in operands), terms
    extent = {**dict(zip(ia, a.shape)), **dict(zip(ib, b.shape))}
    batch = [i for i in ia if i in ib and i in result]
    summed = [i for i in ia if i in ib and i not in result]
    rows, columns = [i for i in ia if i not in ib], [i for i in ib if i not in ia]
    if not summed or set(rows + columns) - set(result) or set(result) - set(ia + ib):
        raise Unsupported(f"{equation!r}: no product of matrices")

    def matrix(x, order, *groups):
        x = _permute(g, x, [order.index(i) for group in groups for i in group])
        return _reshape(g, x, [math.prod(extent[i] for i in group) for group in groups if group is not batch or batch])

    y = g.matmul(matrix(a, ia, batch, rows, summed), matrix(b, ib, batch, summed, columns))
    order = batch + rows + columns
    y = _reshape(g, y, [extent[i] for i in order])
    return _permute(g, y, [order.index(i) for i in result])


@op("scaled_dot_product_attention")
def attention(g, q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if attn_mask is not None:
        raise Unsupported("a mask")
    if is_causal:
        raise Unsupported("is_causal: a mask")
    if dropout_p:
        raise Unsupported(f"dropout_p={dropout_p}")
    shape = q.shape
    if enable_gqa and q.shape[-3] != k.shape[-3]:
        # Heads that share keys are more rows of one: without a mask, rows do not depend on each other.
        group = q.shape[-3] // k.shape[-3]
        q = _reshape(g, q, (*shape[:-3], k.shape[-3], group * shape[-2], shape[-1]))
    y = g.scaled_dot_product_attention(q, k, v, scale)
    return _reshape(g, y, (*shape[:-1], v.shape[-1])) if q.shape != shape else y


# ---------------------------------------------------------------------------------------------- reductions, normalising


def _as_dtype(g: Graph, x: Tensor, dtype: Any) -> Tensor:
    if dtype is None:
        return x
    if dtype not in FROM_TORCH:
        raise Unsupported(str(dtype).removeprefix("torch."))
    return _cast(g, x, FROM_TORCH[dtype])


def _reduce(g: Graph, name: str, x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    dims = _dims(dim, _tensor(x).ndim)

    def body(t: Tensor) -> Tensor:
        for d in dims:
            t = getattr(g, name)(t, d)
        return t

    y = _in_float32(g, x, body) if len(dims) > 1 and name != "reduce_max" else body(x)
    return y if keepdim else _reshape(g, y, [e for d, e in enumerate(y.shape) if d not in dims])


@op("sum")
def reduce_sum(g, x, dim=None, keepdim=False, *, dtype=None):
    return _reduce(g, "reduce_sum", _as_dtype(g, _tensor(x), dtype), dim, keepdim)


@op("mean")
def reduce_mean(g, x, dim=None, keepdim=False, *, dtype=None):
    return _reduce(g, "reduce_mean", _as_dtype(g, _tensor(x), dtype), dim, keepdim)


@op("amax")
def amax(g, x, dim=(), keepdim=False):
    return _reduce(g, "reduce_max", x, dim, keepdim)


@op("amin")
def amin(g, x, dim=(), keepdim=False):
    return g.neg(_reduce(g, "reduce_max", g.neg(_tensor(x)), dim, keepdim))


@op("max")
def maximum_or_amax(g, x, dim=None, keepdim=False):
    """Of max(x, dim) the values; the indices are None, and whoever asks for them cannot have them."""
    return maximum(g, x, dim) if isinstance(dim, Tensor) else (amax(g, x, dim, keepdim), None)


@op("min")
def minimum_or_amin(g, x, dim=None, keepdim=False):
    return minimum(g, x, dim) if isinstance(dim, Tensor) else (amin(g, x, dim, keepdim), None)


@op("softmax", "_softmax")
def softmax(g, x, dim=None, *rest, dtype=None, _stacklevel=3):
    dtype = next((r for r in rest if isinstance(r, torch.dtype)), dtype)
    x = _as_dtype(g, _tensor(x), dtype)
    return g.softmax(x, _dim(dim, x.ndim))


@op("log_softmax")
def log_softmax(g, x, dim=None, *rest, dtype=None, _stacklevel=3):
    dtype = next((r for r in rest if isinstance(r, torch.dtype)), dtype)
    x = _as_dtype(g, _tensor(x), dtype)
    d = _dim(dim, x.ndim)

    def body(t: Tensor) -> Tensor:
        t = g.sub(t, g.reduce_max(t, d))
        return g.sub(t, g.log(g.reduce_sum(g.exp(t), d)))

    return _in_float32(g, x, body)


def _normalised(g: Graph, x: Tensor, shape: Any, parameters: tuple, apply: Callable) -> Tensor:
    """A norm over the last dimensions, which become one for it."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    width = math.prod(shape)
    if list(x.shape[x.ndim - len(shape) :]) != shape:
        raise Unsupported(f"normalized_shape {shape} of {list(x.shape)}")
    parameters = tuple(None if p is None else _reshape(g, p, (width,)) for p in parameters)
    if any(p is not None and p.dtype != x.dtype for p in parameters):
        raise Unsupported("parameters of another dtype")
    y = apply(_reshape(g, x, (*x.shape[: x.ndim - len(shape)], width)), *parameters)
    return _reshape(g, y, x.shape)


@op("layer_norm")
def layer_norm(g, x, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    if weight is None and bias is not None:
        raise Unsupported("a bias without a weight")
    return _normalised(g, _tensor(x), normalized_shape, (weight, bias), lambda t, w, b: g.layer_norm(t, w, b, eps))


@op("rms_norm")
def rms_norm(g, x, normalized_shape, weight=None, eps=None):
    # Without eps PyTorch takes that of the dtype it computes in.
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    return _normalised(g, _tensor(x), normalized_shape, (weight,), lambda t, w: g.rms_norm(t, w, eps))


# ----------------------------------------------------------------------------------------------------- dtypes, identity


@op("to", "type", "_to_copy")
def to(g, x, *args, **kwargs):
    dtype = kwargs.get("dtype") or kwargs.get("other")
    for a in args:
        dtype = a if isinstance(a, (torch.dtype, Tensor)) else dtype
    if isinstance(dtype, Tensor):
        return _cast(g, _tensor(x), dtype.dtype)
    return _as_dtype(g, _tensor(x), dtype)  # a change of device shows in PyTorch's result


@op("type_as")
def type_as(g, x, other):
    return _cast(g, _tensor(x), other.dtype)


@op("float")
def to_float(g, x, **_):
    return _cast(g, _tensor(x), "float32")


@op("half")
def to_half(g, x, **_):
    return _cast(g, _tensor(x), "float16")


@op("bfloat16")
def to_bfloat16(g, x, **_):
    return _cast(g, _tensor(x), "bfloat16")


def _other_dtype(name: str, dtype: str) -> None:
    def refuse(g, x, **_):
        raise Unsupported(dtype)

    op(name)(refuse)


for _name, _dtype in (("double", "float64"), ("long", "int64"), ("int", "int32"), ("bool", "bool")):
    _other_dtype(_name, _dtype)


@op("contiguous", "clone", "detach", "alias", "lift_fresh_copy", "positive", "pos")
def identity(g, x, *, memory_format=None):
    return _tensor(x)


@op("dropout")
def dropout(g, x, p=0.5, training=True, train=True, inplace=False):
    if training and train and p:
        raise Unsupported("random")
    return _tensor(x)


# --------------------------------------------------------------------------------------------------------------- shapes


def _permute(g: Graph, x: Tensor, perm: list[int]) -> Tensor:
    return x if perm == list(range(x.ndim)) else g.transpose(x, perm)


@op("view", "reshape", "_unsafe_view", "_reshape_copy", "view_copy")
def reshape(g, x, *shape, **kwargs):
    shape = _sizes(shape or (kwargs.get("shape") or kwargs.get("size"),))
    if -1 in shape:
        known = math.prod(s for s in shape if s != -1)
        shape[shape.index(-1)] = math.prod(x.shape) // max(known, 1)
    return _reshape(g, _tensor(x), shape)


@op("view_as", "reshape_as")
def reshape_as(g, x, other):
    return _reshape(g, _tensor(x), other.shape)


@op("flatten")
def flatten(g, x, start_dim=0, end_dim=-1):
    a, b = _dim(start_dim, _tensor(x).ndim), _dim(end_dim, x.ndim)
    return _reshape(g, x, (*x.shape[:a], math.prod(x.shape[a : b + 1]), *x.shape[b + 1 :]))


@op("unflatten")
def unflatten(g, x, dim, sizes):
    d, sizes = _dim(dim, _tensor(x).ndim), list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[d] // math.prod(s for s in sizes if s != -1)
    return _reshape(g, x, (*x.shape[:d], *sizes, *x.shape[d + 1 :]))


@op("unsqueeze")
def unsqueeze(g, x, dim):
    d = _dim(dim, _tensor(x).ndim + 1)
    return _reshape(g, x, (*x.shape[:d], 1, *x.shape[d:]))


@op("squeeze")
def squeeze(g, x, dim=None):
    dims = _dims(dim, _tensor(x).ndim)
    return _reshape(g, x, [e for d, e in enumerate(x.shape) if d not in dims or e != 1])


@op("permute")
def permute(g, x, *dims, **kwargs):
    return _permute(g, _tensor(x), [_dim(d, x.ndim) for d in _sizes(dims or (kwargs["dims"],))])


@op("transpose", "swapaxes", "swapdims")
def transpose(g, x, dim0, dim1):
    a, b = _dim(dim0, _tensor(x).ndim), _dim(dim1, x.ndim)
    perm = list(range(x.ndim))
    perm[a], perm[b] = b, a
    return _permute(g, x, perm)


@op("t", "numpy_T", "mT", "T")
def matrix_transpose(g, x):
    return x if _tensor(x).ndim == 1 else transpose(g, x, -2, -1)


@op("movedim", "moveaxis")
def movedim(g, x, source, destination):
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    at = {_dim(t, x.ndim): _dim(s, x.ndim) for s, t in zip(sources, targets)}
    rest = iter(d for d in range(x.ndim) if d not in at.values())
    return _permute(g, _tensor(x), [at[d] if d in at else next(rest) for d in range(x.ndim)])


@op("expand", "broadcast_to")
def expand(g, x, *sizes, implicit=False, **kwargs):
    shape = _sizes(sizes or (kwargs.get("size"),))
    lead = len(shape) - _tensor(x).ndim
    shape = [x.shape[d - lead] if s == -1 else s for d, s in enumerate(shape)]
    return x if tuple(shape) == x.shape else g.broadcast(x, shape)


@op("expand_as")
def expand_as(g, x, other):
    return expand(g, x, *other.shape)


@op("repeat", "tile")
def repeat(g, x, *times, **kwargs):
    times = _sizes(times or (kwargs.get("repeats") or kwargs.get("dims"),))
    times = [1] * (_tensor(x).ndim - len(times)) + times  # tile may give fewer
    x = _reshape(g, x, [1] * (len(times) - x.ndim) + list(x.shape))
    for d, n in enumerate(times):
        x = x if n == 1 else g.repeat(x, d, n)
    return x


@op("repeat_interleave")
def repeat_interleave(g, x, repeats, dim=None, *, output_size=None):
    if not isinstance(repeats, int) or dim is None:
        raise Unsupported("repeats that are a tensor, or no dimension")
    d = _dim(dim, _tensor(x).ndim)
    shape = list(x.shape)
    y = g.broadcast(_reshape(g, x, shape[: d + 1] + [1] + shape[d + 1 :]), shape[: d + 1] + [repeats] + shape[d + 1 :])
    return _reshape(g, y, shape[:d] + [shape[d] * repeats] + shape[d + 1 :])


def _slice(g: Graph, x: Tensor, d: int, begin: int, end: int) -> Tensor:
    return x if (begin, end) == (0, x.shape[d]) else g.slice(x, d, begin, end)


@op("narrow")
def narrow(g, x, dim, start, length):
    d = _dim(dim, _tensor(x).ndim)
    start = start % x.shape[d] if start < 0 else start
    return _slice(g, x, d, start, start + length)


@op("slice")
def aten_slice(g, x, dim=0, start=None, end=None, step=1):
    d = _dim(dim, _tensor(x).ndim)
    return getitem(g, x, (slice(None),) * d + (slice(start, end, step),))


@op("select")
def select(g, x, dim, index):
    d = _dim(dim, _tensor(x).ndim)
    return getitem(g, x, (slice(None),) * d + (index,))


@op("split", "split_with_sizes")
def split(g, x, sizes, dim=0, **kwargs):
    d = _dim(dim, _tensor(x).ndim)
    extent = x.shape[d]
    sizes = [min(sizes, extent - at) for at in range(0, extent, sizes)] if isinstance(sizes, int) else list(sizes)
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return tuple(_slice(g, x, d, end - size, end) for size, end in zip(sizes, ends))


@op("chunk")
def chunk(g, x, chunks, dim=0):
    return split(g, x, -(-_tensor(x).shape[_dim(dim, x.ndim)] // chunks), dim)


@op("unbind")
def unbind(g, x, dim=0):
    d = _dim(dim, _tensor(x).ndim)
    return tuple(select(g, x, d, i) for i in range(x.shape[d]))


@op("cat", "concat", "concatenate")
def cat(g, tensors, dim=0, axis=None):
    tensors = [_tensor(t) for t in tensors]
    d = _dim(dim if axis is None else axis, tensors[0].ndim)
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = FROM_TORCH[torch.promote_types(TO_TORCH[dtype], TO_TORCH[t.dtype])]
    return g.concat([_cast(g, t, dtype) for t in tensors], d)


@op("stack")
def stack(g, tensors, dim=0):
    d = _dim(dim, _tensor(tensors[0]).ndim + 1)
    return cat(g, [unsqueeze(g, t, d) for t in tensors], d)


@op("getattr")
def attribute(g, x, name):
    if name not in ("T", "mT"):
        raise Unsupported(f"attribute {name}")
    return matrix_transpose(g, x)


@op("getitem")
def getitem(g, x, index):
    if isinstance(x, (tuple, list)):
        if x[index] is None:
            raise Unsupported("indices of a maximum")
        return x[index]
    index = index if isinstance(index, tuple) else (index,)
    given = sum(i is not None and i is not Ellipsis for i in index)
    if Ellipsis in [i for i in index if not isinstance(i, Tensor)]:
        at = next(n for n, i in enumerate(index) if i is Ellipsis)
        index = index[:at] + (slice(None),) * (x.ndim - given) + index[at + 1 :]
    shape: list[int] = []
    d = 0
    for i in index:
        if i is None:
            shape.append(1)
            continue
        if isinstance(i, slice):
            begin, end, step = i.indices(x.shape[d])
            if step != 1:
                raise Unsupported(f"a step of {step}")
            x = _slice(g, x, d, begin, end)
            shape.append(x.shape[d])
        elif isinstance(i, int) and not isinstance(i, bool):
            begin = i % x.shape[d]
            x = _slice(g, x, d, begin, begin + 1)
        else:
            raise Unsupported(f"an index that is a {type(i).__name__}")
        d += 1
    return _reshape(g, x, shape + list(x.shape[d:]))
