"""PyTorch programs as Graphs: from_torch, and the importer of FX nodes that the torch.compile backend shares with it.

FX graphs are taken before decomposition, so that a softmax is a softmax and attention is attention. What an operator
is in our dialect is in _torch_ops; here are values, checks against PyTorch's own shapes and dtypes, and places in user
code.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, Callable

import torch
import torch.utils._pytree as pytree
from torch import fx
from torch.fx.node import map_arg

from ._graph import Graph, Tensor
from ._mirage import MirageError
from ._known import COMPARISONS, Known, tensor_of
from ._torch_masks import with_known
from ._torch_ops import FROM_TORCH, Unsupported, find, input_of, name_of
from ._torch_rows import rows

_RESHAPES = {"reshape", "transpose", "slice", "broadcast"}
_MOVES = _RESHAPES | {"concat", "repeat", "constant"}
_STRONG = {
    "matmul",
    "reduce_sum",
    "reduce_max",
    "reduce_mean",
    "softmax",
    "rms_norm",
    "layer_norm",
    "scaled_dot_product_attention",
}


def value_of(node: fx.Node) -> Any:
    """What a node gives: a fake tensor, a tuple of them, or a Python value. KeyError for a node nobody ran."""
    meta = node.meta
    return meta["val"] if "val" in meta else meta["example_value"]


def check_type(x: torch.Tensor) -> tuple[tuple[int, ...], str]:
    """(shape, dtype) of a tensor as a Graph has them. Unsupported for what it has not."""
    if not isinstance(x, torch.Tensor):
        raise Unsupported(type(x).__name__)
    if x.dtype not in FROM_TORCH:
        raise Unsupported(str(x.dtype).removeprefix("torch."))
    if x.layout != torch.strided or x.is_complex():
        raise Unsupported(f"layout {x.layout}")
    if not 1 <= x.ndim <= 6:
        raise Unsupported(f"a tensor of rank {x.ndim}")
    if 0 in x.shape:
        raise Unsupported("a tensor without elements")
    return tuple(int(s) for s in x.shape), FROM_TORCH[x.dtype]


def memory_order(x: torch.Tensor) -> list[int] | None:
    """Dimensions from the outermost in memory; None where the tensor is no permutation of a contiguous one.

    >>> memory_order(torch.empty(2, 3, 4).transpose(1, 2))
    [0, 2, 1]
    """
    strides = x.stride()
    order = sorted(range(x.ndim), key=lambda d: (-strides[d], d))
    dense = 1
    for d in reversed(order):
        if x.shape[d] != 1 and strides[d] != dense:
            return None
        dense *= x.shape[d]
    return order


def place_of(node: fx.Node) -> str:
    """Where the user wrote it: 'file.py:12: y = x.cumsum(0)', a module of PyTorch's that holds it, or ''."""
    frames = re.findall(r'File "([^"]+)", line (\d+)[^\n]*\n\s*([^\n]*)', node.meta.get("stack_trace") or "")
    frames = [f for f in frames if "/site-packages/torch/" not in f[0] and f[0] != __file__]
    if not frames:
        modules = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values() if path]
        return "module " + modules[-1].rpartition("._modules.")[2] if modules else ""
    file, line, code = frames[-1]
    return f"{file.rsplit('/', 1)[-1]}:{line}: {code.strip()}"


def is_check(node: fx.Node) -> bool:
    """Whether a node only looks at sizes and dtypes, which are known by now, or counts uses of PyTorch."""
    names = ("check", "assert_scalar", "assert_tensor_metadata", "sym_constrain", "log_api_usage")
    return value_of(node) is None and name_of(node).lstrip("_").startswith(names)


def apply_node(graph: Graph, node: fx.Node, values: Callable[[fx.Node], Any]) -> Any:
    """Adds what `node` computes to `graph`; values(node) gives its operands. Unsupported where that cannot be.

    The result has the shape and the dtype that PyTorch gives it, or else it is Unsupported: that is how a cast to
    another device or an ambient autocast is noticed.
    """
    args, kwargs = map_arg((node.args, node.kwargs), values)
    args, kwargs = _plain(args), dict(kwargs)
    function = find(node)
    for name in ("input", "self", "x"):
        if name in kwargs:
            args = (_plain(kwargs.pop(name)), *args)
    kwargs.pop("memory_format", None), kwargs.pop("copy", None), kwargs.pop("non_blocking", None)
    kwargs = {k: _plain(v) for k, v in kwargs.items()}
    if getattr(function, "takes_known", False) or not any(isinstance(x, Known) for x in pytree.tree_leaves((args, kwargs))):
        return _checked(node, lambda: function(graph, *args, **kwargs))
    return _apply_to_known(graph, node, function, args, kwargs)


def _apply_to_known(graph: Graph, node: fx.Node, function: Callable, args: tuple, kwargs: dict) -> Any:
    """What stays known, or else the operator on tensors of what is known. Where neither can be, the first says why: as tensors,
    positions are int32, which PyTorch's are seldom."""

    def on_tensors() -> Any:
        tensors, named = pytree.tree_map(lambda x: tensor_of(graph, x) if isinstance(x, Known) else x, (args, kwargs))
        return function(graph, *tensors, **named)

    reason = None
    try:
        result = _checked(node, lambda: with_known(graph, name_of(node), args, kwargs))
        if result is not None:
            return result
    except Unsupported as unsupported:
        reason = unsupported
    try:
        return _checked(node, on_tensors)
    except Unsupported as unsupported:
        raise reason or unsupported from None


def _checked(node: fx.Node, apply: Callable[[], Any]) -> Any:
    """What apply() gives for `node`. Unsupported where it fails, or gives another shape or dtype than PyTorch."""
    try:
        result = apply()
    except MirageError as error:
        raise Unsupported(str(error)) from None
    except (TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        raise Unsupported(f"not understood: {error}") from None
    if result is not None:
        _check_result(result, value_of(node))
    return result


def _plain(x: Any) -> Any:
    """FX's immutable lists as lists, slices with them inside."""
    if isinstance(x, tuple) and not isinstance(x, torch.Size):
        return tuple(_plain(i) for i in x)
    if isinstance(x, (list, torch.Size)):
        return [_plain(i) for i in x]
    return x


def _check_result(result: Any, expected: Any) -> None:
    if isinstance(result, tuple):
        if not isinstance(expected, (tuple, list)) or len(expected) != len(result):
            raise Unsupported("another number of results")
        for r, e in zip(result, expected):
            if r is not None:
                _check_result(r, e)
        return
    if isinstance(result, Known):
        shape, dtype = tuple(expected.shape), str(expected.dtype).removeprefix("torch.")
    else:
        shape, dtype = check_type(expected)
    if (result.shape, result.dtype) != (shape, dtype):
        raise Unsupported(f"PyTorch gives {dtype} {list(shape)}, we {result.dtype} {list(result.shape)}")


def kind_of(graph: Graph, result: Any) -> str:
    """What the operators of a graph that holds one node amount to.

    "view":   they move no data, or could do without: reshapes, permutations, slices, stretching; nothing at all; what no tensor
              goes into, like positions and masks that are made of them
    "cast":   another dtype
    "move":   concatenation, repetition
    "arith":  element-wise
    "strong": a contraction, a reduction, a norm
    """
    names = {name for name, _, _ in graph._nodes if name != "input"}
    if not graph.inputs:
        return "view"
    if names & _STRONG:
        return "strong"
    if names <= _RESHAPES:
        return "view"
    if names <= _MOVES:
        return "move"
    if names <= _RESHAPES | {"cast"}:
        return "cast"
    return "arith"


def classify(node: Any) -> str:
    """kind_of a node by itself. Unsupported, with the reason, where the dialect cannot say it."""
    graph, tensors, devices = Graph("one"), {}, set()

    def value(operand: fx.Node) -> Any:
        if operand not in tensors:
            if is_of_positions(operand):
                tensors[operand] = apply_node(graph, operand, value)
                devices.add(value_of(operand).device)
            else:
                tensors[operand] = pytree.tree_map(new_input, value_of(operand))
        return tensors[operand]

    def new_input(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        devices.add(x.device)
        if x.dtype not in FROM_TORCH and name_of(node) == "getitem" and isinstance(value_of(node.args[0]), tuple):
            return None  # the indices beside the values of a maximum
        return input_of(graph, *check_type(x))

    result = apply_node(graph, node, value)
    outputs = [x for x in pytree.tree_leaves(value_of(node)) if isinstance(x, torch.Tensor)]
    if len(devices | {x.device for x in outputs}) > 1:
        raise Unsupported("tensors on two devices")
    if _compares_numbers(graph):
        raise Unsupported("a comparison of numbers, which the search does not take")
    return kind_of(graph, result)


def _compares_numbers(graph: Graph) -> bool:
    compared = [operands for op, operands, _ in graph._nodes if op in COMPARISONS]
    signs = any(op == "sign" for op, _, _ in graph._nodes)
    return signs or any(graph._tensors[o].dtype != "int32" for operands in compared for o in operands)


def is_made_of_nothing(node: fx.Node) -> bool:
    """Whether no tensor from outside goes into it."""
    return node.op.startswith("call") and all(is_made_of_nothing(n) for n in node.all_input_nodes)


def is_of_positions(node: fx.Node) -> bool:
    """Whether a node gives integers, a mask or nothing, and no tensor goes into it."""
    value = value_of(node)
    integers = (torch.bool, torch.int32, torch.int64)
    known = isinstance(value, torch.Tensor) and (value.dtype in integers or value.numel() == 0)
    if not known or node.meta.get("overwritten"):
        return False
    return node.op.startswith("call") and all(is_of_positions(n) for n in node.all_input_nodes)


# ----------------------------------------------------------------------------------------------------------- from_torch


def from_torch(f: Callable, *args: Any) -> Graph:
    """A PyTorch function or module as a Graph.

    f:    computes tensors from tensors; float16, bfloat16, float32. A module's parameters become inputs that stand
          behind the arguments' and have their names.
    args: tensors (their values do not matter; strides do) and Python values, which become constants. On any device.

    MirageError with the operator, the reason and the line of user code for what the dialect cannot say, or with PyTorch's
    reason for what it cannot trace. TypeError for arguments that f does not take.

    >>> g = from_torch(lambda x, w: torch.softmax(x @ w, -1), torch.ones(4, 8), torch.ones(8, 2))
    >>> print(g.mlir)
    module attributes {mirage.python = "{\\22names\\22: [\\22x\\22, \\22w\\22]}"} {
      mirage_kernel.graph @program(%arg0: tensor<4x8xf32>, %arg1: tensor<8x2xf32>) -> tensor<4x2xf32> {
        %0 = matmul %arg0, %arg1 : tensor<4x8xf32>, tensor<8x2xf32>
        %1 = softmax %0 {dim = 1} : tensor<4x2xf32>
        return %1 : tensor<4x2xf32>
      }
    }
    <BLANKLINE>
    >>> from_torch(lambda x: x.cumsum(0), torch.ones(4))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mirage_mlir.MirageError: from_torch: cumsum: no such operator...
    """
    _check_arguments(f, args)
    exported = _export(f, args)
    graph, values = Graph("program"), {}
    names = _argument_names(f, args)
    for node, spec in _inputs_in_order(exported):
        values[node] = _input(graph, node, spec.target or names.get(node.name) or node.name)
    for node in exported.graph.nodes:
        if node.op == "call_function" and not is_check(node):
            values[node] = _apply(graph, node, values)
        elif node.op == "output":
            _mark_outputs(graph, exported, node, values)
    return rows(graph)


class _Function(torch.nn.Module):
    def __init__(self, f: Callable):
        super().__init__()
        self.f = f

    def forward(self, *args):
        return self.f(*args)


def _check_arguments(f: Callable, args: tuple) -> None:
    if not callable(f):
        raise TypeError(f"from_torch: expected a function or a module, got {type(f).__name__}")
    for i, x in enumerate(args):
        if not isinstance(x, torch.Tensor) and hasattr(x, "__dlpack__"):
            raise TypeError(f"from_torch: argument {i}: expected a tensor of PyTorch's, got {type(x).__name__}: "
                            "pass torch.as_tensor(x)")
    try:
        signature = inspect.signature(f.forward if isinstance(f, torch.nn.Module) else f)
    except (TypeError, ValueError):  # no signature
        return
    try:
        signature.bind(*args)
    except TypeError as error:
        raise TypeError(f"from_torch: {error}, for {getattr(f, '__name__', type(f).__name__)}{signature}") from None


def _export(f: Callable, args: tuple) -> torch.export.ExportedProgram:
    module = f if isinstance(f, torch.nn.Module) else _Function(f)
    try:
        with torch.no_grad():
            return torch.export.export(module, args, strict=True)
    except torch._dynamo.exc.TorchDynamoException as error:
        raise MirageError(f"from_torch: PyTorch cannot trace it: {_reason(str(error))}") from error


def _reason(text: str) -> str:
    """The first sentence of dynamo's; or of the exception that it reports, where user code raises one."""
    inner = re.search(r"got (\w+)\(['\"](.*?)['\"]\)", text)
    return f"{inner[1]}: {inner[2]}" if inner else text.strip().split("\n")[0]


def _inputs_in_order(exported) -> list[tuple[fx.Node, Any]]:
    """Placeholders with their specifications: arguments first, then parameters, buffers and constants that are used."""
    nodes = [n for n in exported.graph.nodes if n.op == "placeholder"]
    pairs = list(zip(nodes, exported.graph_signature.input_specs))
    is_argument = [spec.kind == torch.export.graph_signature.InputKind.USER_INPUT for _, spec in pairs]
    arguments = [p for p, yes in zip(pairs, is_argument) if yes and isinstance(value_of(p[0]), torch.Tensor)]
    return arguments + [p for p, yes in zip(pairs, is_argument) if not yes and p[0].users]


def _argument_names(f: Callable, args: tuple) -> dict[str, str]:
    """What f calls its arguments, by what a trace of _Function calls them."""
    try:
        return {f"args_{i}": name for i, name in enumerate(inspect.signature(f).bind(*args).arguments)}
    except (TypeError, ValueError):  # no signature
        return {}


def _input(graph: Graph, node: fx.Node, name: str) -> Any:
    x = value_of(node)
    try:
        shape, dtype = check_type(x)
    except Unsupported as reason:
        raise MirageError(
            f"from_torch: input '{name}': {reason}: expected float16, bfloat16, float32, bool, int32, int8 or float8, "
            "rank 1 to 6"
        ) from None
    try:
        return input_of(graph, shape, dtype, x.stride(), name)
    except ValueError as reason:
        raise MirageError(f"from_torch: input '{name}': {str(reason).removeprefix('new_input: ')}") from None


def _apply(graph: Graph, node: fx.Node, values: dict) -> Any:
    try:
        return apply_node(graph, node, values.__getitem__)
    except Unsupported as reason:
        place = place_of(node)
        raise MirageError(f"from_torch: {name_of(node)}: {reason}" + (f", at {place}" if place else "")) from None


def _mark_outputs(graph: Graph, exported, node: Any, values: dict) -> None:
    kinds = torch.export.graph_signature.OutputKind
    for result, spec in zip(node.args[0], exported.graph_signature.output_specs):
        if spec.kind != kinds.USER_OUTPUT:
            raise MirageError(f"from_torch: '{spec.target}' is written to: programs have inputs that stay as they are")
        if not isinstance(result, fx.Node):
            raise MirageError(f"from_torch: output {result!r}: expected a tensor")
        value = values[result]
        if not isinstance(value, Tensor):
            raise MirageError(f"from_torch: output '{result.name}' is {value.dtype}, and nothing computes it: return what is "
                              "computed of float16, bfloat16 or float32")
        graph.mark_output(value)
