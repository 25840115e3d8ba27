"""Mirage-MLIR: finds fast, proven GPU kernels for small tensor programs.

    import mirage_mlir as mi

    g = mi.new_graph()
    x = g.new_input(dims=(16, 4096), dtype=mi.float16)
    w = g.new_input(dims=(4096, 4096), dtype=mi.float16)
    g.mark_output(g.matmul(g.rms_norm(x), w))
    best = mi.superoptimize(g)          # verified µGraphs, best first
    y = best(x_tensor, w_tensor)        # PyTorch, CuPy, JAX or NumPy; on the caller's current stream

What it does, and the words it uses, are in the project's README. torch and jax are imported when they are needed.
"""

from typing import Any

from ._mirage import MirageError
from ._graph import Graph, Tensor, bfloat16, float16, float32, new_graph
from ._options import SearchOptions
from ._search import Result, from_mlir, load, superoptimize
from ._ugraph import Cost, Guard, Proof, UGraph

__version__ = "0.1.0"

__all__ = [
    "Cost", "Graph", "Guard", "MirageError", "Proof", "Result", "SearchErrors", "SearchOptions", "Tensor", "UGraph",
    "bfloat16", "float16", "float32", "from_jax", "from_mlir", "from_torch", "load", "new_graph", "replaced", "superoptimize",
    "superoptimize_many",
]

_LAZY = {"from_torch": "._torch_import", "from_jax": "._jax_import", "superoptimize_many": "._many",
         "SearchErrors": "._many", "replaced": "._torch_backend"}


def __getattr__(name: str) -> Any:
    """from_torch, from_jax, superoptimize_many and its errors import what they need when they are first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib
    return getattr(importlib.import_module(_LAZY[name], __name__), name)


def _register_backend() -> None:
    """Makes torch.compile know "mirage" where no installed package says so: in a build tree, after torch is imported."""
    import sys
    if "torch" not in sys.modules:
        return
    from importlib.metadata import EntryPoint, entry_points
    group = "torch_dynamo_backends"
    if "mirage" not in entry_points(group=group).names:
        from torch._dynamo.backends import registry
        registry._BACKENDS.setdefault("mirage", EntryPoint("mirage", "mirage_mlir._torch_backend:mirage", group))


_register_backend()
