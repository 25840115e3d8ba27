"""Programs that were read (_lazy) as Graphs."""

from __future__ import annotations

from typing import Any, Sequence

from . import _known as known
from ._graph import Graph, Tensor
from ._known import COMPARISONS
from ._lazy import Builder
from ._lazy_values import STORED, Node, Shape, Unsupported, Value, number_of


def emit(builder: Builder, outputs: Sequence[Value], name: str, names: Sequence[str], shaped: bool = False) -> Graph:
    """The Graph that computes `outputs`. Tensors of rank 0 become [1]. shaped: masks and positions are inputs of the shape that they
    are brought to, where there is one."""
    graph = Graph(name)
    nodes = [builder.known(value) for value in outputs]
    shapes = _used_shapes(nodes) if shaped else {}
    done: dict[int, Tensor] = {id(x): graph.new_input(shapes.get(id(x), x.shape) or (1,), x.dtype, name=n)
                               for x, n in zip(builder.inputs, names)}
    for node in nodes:
        _emit_tree(graph, node, done)
        graph.mark_output(done[id(node)])
    return graph


def _used_shapes(nodes: Sequence[Node]) -> dict[int, Shape]:
    """Of inputs of bool and int32, by id: where all that is done with one is to bring it to this shape."""
    uses: dict[int, set[Shape | None]] = {}
    seen: set[int] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            below = [v for v in node.operands if isinstance(v, Node)]
            stack += below
            for operand in below:
                if operand.op == "input" and operand.dtype in ("bool", "int32"):
                    uses.setdefault(id(operand), set()).add(node.shape if node.op == "reshape" else None)
    return {key: shape for key, shapes in uses.items() for shape in shapes if shape and len(shapes) == 1}


def _emit_tree(graph: Graph, node: Node, done: dict[int, Tensor]) -> None:
    """A node, and what it needs before it."""
    if node.op == "input":
        raise Unsupported("an output that is an input")
    stack = [node]
    while stack:
        top = stack[-1]
        missing = [v for v in top.operands if isinstance(v, Node) and id(v) not in done]
        if id(top) in done or not missing:
            stack.pop()
            if id(top) not in done:
                done[id(top)] = _emit_one(graph, top, done)
        stack.extend(missing)


def _emit_choice(graph: Graph, node: Node, operands: list[Any]) -> Any:
    which, x, *other = operands
    if not isinstance(x, Tensor) and not any(isinstance(v, Tensor) for v in other):
        x = graph.constant(x, (1,) * which.ndim, node.dtype)
    return graph.where(which, x, *other) if other else graph.mask(which, x)


_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "max": "maximum", "min": "minimum"}


def _emit_one(graph: Graph, node: Node, done: dict[int, Tensor]) -> Any:
    operands: list[Any] = [done[id(v)] if isinstance(v, Node) else number_of(v) for v in node.operands]
    shape = node.shape or (1,)
    if node.op in _BINARY:
        return getattr(graph, _BINARY[node.op])(*operands)
    if node.op in COMPARISONS:
        return graph._binary(node.op, *operands)
    if node.op == "known":
        return known.tensor_of(graph, node.attrs[0])
    if node.op == "constant":
        return graph.apply("constant", value=float(node.attrs[0]), shape=list(shape), dtype=node.dtype)
    if node.op in ("mask", "select"):
        return _emit_choice(graph, node, operands)
    if node.op in ("reshape", "broadcast"):
        if operands[0].shape == shape:  # [1], which is also what rank 0 becomes
            return operands[0]
        return getattr(graph, node.op)(operands[0], shape)
    if node.op == "cast":
        return graph.cast(operands[0], node.dtype)
    if node.op == "transpose":
        return graph.transpose(operands[0], node.attrs)
    if node.op in ("slice", "reduce_sum", "reduce_max"):
        return getattr(graph, node.op)(operands[0], *node.attrs)
    if node.op == "concat":
        return graph.concat(operands, *node.attrs)
    if node.op in ("matmul", "wide_matmul"):
        transpose_a, transpose_b = node.attrs or (False, False)
        dtype = None if operands[0].dtype in STORED else node.dtype
        return graph.matmul(operands[0], operands[1], transpose_a, transpose_b, dtype=dtype)
    if node.op == "attention":
        scale, causal, offset, window, cap = node.attrs
        q, k, v, *mask = operands
        return graph.scaled_dot_product_attention(q, k, v, scale, mask[0] if mask else None, causal, offset, window, cap)
    if node.op == "gelu_tanh":
        return graph.gelu(operands[0], "tanh")
    if node.op == "erfc":
        raise Unsupported("erfc other than in GELU")
    if node.op in ("and", "or", "not"):
        return graph.apply(node.op, *operands)
    return getattr(graph, node.op)(*operands)
