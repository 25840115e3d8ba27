"""Values of programs that are read (_lazy): Const, of which all elements are known, and Node, which is computed."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence, TypeGuard, Union

import numpy

from . import _known as known
from ._known import Known
from ._known_arrays import array_of, of_array
from ._mirage import MirageError

Shape = tuple[int, ...]
FLOATS = ("float16", "bfloat16", "float32")
STORED = ("int8", "int4", "float8_e4m3fn", "float8_e5m2")
_FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
PRODUCTS = {("int8", "int8"): "int32", **{(a, b): "float32" for a in _FLOAT8 for b in _FLOAT8}}  # of what is stored, as it is


class Unsupported(MirageError):
    """What the dialect cannot say, in words for the person who wrote the program."""


class Const:
    """Known elements: an array that broadcasts to `shape`, or a rule of their positions (_known). Each is made of the other when it
    is asked for, so that masks of long rows are never written out. dtype is our name, or NumPy's."""

    __slots__ = ("dtype", "shape", "_array", "_rule", "is_ruled")

    def __init__(self, array: numpy.ndarray | None, dtype: str, shape: Shape, rule: Known | None = None):
        self._array, self._rule, self.dtype, self.shape = array, rule, dtype, shape
        self.is_ruled = rule is not None  # or as good as that: elements that are all the same
        if rule is None and array is not None and array.size == 1:
            self._rule, self.is_ruled = known.full(dtype, shape, array.flat[0].item()), True

    @property
    def array(self) -> numpy.ndarray:
        if self._array is None:
            assert self._rule is not None
            self._array = array_of(self._rule).astype(numpy_dtype(self.dtype))
        return self._array

    @property
    def rule(self) -> Known | None:
        """None where the elements follow none that is known."""
        if self._rule is None:
            self._rule = of_array(self.array, self.dtype, self.shape)
        return self._rule

    @property
    def splat(self) -> float | int | bool | None:
        """The value of all elements; None where they differ."""
        if self._array is None and self._rule is not None:
            return known.splat_of(self._rule)
        if self.array.size and (self.array == self.array.flat[0]).all() or self.array.size == 1:
            value: float | int | bool = self.array.flat[0].item()
            return value
        return None


def ruled(rule: Known) -> Const:
    return Const(None, rule.dtype, rule.shape, known.settled(rule) if rule.dtype == "bool" else rule)


def by_rule(make: Callable[[], Known | None]) -> Const | None:
    """What `make` gives; None where it has no rule for that."""
    try:
        rule = make()
    except known.Unsupported:
        return None
    return None if rule is None else ruled(rule)


class Node:
    """A value that is computed. Made by the functions below."""

    __slots__ = ("op", "operands", "attrs", "dtype", "shape")

    def __init__(self, op: str, operands: tuple[Any, ...], attrs: tuple[Any, ...], dtype: str, shape: Shape):
        self.op, self.operands, self.attrs, self.dtype, self.shape = op, operands, attrs, dtype, shape

    def __repr__(self) -> str:
        return f"<{self.op} {self.dtype} {list(self.shape)}>"


Value = Union[Const, Node]


def are_known(values: Sequence[Value]) -> TypeGuard[Sequence[Const]]:
    return all(isinstance(x, Const) for x in values)


def made_by(x: Value, op: str) -> TypeGuard[Node]:
    return isinstance(x, Node) and x.op == op


def is_moved(x: Node) -> bool:
    return x.op == "transpose" or x.op == "reshape" and x.operands[0].op == "transpose"


def is_number(x: Value, value: float) -> bool:
    """Whether x is `value`, rounded to x's type."""
    if not isinstance(x, Const) or x.splat is None:
        return False
    return x.splat == numpy.asarray(value, numpy_dtype(x.dtype)).item()


def is_bottom(x: Value) -> bool:
    return isinstance(x, Const) and x.splat == -math.inf


def converted(x: Known | None, dtype: str) -> Known | None:
    """None where the elements are no numbers of a rule any more: positions are whole."""
    if x is None or x.dtype == "bool":
        return None if x is None or dtype == "bool" else Known(dtype, x.shape, ("where", x.expr, 1, 0))
    if dtype == "bool":
        return known.compare("not_equal", x, known.lifted(0, x))
    if x.expr[0] == "number" and any(x.expr[2]):
        return Known(dtype, x.shape, x.expr) if x.is_integer and dtype in ("int32", "int64") else None
    return known.mapped(x, dtype, lambda v: numpy.asarray(v).astype(numpy_dtype(dtype)).item())


def number_of(x: Const) -> float | int:
    """Of a Const that becomes an operand."""
    value = x.splat
    if value is None:
        raise Unsupported(f"a constant {x.dtype} tensor {list(x.shape)} whose elements differ: pass it as an argument")
    if not math.isfinite(value):
        raise Unsupported(f"a constant {value} that is no mask")
    return float(value) if x.dtype in FLOATS else int(value)


def numpy_dtype(name: str) -> Any:
    if name in ("bfloat16", "int4", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes
        return getattr(ml_dtypes, name)
    return numpy.dtype(name)
