"""PyTorch's views, slices and concatenations in the kernel dialect (_torch_ops has the rules)."""

from __future__ import annotations

import math

import torch

from ._graph import Graph, Tensor
from ._known import Known, tensor_of
from ._torch_table import (
    FROM_TORCH,
    TO_TORCH,
    Unsupported,
    as_tensor,
    cast_to,
    dim_of,
    dims_of,
    op,
    permute_to,
    reshape_to,
    sizes_of,
)


@op("view", "reshape", "_unsafe_view", "_reshape_copy", "view_copy")
def reshape(g, x, *shape, **kwargs):
    shape = sizes_of(shape or (kwargs.get("shape") or kwargs.get("size"),))
    if -1 in shape:
        known = math.prod(s for s in shape if s != -1)
        shape[shape.index(-1)] = math.prod(x.shape) // max(known, 1)
    return reshape_to(g, as_tensor(x), shape)


@op("view_as", "reshape_as")
def reshape_as(g, x, other):
    return reshape_to(g, as_tensor(x), other.shape)


@op("flatten")
def flatten(g, x, start_dim=0, end_dim=-1):
    a, b = dim_of(start_dim, as_tensor(x).ndim), dim_of(end_dim, x.ndim)
    return reshape_to(g, x, (*x.shape[:a], math.prod(x.shape[a : b + 1]), *x.shape[b + 1 :]))


@op("unflatten")
def unflatten(g, x, dim, sizes):
    d, sizes = dim_of(dim, as_tensor(x).ndim), list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[d] // math.prod(s for s in sizes if s != -1)
    return reshape_to(g, x, (*x.shape[:d], *sizes, *x.shape[d + 1 :]))


@op("unsqueeze")
def unsqueeze(g, x, dim):
    d = dim_of(dim, as_tensor(x).ndim + 1)
    return reshape_to(g, x, (*x.shape[:d], 1, *x.shape[d:]))


@op("squeeze")
def squeeze(g, x, dim=None):
    dims = dims_of(dim, as_tensor(x).ndim)
    return reshape_to(g, x, [e for d, e in enumerate(x.shape) if d not in dims or e != 1])


@op("permute")
def permute(g, x, *dims, **kwargs):
    return permute_to(g, as_tensor(x), [dim_of(d, x.ndim) for d in sizes_of(dims or (kwargs["dims"],))])


@op("transpose", "swapaxes", "swapdims")
def transpose(g, x, dim0, dim1):
    a, b = dim_of(dim0, as_tensor(x).ndim), dim_of(dim1, x.ndim)
    perm = list(range(x.ndim))
    perm[a], perm[b] = b, a
    return permute_to(g, x, perm)


@op("t", "numpy_T", "mT", "T")
def matrix_transpose(g, x):
    return x if as_tensor(x).ndim == 1 else transpose(g, x, -2, -1)


@op("movedim", "moveaxis")
def movedim(g, x, source, destination):
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    at = {dim_of(t, x.ndim): dim_of(s, x.ndim) for s, t in zip(sources, targets)}
    rest = iter(d for d in range(x.ndim) if d not in at.values())
    return permute_to(g, as_tensor(x), [at[d] if d in at else next(rest) for d in range(x.ndim)])


@op("expand", "broadcast_to")
def expand(g, x, *sizes, implicit=False, **kwargs):
    shape = sizes_of(sizes or (kwargs.get("size"),))
    lead = len(shape) - as_tensor(x).ndim
    shape = [x.shape[d - lead] if s == -1 else s for d, s in enumerate(shape)]
    return x if tuple(shape) == x.shape else g.broadcast(x, shape)


@op("expand_as")
def expand_as(g, x, other):
    return expand(g, x, *other.shape)


@op("repeat", "tile")
def repeat(g, x, *times, **kwargs):
    times = sizes_of(times or (kwargs.get("repeats") or kwargs.get("dims"),))
    times = [1] * (as_tensor(x).ndim - len(times)) + times  # tile may give fewer
    x = reshape_to(g, x, [1] * (len(times) - x.ndim) + list(x.shape))
    for d, n in enumerate(times):
        x = x if n == 1 else g.repeat(x, d, n)
    return x


@op("repeat_interleave")
def repeat_interleave(g, x, repeats, dim=None, *, output_size=None):
    if not isinstance(repeats, int) or dim is None:
        raise Unsupported("repeats that are a tensor, or no dimension")
    d = dim_of(dim, as_tensor(x).ndim)
    shape = list(x.shape)
    y = g.broadcast(reshape_to(g, x, shape[: d + 1] + [1] + shape[d + 1 :]), shape[: d + 1] + [repeats] + shape[d + 1 :])
    return reshape_to(g, y, shape[:d] + [shape[d] * repeats] + shape[d + 1 :])


def _slice(g: Graph, x: Tensor, d: int, begin: int, end: int) -> Tensor:
    return x if (begin, end) == (0, x.shape[d]) else g.slice(x, d, begin, end)


@op("narrow")
def narrow(g, x, dim, start, length):
    d = dim_of(dim, as_tensor(x).ndim)
    start = start % x.shape[d] if start < 0 else start
    return _slice(g, x, d, start, start + length)


@op("slice")
def aten_slice(g, x, dim=0, start=None, end=None, step=1):
    d = dim_of(dim, as_tensor(x).ndim)
    return getitem(g, x, (slice(None),) * d + (slice(start, end, step),))


@op("select")
def select(g, x, dim, index):
    d = dim_of(dim, as_tensor(x).ndim)
    return getitem(g, x, (slice(None),) * d + (index,))


@op("split", "split_with_sizes")
def split(g, x, sizes, dim=0, **kwargs):
    d = dim_of(dim, as_tensor(x).ndim)
    extent = x.shape[d]
    sizes = [min(sizes, extent - at) for at in range(0, extent, sizes)] if isinstance(sizes, int) else list(sizes)
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return tuple(_slice(g, x, d, end - size, end) for size, end in zip(sizes, ends))


@op("chunk")
def chunk(g, x, chunks, dim=0):
    return split(g, x, -(-as_tensor(x).shape[dim_of(dim, x.ndim)] // chunks), dim)


@op("unbind")
def unbind(g, x, dim=0):
    d = dim_of(dim, as_tensor(x).ndim)
    return tuple(select(g, x, d, i) for i in range(x.shape[d]))


@op("cat", "concat", "concatenate", takes_known=True)
def cat(g, tensors, dim=0, axis=None):
    tensors = [tensor_of(g, t) if isinstance(t, Known) and 0 not in t.shape else t for t in tensors]
    tensors = [as_tensor(t) for t in tensors if 0 not in t.shape]  # an empty cache adds nothing
    if len(tensors) == 1:
        return tensors[0]
    d = dim_of(dim if axis is None else axis, tensors[0].ndim)
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = FROM_TORCH[torch.promote_types(TO_TORCH[dtype], TO_TORCH[t.dtype])]
    return g.concat([cast_to(g, t, dtype) for t in tensors], d)


@op("stack")
def stack(g, tensors, dim=0):
    d = dim_of(dim, as_tensor(tensors[0]).ndim + 1)
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
    return reshape_to(g, x, shape + list(x.shape[d:]))
