"""What goes into a program: by the names that its function in programs_torch.py gives its inputs; and what comes out, in float64."""

import inspect

import numpy as np
import torch
from ml_dtypes import bfloat16

import programs_torch

# Frobenius-relative: what some roundings of the type in a row give.
TOLERANCE = {"float32": 2e-6, "float16": 3e-3, "bfloat16": 2e-2}


def draw(program):
    """Torch tensors of the program's type. Weights keep the size of what they multiply."""
    chance = torch.Generator().manual_seed(7)
    names = inspect.signature(getattr(programs_torch, program.name)).parameters
    tensors = []
    for name, shape in zip(names, program.shapes, strict=True):
        x = torch.randn(shape, generator=chance, dtype=torch.float64)
        if name == "var":
            x = x.abs() + 0.1
        elif name == "mask":
            x = torch.where(x > 0.5, -1e4, 0.0)
        elif name == "target":
            x = torch.softmax(x, -1)
        elif name in ("g", "g1", "g2"):
            x = 1 + 0.1 * x
        elif name.startswith("w") or name in ("a", "b", "v", "gate", "up", "down", "both", "router", "t1", "t2", "c1", "c2"):
            x = x * shape[-2 if len(shape) > 1 else -1] ** -0.5
        tensors.append(x.to(getattr(torch, program.dtype)))
    return tensors


def reference(program, tensors):
    """The program in float64, of inputs that were rounded to its type."""
    result = getattr(programs_torch, program.name)(*(t.double() for t in tensors))
    return result.numpy()


def arrays(tensors):
    """As NumPy has them; bfloat16 by its bits."""
    return [t if isinstance(t, np.ndarray) else
            t.view(torch.int16).numpy().view(bfloat16) if t.dtype == torch.bfloat16 else t.numpy() for t in tensors]


def distance(result, expected):
    """Frobenius-relative."""
    result = np.asarray(result, np.float64).reshape(expected.shape)
    return np.linalg.norm(result - expected) / np.linalg.norm(expected)
