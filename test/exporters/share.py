"""How much of a function our programs compute: by flops, counted in what stock MLIR makes of both modules.

The flops of a structured operation are the points of its iteration space times the arithmetic operators of its body: add, subtract,
multiply, divide, maximum, minimum and functions count one each; casts, comparisons, selects and integers count nothing.
"""

import math

from torch_mlir import ir

from mlir import functions_of, parse, public_function, stock

FREE = {"arith.extf", "arith.truncf", "arith.cmpf", "arith.select", "arith.constant", "arith.sitofp", "arith.uitofp",
        "arith.fptosi", "arith.fptoui", "arith.bitcast"}


def is_arithmetic(op):
    name = op.operation.name
    if name.split(".")[0] not in ("arith", "math") or name in FREE or not len(op.operation.results):
        return False
    kind = op.operation.results[0].type
    kind = kind.element_type if isinstance(kind, ir.RankedTensorType) else kind
    return isinstance(kind, (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type))


def space(op):
    """The extents of a linalg.generic's iteration space."""
    extents = {}
    maps = op.operation.attributes["indexing_maps"]
    for operand, attribute in zip(op.operation.operands, maps):
        if isinstance(operand.type, ir.RankedTensorType):
            for extent, expr in zip(operand.type.shape, attribute.value.results):
                if isinstance(expr, ir.AffineDimExpr):
                    extents[expr.position] = extent
    return extents.values()


def flops_of(op):
    name = op.operation.name
    if name == "linalg.generic":
        body = sum(is_arithmetic(inner) for inner in op.operation.regions[0].blocks[0].operations)
        return math.prod(space(op)) * body
    if is_arithmetic(op) and isinstance(op.operation.results[0].type, ir.RankedTensorType):
        return math.prod(op.operation.results[0].type.shape)
    return 0


def flops(text):
    """Of the function in a module of linalg."""
    module = parse(stock(text, "--linalg-generalize-named-ops"))
    return sum(flops_of(op) for op in public_function(module).regions[0].blocks[0].operations)


def share(before, after):
    """The part of the flops of `before` that is in programs of `after`, what convert-linalg-to-mirage made of it."""
    all_of_it = flops(before)
    return 1 - flops(functions_of(after)) / all_of_it if all_of_it else 1.0
