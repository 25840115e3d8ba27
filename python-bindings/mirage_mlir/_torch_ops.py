"""What PyTorch's operators are in the kernel dialect: one small function an operator, found by its name.

The same name serves a function (torch.softmax), a method (x.softmax), an operator of ATen (aten.softmax.int): the
order of arguments is the same. Each function takes the Graph, tensors of it, and Python values, and gives a tensor or
a tuple. What cannot be said raises Unsupported with the reason; whoever calls compares shape and dtype of the result
with PyTorch's.

Rounding is PyTorch's: operands of two dtypes are cast to the common one; a Python number that the tensor's dtype
cannot hold works in float32; reductions of several dimensions stay in float32 between them.
"""

from __future__ import annotations

from . import _torch_arith, _torch_contract, _torch_masks, _torch_shapes  # noqa: F401  each enters its operators
from ._torch_table import FROM_TORCH, OPS, TO_TORCH, Unsupported, find, input_of, name_of

__all__ = ["FROM_TORCH", "OPS", "TO_TORCH", "Unsupported", "find", "input_of", "name_of"]
