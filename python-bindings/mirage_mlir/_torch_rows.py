"""Programs on [batch, sequence, features] as programs on [rows, features].

PyTorch's models carry leading dimensions through operators that look at one row at a time, and a matrix of weights
meets the rows of all. A reshape between a norm and a product keeps the search from seeing them as neighbours; so where
a product asks for rows, whatever is element-wise, a norm or a reduction over the last dimension around it works on
rows too, and the reshapes move to the borders.

    x[2, 8, 64] -> rms_norm -> reshape [16, 64] -> matmul -> reshape [2, 8, 32] -> silu
    reshape x [16, 64] -> rms_norm -> matmul -> silu -> reshape [2, 8, 32]
"""

from __future__ import annotations

import math

from ._graph import Graph, Tensor

_UNARY = {
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "square",
    "neg",
    "sigmoid",
    "silu",
    "gelu",
    "gelu_tanh",
    "erf",
    "tanh",
    "relu",
    "sin",
    "cos",
    "abs",
    "sign",
    "log1p",
    "softplus",
    "hard_sigmoid",
    "hard_swish",
    "leaky_relu",
    "pow",
    "clamp",
    "cast",
}
_BINARY = {"add", "sub", "mul", "div", "max", "min"}
_NORMS = {"rms_norm", "layer_norm"}
_LAST = {"softmax", "reduce_sum", "reduce_max", "reduce_mean", "slice", "concat"}


def rows(graph: Graph) -> Graph:
    """The same program, inputs and outputs; the graph itself where nothing is gained."""
    flattening = _Rows(graph)
    return flattening.rewritten() if flattening.wanted else graph


class _Rows:
    def __init__(self, graph: Graph):
        self.graph, self.nodes, self.shapes = graph, graph._nodes, [t.shape for t in graph._tensors]
        self.parent = list(range(len(self.nodes)))
        self.row_wise = [self._is_row_wise(i) for i in range(len(self.nodes))]
        for i in range(len(self.nodes)):
            if self.row_wise[i]:
                for o in self._full(i):
                    self.parent[self._find(o)] = self._find(i)
        self.wanted = set()
        for i in range(len(self.nodes)):
            if self._merges(i):
                self.wanted.add(self._find(self.nodes[i][1][0]))
            if self._splits(i):
                self.wanted.add(self._find(i))

    def _find(self, i: int) -> int:
        while self.parent[i] != i:
            i = self.parent[i]
        return i

    # ----------------------------------------------------------------------------------------------------- what is what

    def _flat_shape(self, i: int) -> tuple[int, int]:
        return math.prod(self.shapes[i][:-1]), self.shapes[i][-1]

    def _merges(self, i: int) -> bool:
        """[.., k] -> [rows, k]"""
        op, operands, _ = self.nodes[i]
        return op == "reshape" and len(self.shapes[operands[0]]) > 2 and self.shapes[i] == self._flat_shape(operands[0])

    def _splits(self, i: int) -> bool:
        """[rows, k] -> [.., k]"""
        op, operands, _ = self.nodes[i]
        return op == "reshape" and len(self.shapes[i]) > 2 and self.shapes[operands[0]] == self._flat_shape(i)

    def _full(self, i: int) -> list[int]:
        """The operands that have the result's leading dimensions."""
        op, operands, _ = self.nodes[i]
        lead = self.shapes[i][:-1]
        return [o for n, o in enumerate(operands) if self.shapes[o][:-1] == lead and (op not in _NORMS or n == 0)]

    def _is_row_wise(self, i: int) -> bool:
        op, operands, attributes = self.nodes[i]
        rank = len(self.shapes[i])
        if rank < 3 or op not in _UNARY | _BINARY | _NORMS | _LAST:
            return False
        if op in _LAST and attributes["dim"] != rank - 1:
            return False
        full = self._full(i)
        # The others repeat for each row: parameters, constants.
        return bool(full) and all(o in full or math.prod(self.shapes[o][:-1]) == 1 for o in operands)

    def _is_flat(self, i: int) -> bool:
        return len(self.shapes[i]) > 2 and self._find(i) in self.wanted

    # -------------------------------------------------------------------------------------------------------- rewriting

    def rewritten(self) -> Graph:
        self.new = Graph(self.graph.name)
        self.whole: dict[int, Tensor] = {}
        self.flat: dict[int, Tensor] = {}
        for i in range(len(self.nodes)):
            self._rewrite(i)
        self.new._names, self.new._perms = list(self.graph._names), list(self.graph._perms)
        for output in self.graph._outputs:
            self.new.mark_output(self._whole(output))
        return self.new

    def _whole(self, i: int) -> Tensor:
        if i not in self.whole:
            op, _, attributes = self.nodes[i]
            self.whole[i] = (
                self.new.apply(op, **attributes) if op == "constant" else self.new.reshape(self.flat[i], self.shapes[i])
            )
        return self.whole[i]

    def _flat(self, i: int) -> Tensor:
        if i not in self.flat:
            op, _, attributes = self.nodes[i]
            shape = self._flat_shape(i)
            self.flat[i] = (
                self.new.constant(attributes["value"], shape, attributes["dtype"])
                if op == "constant"
                else self.new.reshape(self.whole[i], shape)
            )
        return self.flat[i]

    def _rewrite(self, i: int) -> None:
        op, operands, attributes = self.nodes[i]
        if op == "input":
            tensor = self.graph._tensors[i]
            self.whole[i] = self.new._value("input", (), {}, tensor.dtype, tensor.shape)
            self.new._inputs.append(self.whole[i].index)
        elif op == "constant":
            pass  # written in the shape in which it is needed
        elif op == "reshape" and self._merges(i) and self._is_flat(operands[0]):
            self.whole[i] = self._flat(operands[0])
        elif op == "reshape" and self._splits(i) and self._is_flat(i):
            self.flat[i] = self._whole(operands[0])
        elif op == "reshape" and operands[0] in self.flat:
            self.whole[i] = self.new.reshape(self.flat[operands[0]], self.shapes[i])
        elif self.row_wise[i] and self._is_flat(i):
            full = self._full(i)
            given = [self._flat(o) if o in full else self._repeated(o) for o in operands]
            self.flat[i] = self.new.apply(op, *given, **({**attributes, "dim": 1} if op in _LAST else attributes))
        else:
            self.whole[i] = self.new.apply(op, *[self._whole(o) for o in operands], **attributes)

    def _repeated(self, i: int) -> Tensor:
        """A parameter or a constant, of rank 2 at most."""
        return self._whole(i) if len(self.shapes[i]) <= 2 else self._flat(i)
