"""The table of PyTorch's operators (_torch_ops), and what its entries share."""

from __future__ import annotations

import math
import operator
import struct
from typing import Any, Callable

import torch
import torch.nn.functional as F

from ._graph import Graph, Tensor, float32
from ._known import Known, Unsupported

FLOATS = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}
STORED = {"int8": torch.int8, "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2}
TO_TORCH = {**FLOATS, **STORED, "bool": torch.bool, "int32": torch.int32}
FROM_TORCH = {value: key for key, value in TO_TORCH.items()}


class Turned:
    """A tensor of a stored type whose dimensions change places: it is cast first, since no kernel writes such a type."""

    def __init__(self, base: Tensor, perm: list[int]):
        self.base, self.perm, self.dtype = base, perm, base.dtype
        self.shape = tuple(base.shape[d] for d in perm)
        self.ndim = len(perm)


OPS: dict[str, Callable] = {}


def op(*names: str, takes_known: bool = False):
    """Enters a function under these names. Others than those that take known tensors see tensors alone."""

    def enter(function: Callable) -> Callable:
        for name in names:
            OPS[name] = function
        function.takes_known = takes_known  # type: ignore[attr-defined]
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


def as_tensor(x: Any, what: str = "operand") -> Tensor:
    if isinstance(x, Turned):
        raise Unsupported(f"{x.dtype} that is no number yet: cast it to float16, bfloat16 or float32 first")
    if not isinstance(x, (Tensor, Known)):
        raise Unsupported(f"{what} is {type(x).__name__}, not a tensor")
    return x  # type: ignore[return-value]


def is_number(x: Any) -> bool:
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


def cast_to(g: Graph, x: Any, dtype: str) -> Tensor:
    if isinstance(x, Turned):
        return g.transpose(g.cast(x.base, dtype), x.perm)
    return as_tensor(x) if x.dtype == dtype else g.cast(as_tensor(x), dtype)


def in_float32(g: Graph, x: Tensor, body: Callable[[Tensor], Tensor]) -> Tensor:
    """body(x) in float32, rounded once, to x's dtype."""
    return cast_to(g, body(cast_to(g, x, float32)), x.dtype)


def binary(g: Graph, name: str, a: Any, b: Any) -> Tensor:
    """An operator of the Graph on tensors and numbers, with PyTorch's promotion."""
    apply = getattr(g, name)
    if isinstance(a, (Tensor, Turned)) and isinstance(b, (Tensor, Turned)):
        dtype = FROM_TORCH[torch.promote_types(TO_TORCH[a.dtype], TO_TORCH[b.dtype])]
        return apply(cast_to(g, a, dtype), cast_to(g, b, dtype))
    x, number = (a, b) if isinstance(a, Tensor) else (b, a)
    if not isinstance(x, Tensor) or not is_number(number):
        raise Unsupported(f"operands are {type(a).__name__} and {type(b).__name__}")
    if not math.isfinite(number):
        raise Unsupported(f"the number {number}")
    if x.dtype == "bool" and isinstance(number, float):  # a mask as 0 and 1, in PyTorch's own dtype of numbers
        tensor = g.cast(x, float32)
        return apply(tensor, number) if x is a else apply(number, tensor)
    put = (lambda t: apply(t, float(number))) if x is a else (lambda t: apply(float(number), t))
    return put(x) if _holds(x.dtype, float(number)) else in_float32(g, x, put)


def dim_of(dim: Any, rank: int) -> int:
    if isinstance(dim, bool) or not isinstance(dim, int) or not -rank <= dim < rank:
        raise Unsupported(f"dimension {dim!r} of {rank}")
    return dim % rank


def dims_of(dim: Any, rank: int) -> list[int]:
    """Dimensions in order; None and () mean all."""
    if dim is None or dim == () or dim == []:
        return list(range(rank))
    return sorted(dim_of(d, rank) for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))


def sizes_of(sizes: tuple) -> list[int]:
    """view(2, 3), view((2, 3)): [2, 3]."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    if not all(isinstance(s, int) and not isinstance(s, bool) for s in sizes):
        raise Unsupported(f"sizes {list(sizes)}")
    return list(sizes)


def reshape_to(g: Graph, x: Tensor, shape: Any) -> Tensor:
    shape = list(shape)
    if not shape:
        raise Unsupported("a result of rank 0")
    return x if tuple(shape) == x.shape else g.reshape(x, shape)


def permute_to(g: Graph, x: Any, perm: list[int]) -> Any:
    if perm == list(range(x.ndim)):
        return x
    if isinstance(x, Turned):
        return Turned(x.base, [x.perm[d] for d in perm])
    return Turned(x, perm) if x.dtype in STORED else g.transpose(as_tensor(x), perm)


def input_of(g: Graph, shape: tuple[int, ...], dtype: str, strides: Any = None, name: str = "") -> Any:
    """An input that may lie in another order of its dimensions."""
    value, back = g._strided_input(shape, dtype, strides, name)
    return value if back is None else permute_to(g, value, back)


def as_dtype(g: Graph, x: Tensor, dtype: Any) -> Tensor:
    if dtype is None:
        return x
    if dtype == torch.bool:
        return x if x.dtype == "bool" else g.not_equal(as_tensor(x), 0.0)
    if FROM_TORCH.get(dtype) not in FLOATS:
        raise Unsupported(str(dtype).removeprefix("torch."))
    return cast_to(g, x, FROM_TORCH[dtype])
