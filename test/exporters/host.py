"""Runs a converted function: its calls by whoever is given, and what stays outside by NumPy, operator by operator.

What stays outside is little, and not ours: this is no second compiler. An operator that is missing here says so.
"""

import itertools

import numpy as np
from ml_dtypes import bfloat16
from torch_mlir import ir

from mlir import public_function

DTYPES = {"f16": np.float16, "bf16": bfloat16, "f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8,
          "i32": np.int32, "i64": np.int64, "index": np.int64}
BINARY = {"arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
          "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.addi": np.add, "arith.subi": np.subtract,
          "arith.muli": np.multiply, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or}
UNARY = {"arith.negf": np.negative, "math.exp": np.exp, "math.sqrt": np.sqrt, "math.absf": np.abs, "math.tanh": np.tanh,
         "math.log": np.log, "math.rsqrt": lambda x: 1 / np.sqrt(x)}
CASTS = {"arith.extf", "arith.truncf", "arith.index_cast", "arith.sitofp", "arith.trunci", "arith.extsi"}
ORDERS = [None, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal]  # of arith.cmpf, ordered
INTEGER_ORDERS = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal] + [
    np.less, np.less_equal, np.greater, np.greater_equal]  # of arith.cmpi


def dtype_of(kind):
    return DTYPES[str(kind.element_type if isinstance(kind, ir.RankedTensorType) else kind)]


def constant(op):
    kind, value = op.results[0].type, op.attributes["value"]
    if not isinstance(kind, ir.RankedTensorType):
        return dtype_of(kind)(float(value.value) if hasattr(value, "value") else value.type)
    if str(value).startswith("dense_resource"):
        return np.frombuffer(resource(op, value), dtype_of(kind)).reshape(kind.shape)
    if value.is_splat:
        return np.full(kind.shape, value.get_splat_value().value, dtype_of(kind))
    return np.array(value).reshape(kind.shape).astype(dtype_of(kind))


def resource(op, value):
    """The bytes of a dense_resource, out of the module's text: behind an alignment of four bytes."""
    name = str(value).split("<", 1)[1].split(">", 1)[0]
    root = op
    while root.parent is not None:
        root = root.parent
    text = str(root)
    digits = text[text.rindex(f'{name}: "0x') + len(name) + 5:]
    return bytes.fromhex(digits[:digits.index('"')])[4:]


def scalar(op, values):
    """An operator of arith or math on arrays of any shape."""
    name = op.name
    operands = [values[x] for x in op.operands]
    if name in BINARY or name in UNARY:
        with np.errstate(all="ignore"):
            return (BINARY.get(name) or UNARY[name])(*operands).astype(operands[0].dtype)
    if name in CASTS:
        return np.asarray(operands[0]).astype(dtype_of(op.results[0].type))
    if name == "arith.select":
        return np.where(*operands)
    if name == "arith.cmpf":
        order = op.attributes["predicate"].value
        return ORDERS[order - 7 if order > 7 else order](*operands)
    if name == "arith.cmpi":
        return INTEGER_ORDERS[op.attributes["predicate"].value](*operands)
    raise NotImplementedError(f"{name} on the host")


def through(array, affine_map, grid):
    """The array over the iteration space."""
    zero = np.zeros_like(grid[0])
    index = tuple(grid[e.position] if isinstance(e, ir.AffineDimExpr) else zero + e.value for e in affine_map.results)
    return np.asarray(array)[index] if index else np.asarray(array)


def generic(op, values):
    """A structured operation, all points of its space at once; reductions are those of BINARY, one after the other."""
    maps = [m.value for m in op.attributes["indexing_maps"]]
    operands = [values[x] for x in op.operands]
    extents = {e.position: n for m, a in zip(maps, operands) if np.ndim(a) for e, n in zip(m.results, np.shape(a))
               if isinstance(e, ir.AffineDimExpr)}
    space = [extents[d] for d in range(maps[0].n_dims)]
    outputs = [np.array(x) for x in operands[len(operands) - len(op.results):]]
    output_map = maps[-1]
    walked = {e.position for e in output_map.results if isinstance(e, ir.AffineDimExpr)}
    reduced = [d for d in range(len(space)) if d not in walked]
    block = op.regions[0].blocks[0]
    for point in itertools.product(*(range(space[d]) for d in reduced)):
        grid = np.indices([1 if d in reduced else n for d, n in enumerate(space)])
        for d, at in zip(reduced, point):
            grid[d] += at
        inside = dict(values)
        for argument, array, m in zip(block.arguments, operands[:len(operands) - len(outputs)] + outputs, maps):
            inside[argument] = through(array, m, grid)
        for inner in block.operations:
            inner = inner.operation
            if inner.name == "linalg.yield":
                for out, value in zip(outputs, inner.operands):
                    index = tuple(grid[e.position] if isinstance(e, ir.AffineDimExpr) else 0 * grid[0]
                                  for e in output_map.results)
                    out[index] = inside[value]
            elif inner.name == "linalg.index":
                inside[inner.results[0]] = grid[inner.attributes["dim"].value]
            elif inner.name == "tensor.extract":
                array, *index = (inside[x] for x in inner.operands)
                inside[inner.results[0]] = array[tuple(index)]
            else:
                inside[inner.results[0]] = constant(inner) if inner.name == "arith.constant" else scalar(inner, inside)
    return outputs


def slices(op):
    offsets, sizes = op.attributes["static_offsets"], op.attributes["static_sizes"]
    return tuple(slice(o, o + n) for o, n in zip(offsets, sizes))


def step(op, values, call):
    """The results of one operation."""
    kinds = [r.type for r in op.results]
    operands = [values[x] for x in op.operands]
    if op.name == "func.call":
        return call(op.attributes["callee"].value, operands)
    if op.name == "arith.constant":
        return [constant(op)]
    if op.name == "tensor.empty":
        return [np.zeros(kinds[0].shape, dtype_of(kinds[0]))]
    if op.name == "linalg.fill":
        return [np.full(kinds[0].shape, operands[0], dtype_of(kinds[0]))]
    if op.name in ("tensor.expand_shape", "tensor.collapse_shape"):
        return [np.asarray(operands[0]).reshape(kinds[0].shape)]
    if op.name == "tensor.extract_slice":
        return [operands[0][slices(op)].reshape(kinds[0].shape)]
    if op.name == "tensor.insert_slice":
        whole = operands[1].copy()
        whole[slices(op)] = operands[0].reshape(whole[slices(op)].shape)
        return [whole]
    if op.name == "linalg.generic":
        return generic(op, values)
    return [scalar(op, values)]


def run(module, inputs, call):
    """The results of the module's function for `inputs`; `call(name, inputs)` computes its programs."""
    block = public_function(module).regions[0].blocks[0]
    values = dict(zip(block.arguments, inputs))
    for op in block.operations:
        op = op.operation
        if op.name == "func.return":
            return [values[x] for x in op.operands]
        values.update(zip(op.results, step(op, values, call)))
    raise AssertionError("a function returns")
