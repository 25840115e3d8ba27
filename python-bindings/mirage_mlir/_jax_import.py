"""from_jax: a function of JAX arrays as a Graph."""

from __future__ import annotations

import re
from typing import Any, Callable

from ._graph import Graph
from ._known import Unsupported as UnknownRule
from ._lazy_emit import emit
from ._lazy_values import Unsupported
from ._mirage import MirageError


def from_jax(f: Callable, *args: Any, every_row_sees: bool = False, **kwargs: Any) -> Graph:
    """The program that `f` computes on arguments of these shapes and dtypes.

    f:       a function that jax.jit takes. It is traced, not run; its control flow must not depend on values.
    args:    arrays, jax.ShapeDtypeStructs, or trees of them. The Graph's inputs are their leaves, in jax.tree's order,
             called after their places in it; outputs the same. Scalars, of rank 0, become tensors [1]. Besides float16,
             bfloat16 and float32 they may be bool; int32, which is compared; int8, int4, float8_e4m3fn and float8_e5m2, which
             are converted before anything else.
    every_row_sees: a promise: in each row of scores that an attention masks, a key is seen. See below.
    Errors:  MirageError with what the dialect cannot say: gather and scatter, loops, convolution, sorting, random numbers,
             arithmetic on integers that are computed, other types, masks that are constants and follow no rule of their
             positions.

    Masks: where, comparisons, logic, tril, arange < length and such, by arguments and by positions. A constant array is a mask
    by positions where its elements are one: a band along the diagonal, rows, columns, and what these have in common.
    Attention under a mask, jax.nn's or written out, becomes one operator, in which a row that sees no key gives 0, where that
    is what it means:

    - Scores that are replaced by minus infinity are not seen. In JAX a row without a key is NaN, and so it is here.
    - Scores that are replaced by half of the lowest number of bfloat16 or less, as jax.nn does, or finfo.min, are not seen,
      where positions show that each row sees a key. In another row JAX gives the mean of all values: where there may be one,
      by an argument, the mask stays a choice between numbers.
    - Scores that are replaced by another number, such as -1e9, are that number: scores that are seen may be as low.

    With every_row_sees, arguments are taken to show some key to each row, and rows that see none after all give 0.

    >>> import jax, jax.numpy as jnp
    >>> x, w = jax.ShapeDtypeStruct((8, 64), jnp.float16), jax.ShapeDtypeStruct((64, 32), jnp.float16)
    >>> g = from_jax(lambda x, w: jax.nn.silu(x @ w), x, w)
    >>> g
    <Graph lambda: 2 inputs, 2 operators>
    >>> from_jax(lambda x: jnp.sort(x), x)
    Traceback (most recent call last):
    mirage_mlir._lazy_values.Unsupported: from_jax: stablehlo.sort cannot be said
    """
    return import_jax(f, args, kwargs, every_row_sees, False)


def import_jax(f: Callable, args: tuple, kwargs: dict, every_row_sees: bool, shaped: bool) -> Graph:
    """shaped: masks and positions may be inputs of another shape, with the same elements, than they have in args."""
    import jax

    from ._stablehlo import Reader
    paths, _ = jax.tree_util.tree_flatten_with_path((args, kwargs))
    module: Any = jax.jit(f, keep_unused=True).lower(*args, **kwargs).compiler_ir("stablehlo")
    try:
        with module.context:
            reader = Reader(module, every_row_sees)
            outputs = reader.read()
        return emit(reader.builder, outputs, _symbol(f), [_name(path) for path, _ in paths], shaped)
    except (MirageError, UnknownRule) as error:
        raise Unsupported(f"from_jax: {error}") from None


def _name(path: Any) -> str:
    """[0][1]['w'] -> "[1]['w']": the place in args, which is what errors count."""
    import jax
    return jax.tree_util.keystr(path[1:])


def _symbol(f: Callable) -> str:
    name = re.sub(r"\W", "_", getattr(f, "__name__", "program")).strip("_")
    return name if name.isidentifier() else "program"
