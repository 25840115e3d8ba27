"""Weights of stored types: as frameworks have them, in host memory, and what is refused."""

import pytest
import torch

import mirage_mlir as mi

QUICK = dict(measure="no", target="h200", progress=False)
WARNING = "ignore:tensors in host memory"


def linear(dtype):
    g = mi.new_graph("linear")
    x = g.new_input((4, 64), "float16", name="x")
    w = g.new_input((64, 32), dtype, name="w")
    g.mark_output(g.matmul(x, g.cast(w, "float16"), dtype="float32"))
    return mi.superoptimize(g, **QUICK)


def weights(dtype):
    """What is passed, and the numbers that it holds."""
    generator = torch.Generator().manual_seed(1)
    if dtype == "int8":
        w = torch.randint(-128, 128, (64, 32), generator=generator, dtype=torch.int8)
        return w, w.double()
    if dtype == "int4":
        w = torch.randint(-8, 8, (64, 32), generator=generator, dtype=torch.int8)
        return (w[:, 0::2] & 15) | (w[:, 1::2] << 4), w.double()
    w = torch.randn((64, 32), generator=generator).to(getattr(torch, dtype))
    return w, w.double()


@pytest.mark.filterwarnings(WARNING)
@pytest.mark.parametrize("dtype", ["int8", "int4", "float8_e4m3fn", "float8_e5m2"])
def test_a_product(dtype):
    f = linear(dtype)
    x = torch.randn((4, 64), generator=torch.Generator().manual_seed(2)).half()
    passed, numbers = weights(dtype)
    y = f(x, passed)
    assert y.dtype == torch.float32
    assert torch.allclose(y.double(), x.double() @ numbers, rtol=1e-3, atol=1e-2)


@pytest.mark.filterwarnings(WARNING)
def test_other_tensors_are_refused():
    x, half = torch.zeros((4, 64)).half(), torch.zeros((64, 32)).half()
    with pytest.raises(TypeError, match=r"argument 1 \('w'\): expected int8 \[64, 32\], got float16 \[64, 32\]"):
        linear("int8")(x, half)
    with pytest.raises(ValueError, match=r"argument 1 \('w'\): expected int4 \[64, 32\], got int8 \[64, 32\]"):
        linear("int4")(x, torch.zeros((64, 32), dtype=torch.int8))  # not packed
    with pytest.raises(TypeError, match=r"argument 1 \('w'\): expected float8_e5m2 \[64, 32\], got "):
        linear("float8_e5m2")(x, torch.zeros((64, 32)).to(torch.float8_e4m3fn))


def test_nothing_else_takes_them():
    g = mi.new_graph("g")
    w = g.new_input((8, 16), torch.int8)
    assert w.dtype == "int8" and g.cast(w, "bfloat16").dtype == "bfloat16"
    with pytest.raises(mi.MirageError, match="exp: operand 0 is i8, a stored type"):
        g.exp(w)
    with pytest.raises(TypeError, match="dtype 'int8' is not supported: use float16, bfloat16 or float32"):
        g.cast(g.cast(w, "float16"), "int8")
    with pytest.raises(TypeError, match="dtype 'uint8' is not supported: .*int8, int4"):
        g.new_input((8, 16), "uint8")
