"""Tensors of every origin: the right result, or an exception that names the argument, what was expected and what came."""

import os
import re
import subprocess
import sys

import numpy
import pytest

import mirage_mlir as mi

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

DIMS = (4, 8)


def doubled(dtype="float32", dims=DIMS):
    g = mi.new_graph("doubled")
    x = g.new_input(dims, dtype, name="x")
    g.mark_output(g.add(x, x))
    return mi.from_mlir(g.mlir)


@pytest.fixture
def f():
    return doubled()


def refused(kind, text, call):
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind and re.match(text, str(caught.value)), caught.value


ONES = numpy.ones(DIMS, "float32")


# ------------------------------------------------------------------------------------------------------ NumPy's bfloat16


@pytest.fixture
def bfloat16():
    return pytest.importorskip("ml_dtypes").bfloat16


def test_numpys_bfloat16_goes_in_and_comes_out(bfloat16):
    values = numpy.linspace(-3, 3, 32).astype(bfloat16).reshape(DIMS)
    y = doubled("bfloat16")(values)
    assert type(y) is numpy.ndarray and y.dtype == bfloat16
    assert (y == values * bfloat16(2)).all()


def test_numpys_bfloat16_is_written_in_place(bfloat16):
    out = numpy.zeros(DIMS, bfloat16)
    assert doubled("bfloat16")(ONES.astype(bfloat16), out=out) is out
    assert (out == 2).all()


def test_numpys_bfloat16_is_checked_as_any_other(bfloat16, f):
    g, x = doubled("bfloat16"), ONES.astype(bfloat16)
    refused(TypeError, r"^argument 0 \('x'\): expected float32 \[4, 8\], got bfloat16 \[4, 8\]$", lambda: f(x))
    refused(TypeError, r"^argument 0 \('x'\): expected bfloat16 \[4, 8\], got uint16 \[4, 8\]$", lambda: g(x.view("uint16")))
    refused(ValueError, r"^argument 0 \('x'\): expected strides \[8, 1\], got \[1, 4\]", lambda: g(numpy.asfortranarray(x)))
    locked = numpy.zeros(DIMS, bfloat16)
    locked.flags.writeable = False
    refused(ValueError, "^output 0: the tensor is read-only$", lambda: g(x, out=locked))
    x.flags.writeable = False
    assert (g(x) == 2).all()


def test_bfloat16_between_frameworks(bfloat16):
    out = numpy.zeros(DIMS, bfloat16)
    doubled("bfloat16")(torch.ones(DIMS, dtype=torch.bfloat16), out=out)
    assert (out == 2).all()


def test_a_result_of_bfloat16_without_the_package(bfloat16, monkeypatch):
    g = mi.new_graph("cast")
    g.mark_output(g.cast(g.new_input(DIMS, "float32"), "bfloat16"))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    refused(TypeError, "^a result of bfloat16 as a NumPy array needs the package ml_dtypes; or pass out=$",
            lambda: mi.from_mlir(g.mlir)(ONES))


# ------------------------------------------------------------------------------------------------------ NumPy, and others


class OnlyDLPack:
    """As older producers are: no max_version, no dtype."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


def of_another_class(x):
    return x.as_subclass(type("Mine", (torch.Tensor,), {}))


@pytest.mark.parametrize(
    "x",
    [
        numpy.asmatrix(ONES),
        numpy.ones(33, "float32")[1:].reshape(DIMS),
        numpy.frombuffer(b"\0" + ONES.tobytes(), "u1")[1:].view("float32").reshape(DIMS),
        numpy.ones((4, 8, 1), "float32")[:, :, 0],
        torch.ones(40)[8:].view(DIMS),
        torch.ones(DIMS).requires_grad_(),
        torch.nn.Parameter(torch.ones(DIMS)),
        of_another_class(torch.ones(DIMS)),
        OnlyDLPack(ONES),
    ],
    ids=["matrix", "offset", "unaligned", "dropped dimension", "torch offset", "requires_grad", "parameter", "subclass", "DLPack"],
)
def test_what_can_be_read(f, x):
    y = f(x)
    assert (numpy.asarray(y) == 2).all() and isinstance(y, torch.Tensor) == isinstance(x, torch.Tensor)


class Raises:
    """dtype is not asked; __dlpack__ raises what it is given."""

    def __init__(self, error):
        self.error = error

    def __dlpack__(self, **_):
        raise self.error


class CudaOnly:
    __cuda_array_interface__ = {"shape": DIMS, "typestr": "<f4", "data": (4096, False), "version": 3}


def fake(x):
    from torch._subclasses import FakeTensorMode
    with FakeTensorMode() as mode:
        return mode.from_tensor(x)


def wrapping(x):
    class Wrapping(torch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __torch_dispatch__(self, *_):
            raise NotImplementedError

    return Wrapping(x)


NO_MEMORY = "expected a tensor with memory of its own, got one that has none"
NO_TENSOR = "expected a tensor .PyTorch, CuPy, JAX, NumPy: anything with __dlpack__., got "
NO_FLOAT = "expected float16, bfloat16 or float32, got "
NEGATIVE = "expected elements as they are in memory, got a view of their negatives: pass x.resolve_neg"


@pytest.mark.parametrize(
    "make, kind, text",
    [
        (lambda: ONES.astype("M8[s]"), TypeError, NO_FLOAT + "datetime64"),
        (lambda: ONES.astype(object), TypeError, NO_FLOAT + "object"),
        (lambda: ONES.astype("complex64"), TypeError, "expected float32 .4, 8., got complex64 .4, 8.$"),
        (lambda: ONES.astype(">f4"), TypeError, "the tensor's memory cannot be used: .*byte order"),
        (lambda: numpy.float32(1), TypeError, NO_TENSOR + "<class 'numpy.float32'>$"),
        (lambda: numpy.array(1, "float32"), ValueError, r"expected float32 \[4, 8\], got float32 \[\]$"),
        (lambda: numpy.ones((1,) * 8, "float32"), TypeError, "expected at most 6 dimensions of scalars, got 8 of 1 lanes$"),
        (lambda: ONES[::-1], ValueError, r"expected strides \[8, 1\], got \[-8, 1\]"),
        (lambda: numpy.broadcast_to(numpy.float32(1), DIMS), ValueError, r"expected strides \[8, 1\], got \[0, 0\]"),
        (lambda: memoryview(ONES), TypeError, NO_TENSOR),
        (lambda: CudaOnly(), TypeError, NO_TENSOR + r".*CudaOnly'>: pass cupy.asarray\(x\) or torch.as_tensor\(x\)$"),
        (lambda: Raises(BufferError("gone")), TypeError, "the tensor's memory cannot be used: gone$"),
        (lambda: Raises(AttributeError("inner")), TypeError, "the tensor's memory cannot be used: inner$"),
        (lambda: fake(torch.ones(DIMS)), TypeError, NO_MEMORY),
        (lambda: wrapping(torch.ones(DIMS)), TypeError, NO_MEMORY),
        (lambda: torch.ones(DIMS, dtype=torch.complex64).conj(), TypeError, "expected float32 .4, 8., got complex64 .4, 8.$"),
        (lambda: torch._neg_view(torch.ones(DIMS)), ValueError, NEGATIVE),
        (lambda: torch.ones(DIMS).to(torch.float8_e4m3fn), TypeError, "expected float32 .4, 8., got float8"),
        (lambda: torch.ones(DIMS).to_mkldnn(), TypeError, "the tensor's memory cannot be used: "),
        (lambda: torch.ones(1, 8).expand(DIMS), ValueError, r"expected strides \[8, 1\], got \[0, 1\]"),
    ],
)
def test_what_cannot(f, make, kind, text):
    refused(kind, r"^argument 0 \('x'\): " + text, lambda: f(make()))


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_is_no_fault_of_the_tensors_passes(f, error):
    with pytest.raises(error):
        f(Raises(error()))


def test_the_sign_of_an_imaginary_part():
    """Of one element: it lies densely, as its strides do not matter."""
    f, z = doubled(dims=(1, 1)), torch.tensor([[1 + 2j]])
    assert f(z.imag) == 4
    refused(ValueError, r"^argument 0 \('x'\): " + NEGATIVE, lambda: f(z.conj().imag))
    assert f(z.conj().imag.resolve_neg()) == -4
    refused(ValueError, "^output 0: " + NEGATIVE, lambda: f(torch.ones(1, 1), out=z.conj().imag))


def test_more_types_than_are_remembered(f):
    for i in range(20):
        kind = type(f"Mine{i}", (torch.Tensor,), {})
        assert (f(torch.ones(DIMS).as_subclass(kind)) == 2).all()
        nothing = type(f"Nothing{i}", (), {})()
        refused(TypeError, r"^argument 0 \('x'\): " + NO_TENSOR + f".*Nothing{i}'>$", lambda: f(nothing))


# ---------------------------------------------------------------------------------------------------- out=, stream=, jax


def test_out_has_memory_of_its_own(f):
    x = numpy.ones(40, "float32")
    refused(ValueError, r"^output 0: expected memory of its own, got some of argument 0 \('x'\)$",
            lambda: f(x[:32].reshape(DIMS), out=x[8:].reshape(DIMS)))
    g = mi.new_graph("two")
    a = g.new_input(DIMS, "float32")
    g.mark_output(g.exp(a)), g.mark_output(g.neg(a))
    y = torch.zeros(DIMS)
    refused(ValueError, "^output 1: expected memory of its own, got some of output 0$",
            lambda: mi.from_mlir(g.mlir)(torch.ones(DIMS), out=(y, y)))
    both = numpy.zeros((8, 8), "float32")
    f(ONES, out=both[4:])  # neighbours
    assert (both[4:] == 2).all() and (both[:4] == 0).all()


def test_out_of_another_framework(f):
    y = torch.zeros(DIMS)
    assert f(ONES, out=[y]) is y and (y == 2).all()


def test_streams(f):
    sentence = "^stream: expected the address of a CUDA stream"
    for stream in ("s", 1.0, object()):
        refused(TypeError, sentence, lambda: f(ONES, stream=stream))
    refused(ValueError, sentence + ", got -1$", lambda: f(ONES, stream=-1))
    assert (f(ONES, stream=0) == 2).all()


def test_keywords(f):
    refused(TypeError, r"^a call takes tensors in order, out= and stream=; got 'x'$", lambda: f(x=ONES))
    assert (f(ONES, out=None, stream=None) == 2).all()


def test_jax(f):
    jax = pytest.importorskip("jax")
    out = numpy.zeros(DIMS, "float32")
    assert (f(jax.numpy.ones(DIMS), out=out) == 2).all()
    refused(TypeError, r"^argument 0 \('x'\): the tensor's memory cannot be used: .*racer",
            lambda: jax.jit(lambda x: f(x, out=out))(jax.numpy.ones(DIMS)))
    gone = jax.numpy.ones(DIMS)
    gone.delete()
    refused(TypeError, r"^argument 0 \('x'\): the tensor's memory cannot be used: .*deleted", lambda: f(gone))
    refused(ValueError, "^output 0: the tensor is read-only$", lambda: f(ONES, out=jax.numpy.ones(DIMS)))


# ---------------------------------------------------------------------------------------------------------- on a "GPU"

PRETEND = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[1])
import call, torch
library = call.pretend()
best = call.program(2)
x, w = torch.zeros(8, 64, dtype=torch.float16), torch.zeros(8, 64, dtype=torch.float16)
for y in (best(x, w), best[0](x, w, stream=16), best[0](x, w, out=torch.zeros_like(x))):
    assert type(y) is torch.Tensor and y.shape == (8, 64) and y.dtype == torch.float16 and y.is_contiguous()
assert best(x, w).data_ptr() != y.data_ptr()
try:
    best(x, w, out=x)
except ValueError as error:
    print(error)
z = torch.zeros(8, 64, dtype=torch.complex64)
try:
    best(x, z.conj().imag.half())
    best(x.mT, w)
except ValueError as error:
    print(error)

# What a CUDA graph has captured stays loaded: replays come when they come.
cuda, context, program = ctypes.CDLL(os.environ["MIRAGE_CUDA_LIBRARY"]), ctypes.c_void_p(), best[0]._callable()
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxPushCurrent_v2(context)
held = sys.getrefcount(program)
best[0](x, w, stream=16)
assert sys.getrefcount(program) == held
assert cuda.cuStreamBeginCapture_v2(ctypes.c_void_p(16), 1) == 0
best[0](x, w, stream=16), best[0](x, w, stream=16)
assert sys.getrefcount(program) == held + 1
"""


def test_the_way_of_a_call_on_a_gpu(tmp_path):
    """With PyTorch's table of functions, its tensors said to be on a GPU, and the tests' driver."""
    here = os.path.dirname(os.path.abspath(__file__))
    driver = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(mi._mirage.__file__))), "lib", "libmirage_fake_cuda.so")
    if not os.path.exists(driver):
        pytest.skip("no build tree with the tests' driver")
    environment = {**os.environ, "MIRAGE_CUDA_LIBRARY": driver, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PRETEND, os.path.join(here, "..", "bench")], env=environment, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "output 0: expected memory of its own, got some of argument 0"
    assert second.startswith("argument 0: expected float16 [8, 64], got float16 [64, 8]")
