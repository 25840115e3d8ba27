"""Known tensors as NumPy's arrays, and arrays as Known ones: what of an array's elements is a rule of their positions.

    of_array(numpy.tri(8, dtype=bool), "bool")     ("holds", "greater_equal", 0, (1, -1)): the causal mask
    array_of(known)                                the elements, with an extent of 1 where they do not differ

Either is exact: a rule is found where all elements follow it, or not at all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ._known import COMPARISONS, Expr, Known, full

_MOST_RUNS = 4  # stretches of a line that may be visible: more are no mask that a person thinks of


# -------------------------------------------------------------------------------------------------------------- elements


def array_of(x: Known) -> numpy.ndarray:
    """Broadcasts to x's shape; of integers, numbers or booleans, whatever x's dtype."""
    return _elements(x.expr, x.shape)


def _elements(expr: Expr, shape: tuple[int, ...]) -> numpy.ndarray:
    if expr[0] == "number":
        return _line(expr[1], expr[2], shape)
    if expr[0] == "holds":
        return numpy.asarray(COMPARISONS[expr[1]](_line(expr[2], expr[3], shape), 0))  # type: ignore[arg-type]
    if expr[0] == "not":
        return ~_elements(expr[1], shape)
    if expr[0] == "where":
        return numpy.asarray(numpy.where(_elements(expr[1], shape), expr[2], expr[3]))
    a, b = (_elements(e, shape) for e in expr[1:])
    return a & b if expr[0] == "and" else a | b


def _line(start: float, steps: tuple[int, ...], shape: tuple[int, ...]) -> numpy.ndarray:
    values = numpy.full((1,) * len(shape), start)
    for d, step in enumerate(steps):
        if step:
            along = [shape[d] if i == d else 1 for i in range(len(shape))]
            values = values + (step * numpy.arange(shape[d])).reshape(along)
    return values


def has_empty_rows(mask: Known, dim: int) -> bool:
    """Whether a mask holds nowhere along `dim` for some place in the other dimensions."""
    return not bool(array_of(mask).any(axis=dim).all())


# ----------------------------------------------------------------------------------------------------------------- rules


def of_array(array: numpy.ndarray, dtype: str, shape: tuple[int, ...]) -> Known | None:
    """What gives these elements, which broadcast to `shape`; None: no rule that is known here."""
    array = _compact(array)
    if array.size == 0:
        return None
    if dtype == "bool":
        expr = _mask(array)
    elif array.size == 1:
        expr = ("number", array.flat[0].item(), (0,) * array.ndim)
    else:
        expr = _positions(array) if dtype.startswith("int") else _choice(array)
    return None if expr is None else Known(dtype, shape, expr)


def _compact(array: numpy.ndarray) -> numpy.ndarray:
    """Without dimensions along which nothing differs: they have an extent of 1."""
    for d in range(array.ndim):
        first = array.take([0], axis=d) if array.shape[d] else array
        if array.shape[d] > 1 and (array.strides[d] == 0 or bool((array == first).all())):
            array = first
    return array


def _positions(array: numpy.ndarray) -> Expr | None:
    start = array.flat[0].item()
    steps = tuple(array.take(1, axis=d).flat[0].item() - start if e > 1 else 0 for d, e in enumerate(array.shape))
    return ("number", start, steps) if bool((_line(start, steps, array.shape) == array).all()) else None


def _choice(array: numpy.ndarray) -> Expr | None:
    """One of two numbers, by a mask."""
    first = array.flat[0].item()
    others = array[array != first]
    if math.isnan(first) or not others.size or not bool((others == others[0]).all()):
        return None
    mask = _mask(array == first)
    return None if mask is None else ("where", mask, first, others[0].item())


def _mask(array: numpy.ndarray) -> Expr | None:
    if array.size == 1:
        return full("bool", array.shape, bool(array.flat[0])).expr
    dims = [d for d, e in enumerate(array.shape) if e > 1]
    if len(dims) == 1:
        return _runs(array.reshape(-1), 0, _steps(array.ndim, dims[0]))
    return _of_two(array, *dims) if len(dims) == 2 else None


def _steps(rank: int, up: int, down: int | None = None) -> tuple[int, ...]:
    return tuple(1 if d == up else -1 if d == down else 0 for d in range(rank))


def _runs(line: numpy.ndarray, first: int, steps: tuple[int, ...]) -> Expr | None:
    """Where line[n - first] holds for the number n that is 0 at the start and goes by `steps`."""
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[False], line, [False]]).astype(numpy.int8))) + first
    runs = list(zip(edges[0::2].tolist(), edges[1::2].tolist()))
    if not runs or len(runs) > _MOST_RUNS:
        return full("bool", (1,) * len(steps), False).expr if not runs else None
    found: Expr | None = None
    for begin, end in runs:
        parts: list[Expr] = []
        if begin > first:
            parts.append(("holds", "greater_equal", -begin, steps))
        if end < first + line.size:
            parts.append(("holds", "less", -end, steps))
        run = parts[0] if len(parts) == 1 else ("and", *parts) if parts else full("bool", (1,) * len(steps), True).expr
        found = run if found is None else ("or", found, run)
    return found


def _of_two(array: numpy.ndarray, row: int, column: int) -> Expr | None:
    """A band along the diagonal, some rows, some columns, or what these have in common: as few of them as will do."""
    matrix = array.reshape(array.shape[row], array.shape[column])
    rows, columns = numpy.asarray(matrix.any(axis=1)), numpy.asarray(matrix.any(axis=0))
    places = numpy.arange(matrix.shape[0])[:, None] - numpy.arange(matrix.shape[1]) + matrix.shape[1] - 1
    band = numpy.zeros(sum(matrix.shape) - 1, bool)
    band[places[matrix]] = True
    parts: dict[str, tuple[Any, Any, int, tuple[int, ...]]] = {  # where one holds, its line, where that begins and how it goes on
        "band": (band[places], band, 1 - matrix.shape[1], _steps(array.ndim, row, column)),
        "rows": (rows[:, None], rows, 0, _steps(array.ndim, row)),
        "columns": (columns, columns, 0, _steps(array.ndim, column)),
    }
    for names in (["band"], ["rows", "columns"], ["band", "columns"], ["band", "rows"], ["band", "rows", "columns"]):
        together = numpy.ones_like(matrix)
        for name in names:
            together &= parts[name][0]
        if bool((together == matrix).all()):
            return _all_of([_runs(*parts[name][1:]) for name in names])
    return None


def _all_of(parts: list[Any]) -> Expr | None:
    if None in parts:
        return None
    found: Expr = parts[0]
    for part in parts[1:]:
        found = ("and", found, part)
    return found
