"""The Graph interface, operator by operator: what the evaluator gives against NumPy in float64, and the shapes."""

import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest

import mirage_mlir as mi
from mirage_mlir._graph import ATTRIBUTES

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r'^MIRAGE_OP\(\w+, "(\w+)", (\d+), (\w+), ([KBT| ]+), (\w+), (\w+)\)', re.M)
FIELD = re.compile(r"^MIRAGE_ATTR\((\w+), \w+, (\w+), (\w+), ", re.M)
OPERATORS = {m[1]: m for m in ROW.finditer((ROOT / "include/mirage/ops.def").read_text()) if "K" in m[4]}
STRUCTURE = {"custom", "return"}  # what a search makes, and what mark_output makes

erf = np.vectorize(math.erf)


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def rms_norm(x, w=1.0, eps=0.0):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def layer_norm(x, w=1.0, b=0.0, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps) * w + b


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def attention(q, k, v, scale, visible=True, bias=0.0, cap=None):
    scores = scale * q @ np.swapaxes(k, -1, -2)
    scores = scores if cap is None else cap * np.tanh(scores / cap)
    weights = np.exp(scores + bias) * visible
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ v


def softplus(x):
    return np.log(1 + np.exp(x))


def hard_sigmoid(x):
    return np.clip(x / 6 + 0.5, 0, 1)


def seen(m, n, offset=0, window=0):
    """[m, n]: whether query i sees key j."""
    i, j = np.arange(m)[:, None] + offset, np.arange(n)[None]
    return (j <= i) & ((j > i - window) if window else True)


M, V = (3, 4), (4,)
# By the dialect's name: shapes of the inputs, what the Graph does, what NumPy does. Values are positive, so that log
# fits.
def below_one(g, x):
    return g.apply("less", x, g.constant(1.0, (1,), "float32"))


CASES = {
    "exp": [([M], lambda g, x: g.exp(x), np.exp)],
    "log": [([M], lambda g, x: g.log(x), np.log)],
    "sqrt": [([M], lambda g, x: g.sqrt(x), np.sqrt)],
    "rsqrt": [([M], lambda g, x: g.rsqrt(x), lambda x: 1 / np.sqrt(x))],
    "square": [([M], lambda g, x: g.square(x), np.square)],
    "neg": [([M], lambda g, x: g.neg(x), np.negative), ([M], lambda g, x: -x, np.negative)],
    "sigmoid": [([M], lambda g, x: g.sigmoid(x), sigmoid)],
    "silu": [([M], lambda g, x: g.silu(x), lambda x: x * sigmoid(x))],
    "gelu": [([M], lambda g, x: g.gelu(x), lambda x: x / 2 * (1 + erf(x / math.sqrt(2))))],
    "gelu_tanh": [([M], lambda g, x: g.gelu(x, "tanh"),
                   lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))))],
    "erf": [([M], lambda g, x: g.erf(x), erf)],
    "tanh": [([M], lambda g, x: g.tanh(x), np.tanh)],
    "relu": [([M], lambda g, x: g.relu(g.sub(x, 1.0)), lambda x: np.maximum(x - 1, 0))],
    "sin": [([M], lambda g, x: g.sin(x), np.sin)],
    "cos": [([M], lambda g, x: g.cos(x), np.cos)],
    "abs": [([M], lambda g, x: g.abs(x - 1), lambda x: np.abs(x - 1))],
    "sign": [([M], lambda g, x: g.sign(x - 1), lambda x: np.sign(x - 1))],
    "log1p": [([M], lambda g, x: g.log1p(x), np.log1p)],
    "softplus": [([M], lambda g, x: g.softplus(x - 1), lambda x: softplus(x - 1))],
    "hard_sigmoid": [([M], lambda g, x: g.hard_sigmoid(4 * x - 4), lambda x: hard_sigmoid(4 * x - 4))],
    "hard_swish": [([M], lambda g, x: g.hard_swish(4 * x - 4), lambda x: (4 * x - 4) * hard_sigmoid(4 * x - 4))],
    "leaky_relu": [([M], lambda g, x: g.leaky_relu(x - 1, 0.25), lambda x: np.where(x > 1, x - 1, (x - 1) / 4))],
    "pow": [([M], lambda g, x: g.pow(x, 2.5), lambda x: x ** 2.5), ([M], lambda g, x: (x - 1) ** 3, lambda x: (x - 1) ** 3),
            ([M], lambda g, x: x ** -0.3, lambda x: x ** -0.3)],
    "clamp": [([M], lambda g, x: g.clamp(x, 0.5, 1), lambda x: np.clip(x, 0.5, 1))],
    "add": [([M, V], lambda g, a, b: g.add(a, b), np.add), ([M], lambda g, x: 2.5 + x, lambda x: x + 2.5),
            ([M, (3, 1)], lambda g, a, b: a + b, np.add)],
    "sub": [([M, V], lambda g, a, b: g.sub(a, b), np.subtract), ([M], lambda g, x: 2 - x, lambda x: 2 - x),
            ([M, M], lambda g, a, b: a - b, np.subtract)],
    "mul": [([M, V], lambda g, a, b: g.mul(a, b), np.multiply), ([M], lambda g, x: x * 3, lambda x: x * 3),
            ([M], lambda g, x: 3 * x, lambda x: x * 3)],
    "div": [([M, V], lambda g, a, b: g.div(a, b), np.divide), ([M], lambda g, x: 2 / x, lambda x: 2 / x),
            ([M, M], lambda g, a, b: a / b, np.divide)],
    "max": [([M, M], lambda g, a, b: g.maximum(a, b), np.maximum),
            ([M], lambda g, x: g.maximum(x, 1), lambda x: np.maximum(x, 1))],
    "min": [([M, M], lambda g, a, b: g.minimum(a, b), np.minimum)],
    **{name: [([M, M], lambda g, a, b, name=name: g.cast(g.apply(name, a, b), "float32"),
               lambda a, b, of=of: of(a, b).astype("float64"))]
       for name, of in (("less", np.less), ("less_equal", np.less_equal), ("greater", np.greater),
                        ("greater_equal", np.greater_equal), ("equal", np.equal), ("not_equal", np.not_equal))},
    **{name: [([M, M], lambda g, a, b, name=name: g.cast(g.apply(name, below_one(g, a), below_one(g, b)), "float32"),
               lambda a, b, of=of: of(a < 1, b < 1).astype("float64"))]
       for name, of in (("and", np.logical_and), ("or", np.logical_or))},
    "not": [([M], lambda g, x: g.cast(g.apply("not", below_one(g, x)), "float32"), lambda x: (x >= 1).astype("float64")),
            ([M], lambda g, x: g.cast(~(x < 1), "float32"), lambda x: (x >= 1).astype("float64"))],
    "iota": [([M], lambda g, x: g.mul(x, g.cast(g.apply("iota", shape=[3, 1], dim=0, start=2), "float32")),
              lambda x: x * np.array([[2], [3], [4]])),
             ([M], lambda g, x: g.where(g.less(g.iota((1, 4), -1), 2), x, 0.0), lambda x: x * np.array([1, 1, 0, 0]))],
    "mask": [([M], lambda g, x: g.maximum(g.apply("mask", below_one(g, x), x), 0.5),
              lambda x: np.where(x < 1, np.maximum(x, 0.5), 0.5))],
    "select": [([M, M, M], lambda g, c, a, b: g.apply("select", below_one(g, c), a, b),
                lambda c, a, b: np.where(c < 1, a, b)),
               ([M, M], lambda g, c, a: g.where((c < 1.5) & (c > 0.5) | (c >= 1.75), 3, a),
                lambda c, a: np.where((c < 1.5) & (c > 0.5) | (c >= 1.75), 3, a))],
    "matmul": [([M, (4, 5)], lambda g, a, b: g.matmul(a, b), np.matmul),
               ([M, (4, 5)], lambda g, a, b: a @ b, np.matmul),
               ([(4, 3), (5, 4)], lambda g, a, b: g.matmul(a, b, transpose_a=True, transpose_b=True),
                lambda a, b: a.T @ b.T),
               ([(2, 1, 3, 4), (3, 4, 5)], lambda g, a, b: g.matmul(a, b), np.matmul)],
    "reduce_sum": [([M], lambda g, x: g.reduce_sum(x, 1), lambda x: x.sum(1, keepdims=True)),
                   ([M], lambda g, x: g.reduction(x, -2), lambda x: x.sum(0, keepdims=True)),
                   ([(2, 6)], lambda g, x: g.apply("reduce_sum", x, dim=1, extent=3), lambda x: x[:, :3] + x[:, 3:])],
    "reduce_max": [([M], lambda g, x: g.reduce_max(x, -1), lambda x: x.max(1, keepdims=True))],
    "reduce_mean": [([M], lambda g, x: g.reduce_mean(x, 0), lambda x: x.mean(0, keepdims=True))],
    "broadcast": [([(3, 1)], lambda g, x: g.broadcast(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)))],
    "repeat": [([M], lambda g, x: g.repeat(x, -1, 3), lambda x: np.tile(x, (1, 3)))],
    "transpose": [([(2, 3, 4)], lambda g, x: g.transpose(x, (2, 0, -2)), lambda x: x.transpose(2, 0, 1))],
    "reshape": [([M], lambda g, x: g.reshape(x, (2, 6)), lambda x: x.reshape(2, 6)),
                ([M], lambda g, x: g.reshape(x, (2, -1, 2)), lambda x: x.reshape(2, 3, 2))],
    "slice": [([M], lambda g, x: g.slice(x, -1, 1, 3), lambda x: x[:, 1:3])],
    "concat": [([M, (3, 2), (3, 1)], lambda g, *t: g.concat(t, 1), lambda *t: np.concatenate(t, 1))],
    "cast": [([M], lambda g, x: g.cast(g.cast(x, "float16"), "float32"),
              lambda x: x.astype("float16").astype("float64"))],
    "constant": [([M], lambda g, x: g.mul(x, g.constant(0.25, (3, 1), "float32")), lambda x: x / 4)],
    "softmax": [([M], lambda g, x: g.softmax(x, 0), lambda x: softmax(x, 0)),
                ([M], lambda g, x: g.softmax(x), lambda x: softmax(x, 1))],
    "rms_norm": [([M], lambda g, x: g.rms_norm(x), rms_norm),
                 ([M, V], lambda g, x, w: g.rms_norm(x, w, 0.5), lambda x, w: rms_norm(x, w, 0.5))],
    "layer_norm": [([M], lambda g, x: g.layer_norm(x), layer_norm),
                   ([M, V], lambda g, x, w: g.layer_norm(x, w), layer_norm),
                   ([M, V, V], lambda g, x, w, b: g.layer_norm(x, w, b, 0.1), lambda x, w, b: layer_norm(x, w, b, 0.1))],
    "scaled_dot_product_attention": [
        ([(2, 3, 4), (2, 5, 4), (2, 5, 6)], lambda g, q, k, v: g.scaled_dot_product_attention(q, k, v),
         lambda q, k, v: attention(q, k, v, 0.5)),
        ([(3, 4), (5, 4), (5, 6)], lambda g, q, k, v: g.scaled_dot_product_attention(q, k, v, scale=2.0),
         lambda q, k, v: attention(q, k, v, 2.0)),
        ([(3, 4), (5, 4), (5, 6)], lambda g, q, k, v: g.scaled_dot_product_attention(q, k, v, causal=True),
         lambda q, k, v: attention(q, k, v, 0.5, seen(3, 5))),
        ([(3, 4), (5, 4), (5, 6)], lambda g, q, k, v: g.scaled_dot_product_attention(q, k, v, causal=True, offset=2, window=2),
         lambda q, k, v: attention(q, k, v, 0.5, seen(3, 5, 2, 2))),
        ([(3, 4), (5, 4), (5, 6)], lambda g, q, k, v: g.scaled_dot_product_attention(q, k, v, causal=True, offset=-1),
         lambda q, k, v: attention(q, k, v, 0.5, seen(3, 5, -1))),  # query 0 sees no key
        ([(3, 4), (5, 4), (5, 6), (3, 5)],
         lambda g, q, k, v, m: g.scaled_dot_product_attention(q, k, v, mask=m < 1, cap=2.0),
         lambda q, k, v, m: attention(q, k, v, 0.5, m < 1, cap=2.0)),
        ([(3, 4), (5, 4), (5, 6), (5,)], lambda g, q, k, v, m: g.scaled_dot_product_attention(q, k, v, mask=m),
         lambda q, k, v, m: attention(q, k, v, 0.5, bias=m))],
}


def test_no_operator_is_missing():
    assert set(CASES) == set(OPERATORS) - STRUCTURE


def test_attributes_are_those_of_the_table():
    """ATTRIBUTES, which apply() checks, has an entry where ops.def says that there are attributes, and only there."""
    assert set(ATTRIBUTES) == {name for name, row in OPERATORS.items() if row[6] != "NONE"} - STRUCTURE


def test_fields_are_those_of_the_table():
    """What apply() takes is what attrs.def lists, but for types, steps from block to block, and kinds with a form of their own."""
    listed = {}
    for kind, name, form in FIELD.findall((ROOT / "include/mirage/attrs.def").read_text()):
        if form != "STEPS":
            listed.setdefault(kind, set()).add(name)
    for operator, (needed, optional) in ATTRIBUTES.items():
        kind = OPERATORS[operator][6]
        taken = {*needed, *optional} - {"dtype", "shape", "perm"}
        assert taken == listed.get(kind, set()), f"{operator}: {sorted(taken)} taken, attrs.def has {sorted(listed.get(kind, set()))}"


@pytest.mark.parametrize("name, number", [(n, i) for n, cases in CASES.items() for i in range(len(cases))])
def test_operator(name, number):
    shapes, build, reference = CASES[name][number]
    g = mi.new_graph(name)
    random = np.random.default_rng(7)
    values = [random.uniform(0.25, 2.0, shape).astype("float32") for shape in shapes]
    y = build(g, *[g.new_input(shape, "float32") for shape in shapes])
    g.mark_output(y)
    assert re.search(rf"= {name}\b", g.mlir), "the operator is not in the program"
    expected = reference(*[v.astype("float64") for v in values])
    assert y.shape == expected.shape and y.dtype == "float32"
    got = mi.from_mlir(g.mlir)(*values)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-6)


def test_methods_by_other_names_do_the_same():
    for name, (shapes, _, _) in ((n, CASES[n][0]) for n in ("exp", "add", "matmul")):
        texts = []
        for build in (lambda g, t: getattr(g, name)(*t), lambda g, t: g.apply(name, *t)):
            g = mi.new_graph("same")
            g.mark_output(build(g, [g.new_input(shape) for shape in shapes]))
            texts.append(g.mlir)
        assert texts[0] == texts[1]


def test_every_method_has_a_sentence():
    for name, method in inspect.getmembers(mi.Graph, inspect.isfunction):
        assert name.startswith("_") or inspect.getdoc(method), name


@pytest.mark.parametrize("dtype, rtol", [("float16", 2e-3), ("bfloat16", 2e-2), ("float32", 1e-6)])
def test_dtypes(dtype, rtol):
    torch = pytest.importorskip("torch")
    g = mi.new_graph()
    x, w = g.new_input((3, 16), dtype), g.new_input((16, 5), getattr(torch, dtype))
    g.mark_output(g.matmul(x, w))
    random = torch.Generator().manual_seed(1)
    a, b = (torch.rand(s, generator=random).to(getattr(torch, dtype)) for s in ((3, 16), (16, 5)))
    y = mi.from_mlir(g.mlir)(a, b)
    assert y.dtype == getattr(torch, dtype) and x.dtype == dtype
    torch.testing.assert_close(y.double(), a.double() @ b.double(), rtol=rtol, atol=0)


def test_strided_inputs():
    """An input that is declared as a transposed view takes that view, and no other."""
    g = mi.new_graph()
    x = g.new_input((4, 8), "float32", strides=(1, 4), name="x")
    g.mark_output(g.exp(x))
    value = np.arange(32, dtype="float32").reshape(8, 4).T / 32
    f = mi.from_mlir(g.mlir)
    assert f.inputs == [("float32", (4, 8))]
    np.testing.assert_allclose(f(value), np.exp(value), rtol=1e-6)
    with pytest.raises(ValueError, match=r"argument 0 \('x'\)"):
        f(np.ascontiguousarray(value))


def test_several_outputs_and_out():
    g = mi.new_graph()
    x = g.new_input((4, 8), "float32")
    g.mark_output(g.exp(x), g.reduce_sum(x, 1))
    f = mi.from_mlir(g.mlir)
    value = np.linspace(0, 1, 32, dtype="float32").reshape(4, 8)
    e, s = f(value)
    out = (np.empty((4, 8), "float32"), np.empty((4, 1), "float32"))
    given = f(value, out=out)
    assert given[0] is out[0] and given[1] is out[1]
    np.testing.assert_array_equal(out[0], e)
    np.testing.assert_allclose(s, value.sum(1, keepdims=True), rtol=1e-6)
    assert f.outputs == [("float32", (4, 8)), ("float32", (4, 1))]


def test_masks_from_outside():
    """A bool input, and positions: as NumPy and PyTorch have them."""
    g = mi.new_graph()
    x, m, n = g.new_input((3, 4), "float32"), g.new_input((3, 4), bool), g.new_input((3, 1), "int32", name="n")
    g.mark_output(g.where(m & (g.iota((1, 4), 1) < n), x, 0.0))
    random = np.random.default_rng(3)
    x, m, n = random.uniform(size=(3, 4)).astype("float32"), random.integers(0, 2, (3, 4)) > 0, np.array([[-3], [2], [9]], "int32")
    f = mi.from_mlir(g.mlir)
    np.testing.assert_array_equal(f(x, m, n), np.where(m & (np.arange(4) < n), x, 0))
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(f(*map(torch.from_numpy, (x, m, n))).numpy(), np.where(m & (np.arange(4) < n), x, 0))
    with pytest.raises(TypeError, match=r"argument 1: expected bool \[3, 4\], got int8 \[3, 4\]"):
        f(x, m.astype("int8"), n)
    with pytest.raises(TypeError, match=r"argument 2 \('n'\): expected int32 \[3, 1\], got "):
        f(x, m, n.astype("int64"))


REFUSED = {
    "mask of numbers": (lambda g, x, m, n: g.mask(x, x), mi.MirageError, "mask: operand 0 is of f32, predicates, i1"),
    "logic of numbers": (lambda g, x, m, n: x & m, mi.MirageError, "and: operand 0 is of f32, predicates, i1"),
    "not of indices": (lambda g, x, m, n: ~n, mi.MirageError, "not: operand 0 is of i32, predicates, i1"),
    "predicates compared": (lambda g, x, m, n: m < m, mi.MirageError, "less: compares numbers or indices, operand 0 is of i1"),
    "numbers and indices": (lambda g, x, m, n: x <= n, mi.MirageError, "less_equal: compares numbers with numbers or indices"),
    "arithmetic of indices": (lambda g, x, m, n: n + n, mi.MirageError, "add: operand 0 is of i32, floating-point numbers"),
    "half an index": (lambda g, x, m, n: n < 0.5, TypeError, "less: expected an index beside indices, got 0.5"),
    "a predicate as a number": (lambda g, x, m, n: m < 1, TypeError, "less: expected predicates, got a number"),
    "two numbers": (lambda g, x, m, n: g.where(m, 1, 2), TypeError, "where: at least one choice has to be a tensor"),
    "shapes of a choice": (lambda g, x, m, n: g.where(m, x, g.iota((5,))), mi.MirageError, "select: "),
    "dim": (lambda g, x, m, n: g.iota((3, 4), 2), IndexError, "iota: dim 2 of a tensor with 2 dimensions: expected -2 to 1"),
    "beyond 2^24": (lambda g, x, m, n: g.iota((3,), 0, 2 ** 24), mi.MirageError, "iota: "),
    "exponent": (lambda g, x, m, n: x ** 0, mi.MirageError, "pow: exponent is 0, a whole one is 1 to 64"),
    "bounds": (lambda g, x, m, n: g.clamp(x, 2, 1), mi.MirageError, "clamp: low is 2, above high, 1"),
    "window alone": (lambda g, x, m, n: g.scaled_dot_product_attention(x, x, x, window=2), mi.MirageError, "attention: "),
    "mask's shape": (lambda g, x, m, n: g.scaled_dot_product_attention(x, x, x, mask=m), mi.MirageError, "attention: "),
    "mask of indices": (lambda g, x, m, n: g.scaled_dot_product_attention(x, x, x, mask=n), mi.MirageError, "attention: "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_masks_refuse(name):
    build, error, text = REFUSED[name]
    g = mi.new_graph()
    inputs = [g.new_input(shape, dtype) for shape, dtype in (((3, 4), "float32"), ((3, 4), "bool"), ((3, 1), "int32"))]
    with pytest.raises(error) as raised:
        build(g, *inputs)
    assert text in str(raised.value) and raised.type is error
