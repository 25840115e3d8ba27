"""StableHLO, read by jaxlib's own bindings of MLIR. What cannot be said is an Unsupported that names the operator.

Each operator is a function of (reader, operation, operands) in OPERATORS. Calls are followed. Arithmetic on what is
known, which JAX does on shapes, masks and flags, is done here and leaves no trace.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy

from . import _known as known
from ._known import Known
from ._lazy import Builder
from ._lazy_values import STORED, Const, Node, Unsupported, Value, are_known, by_rule, numpy_dtype, ruled

_DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i1": "bool", "i8": "int8",
           "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32",
           "ui64": "uint64", "i4": "int4", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}


class Reader:
    """A module and the program that is made of it."""

    def __init__(self, module: Any, every_row_sees: bool = False):
        self.builder = Builder(every_row_sees)
        self.functions = {op.name.value: op for op in module.body.operations if op.operation.name == "func.func"}

    def read(self) -> list[Value]:
        """The outputs of @main; its inputs are the builder's."""
        main = self.functions["main"]
        return self.call(main, [self.builder.input(*self.type_of(a)) for a in main.arguments])

    def call(self, function: Any, operands: Sequence[Value]) -> list[Value]:
        block = function.body.blocks[0]
        values = dict(zip(block.arguments, operands))
        for op in block.operations:
            given = [values[v] for v in op.operands]
            if op.operation.name == "func.return":
                return given
            values.update(zip(op.results, self.operator(op, given)))
        raise Unsupported(f"@{function.name.value} does not return")

    def operator(self, op: Any, operands: list[Value]) -> list[Value]:
        name = op.operation.name
        if name in ("func.call", "stablehlo.composite"):
            attribute = "callee" if name == "func.call" else "decomposition"
            return self.call(self.functions[op.attributes[attribute].value], operands)
        if name not in OPERATORS:
            raise Unsupported(f"{name} cannot be said")
        return [OPERATORS[name](self, op, operands)]

    def type_of(self, value: Any) -> tuple[str, tuple[int, ...]]:
        """(dtype, shape); Unsupported where it is no tensor of fixed extents."""
        from jaxlib.mlir import ir
        try:
            kind = ir.RankedTensorType(value.type)
        except ValueError:
            raise Unsupported(f"a value of type {value.type}") from None
        element = str(kind.element_type)
        if element not in _DTYPES or not kind.has_static_shape:
            raise Unsupported(f"a tensor {value.type}")
        return _DTYPES[element], tuple(kind.shape)


# ---------------------------------------------------------------------------------------------------------- operators


def _folded(reader: Reader, op: Any, function: Callable, operands: Sequence[Const]) -> Const:
    dtype, shape = reader.type_of(op.results[0])
    with numpy.errstate(all="ignore"):
        result = numpy.asarray(function(*(x.array if x.shape else x.array.reshape((1,) * len(shape)) for x in operands)))
    return Const(result.astype(numpy_dtype(dtype)), dtype, shape)


def _ruled(name: str, function: Callable, a: Const, b: Const) -> Const | None:
    """Two tensors whose elements follow rules of their positions, as another rule: no element is written out."""
    x, y = (v.rule if v.is_ruled else None for v in (a, b))
    if x is None or y is None:
        return None

    def make() -> Known | None:
        if x.is_integer and y.is_integer and name in ("add", "sub"):
            return known.add(x, y, 1 if name == "add" else -1)
        if x.is_integer and y.is_integer and name == "mul" and any(isinstance(v.splat, int) for v in (a, b)):
            return known.scaled(x, b.splat) if b.splat is not None else known.scaled(y, a.splat)
        return _ruled_by_element(function, a, b)

    return by_rule(make)


def _ruled_by_element(function: Callable, a: Const, b: Const) -> Known | None:
    """Where one of the two is a number, and the other has two at most."""
    kind = numpy_dtype(a.dtype)

    def on(*values: Any) -> Any:
        with numpy.errstate(all="ignore"):
            return numpy.asarray(function(*(numpy.asarray(v, kind) for v in values))).astype(kind).item()

    left, right = a.splat, b.splat
    if a.rule is not None and right is not None:
        return known.mapped(a.rule, a.dtype, lambda v: on(v, right))
    if b.rule is not None and left is not None:
        return known.mapped(b.rule, b.dtype, lambda v: on(left, v))
    return None


def _binary(name: str, function: Callable) -> Callable:
    def read(reader: Reader, op: Any, operands: list[Value]) -> Value:
        if are_known(operands):
            return _ruled(name, function, *operands) or _folded(reader, op, function, operands)
        return reader.builder.binary(name, *operands)
    return read


def _unary(name: str, function: Callable | None) -> Callable:
    def read(reader: Reader, op: Any, operands: list[Value]) -> Value:
        if function and are_known(operands):
            return _folded(reader, op, function, operands)
        return reader.builder.unary(name, operands[0])
    return read


def _logic(name: str, function: Callable) -> Callable:
    """Of masks; of integers where they are known."""
    def read(reader: Reader, op: Any, operands: list[Value]) -> Value:
        if operands[0].dtype == "bool":
            return reader.builder.negated(operands[0]) if name == "not" else reader.builder.logic(name, *operands)
        if not are_known(operands):
            raise Unsupported(f"{op.operation.name} of {operands[0].dtype} tensors that are computed cannot be said")
        return _folded(reader, op, function, operands)
    return read


def _constant(reader: Reader, op: Any, operands: list[Value]) -> Value:
    dtype, shape = reader.type_of(op.results[0])
    attribute = op.attributes["value"]
    if attribute.is_splat:
        value = numpy.asarray(attribute.get_splat_value().value).astype(numpy_dtype(dtype))
        return Const(value.reshape((1,) * len(shape)), dtype, shape)
    if dtype in ("bfloat16", *STORED) and dtype != "int8":  # which the attribute does not show
        raise Unsupported(f"a constant {dtype} tensor {list(shape)} whose elements differ: pass it as an argument")
    whole = Const(numpy.array(attribute).astype(dtype).reshape(shape), dtype, shape)
    return whole if whole.rule is None else ruled(whole.rule)


def _iota(reader: Reader, op: Any, operands: list[Value]) -> Value:
    dtype, shape = reader.type_of(op.results[0])
    dim = op.attributes["iota_dimension"].value
    if dtype in ("int32", "int64"):
        return ruled(Known(dtype, shape, ("number", 0, tuple(int(d == dim) for d in range(len(shape))))))
    line = numpy.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(len(shape))])
    return Const(line.astype(numpy_dtype(dtype)), dtype, shape)


def _convert(reader: Reader, op: Any, operands: list[Value]) -> Value:
    return reader.builder.cast(operands[0], reader.type_of(op.results[0])[0])


_DIRECTIONS = {"EQ": ("equal", numpy.equal), "NE": ("not_equal", numpy.not_equal), "LT": ("less", numpy.less),
               "LE": ("less_equal", numpy.less_equal), "GT": ("greater", numpy.greater),
               "GE": ("greater_equal", numpy.greater_equal)}


def _word(op: Any, attribute: str) -> str:
    """The last word of an attribute of StableHLO's own: #stablehlo<comparison_direction LT> -> LT."""
    return str(op.attributes[attribute]).split()[-1].rstrip(">") if attribute in op.attributes else ""


def _compare(reader: Reader, op: Any, operands: list[Value]) -> Value:
    name, function = _DIRECTIONS[_word(op, "comparison_direction")]
    if are_known(operands):
        a, b = operands
        rules = [v.rule if v.is_ruled else None for v in operands]
        both = by_rule(lambda: known.compare(name, *rules)) if None not in rules else None  # type: ignore[arg-type]
        return both or _folded(reader, op, function, operands)
    if _word(op, "compare_type") == "TOTALORDER":
        raise Unsupported("stablehlo.compare in total order cannot be said")
    return reader.builder.compare(name, *operands)


def _select(reader: Reader, op: Any, operands: list[Value]) -> Value:
    if not are_known(operands):
        which, a, b = operands
        return reader.builder.select(_stretched(reader, which, a.shape), a, b)
    which, a, b = operands
    if which.splat is not None:
        return a if which.splat else b
    return by_rule(lambda: _chosen(which, a, b)) or _folded(reader, op, numpy.where, operands)


def _chosen(which: Const, a: Const, b: Const) -> Known | None:
    rules = [x.rule for x in (which, a, b) if x.is_ruled and x.rule is not None]
    return known.chosen(rules[0], rules[1], rules[2], a.dtype) if len(rules) == 3 else None


def _power(reader: Reader, op: Any, operands: list[Value]) -> Value:
    x, exponent = operands
    if are_known(operands):
        return _folded(reader, op, numpy.power, operands)
    value = exponent.splat if isinstance(exponent, Const) else None
    builder = reader.builder
    if value in (1, 2, 3):
        square = builder.unary("square", x) if value > 1 else x
        return builder.binary("mul", square, x) if value == 3 else square
    if value in (0.5, -0.5):
        return builder.unary("sqrt" if value > 0 else "rsqrt", x)
    raise Unsupported(f"stablehlo.power with exponent {'that is computed' if value is None else value} cannot be said")


def _abs(reader: Reader, op: Any, operands: list[Value]) -> Value:
    if are_known(operands):
        return _folded(reader, op, numpy.abs, operands)
    return reader.builder.binary("max", operands[0], reader.builder.unary("neg", operands[0]))


def _clamp(reader: Reader, op: Any, operands: list[Value]) -> Value:
    shape = reader.type_of(op.results[0])[1]
    low, x, high = (_stretched(reader, v, shape) for v in operands)
    bounds = [low, x, high]
    if are_known(bounds):
        return _folded(reader, op, lambda l, v, h: numpy.clip(v, l, h), bounds)
    return reader.builder.binary("min", reader.builder.binary("max", x, low), high)


def _stretched(reader: Reader, x: Value, shape: tuple[int, ...]) -> Value:
    return x if x.shape == shape else reader.builder.broadcast(reader.builder.reshape(x, (1,) * len(shape)), shape)


def _broadcast_in_dim(reader: Reader, op: Any, operands: list[Value]) -> Value:
    shape = reader.type_of(op.results[0])[1]
    dims = list(op.attributes["broadcast_dimensions"])
    ones = [1] * len(shape)
    for d, extent in zip(dims, operands[0].shape):
        ones[d] = extent
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    moved = reader.builder.transpose(operands[0], order)
    return reader.builder.broadcast(reader.builder.reshape(moved, tuple(ones)), shape)


def _reshape(reader: Reader, op: Any, operands: list[Value]) -> Value:
    return reader.builder.reshape(operands[0], reader.type_of(op.results[0])[1])


def _transpose(reader: Reader, op: Any, operands: list[Value]) -> Value:
    return reader.builder.transpose(operands[0], list(op.attributes["permutation"]))


def _slice(reader: Reader, op: Any, operands: list[Value]) -> Value:
    begins, ends, steps = (list(op.attributes[n]) for n in ("start_indices", "limit_indices", "strides"))
    if any(step != 1 for step in steps):
        raise Unsupported(f"stablehlo.slice with steps {steps} cannot be said")
    x = operands[0]
    for dim, (begin, end) in enumerate(zip(begins, ends)):
        x = reader.builder.slice(x, dim, begin, end)
    return x


def _concatenate(reader: Reader, op: Any, operands: list[Value]) -> Value:
    return reader.builder.concat(operands, op.attributes["dimension"].value, *reader.type_of(op.results[0]))


def _dot_general(reader: Reader, op: Any, operands: list[Value]) -> Value:
    from jaxlib.mlir.dialects import stablehlo
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    batch = numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions
    contract = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    return reader.builder.dot(operands[0], operands[1], batch, contract, reader.type_of(op.results[0])[0])


_REDUCTIONS: dict[str, tuple[str, float, Callable[..., Any]]] = {
    "stablehlo.add": ("reduce_sum", 0.0, numpy.sum),
    "stablehlo.maximum": ("reduce_max", -math.inf, numpy.max),
    "stablehlo.minimum": ("reduce_min", math.inf, numpy.min),
    "stablehlo.or": ("reduce_or", False, numpy.any),
    "stablehlo.and": ("reduce_and", True, numpy.all),
}


def _reduce(reader: Reader, op: Any, operands: list[Value]) -> Value:
    inner = [o.operation.name for o in op.regions[0].blocks[0].operations]
    if len(operands) != 2 or len(inner) != 2 or inner[0] not in _REDUCTIONS:
        raise Unsupported(f"stablehlo.reduce by {', '.join(inner[:-1])} cannot be said")
    name, neutral, function = _REDUCTIONS[inner[0]]
    x, start = operands
    dims = list(op.attributes["dimensions"])
    if not isinstance(start, Const) or start.splat != neutral:
        raise Unsupported(f"stablehlo.reduce that starts at something else than {neutral} cannot be said")
    if isinstance(x, Const):
        full = numpy.broadcast_to(x.array, x.shape)
        dtype, shape = reader.type_of(op.results[0])
        return Const(function(full, axis=tuple(dims)).astype(numpy_dtype(dtype)), dtype, shape)
    if name == "reduce_min":
        return reader.builder.unary("neg", reader.builder.reduce("reduce_max", reader.builder.unary("neg", x), dims))
    if name in ("reduce_or", "reduce_and"):
        return _quantified(reader, name, x, dims)
    return reader.builder.reduce(name, x, dims)


def _quantified(reader: Reader, name: str, x: Node, dims: list[int]) -> Value:
    """Whether a mask holds somewhere, or everywhere: there is no place where it does not."""
    if x.dtype != "bool":
        raise Unsupported(f"stablehlo.reduce by the bits of {x.dtype} cannot be said")
    if name == "reduce_or":
        return reader.builder.reduce("reduce_max", x, dims)
    return reader.builder.negated(reader.builder.reduce("reduce_max", reader.builder.negated(x), dims))


def _same(reader: Reader, op: Any, operands: list[Value]) -> Value:
    if len(operands) != 1:
        raise Unsupported(f"{op.operation.name} of {len(operands)} tensors cannot be said")
    return operands[0]


OPERATORS: dict[str, Callable[[Reader, Any, list[Value]], Value]] = {
    "stablehlo.add": _binary("add", numpy.add),
    "stablehlo.subtract": _binary("sub", numpy.subtract),
    "stablehlo.multiply": _binary("mul", numpy.multiply),
    "stablehlo.divide": _binary("div", numpy.divide),
    "stablehlo.maximum": _binary("max", numpy.maximum),
    "stablehlo.minimum": _binary("min", numpy.minimum),
    "stablehlo.negate": _unary("neg", numpy.negative),
    "stablehlo.exponential": _unary("exp", numpy.exp),
    "stablehlo.log": _unary("log", numpy.log),
    "stablehlo.sqrt": _unary("sqrt", numpy.sqrt),
    "stablehlo.rsqrt": _unary("rsqrt", lambda x: 1 / numpy.sqrt(x)),
    "stablehlo.tanh": _unary("tanh", numpy.tanh),
    "stablehlo.logistic": _unary("sigmoid", lambda x: 1 / (1 + numpy.exp(-x))),
    "chlo.square": _unary("square", numpy.square),
    "chlo.erf": _unary("erf", None),
    "chlo.erfc": _unary("erfc", None),
    "stablehlo.abs": _abs,
    "stablehlo.power": _power,
    "stablehlo.clamp": _clamp,
    "stablehlo.and": _logic("and", numpy.bitwise_and),
    "stablehlo.or": _logic("or", numpy.bitwise_or),
    "stablehlo.not": _logic("not", numpy.bitwise_not),
    "stablehlo.compare": _compare,
    "stablehlo.select": _select,
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
    "stablehlo.convert": _convert,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.reshape": _reshape,
    "stablehlo.transpose": _transpose,
    "stablehlo.slice": _slice,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.reduce": _reduce,
    "stablehlo.optimization_barrier": _same,
}
