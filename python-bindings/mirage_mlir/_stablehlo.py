"""StableHLO, read by jaxlib's own bindings of MLIR. What cannot be said is an Unsupported that names the operator.

Each operator is a function of (reader, operation, operands) in OPERATORS. Calls are followed. Arithmetic on what is
known, which JAX does on shapes, masks and flags, is done here and leaves no trace.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy

from ._lazy import Builder, Const, Unsupported, Value, are_known, numpy_dtype

_DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i1": "bool", "i8": "int8",
           "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32",
           "ui64": "uint64"}


class Reader:
    """A module and the program that is made of it."""

    def __init__(self, module: Any):
        self.builder = Builder()
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


def _full(x: Const) -> numpy.ndarray:
    return x.array if x.array.size == 1 else numpy.broadcast_to(x.array, x.shape)


def _folded(reader: Reader, op: Any, function: Callable, operands: Sequence[Const]) -> Const:
    dtype, shape = reader.type_of(op.results[0])
    with numpy.errstate(all="ignore"):
        result = numpy.asarray(function(*(_full(x).reshape((1,) * len(shape)) if x.array.size == 1 else _full(x)
                                          for x in operands)))
    return Const(result.astype(numpy_dtype(dtype)), dtype, shape)


def _binary(name: str, function: Callable) -> Callable:
    def read(reader: Reader, op: Any, operands: list[Value]) -> Value:
        if are_known(operands):
            return _folded(reader, op, function, operands)
        return reader.builder.binary(name, *operands)
    return read


def _unary(name: str, function: Callable | None) -> Callable:
    def read(reader: Reader, op: Any, operands: list[Value]) -> Value:
        if function and are_known(operands):
            return _folded(reader, op, function, operands)
        return reader.builder.unary(name, operands[0])
    return read


def _known_only(function: Callable) -> Callable:
    """For operators whose operands have to be known: NumPy computes them."""
    def read(reader: Reader, op: Any, operands: list[Value]) -> Value:
        if not are_known(operands):
            raise Unsupported(f"{op.operation.name} of tensors that are computed cannot be said")
        return _folded(reader, op, function, operands)
    return read


def _constant(reader: Reader, op: Any, operands: list[Value]) -> Value:
    dtype, shape = reader.type_of(op.results[0])
    attribute = op.attributes["value"]
    if attribute.is_splat:
        value = numpy.asarray(attribute.get_splat_value().value).astype(numpy_dtype(dtype))
        return Const(value.reshape((1,) * len(shape)), dtype, shape)
    if dtype == "bfloat16":
        raise Unsupported(f"a constant bfloat16 tensor {list(shape)} whose elements differ: pass it as an argument")
    return Const(numpy.array(attribute).astype(dtype).reshape(shape), dtype, shape)


def _iota(reader: Reader, op: Any, operands: list[Value]) -> Value:
    dtype, shape = reader.type_of(op.results[0])
    dim = op.attributes["iota_dimension"].value
    line = numpy.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(len(shape))])
    return Const(numpy.broadcast_to(line, shape).astype(numpy_dtype(dtype)), dtype, shape)


def _convert(reader: Reader, op: Any, operands: list[Value]) -> Value:
    return reader.builder.cast(operands[0], reader.type_of(op.results[0])[0])


def _compare(reader: Reader, op: Any, operands: list[Value]) -> Value:
    if not are_known(operands):
        raise Unsupported("stablehlo.compare of tensors that are computed cannot be said")
    direction = str(op.attributes["comparison_direction"]).split()[-1].rstrip(">")
    functions = {"EQ": numpy.equal, "NE": numpy.not_equal, "LT": numpy.less, "LE": numpy.less_equal,
                 "GT": numpy.greater, "GE": numpy.greater_equal}
    return _folded(reader, op, functions[direction], operands)


def _select(reader: Reader, op: Any, operands: list[Value]) -> Value:
    which, a, b = operands
    if isinstance(which, Const) and which.splat is not None:
        return a if which.splat else b
    if are_known(operands):
        return _folded(reader, op, numpy.where, operands)
    raise Unsupported("stablehlo.select by a mask cannot be said")


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
    return reader.builder.reduce(name, x, dims)


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
    "stablehlo.and": _known_only(numpy.logical_and),
    "stablehlo.or": _known_only(numpy.logical_or),
    "stablehlo.not": _known_only(numpy.logical_not),
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
