"""PyTorch's contractions, reductions and norms in the kernel dialect (_torch_ops has the rules)."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch

from . import _known as known
from ._graph import Graph, Tensor
from ._torch_arith import maximum, minimum
from ._known import Known
from ._torch_table import (
    FLOATS,
    FROM_TORCH,
    Turned,
    Unsupported,
    as_dtype,
    as_tensor,
    binary,
    dim_of,
    dims_of,
    in_float32,
    op,
    permute_to,
    reshape_to,
)


def _matmul(g: Graph, a: Tensor, b: Tensor, transpose_b: bool = False, dtype: str | None = None) -> Tensor:
    """a @ b for any ranks. A matrix b meets all of a's leading dimensions as rows of one matrix."""
    left, right = a.ndim == 1, b.ndim == 1
    if left:
        a = reshape_to(g, a, (1, a.shape[0]))
    if right:
        b = reshape_to(g, b, (1, b.shape[0]) if transpose_b else (b.shape[0], 1))
    lead = a.shape[:-1]
    flat = b.ndim == 2 and a.ndim > 2
    if flat:
        a = reshape_to(g, a, (math.prod(lead), a.shape[-1]))
    y = g.matmul(a, b, transpose_b=transpose_b, dtype=dtype)
    if flat:
        y = reshape_to(g, y, (*lead, y.shape[-1]))
    shape = [e for d, e in enumerate(y.shape) if not (left and d == y.ndim - 2) and not (right and d == y.ndim - 1)]
    return reshape_to(g, y, shape)


@op("matmul", "mm", "bmm", "mv")
def matmul(g, a, b, out_dtype=None):
    if out_dtype is not None and FROM_TORCH.get(out_dtype) not in FLOATS:
        raise Unsupported(str(out_dtype).removeprefix("torch."))
    return _matmul(g, as_tensor(a), as_tensor(b), dtype=out_dtype and FROM_TORCH[out_dtype])


def _bytes(x: Any, dtypes: tuple[str, ...], what: str) -> tuple[Tensor, bool]:
    """A matrix of a stored type as it lies in memory, and whether it is the transpose of that."""
    turned = isinstance(x, Turned) and x.perm == [1, 0]
    if x.dtype not in dtypes or x.ndim != 2 or isinstance(x, Turned) and not turned:
        raise Unsupported(f"{what} is {x.dtype} of {x.ndim} dimensions, not a matrix of {' or '.join(dtypes)}")
    return (x.base if turned else as_tensor(x)), turned


@op("_int_mm")
def int_mm(g, a, b):
    (a, ta), (b, tb) = (_bytes(x, ("int8",), "an operand") for x in (a, b))
    return g.matmul(a, b, transpose_a=ta, transpose_b=tb)


def _scale_of(g: Graph, scale: Any, shape: tuple[int, int]) -> Tensor:
    """One number, or one for each row or column."""
    scale = as_tensor(scale, "a scale")
    if scale.dtype != "float32" or scale.shape not in (shape, (1, 1), (1,)):
        raise Unsupported(f"a scale of {scale.dtype} {list(scale.shape)}: float32 of one element or {list(shape)} is possible")
    return scale


@op("_scaled_mm")
def scaled_mm(g, a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """The scales multiply the sums, which are in float32; the result is rounded once."""
    if scale_result is not None or FROM_TORCH.get(out_dtype) not in FLOATS:
        raise Unsupported("a result of float8" if scale_result is not None or out_dtype is None else str(out_dtype).removeprefix("torch."))
    m, n = a.shape[0], b.shape[-1]
    (a, ta), (b, tb) = (_bytes(x, ("float8_e4m3fn", "float8_e5m2"), "an operand") for x in (a, b))
    y = g.matmul(a, b, transpose_a=ta, transpose_b=tb)
    y = g.mul(g.mul(y, _scale_of(g, scale_a, (m, 1))), _scale_of(g, scale_b, (1, n)))
    y = y if bias is None else g.add(y, as_tensor(bias, "the bias"))
    return as_dtype(g, y, out_dtype)


@op("linear")
def linear(g, x, weight, bias=None):
    y = _matmul(g, as_tensor(x), as_tensor(weight), transpose_b=True)
    return y if bias is None else g.add(y, bias)


@op("addmm", "baddbmm")
def addmm(g, x, a, b, *, beta=1, alpha=1):
    y = _matmul(g, as_tensor(a), as_tensor(b))
    y = y if alpha == 1 else binary(g, "mul", y, alpha)
    return y if beta == 0 else g.add(x if beta == 1 else binary(g, "mul", x, beta), y)


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
    (a, b), (ia, ib) = (as_tensor(o) for o in operands), terms
    extent = {**dict(zip(ia, a.shape)), **dict(zip(ib, b.shape))}
    batch = [i for i in ia if i in ib and i in result]
    summed = [i for i in ia if i in ib and i not in result]
    rows, columns = [i for i in ia if i not in ib], [i for i in ib if i not in ia]
    if not summed or set(rows + columns) - set(result) or set(result) - set(ia + ib):
        raise Unsupported(f"{equation!r}: no product of matrices")

    def matrix(x, order, *groups):
        x = permute_to(g, x, [order.index(i) for group in groups for i in group])
        return reshape_to(g, x, [math.prod(extent[i] for i in group) for group in groups if group is not batch or batch])

    y = g.matmul(matrix(a, ia, batch, rows, summed), matrix(b, ib, batch, summed, columns))
    order = batch + rows + columns
    y = reshape_to(g, y, [extent[i] for i in order])
    return permute_to(g, y, [order.index(i) for i in result])


def _visibility(g: Graph, mask: Any, shape: tuple[int, ...]) -> tuple[Tensor | None, dict[str, Any]]:
    """A mask of attention as a tensor, or as what says it: of positions alone, it may be a causal one. shape: of the scores."""
    if mask is None:
        return None, {}
    if isinstance(mask, Known):
        mask = known.added_mask(mask) or mask
    if not isinstance(mask, Known):
        return as_tensor(mask, "the mask"), {}
    if mask.dtype != "bool":
        return known.tensor_of(g, mask), {}
    causal = known.as_causal(known.broadcast(mask, shape))
    if causal is not None:
        return None, {"causal": True, "offset": causal[0], "window": causal[1]}
    return (None, {}) if known.always(mask) else (known.mask_of(g, mask), {})


@op("scaled_dot_product_attention", takes_known=True)
def attention(g, q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if dropout_p:
        raise Unsupported(f"dropout_p={dropout_p}")
    if is_causal and attn_mask is not None:
        raise Unsupported("is_causal beside a mask")
    shape = as_tensor(q).shape
    mask, attributes = _visibility(g, attn_mask, (*shape[:-1], as_tensor(k).shape[-2]))
    if is_causal:
        attributes = {"causal": True}
    if not enable_gqa or shape[-3] == k.shape[-3]:
        return g.scaled_dot_product_attention(q, k, as_tensor(v), scale, mask, **attributes)
    group = shape[-3] // k.shape[-3]
    if mask is None and not attributes:
        # Heads that share keys are more rows of one: without a mask, rows do not depend on each other.
        q = reshape_to(g, q, (*shape[:-3], k.shape[-3], group * shape[-2], shape[-1]))
        y = g.scaled_dot_product_attention(q, k, v, scale)
    else:
        y = _grouped_attention(g, q, k, v, scale, mask, attributes)
    return reshape_to(g, y, (*shape[:-1], v.shape[-1]))


def _grouped_attention(g: Graph, q: Tensor, k: Tensor, v: Tensor, scale: Any, mask: Tensor | None, attributes: dict) -> Tensor:
    """Heads that share keys as one more dimension, along which keys and values stretch."""
    heads, group = k.shape[-3], q.shape[-3] // k.shape[-3]
    q = reshape_to(g, q, (*q.shape[:-3], heads, group, *q.shape[-2:]))
    k, v = (reshape_to(g, t, (*t.shape[:-3], heads, 1, *t.shape[-2:])) for t in (k, v))
    if mask is not None and mask.ndim > 2:
        split = (heads, group) if mask.shape[-3] > 1 else (1, 1)
        mask = reshape_to(g, mask, (*mask.shape[:-3], *split, *mask.shape[-2:]))
    return g.scaled_dot_product_attention(q, k, v, scale, mask, **attributes)


# ---------------------------------------------------------------------------------------------- reductions, normalising


def _reduce(g: Graph, name: str, x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    dims = dims_of(dim, as_tensor(x).ndim)

    def body(t: Tensor) -> Tensor:
        for d in dims:
            t = getattr(g, name)(t, d)
        return t

    y = in_float32(g, x, body) if len(dims) > 1 and name != "reduce_max" else body(x)
    return y if keepdim else reshape_to(g, y, [e for d, e in enumerate(y.shape) if d not in dims])


@op("sum")
def reduce_sum(g, x, dim=None, keepdim=False, *, dtype=None):
    return _reduce(g, "reduce_sum", as_dtype(g, as_tensor(x), dtype), dim, keepdim)


@op("mean")
def reduce_mean(g, x, dim=None, keepdim=False, *, dtype=None):
    return _reduce(g, "reduce_mean", as_dtype(g, as_tensor(x), dtype), dim, keepdim)


@op("amax")
def amax(g, x, dim=(), keepdim=False):
    return _reduce(g, "reduce_max", x, dim, keepdim)


@op("amin")
def amin(g, x, dim=(), keepdim=False):
    return g.neg(_reduce(g, "reduce_max", g.neg(as_tensor(x)), dim, keepdim))


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
    x = as_dtype(g, as_tensor(x), dtype)
    return g.softmax(x, dim_of(dim, x.ndim))


@op("log_softmax")
def log_softmax(g, x, dim=None, *rest, dtype=None, _stacklevel=3):
    dtype = next((r for r in rest if isinstance(r, torch.dtype)), dtype)
    x = as_dtype(g, as_tensor(x), dtype)
    d = dim_of(dim, x.ndim)

    def body(t: Tensor) -> Tensor:
        t = g.sub(t, g.reduce_max(t, d))
        return g.sub(t, g.log(g.reduce_sum(g.exp(t), d)))

    return in_float32(g, x, body)


def _normalised(g: Graph, x: Tensor, shape: Any, parameters: tuple, apply: Callable) -> Tensor:
    """A norm over the last dimensions, which become one for it."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    width = math.prod(shape)
    if list(x.shape[x.ndim - len(shape) :]) != shape:
        raise Unsupported(f"normalized_shape {shape} of {list(x.shape)}")
    parameters = tuple(None if p is None else reshape_to(g, p, (width,)) for p in parameters)
    if any(p is not None and p.dtype != x.dtype for p in parameters):
        raise Unsupported("parameters of another dtype")
    y = apply(reshape_to(g, x, (*x.shape[: x.ndim - len(shape)], width)), *parameters)
    return reshape_to(g, y, x.shape)


@op("layer_norm")
def layer_norm(g, x, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    if weight is None and bias is not None:
        raise Unsupported("a bias without a weight")
    return _normalised(g, as_tensor(x), normalized_shape, (weight, bias), lambda t, w, b: g.layer_norm(t, w, b, eps))


@op("rms_norm")
def rms_norm(g, x, normalized_shape, weight=None, eps=None):
    # Without eps PyTorch takes that of the dtype it computes in.
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    return _normalised(g, as_tensor(x), normalized_shape, (weight,), lambda t, w: g.rms_norm(t, w, eps))
