"""Typical mistakes, and the exact sentence that each gives: what was wrong, what was expected, what came, what
helps."""

import errno
import os

import numpy
import pytest

import mirage_mlir as mi

torch = pytest.importorskip("torch")


@pytest.fixture
def g():
    """x [4, 8] @ w [8, 16], both named."""
    graph = mi.new_graph("linear")
    x = graph.new_input((4, 8), "float16", name="x")
    w = graph.new_input((8, 16), "float16", name="w")
    graph.mark_output(graph.matmul(x, w))
    return graph


@pytest.fixture
def f(g):
    return mi.from_mlir(g.mlir)


X, W = numpy.zeros((4, 8), "float16"), numpy.zeros((8, 16), "float16")


def half(*dims, **more):
    return torch.zeros(*dims, dtype=torch.float16, **more)


def says(kind, text, call):
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value) == text


# ----------------------------------------------------------------------------------------------------- calls on tensors


def test_shape(f):
    says(ValueError, "argument 1 ('w'): expected float16 [8, 16], got float16 [9, 16]",
         lambda: f(X, numpy.zeros((9, 16), "float16")))
    says(ValueError, "argument 1 ('w'): expected float16 [8, 16], got float16 [16]", lambda: f(half(4, 8), half(16)))


def test_dtype(f):
    says(TypeError, "argument 0 ('x'): expected float16 [4, 8], got float32 [4, 8]", lambda: f(X.astype("float32"), W))
    says(TypeError, "argument 1 ('w'): expected float16 [8, 16], got bfloat16 [8, 16]",
         lambda: f(half(4, 8), torch.zeros(8, 16, dtype=torch.bfloat16)))
    says(TypeError, "argument 1 ('w'): expected float16 [8, 16], got int8 [8, 16]", lambda: f(X, W.astype("int8")))


def test_device(f):
    says(TypeError, "argument 0 ('x'): the tensor's memory cannot be used: Cannot pack tensors on meta",
         lambda: f(half(4, 8, device="meta"), half(8, 16)))
    says(TypeError, "argument 1 ('w'): the tensor's memory cannot be used: Cannot pack tensors on meta",
         lambda: f(half(4, 8), half(8, 16, device="meta")))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_tensors_on_two_devices(f):
    says(ValueError, "argument 1 ('w'): expected a tensor on cuda:0, as the first, got one on cpu",
         lambda: f(half(4, 8, device="cuda"), half(8, 16)))


def test_strides(f):
    for call in (lambda: f(half(8, 4).t(), half(8, 16)), lambda: f(numpy.zeros((8, 4), "float16").T, W)):
        with pytest.raises(ValueError) as caught:
            call()
        for part in ("argument 0 ('x'): ", "strides ", "[1, 4]", "x.contiguous()", "new_input(..., strides=[1, 4])"):
            assert part in str(caught.value)


def test_count(f):
    says(TypeError, "expected 2 tensors, got 1", lambda: f(X))
    says(TypeError, "expected 2 tensors, got 3", lambda: f(X, W, W))


def test_not_a_tensor(f):
    says(TypeError, "argument 0 ('x'): expected a tensor (PyTorch, CuPy, JAX, NumPy: anything with __dlpack__), got <class 'list'>",
         lambda: f([1.0], W))


def test_tensors_without_memory_of_their_own(f):
    with pytest.raises(TypeError, match=r"^argument 0 \('x'\): the tensor's memory cannot be used: [^\n]+$"):
        f(half(4, 8).to_sparse(), half(8, 16))


def test_out(f):
    says(TypeError, "out: expected 1 tensors, got 2", lambda: f(X, W, out=(X, W)))
    says(ValueError, "output 0: expected float16 [4, 16], got float16 [4, 8]", lambda: f(X, W, out=X))
    locked = numpy.zeros((4, 16), "float16")
    locked.flags.writeable = False
    says(ValueError, "output 0: the tensor is read-only", lambda: f(X, W, out=locked))


def test_jax_arrays_cannot_be_written(f):
    jax = pytest.importorskip("jax")
    says(TypeError, "JAX's arrays cannot be written: call the graph under mirage_mlir.jax.jit, or pass NumPy arrays",
         lambda: f(jax.numpy.zeros((4, 8), "float16"), jax.numpy.zeros((8, 16), "float16")))


def test_nothing_is_lost_by_a_mistake(f):
    for _ in range(3):
        with pytest.raises(ValueError):
            f(X, X)
    y = f(X + numpy.float16(1), W + numpy.float16(2))
    assert y.shape == (4, 16) and (y == 16).all()


# --------------------------------------------------------------------------------------------------------------- graphs


def test_operand_of_another_graph(g):
    other = mi.new_graph("other")
    says(mi.MirageError, "add: the operand belongs to graph other, another one",
         lambda: g.add(g.inputs[0], other.new_input((4, 8))))


def test_operand_that_is_no_tensor(g):
    says(TypeError, "matmul: expected a tensor of this graph, got ndarray", lambda: g.matmul(g.inputs[0], W))
    says(TypeError, "add: expected a tensor or a number, got str", lambda: g.add(g.inputs[0], "1"))
    says(TypeError, "concat: expected a list of tensors, got one tensor", lambda: g.concat(g.inputs[0], 1))


def test_no_output():
    graph = mi.new_graph("empty")
    graph.new_input((4, 8))
    says(mi.MirageError, "graph empty: no output: call mark_output(tensor)", lambda: mi.superoptimize(graph, progress=False))


def test_shapes_of_operands(g):
    x, w = g.inputs
    says(mi.MirageError, "matmul: inner dimensions differ: 8 vs 4", lambda: g.matmul(x, x))
    says(mi.MirageError, "add: extents do not broadcast: 8 vs 16 (4x8xf16, 8x16xf16)", lambda: g.add(x, w))
    says(mi.MirageError, "matmul: element types differ: f16 vs f32", lambda: g.matmul(x, g.cast(w, "float32")))
    says(mi.MirageError, "matmul: dtype bfloat16: a result is float16, as the operands, or float32",
         lambda: g.matmul(x, w, dtype="bfloat16"))
    stored = g.new_input((8, 16), "int8")
    says(mi.MirageError, "mul: operand 1 is i8, a stored type; cast it to f16, bf16 or f32 first", lambda: g.mul(w, stored))
    says(mi.MirageError, "cast: operand 0 has rows of 3 i4, an even number is needed",
         lambda: g.cast(g.new_input((2, 3), "int4"), "float16"))
    says(mi.MirageError, "reshape: numbers of elements differ: 32 vs 35 (4x8xf16 to 5x7xf16)", lambda: g.reshape(x, (5, 7)))
    says(mi.MirageError, "reshape: 32 elements of [4, 8] do not fit [5, -1]", lambda: g.reshape(x, (5, -1)))
    says(mi.MirageError, "slice: range 4 to 12 is empty or outside dimension 1 of extent 8", lambda: g.slice(x, 1, 4, 12))
    says(mi.MirageError, "transpose: perm [0, 0] of a tensor with 2 dimensions: expected each dimension once",
         lambda: g.transpose(x, [0, 0]))
    assert repr(g) == "<Graph linear: 4 inputs, 2 operators>"  # two inputs and the cast alone were added


def test_dims(g):
    x = g.inputs[0]
    says(IndexError, "reduce_sum: dim 2 of a tensor with 2 dimensions: expected -2 to 1", lambda: g.reduce_sum(x, 2))
    says(TypeError, "softmax: dim 'rows': expected an integer", lambda: g.softmax(x, "rows"))
    says(ValueError, "new_input: dims [4, 0]: expected 1 to 6 extents of at least 1", lambda: g.new_input((4, 0)))
    says(TypeError, "new_input: dims 4: expected a sequence of integers", lambda: g.new_input(4))


def test_dtypes(g):
    says(TypeError, "dtype 'float64' is not supported: use float16, bfloat16, float32, bool, int32, or stored: int8, int4, "
         "float8_e4m3fn, float8_e5m2", lambda: g.new_input((4,), "float64"))
    says(TypeError, "dtype torch.int8 is not supported: use float16, bfloat16 or float32",
         lambda: g.cast(g.inputs[0], torch.int8))


def test_strides_of_an_input(g):
    says(ValueError, "new_input: strides [2, 1] of dims [4, 8]: expected a permutation of contiguous strides; copy the tensor to a "
         "contiguous one first", lambda: g.new_input((4, 8), strides=(2, 1)))


def test_values(g):
    x = g.inputs[0]
    says(mi.MirageError, "constant: 1000000000 is not a finite f16", lambda: g.add(x, 1e9))
    says(ValueError, "gelu: approximate 'fast': expected 'none' or 'tanh'", lambda: g.gelu(x, "fast"))
    says(ValueError, "layer_norm: a bias needs a weight", lambda: g.layer_norm(x, bias=x))


def test_operators_by_name(g):
    x = g.inputs[0]
    says(mi.MirageError, "no operator is called 'expp'", lambda: g.apply("expp", x))
    says(TypeError, "transpose: the attribute 'perm' is missing", lambda: g.apply("transpose", x))
    says(TypeError, "slice: no attribute 'step'; it has dim, begin, end", lambda: g.apply("slice", x, step=2))


# ------------------------------------------------------------------------------------------------------ searches, files


def test_unknown_option(g):
    says(TypeError, "no search option 'max_block_opps': did you mean 'max_block_ops'?",
         lambda: mi.superoptimize(g, max_block_opps=9))


def test_option_of_the_wrong_kind(g):
    says(TypeError, "search option max_block_ops: expected an integer, got 'many'",
         lambda: mi.superoptimize(g, max_block_ops="many"))
    says(TypeError, "search option optimal: expected True or False, got 1", lambda: mi.SearchOptions(optimal=1))


def test_option_out_of_range(g):
    says(mi.MirageError, "mirage-enumerate: option max-block-ops must lie between 1 and 64, got 100",
         lambda: mi.superoptimize(g, max_block_ops=100, target="h200", progress=False))
    says(mi.MirageError, "mirage-select: option measure must be one of auto,yes,no, got 'maybe'",
         lambda: mi.superoptimize(g, measure="maybe", target="h200", progress=False))


def test_unknown_target(g):
    with pytest.raises(mi.MirageError, match=r"^mirage-enumerate: target 'h20' is not known; known are h200 \(sm_90a\), "
                                             r".*; is h200 meant\?$"):
        mi.superoptimize(g, target="h20", progress=False)


def test_not_a_program():
    says(TypeError, "expected a Graph or MLIR text, got int", lambda: mi.superoptimize(3, progress=False))


def test_bad_text():
    text = "mirage_kernel.graph @f(%x: tensor<4xf16>) -> tensor<4xf16> {\n  %y = expp %x : tensor<4xf16>\n}"
    sentence = "line 2, column 8: custom op 'expp' is unknown (tried 'mirage_kernel.expp' as well)"
    says(mi.MirageError, sentence, lambda: mi.from_mlir(text))
    says(mi.MirageError, sentence, lambda: mi.superoptimize(text, target="h200", progress=False))
    says(mi.MirageError, "the module holds no mirage_kernel.graph", lambda: mi.from_mlir("module {}"))


def test_shapes_in_text():
    text = ("mirage_kernel.graph @f(%x: tensor<4xf16>) -> tensor<4xf16> {\n"
            "  %y = matmul %x, %x : tensor<4xf16>, tensor<4xf16>\n  return %y : tensor<4xf16>\n}")
    says(mi.MirageError, "line 2, column 8: matmul: operands need at least rank 2: 1 vs 1", lambda: mi.from_mlir(text))


def test_files(f, g, tmp_path):
    missing = str(tmp_path / "no" / "graph.mlir")
    sentence = f"[Errno {errno.ENOENT}] {os.strerror(errno.ENOENT)}: '{missing}'"
    says(FileNotFoundError, sentence, lambda: mi.load(missing))
    best = mi.superoptimize(g, measure="no", target="h200", progress=False)[0]
    says(FileNotFoundError, sentence, lambda: best.save(missing))
    (tmp_path / "words.mlir").write_text("hello")
    says(mi.MirageError, "line 1, column 1: custom op 'hello' is unknown (tried 'builtin.hello' as well)",
         lambda: mi.load(tmp_path / "words.mlir"))


def test_what_is_no_text(g, tmp_path):
    for value, name in ((None, "NoneType"), (b"module {}", "bytes")):
        says(TypeError, f"expected a Graph or MLIR text, got {name}", lambda: mi.from_mlir(value))
    assert mi.from_mlir(g).name == "linear"
    path = tmp_path / "bytes.mlir"
    path.write_bytes(b"\xff\xfe")
    says(mi.MirageError, f"'{path}': expected MLIR as text, got bytes that are none: 'utf-8' codec can't decode byte 0xff in "
         "position 0: invalid start byte", lambda: mi.load(path))


def test_what_a_program_has_not(f):
    says(mi.MirageError, "@linear: a program has no code: superoptimize compiles it", lambda: f.ptx)
    says(ValueError, "time: expected tuples of tensors on a GPU", lambda: f.time(X, W))


def test_unknown_name():
    says(AttributeError, "module 'mirage_mlir' has no attribute 'from_onnx'", lambda: mi.from_onnx)


def test_the_warning_of_host_tensors_names_the_callers_line(g, monkeypatch):
    from mirage_mlir import _frameworks
    for call in (mi.from_mlir(g.mlir), mi.superoptimize(g, measure="no", target="h200", progress=False)):
        monkeypatch.setattr(_frameworks, "_said", False)
        with pytest.warns(RuntimeWarning, match="^tensors in host memory: the graph is evaluated on the CPU") as caught:
            call(X, W)
            call(X, W)
        assert [w.filename for w in caught] == [__file__]  # once
