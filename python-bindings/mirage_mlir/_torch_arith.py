"""PyTorch's element-wise operators and casts in the kernel dialect (_torch_ops has the rules)."""

from __future__ import annotations

import torch

from ._graph import Tensor
from ._torch_masks import masked_sum
from ._torch_table import Unsupported, as_dtype, as_tensor, binary, cast_to, dim_of, in_float32, is_number, op


@op("add")
def add(g, a, b, *, alpha=1):
    masked = masked_sum(g, a, b) if alpha == 1 and isinstance(a, Tensor) and isinstance(b, Tensor) else None
    if masked is not None:
        return masked
    return binary(g, "add", a, b if alpha == 1 else binary(g, "mul", b, alpha))


@op("sub", "subtract")
def sub(g, a, b, *, alpha=1):
    return binary(g, "sub", a, b if alpha == 1 else binary(g, "mul", b, alpha))


@op("rsub")
def rsub(g, a, b, *, alpha=1):
    return binary(g, "sub", b, a if alpha == 1 else binary(g, "mul", a, alpha))


@op("mul", "multiply")
def mul(g, a, b):
    return binary(g, "mul", a, b)


@op("div", "truediv", "true_divide", "divide")
def div(g, a, b, *, rounding_mode=None):
    if rounding_mode is not None:
        raise Unsupported(f"rounding_mode={rounding_mode!r}")
    return binary(g, "div", a, b)


@op("maximum")
def maximum(g, a, b):
    return binary(g, "maximum", a, b)


@op("minimum")
def minimum(g, a, b):
    return binary(g, "minimum", a, b)


def _unary(name: str, *names: str) -> None:
    def apply(g, x, inplace=False):
        return getattr(g, name)(as_tensor(x))

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
    ("sin",),
    ("cos",),
    ("abs", "absolute"),
    ("sign", "sgn"),
    ("log1p", "special_log1p"),
):
    _unary(*_names)


@op("gelu")
def gelu(g, x, approximate="none"):
    return g.gelu(as_tensor(x), approximate)


@op("reciprocal")
def reciprocal(g, x):
    return g.div(1.0, as_tensor(x))


def _in_float32(name: str, *names: str) -> None:
    """Functions of several steps: they round once, as PyTorch's do."""

    def apply(g, x, inplace=False):
        return in_float32(g, as_tensor(x), getattr(g, name))

    op(*names)(apply)


_in_float32("hard_sigmoid", "hardsigmoid")
_in_float32("hard_swish", "hardswish")


@op("softplus")
def softplus(g, x, beta=1, threshold=20):
    """Above the threshold PyTorch gives x, which softplus(x) is to all digits at 20 and beyond."""
    if threshold < 20 or not beta > 0:
        raise Unsupported(f"beta={beta}, threshold={threshold}")

    def body(t: Tensor) -> Tensor:
        return g.softplus(t) if beta == 1 else g.div(g.softplus(g.mul(t, float(beta))), float(beta))

    return in_float32(g, as_tensor(x), body)


@op("leaky_relu")
def leaky_relu(g, x, negative_slope=0.01, inplace=False):
    return in_float32(g, as_tensor(x), lambda t: g.leaky_relu(t, negative_slope))


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
            x = binary(g, name, x, bound)
    return x


@op("clamp_min")
def clamp_min(g, x, min):
    return binary(g, "maximum", x, min)


@op("clamp_max")
def clamp_max(g, x, max):
    return binary(g, "minimum", x, max)


@op("pow")
def power(g, x, exponent):
    if not isinstance(x, Tensor) or not is_number(exponent) or exponent == 0:
        raise Unsupported(f"exponent {exponent if is_number(exponent) else type(exponent).__name__}: a number but 0 is possible")
    if exponent in _NAMED_POWERS:
        return _NAMED_POWERS[exponent](g, x)
    return in_float32(g, x, lambda t: g.pow(t, float(exponent)))


_NAMED_POWERS = {1: lambda g, x: x, 2: lambda g, x: g.square(x), 0.5: lambda g, x: g.sqrt(x), -0.5: lambda g, x: g.rsqrt(x)}


@op("glu")
def glu(g, x, dim=-1):
    d = dim_of(dim, as_tensor(x).ndim)
    half, rest = divmod(x.shape[d], 2)
    if rest:
        raise Unsupported(f"an extent of {x.shape[d]}")
    return g.mul(g.slice(x, d, 0, half), g.sigmoid(g.slice(x, d, half, 2 * half)))


# ----------------------------------------------------------------------------------------------------- dtypes, identity


@op("to", "type", "_to_copy")
def to(g, x, *args, **kwargs):
    dtype = kwargs.get("dtype") or kwargs.get("other")
    for a in args:
        dtype = a if isinstance(a, (torch.dtype, Tensor)) else dtype
    if isinstance(dtype, Tensor):
        return cast_to(g, x, dtype.dtype)
    return as_dtype(g, x, dtype)  # a change of device shows in PyTorch's result


@op("type_as")
def type_as(g, x, other):
    return cast_to(g, x, other.dtype)


@op("float")
def to_float(g, x, **_):
    return cast_to(g, x, "float32")


@op("half")
def to_half(g, x, **_):
    return cast_to(g, x, "float16")


@op("bfloat16")
def to_bfloat16(g, x, **_):
    return cast_to(g, x, "bfloat16")


def _other_dtype(name: str, dtype: str) -> None:
    def refuse(g, x, **_):
        raise Unsupported(dtype)

    op(name)(refuse)


for _name, _dtype in (("double", "float64"), ("long", "int64"), ("int", "int32")):
    _other_dtype(_name, _dtype)


@op("bool")
def to_bool(g, x, **_):
    return as_dtype(g, x, torch.bool)


@op("contiguous", "clone", "detach", "alias", "lift_fresh_copy", "positive", "pos")
def identity(g, x, *, memory_format=None):
    return as_tensor(x)


@op("dropout")
def dropout(g, x, p=0.5, training=True, train=True, inplace=False):
    if training and train and p:
        raise Unsupported("random")
    return as_tensor(x)
