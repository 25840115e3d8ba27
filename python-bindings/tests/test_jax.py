"""JAX: functions as graphs, and mirage_mlir.jax.jit. On a CPU XLA has the graphs evaluated."""

import json
import logging
import subprocess
import sys

import mirage_mlir as mi
import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import mirage_mlir.jax as mj  # noqa: E402
from mirage_mlir import _lazy  # noqa: E402


@pytest.fixture(autouse=True)
def own_database(tmp_path, monkeypatch):
    monkeypatch.setenv("MIRAGE_TUNING_DB", str(tmp_path / "tuning.db"))
    monkeypatch.setenv("MIRAGE_MEASURE", "no")
    monkeypatch.setattr(mj, "_said", set())


def tensors(*shapes, dtype=jnp.bfloat16):
    random = np.random.default_rng(1)
    return [jnp.asarray(random.standard_normal(s), dtype) for s in shapes]


def jit(f, **options):
    return mj.jit(f, **{"progress": False, "target": "h200", "max_block_ops": 7, "max_states": 3000, **options})


def ops(f, *args):
    """The operators of from_jax(f), but constants, in the order of the text."""
    described = json.loads(mi._mirage.describe(mi.from_jax(f, *args).mlir))
    return [n["op"] for n in described["graphs"][0]["nodes"] if n["op"] not in ("constant", "return")]


def error(got, exact):
    exact = np.asarray(exact, np.float64)
    return np.linalg.norm(np.asarray(got, np.float64) - exact) / max(np.linalg.norm(exact), 1e-30)


def check(f, args, **options):
    """jit(f) is ours, has f's shapes and dtypes, and errs no more than 1.5 times f beside float32."""
    compiled = jit(f, **options)
    assert "mirage_mlir" in compiled.lower(*args).as_text()
    got, own = jax.tree.leaves(compiled(*args)), jax.tree.leaves(f(*args))
    exact = jax.tree.leaves(f(*(a.astype(jnp.float32) for a in args)))
    assert len(got) == len(own)
    for mine, theirs, true in zip(got, own, exact):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        assert error(mine, true) <= 1.5 * error(theirs, true) + 1e-6


# ----------------------------------------------------------------------------------------------------------- programs


def rms_norm(x, weight):
    y = x.astype(jnp.float32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype) * weight


def attention(q, k, v):  # [batch, heads, rows, depth]
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) / q.shape[-1] ** 0.5
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(v.dtype), v)


def block(x, norm, up, gate, down):
    y = rms_norm(x, norm)
    return x + (jax.nn.silu(y @ gate) * (y @ up)) @ down


PROGRAMS = {
    "linear": (lambda x, w: x @ w, [(8, 32), (32, 16)]),
    "linear_batched": (lambda x, w, b: jax.nn.relu(x @ w + b), [(2, 4, 32), (32, 16), (16,)]),
    "rms_norm_linear": (lambda x, n, w: rms_norm(x, n) @ w, [(8, 32), (32,), (32, 16)]),
    "layer_norm": (lambda x, w, b: jax.nn.standardize(x, -1) * w + b, [(8, 32), (32,), (32,)]),
    "gated_mlp": (block, [(4, 32), (32,), (32, 64), (32, 64), (64, 32)]),
    "attention": (attention, [(1, 2, 8, 16), (1, 2, 16, 16), (1, 2, 16, 16)]),
    "attention_one_row": (attention, [(1, 2, 1, 16), (1, 2, 16, 16), (1, 2, 16, 16)]),
    "attention_of_jax": (jax.nn.dot_product_attention, [(1, 8, 2, 16), (1, 8, 2, 16), (1, 8, 2, 16)]),
    "gelu": (lambda x, y: jax.nn.gelu(x, approximate=False) * y, [(8, 32), (8, 32)]),  # alone it is one kernel as it stands
    "gelu_tanh": (lambda x, y: jax.nn.gelu(x) * y, [(8, 32), (8, 32)]),
    "softmax": (jax.nn.softmax, [(8, 32)]),
    "sigmoid_lerp": (lambda a, b, t: a + jax.nn.sigmoid(t) * (b - a), [(8, 32), (8, 32), (8, 32)]),
    "variance": (lambda x: (jnp.var(x, -1), jnp.mean(x, -1)), [(8, 32)]),
    "slices": (lambda x: jnp.concatenate([x[:, 16:], -x[:, :16]], 1) * x, [(8, 32)]),
    "pool": (lambda x: x.reshape(4, 2, 32).max(1), [(8, 32)]),
    "outer": (lambda x, y: jnp.tanh(x[:, None] * y[None, :]), [(16,), (32,)]),
    "scalar": (lambda x: jnp.exp(x).sum(), [(8, 32)]),
    "transposed": (lambda x, w: (x.T @ w).T, [(32, 8), (32, 16)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    f, shapes = PROGRAMS[name]
    check(f, tensors(*shapes))


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32])
def test_dtypes(dtype):
    check(lambda x, w: jax.nn.silu(x @ w), tensors((8, 32), (32, 16), dtype=dtype))


# ------------------------------------------------------------------------------------------------- what is made of it


def test_what_exporters_write_out_is_one_operator():
    (x,) = tensors((8, 32))
    assert ops(jax.nn.silu, x) == ["silu"]
    assert ops(jax.nn.sigmoid, x) == ["sigmoid"]
    assert ops(jax.nn.gelu, x) == ["gelu_tanh"]
    assert ops(lambda x: jax.nn.gelu(x, approximate=False), x) == ["gelu"]
    q, k, v = tensors((2, 3, 8, 16), (2, 3, 16, 16), (2, 3, 16, 16))
    assert ops(attention, q, k, v).count("scaled_dot_product_attention") == 1


def test_what_is_nearly_that_stays_as_it_is():
    x, y = tensors((8, 32), (8, 32))
    assert "silu" not in ops(lambda x, y: y * jax.nn.sigmoid(x), x, y)
    assert "gelu_tanh" not in ops(lambda x: x * (0.5 * (1 + jnp.tanh(0.7 * (x + 0.044715 * x * x * x)))), x)
    assert "sigmoid" not in ops(lambda x: 1 / (2 + jnp.exp(-x)), x)

    def first_dim(q, k, v):  # softmax along the wrong dimension
        return (jax.nn.softmax((q @ k.T).astype(jnp.float32), axis=0)).astype(v.dtype) @ v

    assert "scaled_dot_product_attention" not in ops(first_dim, *tensors((16, 16), (16, 16), (16, 16)))


def test_shapes_leave_no_trace():
    x, w = tensors((1, 8, 1, 32), (32, 16))
    assert ops(lambda x, w: x.reshape(8, 32).reshape(2, 4, 32).reshape(8, 32) @ w, x, w) == ["reshape", "matmul"]
    assert ops(lambda x: x.transpose(0, 3, 2, 1).transpose(0, 3, 2, 1) * 2, x) == ["reshape", "mul", "reshape"]
    assert ops(lambda w: jnp.swapaxes(w, 0, 1) @ w, w) == ["matmul"]


def test_known_values_are_computed():
    (x,) = tensors((8, 32))
    assert ops(lambda x: jnp.where(jnp.arange(4).sum() > 5, x * 2, x - 1), x) == ["mul"]
    assert ops(lambda x: jnp.clip(x, -1, 1), x) == ["max", "min"]
    assert ops(lambda x: x ** 2 + abs(x), x)[-1] == "add"


def test_rounding_there_and_back_is_nothing():
    (x,) = tensors((8, 32))
    assert ops(lambda x: x.astype(jnp.float32).astype(jnp.bfloat16) * 2, x) == ["mul"]
    x32 = x.astype(jnp.float32)
    assert ops(lambda x: x.astype(jnp.bfloat16).astype(jnp.float32) * 2, x32) == ["cast", "cast", "mul"]


def test_products_in_float32():
    """Rounded at once to the operands' type, or used as it is: one product, without a cast."""
    x, w = tensors((8, 32), (32, 16))
    wide = lambda x, w: jnp.dot(x, w, preferred_element_type=jnp.float32)  # noqa: E731
    assert ops(lambda x, w: wide(x, w).astype(jnp.bfloat16), x, w) == ["matmul"]
    assert ops(wide, x, w) == ["matmul"]


def test_names_are_places():
    g = mi.from_jax(lambda p, x: x @ p["w"] + p["b"], {"w": jnp.zeros((4, 2)), "b": jnp.zeros(2)}, x=jnp.zeros((8, 4)))
    assert g._names == ["[0]['b']", "[0]['w']", "['x']"]
    assert g.outputs[0].shape == (8, 2)


# -------------------------------------------------------------------------------------------------------- what is not


UNSUPPORTED = {
    "sort": (jnp.sort, "stablehlo.sort cannot be said"),
    "gather": (lambda x: x[jnp.array([0, 3, 1])], "gather"),
    "step": (lambda x: x[::2], "stablehlo.slice with steps [2, 1] cannot be said"),
    "loop": (lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y * 2, x), "stablehlo.while cannot be said"),
    "power": (lambda x: x ** 1.7, "stablehlo.power with exponent 1.7"),
    "erfc": (jax.lax.erfc, "erfc other than in GELU"),
    "integers": (lambda x: jnp.argmax(x, -1), "stablehlo.reduce"),
    "prod": (lambda x: jnp.prod(x, -1), "stablehlo.reduce by stablehlo.multiply cannot be said"),
    "constant": (lambda x: x * np.arange(256.0, dtype="float32").reshape(8, 32),
                 "whose elements differ: pass it as an argument"),
    "input": (lambda x: (x, x * 2), "an output that is an input"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported(name, caplog):
    """from_jax says what; jit says it once, and computes what JAX computes."""
    f, reason = UNSUPPORTED[name]
    (x,) = tensors((8, 32), dtype=jnp.float32)
    with pytest.raises(mi.MirageError) as caught:
        mi.from_jax(f, x)
    assert str(caught.value).startswith("from_jax: ") and reason in str(caught.value)
    compiled = jit(f)
    with caplog.at_level(logging.WARNING, "mirage_mlir"):
        for _ in range(2):
            np.testing.assert_allclose(jax.tree.leaves(compiled(x))[0], jax.tree.leaves(jax.jit(f)(x))[0])
            jax.clear_caches()
    assert caplog.text.count("compiled by JAX alone") == 1 and reason in caplog.text


@pytest.mark.parametrize("dtype, reason", [("int16", "input 0 is int16 [4]"), ("uint32", "input 0 is uint32 [4]"),
                                           ("uint8", "input 0 is uint8 [4]"), ("bool", "an output that is an input"),
                                           ("complex64", "a tensor tensor<4xcomplex<f32>>")])
def test_wrong_dtypes(dtype, reason):
    with pytest.raises(mi.MirageError, match="from_jax: ") as caught:
        mi.from_jax(lambda x: x, jnp.zeros(4, dtype))
    assert reason in str(caught.value)
    assert jit(lambda x: x)(jnp.ones(4, dtype)).dtype == dtype


def test_wrong_arguments_are_the_functions_own_errors():
    x, w = tensors((8, 32), (16, 8))
    with pytest.raises(TypeError, match="dot_general requires contracting dimensions"):
        jit(lambda x, w: x @ w)(x, w)
    with pytest.raises(TypeError, match="no search option 'max_block_opps'"):
        jit(lambda x: x, max_block_opps=3)


# ----------------------------------------------------------------------------------------------- with the rest of JAX


def exp2(x):
    return jnp.exp(x) * 2


def test_within_other_jitted_functions():
    (x,) = tensors((8, 64), dtype=jnp.float32)
    ours = jit(exp2)
    outer = jax.jit(lambda x: jnp.sort(ours(jnp.sin(x)), -1).cumsum(-1) + ours(x))
    np.testing.assert_allclose(outer(x), jnp.sort(exp2(jnp.sin(x)), -1).cumsum(-1) + exp2(x), rtol=1e-5)
    assert outer.lower(x).as_text().count("custom_call @mirage_mlir") >= 1


def test_as_a_decorator_and_for_each_shape():
    traced = []

    @mj.jit(progress=False, target="h200")
    def f(x):
        traced.append(x.shape)
        return exp2(x)

    for shape in ((4, 64), (8, 64), (4, 64)):
        (x,) = tensors(shape, dtype=jnp.float32)
        np.testing.assert_allclose(f(x), exp2(x), rtol=1e-6)
    assert set(traced) == {(4, 64), (8, 64)} and f.__name__ == "f"


def test_trees_and_static_arguments():
    def f(params, x, flag, scale=1.0):
        y = x @ params["w"] * (2 if flag else 3)
        return {"y": y * scale, "sum": y.sum()}

    x, w = tensors((8, 32), (32, 16), dtype=jnp.float32)
    compiled = jit(f, static_argnums=2)
    for flag in (True, False):
        got, own = compiled({"w": w}, x, flag), f({"w": w}, x, flag)
        np.testing.assert_allclose(got["y"], own["y"], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(got["sum"], own["sum"], rtol=1e-4, atol=1e-3)
    assert "mirage_mlir" in compiled.lower({"w": w}, x, True).as_text()


def test_derivatives_and_batches_are_those_of_the_function():
    (x,) = tensors((3, 8, 64), dtype=jnp.float32)
    ours = jit(exp2)
    np.testing.assert_allclose(jax.grad(lambda x: ours(x).sum())(x[0]), exp2(x[0]), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(ours)(x), exp2(x), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(lambda x: ours(x).sum())))(x), exp2(x), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(lambda x: jax.vmap(ours)(x).sum()))(x), exp2(x), rtol=1e-6)


def test_a_value_of_an_outer_trace(caplog):
    """What the function closes over there cannot be traced by itself."""
    x, w = tensors((8, 32), (32, 16), dtype=jnp.float32)

    @jax.jit
    def outer(x, w):
        return jit(lambda y: y @ w)(x)

    with caplog.at_level(logging.WARNING, "mirage_mlir"):
        np.testing.assert_allclose(outer(x, w), x @ w, rtol=1e-5, atol=1e-5)


def test_another_process_has_no_such_program():
    """A call whose program is not here, as XLA's disk cache might bring: an error, not another program."""
    x = jnp.zeros((4, 4))
    jit(exp2)(x)  # registers the handlers
    call = jax.ffi.ffi_call("mirage_mlir", jax.ShapeDtypeStruct((4, 4), "float32"))
    with pytest.raises(Exception, match="compiled in another process"):
        jax.block_until_ready(call(x, program=np.int64(12345)))


def test_forged_calls():
    x = jnp.zeros((8, 8))
    compiled = jit(exp2)
    text = compiled.lower(x).as_text()
    key = np.int64(int(text.split("program = ")[1].split()[0]))
    call = jax.ffi.ffi_call("mirage_mlir", jax.ShapeDtypeStruct((8, 8), "float32"))
    np.testing.assert_allclose(call(x, program=key), exp2(x))
    with pytest.raises(Exception, match="the call's tensors are not those of its program"):
        jax.block_until_ready(call(jnp.zeros((4, 8)), program=key))
    with pytest.raises(Exception, match="the call's tensors are not those of its program"):
        jax.block_until_ready(call(x.astype(jnp.bfloat16), program=key))
    with pytest.raises(Exception, match="without the attribute 'program'"):
        jax.block_until_ready(call(x))
    with pytest.raises(Exception, match="without the attribute 'program'"):
        jax.block_until_ready(call(x, program=np.float32(1)))
    with pytest.raises(TypeError, match="jax_register: expected a Program"):
        mi._mirage.jax_register(1, "text")


def test_the_abi_is_xlas(tmp_path):
    """Sizes and places in xla_ffi_abi.h beside those in jaxlib's own header, by the C compiler."""
    import os
    import shutil
    compiler = next((c for c in ("clang-22", "clang", "gcc", "cc") if shutil.which(c)), None)
    sources = os.path.join(os.path.dirname(os.path.realpath(mi.__file__)), "..", "src")
    if not compiler or not os.path.exists(sources):
        pytest.skip("no C compiler, or no sources")
    ours = ["XlaExtension", "XlaVersion", "XlaMetadata", "XlaErrorCreate", "XlaStreamGet", "XlaOrdinalGet", "XlaBuffer",
            "XlaSpan", "XlaScalar", "XlaBuffers", "XlaAttributes", "XlaCall", "XlaApi"]
    theirs = ["Extension_Base", "Api_Version", "Metadata", "Error_Create_Args", "Stream_Get_Args",
              "DeviceOrdinal_Get_Args", "Buffer", "ByteSpan", "Scalar", "Args", "Attrs", "CallFrame", "Api"]
    lines = [f"_Static_assert(sizeof({a}) == sizeof(XLA_FFI_{b}), \"{a}\");" for a, b in zip(ours, theirs)]
    fields = {"XlaCall.stage": "CallFrame.stage", "XlaCall.arguments": "CallFrame.args",
              "XlaCall.results": "CallFrame.rets", "XlaCall.attributes": "CallFrame.attrs",
              "XlaApi.error_create": "Api.XLA_FFI_Error_Create",
              "XlaApi.stream_get": "Api.XLA_FFI_Stream_Get", "XlaApi.ordinal_get": "Api.XLA_FFI_DeviceOrdinal_Get",
              "XlaBuffer.dims": "Buffer.dims", "XlaMetadata.traits": "Metadata.traits"}
    for a, b in fields.items():
        (struct, field), (struct_b, field_b) = a.split("."), b.split(".")
        places = f"offsetof({struct}, {field}) == offsetof(XLA_FFI_{struct_b}, {field_b})"
        lines.append(f"_Static_assert({places}, \"{a}\");")
    for name in ("PRED", "S8", "S32", "S64", "F16", "BF16", "F32", "F8E4M3FN", "F8E5M2"):
        lines.append(f"_Static_assert(XLA_{name} == (int)XLA_FFI_DataType_{name}, \"{name}\");")
    source = tmp_path / "abi.c"
    source.write_text('#include "xla/ffi/api/c_api.h"\n#include "xla_ffi_abi.h"\n' + "\n".join(lines))
    subprocess.run([compiler, "-fsyntax-only", "-I", jax.ffi.include_dir(), "-I", sources, str(source)], check=True)


def test_jax_is_imported_when_it_is_needed():
    code = "import sys, mirage_mlir; sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_lazy_names_nothing_of_jax():
    assert not any("jax" in str(getattr(v, "__module__", "")) for v in vars(_lazy).values())


@pytest.mark.skipif(all(d.platform != "gpu" for d in jax.devices()), reason="no GPU that JAX can use")
def test_on_a_gpu():
    x, w = tensors((256, 256), (256, 256))
    ours = mj.jit(lambda x, w: jax.nn.silu(x @ w), progress=False, measure="no")
    for _ in range(3):  # XLA captures the third time
        assert error(ours(x, w), jax.nn.silu(x.astype("float32") @ w.astype("float32"))) < 1e-2
