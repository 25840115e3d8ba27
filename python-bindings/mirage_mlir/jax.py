"""Mirage-MLIR under JAX: jit, in place of jax.jit.

    import mirage_mlir.jax

    @mirage_mlir.jax.jit
    def block(x, w): ...

What is compiled is called by XLA as a foreign function: on a GPU it launches kernels on XLA's stream, on a CPU the
graph is evaluated, slowly.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from typing import Any, Callable, Sequence

import jax

from . import _mirage
from ._graph import Graph
from ._jax_import import import_jax
from ._mirage import MirageError
from ._options import SearchOptions
from ._progress import Progress
from ._search import superoptimize
from ._ugraph import UGraph

__all__ = ["jit"]

logger = logging.getLogger("mirage_mlir")


def jit(f: Callable | None = None, *, options: SearchOptions | None = None, progress: Progress = None,
        cache: bool = True, every_row_sees: bool = False, static_argnums: int | Sequence[int] | None = None,
        static_argnames: str | Sequence[str] | None = None, **overrides: Any) -> Callable:
    """jax.jit with our kernels: searches when it is traced, once for each combination of shapes and dtypes.

    f:         a function that jax.jit takes. Omitted: gives a decorator.
    options:   SearchOptions; `overrides` are fields of it; progress and cache as of superoptimize.
    every_row_sees: a promise about masks, as of from_jax. Without it, attention under a mask of bool, or of lengths, is seldom
               faster than JAX's.
    static_argnums, static_argnames: as of jax.jit.
    Returns:   a function like jax.jit's: callable, also within other jitted functions; has lower, trace and so on.
    Falls back: where the dialect cannot say what f does (from_jax lists that), or no candidate is faster than the
               program's own lowering, f is compiled by JAX alone, and the logger `mirage_mlir` says once why.
               Derivatives and vmap of the result are those of plain f.
    Errors:    those of f. TypeError for an option that does not exist.

    >>> import jax.numpy as jnp
    >>> @jit(measure="no", progress=False)
    ... def scaled(x):
    ...     return jnp.exp(x) * 2
    >>> scaled(jnp.zeros((8, 64), jnp.float32))[0, 0].item()
    2.0
    """
    if f is None:
        return functools.partial(jit, options=options, progress=progress, cache=cache, every_row_sees=every_row_sees,
                                 static_argnums=static_argnums, static_argnames=static_argnames, **overrides)
    settings = (options or SearchOptions()).replace(**overrides)
    compiled: dict[str, UGraph] = {}

    def search(graph: Graph) -> UGraph:
        text = graph.mlir
        if text not in compiled:
            compiled[text] = superoptimize(graph, settings, progress=progress, cache=cache).best
        return compiled[text]

    @functools.wraps(f)
    def traced(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

        def flat(*arrays: Any) -> Any:
            filled = list(leaves)
            for i, array in zip(places, arrays):
                filled[i] = array
            again, named = jax.tree_util.tree_unflatten(tree, filled)
            return f(*again, **named)

        flat.__name__ = getattr(f, "__name__", "program")
        arrays = [leaves[i] for i in places]
        try:
            return _replaced(flat, arrays, search, every_row_sees)
        except _Fallback as reason:
            _say_once(f"{flat.__name__}: compiled by JAX alone: {reason}")
            return f(*args, **kwargs)

    return jax.jit(traced, static_argnums=static_argnums, static_argnames=static_argnames)


class _Fallback(Exception):
    """Why a function is left to JAX."""


_said: set[str] = set()


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        logger.warning("%s", text)


def _replaced(flat: Callable, arrays: list, search: Callable, every_row_sees: bool) -> Any:
    """What `flat` gives for these arrays, by a µGraph. _Fallback where there is none."""
    if not arrays:
        raise _Fallback("it takes no arrays")
    structs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    try:
        graph = import_jax(flat, tuple(structs), {}, every_row_sees, True)
    except MirageError as error:
        raise _Fallback(str(error)) from None
    except Exception as error:  # of f, which JAX will say, or of a value of an outer trace that f holds
        raise _Fallback(f"it cannot be traced by itself: {type(error).__name__}") from None
    results, tree = jax.tree_util.tree_flatten(jax.eval_shape(flat, *structs))
    try:
        best = search(graph)
    except MirageError as error:
        raise _Fallback(str(error)) from None
    if best.is_own_lowering:
        raise _Fallback("no candidate is faster than the program's own lowering")
    shapes = [x.shape for x in graph.inputs]
    outputs = _differentiable(flat, _foreign(best, shapes, results))(*arrays)
    return jax.tree_util.tree_unflatten(tree, outputs)


def _differentiable(flat: Callable, call: Callable) -> Callable:
    """`call`, whose derivatives and batches are those of `flat`."""
    def plain(*arrays: Any) -> Any:
        return jax.tree_util.tree_leaves(flat(*arrays))

    batched = jax.custom_batching.custom_vmap(call)

    @batched.def_vmap
    def rule(axis_size: int, in_batched: Any, *arrays: Any) -> Any:
        outputs = jax.vmap(plain, [0 if b else None for b in in_batched], axis_size=axis_size)(*arrays)
        return outputs, [True] * len(outputs)

    whole = jax.custom_jvp(batched)
    whole.defjvp(lambda arrays, tangents: jax.jvp(plain, arrays, tangents))
    return whole


# -------------------------------------------------------------------------------------------------- foreign functions


def _foreign(graph: UGraph, shapes: Sequence[tuple[int, ...]], results: Sequence[Any]) -> Callable:
    """A function of arrays that XLA has `graph` compute, whose inputs have these shapes. Tensors [1] stand for scalars."""
    _register_targets()
    key = int.from_bytes(hashlib.sha256(graph.mlir.encode()).digest()[:8], "little") >> 1
    _mirage.jax_register(key, graph._callable())
    name = "mirage_mlir" if _has_workspace(graph) else "mirage_mlir_captured"
    outputs = [jax.ShapeDtypeStruct(r.shape or (1,), r.dtype) for r in results]
    call = jax.ffi.ffi_call(name, outputs)

    def function(*arrays: Any) -> Any:
        found = call(*(_passed(a, shape) for a, shape in zip(arrays, shapes)), program=_int64(key))
        return [o.reshape(r.shape) for o, r in zip(found, results)]

    return function


def _passed(x: Any, shape: tuple[int, ...]) -> Any:
    """As a program takes it: two int4 as an int8, the first in its low half. XLA's own lie differently on each kind of device."""
    if x.dtype != "int4":
        return x.reshape(shape)
    return jax.lax.bitcast_convert_type(x.reshape(*shape[:-1], shape[-1] // 2, 2), "int8")


def _int64(value: int) -> Any:
    import numpy
    return numpy.int64(value)


def _has_workspace(graph: UGraph) -> bool:
    """Whether a launch may have to allocate, which cannot be captured in a CUDA graph."""
    graph._callable()
    launches = [node["attrs"].get("launch") for node in graph.description["nodes"]]
    return any(launch and launch["workspace_bytes"] for launch in launches)


@functools.cache
def _register_targets() -> None:
    handlers = _mirage.jax_targets()
    for name, gpu in (("mirage_mlir", "gpu"), ("mirage_mlir_captured", "captured")):
        jax.ffi.register_ffi_target(name, handlers["host"], platform="cpu")
        stages = {"initialize": handlers["initialize"], "execute": handlers[gpu]}
        jax.ffi.register_ffi_target(name, stages, platform="CUDA")
