"""from_jax: a function of JAX arrays as a Graph."""

from __future__ import annotations

import re
from typing import Any, Callable

from ._graph import Graph
from ._lazy import Unsupported, emit


def from_jax(f: Callable, *args: Any, **kwargs: Any) -> Graph:
    """The program that `f` computes on arguments of these shapes and dtypes.

    f:       a function that jax.jit takes. It is traced, not run; its control flow must not depend on values.
    args:    arrays, jax.ShapeDtypeStructs, or trees of them. The Graph's inputs are their leaves, in jax.tree's order,
             called after their places in it; outputs the same. Scalars, of rank 0, become tensors [1].
    Errors:  MirageError with what the dialect cannot say: masks and other comparisons, gather and scatter, loops,
             convolution, sorting, random numbers, types other than float16, bfloat16 and float32.

    >>> import jax, jax.numpy as jnp
    >>> x, w = jax.ShapeDtypeStruct((8, 64), jnp.float16), jax.ShapeDtypeStruct((64, 32), jnp.float16)
    >>> g = from_jax(lambda x, w: jax.nn.silu(x @ w), x, w)
    >>> g
    <Graph lambda: 2 inputs, 2 operators>
    >>> from_jax(lambda x: jnp.sort(x), x)
    Traceback (most recent call last):
    mirage_mlir._lazy.Unsupported: from_jax: stablehlo.sort cannot be said
    """
    import jax

    from ._stablehlo import Reader
    paths, _ = jax.tree_util.tree_flatten_with_path((args, kwargs))
    module: Any = jax.jit(f, keep_unused=True).lower(*args, **kwargs).compiler_ir("stablehlo")
    try:
        with module.context:
            reader = Reader(module)
            outputs = reader.read()
        return emit(reader.builder, outputs, _symbol(f), [_name(path) for path, _ in paths])
    except Unsupported as error:
        raise Unsupported(f"from_jax: {error}") from None


def _name(path: Any) -> str:
    """[0][1]['w'] -> "[1]['w']": the place in args, which is what errors count."""
    import jax
    return jax.tree_util.keystr(path[1:])


def _symbol(f: Callable) -> str:
    name = re.sub(r"\W", "_", getattr(f, "__name__", "program")).strip("_")
    return name if name.isidentifier() else "program"
