"""What _mirage.Program asks of tensor frameworks whose types have no table of C functions: streams and new tensors."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

_said = False


def _framework(tensor: Any) -> str:
    """Of a subclass the framework's, whoever wrote it."""
    homes = [cls.__module__.partition(".")[0] for cls in type(tensor).__mro__]
    return next((home for home in homes if home in ("torch", "cupy", "jax", "jaxlib", "numpy")), homes[0])


def current_stream(tensor: Any, device: int) -> int:
    """The CUDA stream on which the caller works now, as an address."""
    name = _framework(tensor)
    if name == "torch":
        return sys.modules["torch"].cuda.current_stream(device).cuda_stream
    if name == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0  # the legacy default stream, which waits for all others


def empty(tensor: Any, dtype: str, dims: tuple[int, ...]) -> Any:
    """A new tensor of the framework that `tensor` is of, on its device."""
    name = _framework(tensor)
    if name == "torch":
        torch = sys.modules["torch"]
        return torch.empty(dims, dtype=getattr(torch, dtype), device=tensor.device)
    if name == "cupy":
        return sys.modules["cupy"].empty(dims, _numpy_dtype(dtype))
    if name in ("jax", "jaxlib"):
        raise TypeError("JAX's arrays cannot be written: call the graph under mirage_mlir.jax.jit, or pass NumPy arrays")
    import numpy
    return numpy.empty(dims, _numpy_dtype(dtype))


def maker(tensor: Any, outputs: tuple[tuple[str, tuple[int, ...]], ...]) -> tuple[Any, tuple[tuple, ...]] | None:
    """A function that makes tensors beside `tensor` quicker than its framework's table does, and the arguments of it for
    each output, (dtype, dims); None where there is none. It works on the current device, whichever the tensor's is."""
    if _framework(tensor) != "torch":
        return None
    torch = sys.modules["torch"]
    function = getattr(torch._C._dynamo.guards, f"_empty_strided_{tensor.device.type}", None)  # Inductor's
    if function is None:
        return None
    return function, tuple((dims, _dense(dims), getattr(torch, dtype)) for dtype, dims in outputs)


def _dense(dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(dims[d + 1:]) for d in range(len(dims)))


def _numpy_dtype(name: str) -> Any:
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError("a result of bfloat16 as a NumPy array needs the package ml_dtypes; or pass out=") from None
        return ml_dtypes.bfloat16
    import numpy
    return numpy.dtype(name)


def on_host() -> None:
    """Says once that there is no GPU in this call."""
    global _said
    if not _said:
        _said = True
        warnings.warn("tensors in host memory: the graph is evaluated on the CPU, in its own element types, and slowly; "
                      "pass tensors on a GPU to run its kernels", RuntimeWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """How far above on_host the first frame is that is not this package's."""
    frame, level = sys._getframe(2), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mirage_mlir":
        frame, level = frame.f_back, level + 1
    return level
