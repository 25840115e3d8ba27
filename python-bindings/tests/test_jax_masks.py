"""JAX's masks, comparisons, choices and stored weights: the operators that come out, values against plain JAX, and what cannot be said."""

import logging
import math

import mirage_mlir as mi
import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import mirage_mlir.jax as mj  # noqa: E402
from mirage_mlir import _known, _known_arrays  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:tensors in host memory")

BATCH, HEADS, GROUPS, ROWS, KEYS, DEPTH = 2, 4, 2, 6, 10, 8
LOWEST = float(jnp.finfo(jnp.float32).min)
INF = math.inf
attend = jax.nn.dot_product_attention


@pytest.fixture(autouse=True)
def own_database(tmp_path, monkeypatch):
    monkeypatch.setenv("MIRAGE_TUNING_DB", str(tmp_path / "tuning.db"))
    monkeypatch.setenv("MIRAGE_MEASURE", "no")
    monkeypatch.setattr(mj, "_said", set())


def draw(*shape, seed=1, dtype=jnp.float32):
    random = np.random.default_rng(seed)
    if dtype == bool:
        return jnp.asarray(random.random(shape) < 0.6) | (jnp.arange(shape[-1]) == 0)  # each row sees a key
    if dtype in (jnp.int8, jnp.int4):
        bits = 8 if dtype == jnp.int8 else 4
        return jnp.asarray(random.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), shape), dtype)
    return jnp.asarray(random.standard_normal(shape), dtype)


Q = draw(BATCH, ROWS, HEADS, DEPTH)
KV = draw(BATCH, KEYS, HEADS, DEPTH, seed=2), draw(BATCH, KEYS, HEADS, DEPTH, seed=3)
FEW = draw(BATCH, KEYS, GROUPS, DEPTH, seed=2), draw(BATCH, KEYS, GROUPS, DEPTH, seed=3)  # heads that share keys
MASK, OWN_MASK = draw(BATCH, 1, ROWS, KEYS, dtype=bool), draw(BATCH, HEADS, ROWS, KEYS, dtype=bool, seed=2)
LENGTHS = jnp.asarray([5, KEYS], jnp.int32)


def operators(graph):
    """But constants, and what moves tensors about."""
    quiet = ("input", "constant", "transpose", "reshape", "broadcast")
    return [op for op, _, _ in graph._nodes if op not in quiet]


def attributes(graph):
    """Of the attention, without its scale; None: there is none. `mask` is the type of its operand."""
    for op, operands, attrs in graph._nodes:
        if op == "scaled_dot_product_attention":
            mask = {"mask": graph._tensors[operands[3]].dtype} if len(operands) > 3 else {}
            return {name: value for name, value in attrs.items() if name != "scale"} | mask
    return None


def check(f, *args, **options):
    """f as a Graph whose values are plain JAX's, NaN included."""
    graph = mi.from_jax(f, *args, **options)
    got = mi.from_mlir(graph.mlir)(*(np.asarray(x).reshape(x.shape or (1,)) for x in args))
    expected = np.asarray(jax.jit(f)(*args))
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(got).reshape(expected.shape), expected, rtol=1e-5, atol=1e-5)
    return graph


# ------------------------------------------------------------------------------------------------------ jax.nn's attention


def of_jax(**more):
    return lambda q, k, v: attend(q, k, v, **more)


KNOWN = {
    "none": (of_jax(), {}),
    "causal": (of_jax(is_causal=True), {"causal": True}),
    "window": (of_jax(is_causal=True, local_window_size=(3, 0)), {"causal": True, "window": 4}),
    "window on both sides": (of_jax(local_window_size=(3, 2)), {"causal": True, "offset": 2, "window": 6}),
    "scale": (of_jax(is_causal=True, scale=0.7), {"causal": True}),
}


@pytest.mark.parametrize("heads", ["own", "shared"])
@pytest.mark.parametrize("name", KNOWN)
def test_attention_of_jax_by_positions(name, heads):
    f, expected = KNOWN[name]
    graph = check(f, Q, *(KV if heads == "own" else FEW))
    assert operators(graph) == ["scaled_dot_product_attention"] and attributes(graph) == expected


PROMISED = {
    "mask": (lambda q, k, v, m: attend(q, k, v, mask=m), [MASK], {"mask": "bool"}),
    "mask of heads": (lambda q, k, v, m: attend(q, k, v, mask=m), [OWN_MASK], {"mask": "bool"}),
    "mask, causal": (lambda q, k, v, m: attend(q, k, v, mask=m, is_causal=True), [MASK], {"mask": "bool", "causal": True}),
    "mask, bias": (lambda q, k, v, m, b: attend(q, k, v, mask=m, bias=b), [MASK, draw(1, HEADS, ROWS, KEYS)], {"mask": "float32"}),
    "lengths": (lambda q, k, v, n: attend(q, k, v, key_value_seq_lengths=n), [LENGTHS], {"mask": "bool"}),
    "lengths, one row": (lambda q, k, v, n: attend(q[:, -1:], k, v, key_value_seq_lengths=n), [LENGTHS], {"mask": "bool"}),
    "lengths of both": (lambda q, k, v, n: attend(q, k, v, key_value_seq_lengths=n, query_seq_lengths=n), [LENGTHS],
                        {"mask": "bool"}),
}


@pytest.mark.parametrize("heads", ["own", "shared"])
@pytest.mark.parametrize("name", PROMISED)
def test_attention_of_jax_where_every_row_sees(name, heads):
    f, more, expected = PROMISED[name]
    graph = check(f, Q, *(KV if heads == "own" else FEW), *more, every_row_sees=True)
    assert attributes(graph) == expected


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_attention_with_a_bias(causal, dtype):
    """Of the queries' type, also where JAX adds it in float32."""
    q, k, v, bias = (x.astype(dtype) for x in (Q, *KV, draw(BATCH, HEADS, ROWS, KEYS, seed=4)))
    f = lambda q, k, v, b: attend(q, k, v, bias=b, is_causal=causal)  # noqa: E731
    graph = check(f, q, k, v, bias) if dtype == jnp.float32 else mi.from_jax(f, q, k, v, bias)
    name = {jnp.float32: "float32", jnp.bfloat16: "bfloat16"}[dtype]
    assert operators(graph) == ["scaled_dot_product_attention"]
    assert attributes(graph) == {"mask": name} | ({"causal": True} if causal else {})


# ------------------------------------------------------------------------------------------------------ attention by hand


def by_hand(visible, fill=-INF, change=lambda s: s):
    def f(q, k, v, *more):
        scores = change(jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5)
        scores = jnp.where(visible(*more), scores, fill)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)
    return f


def added(bias):
    def f(q, k, v, *more):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5 + bias(*more)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)
    return f


def tril(diagonal=0):
    return jnp.tril(jnp.ones((ROWS, KEYS), bool), diagonal)


def positions():
    return jnp.arange(ROWS)[:, None], jnp.arange(KEYS)[None, :]


BY_POSITIONS = {
    "tril, infinity": (by_hand(tril), {"causal": True}),
    "tril, lowest": (by_hand(tril, LOWEST), {"causal": True}),
    "not triu": (by_hand(lambda: ~jnp.triu(jnp.ones((ROWS, KEYS), bool), 1)), {"causal": True}),
    "tril offset": (by_hand(lambda: tril(4)), {"causal": True, "offset": 4}),
    "arange": (by_hand(lambda: positions()[0] >= positions()[1]), {"causal": True}),
    "difference": (by_hand(lambda: positions()[1] - positions()[0] < 3), {"causal": True, "offset": 2}),
    "window": (by_hand(lambda: tril() & (positions()[1] > positions()[0] - 3)), {"causal": True, "window": 3}),
    "tri of NumPy's": (by_hand(lambda: np.tri(ROWS, KEYS, 1, dtype=bool)), {"causal": True, "offset": 1}),
    "window of NumPy's": (by_hand(lambda: np.tri(ROWS, KEYS, 1, dtype=bool) & ~np.tri(ROWS, KEYS, -2, dtype=bool), LOWEST),
                          {"causal": True, "offset": 1, "window": 3}),
    "padding": (by_hand(lambda: jnp.arange(KEYS) < 7, LOWEST), {"mask": "bool"}),
    "padding of NumPy's, causal": (by_hand(lambda: (np.arange(KEYS) < 7) & np.tri(ROWS, KEYS, 5, dtype=bool)), {"mask": "bool"}),
    "first keys and a window": (by_hand(lambda: tril() & ((positions()[1] < 2) | (positions()[1] > positions()[0] - 3)), LOWEST),
                                {"mask": "bool"}),
    "cap": (by_hand(tril, change=lambda s: 20 * jnp.tanh(s / 20)), {"causal": True, "cap": 20.0}),
    "added": (added(lambda: jnp.where(tril(), 0, -INF)), {"causal": True}),
    "added, of NumPy's": (added(lambda: np.where(np.tri(ROWS, KEYS, dtype=bool), 0, -INF).astype("float32")), {"causal": True}),
    "added number": (added(lambda: (1 - tril().astype(jnp.float32)) * -1e9), {"mask": "float32"}),
}


@pytest.mark.parametrize("name", BY_POSITIONS)
def test_attention_by_positions(name):
    f, expected = BY_POSITIONS[name]
    graph = check(f, Q, *KV)
    assert attributes(graph) == expected and operators(graph)[-1] == "scaled_dot_product_attention"


BY_TENSORS = {
    "mask": (by_hand(lambda m: m), [MASK]),
    "not a mask": (by_hand(lambda m: ~m), [~MASK]),
    "mask and tril": (by_hand(lambda m: m & tril()), [MASK]),
    "mask or tril": (by_hand(lambda m: jnp.logical_or(m, tril())), [MASK]),
    "length": (by_hand(lambda n: jnp.arange(KEYS) < n), [jnp.int32(5)]),
    "lengths": (by_hand(lambda n: jnp.arange(KEYS) < n[:, None, None, None]), [LENGTHS]),
    "lengths and tril": (by_hand(lambda n: (jnp.arange(KEYS) < n[:, None, None, None]) & tril()), [LENGTHS]),
    "added": (added(lambda m: jnp.where(m, 0, -INF)), [MASK]),
}


@pytest.mark.parametrize("promised", [False, True])
@pytest.mark.parametrize("name", BY_TENSORS)
def test_attention_by_tensors(name, promised):
    """Without the promise, rows are divided by whether they see a key, which gives NaN, as in JAX."""
    f, more = BY_TENSORS[name]
    graph = check(f, Q, *KV, *more, every_row_sees=promised)
    expected = {"mask": "bool"} | ({"causal": True} if "and tril" in name else {})
    assert attributes(graph) == expected
    assert operators(graph)[-1] == ("scaled_dot_product_attention" if promised else "div")


def test_heads_that_share_keys_by_hand():
    def f(q, k, v):
        q = q.reshape(BATCH, ROWS, GROUPS, HEADS // GROUPS, DEPTH)
        scores = jnp.where(tril(), jnp.einsum("btkgh,bskh->bkgts", q, k) * 0.3, -INF)
        return jnp.einsum("bkgts,bskh->btkgh", jax.nn.softmax(scores, -1), v)

    graph = check(f, Q, *FEW)
    assert operators(graph) == ["scaled_dot_product_attention"] and attributes(graph) == {"causal": True}


# -------------------------------------------------------------------------------------------------- rows that see nothing


EMPTY = MASK.at[0, 0, 2].set(False)


def test_rows_that_see_nothing_mean_what_jax_means():
    """NaN with infinity, the mean of the values with numbers, and 0 by a promise that is broken."""
    by_infinity, by_number = by_hand(lambda m: m), by_hand(lambda m: m, LOWEST)
    assert np.isnan(jax.jit(by_infinity)(Q, *KV, EMPTY)[0, 2]).all()
    check(by_infinity, Q, *KV, EMPTY)
    assert attributes(check(by_number, Q, *KV, EMPTY)) is None
    check(lambda q, k, v, m: attend(q, k, v, mask=m), Q, *KV, EMPTY)
    check(lambda q, k, v, n: attend(q, k, v, key_value_seq_lengths=n), Q, *KV, jnp.asarray([0, 3], jnp.int32))
    check(by_hand(lambda: tril(-2), LOWEST), Q, *KV)
    check(by_hand(lambda: tril(-2)), Q, *KV)
    broken = mi.from_mlir(mi.from_jax(by_number, Q, *KV, EMPTY, every_row_sees=True).mlir)
    assert not broken(*map(np.asarray, (Q, *KV, EMPTY)))[0, 2].any()


STAYS = {
    "a mask that is passed": (lambda q, k, v, m: attend(q, k, v, mask=m), [MASK]),
    "lengths": (lambda q, k, v, n: attend(q, k, v, key_value_seq_lengths=n), [LENGTHS]),
    "-1e9, which scores may reach": (by_hand(tril, -1e9), []),
    "rows without keys": (by_hand(lambda: tril(-1), LOWEST), []),
    "keys that are masked twice": (by_hand(lambda: (jnp.arange(KEYS) < 2) & (jnp.arange(KEYS) > 3), LOWEST), []),
    "scaled after the mask": (lambda q, k, v: jax.nn.softmax(jnp.where(tril(), q[0, :, 0] @ k[0, :, 0].T, LOWEST) * 0.5, -1) @ v[0, :, 0], []),
    "softmax of another dimension": (lambda q, k, v: jax.nn.softmax(jnp.where(tril(6), q[0, :, 0] @ k[0, :, 0].T, LOWEST), 0) @ v[0, :, 0], []),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_is_nearly_attention_stays_as_it_is(name):
    f, more = STAYS[name]
    assert attributes(check(f, Q, *KV, *more)) is None


A, B = draw(ROWS, KEYS), draw(KEYS, 4, seed=2)
NEARLY = {
    "a quotient": lambda a, b: (1 / a) @ b,
    "halves": lambda a, b: (jnp.exp(a) / 2) @ b,
    "no shift": lambda a, b: (jnp.exp(a @ b @ b.T) / jnp.exp(a @ b @ b.T).sum(-1, keepdims=True)) @ b,
    "the same shift for all": lambda a, b: (jnp.exp(a @ b @ b.T - 3) / jnp.exp(a @ b @ b.T - 3).sum(-1, keepdims=True)) @ b,
    "scores that are no product": lambda a, b: jax.nn.softmax(a, -1) @ b,
    "scores below a number": lambda a, b: jax.nn.softmax(2 / (a @ b @ b.T), -1) @ b,
    "scale 0": lambda a, b: jax.nn.softmax(a @ b @ b.T * 0, -1) @ b,
    "negative scale": lambda a, b: jax.nn.softmax(a @ b @ b.T * -1, -1) @ b,
    "a number more": lambda a, b: jax.nn.softmax(a @ b @ b.T + 1, -1) @ b,
    "another function": lambda a, b: jax.nn.softmax(jnp.abs(a @ b @ b.T), -1) @ b,
    "quotient of products": lambda a, b: jax.nn.softmax(a @ b @ b.T / (a @ b @ b.T), -1) @ b,
    "one key": lambda a, b: jax.nn.softmax(a @ b @ b[:1].T, -1) @ b[:1],
}


@pytest.mark.parametrize("name", NEARLY)
def test_products_of_no_attention(name):
    assert attributes(check(NEARLY[name], A, B)) is None


@pytest.mark.parametrize("f, expected", [
    (lambda a, b: jax.nn.softmax((b @ (a @ b).T).T, -1) @ b, {}),
    (lambda a, b: (b.T @ jax.nn.softmax(a @ b @ b.T, -1).T).T, {}),
    (lambda a, b: jax.nn.softmax(a[:1] @ b @ b.T, -1) @ b, {}),
    (lambda a, b: jax.nn.softmax(a @ b @ b.T + a @ b @ b.T, -1) @ b, {"mask": "float32"}),
    (lambda a, b: jax.nn.softmax(jnp.where(a @ b @ b.T > -9, a @ b @ b.T, -INF), -1) @ b, {"mask": "bool"}),
], ids=["turned scores", "turned weights", "one row", "scores as a bias", "scores as a mask"])
def test_attention_in_other_words(f, expected):
    assert attributes(check(f, A, B)) == expected


def test_scores_as_low_as_what_stands_for_unseen():
    """-1e9 is a number: where scores are lower, the keys that are masked are what is seen."""
    q = Q.at[:].set(-1e6)
    check(by_hand(tril, -1e9), q, jnp.abs(KV[0]) * 1e6, KV[1])


# -------------------------------------------------------------------------------------------------- choices, comparisons


X, Y, M = draw(ROWS, KEYS), draw(ROWS, KEYS, seed=2), draw(ROWS, KEYS, dtype=bool)
ELEMENTWISE = {
    "where": (lambda x, y, m: jnp.where(m, x, y), ["select"]),
    "where number": (lambda x, y, m: jnp.where(x > y, x, 0.5), ["greater", "select"]),
    "where numbers": (lambda x, y, m: jnp.where(m, 1.0, 0.25) * x, ["select", "mul"]),
    "comparisons": (lambda x, y, m: (x < y) * x + (x <= 0.5) * y, ["less_equal", "cast", "mul", "less", "cast", "mul", "add"]),
    "equal": (lambda x, y, m: jnp.where(x == y, x, y) + jnp.where(x != x, 1.0, x), None),
    "masks compared": (lambda x, y, m: jnp.where(m == (x > 0), x, y), None),
    "logic": (lambda x, y, m: jnp.where(jnp.logical_not(m & (x > 0)) | (y > 1), x, y), None),
    "choice of masks": (lambda x, y, m: jnp.where(jnp.where(x > 0, m, y > 0), x, y), None),
    "any, all": (lambda x, y, m: jnp.where(m.any(-1, keepdims=True), x, 0) + jnp.where(m.all(0), y, 1), None),
    "tril": (lambda x, y, m: jnp.tril(x) + jnp.triu(y, 1), None),
    "mask as factor": (lambda x, y, m: x * m, ["cast", "mul"]),
    "bottom": (lambda x, y, m: jax.nn.softmax(jnp.where(m, x, -INF), -1), ["mask", "reduce_max", "sub", "exp", "reduce_sum", "div"]),
    "softmax where": (lambda x, y, m: jax.nn.softmax(x, -1, where=m), None),
    "maximum where": (lambda x, y, m: jnp.max(x, -1, where=m, initial=-INF), ["mask", "reduce_max"]),
    "leaky": (lambda x, y, m: jax.nn.leaky_relu(x) + jax.nn.relu6(y), None),
    "always": (lambda x, y, m: jnp.where(jnp.arange(KEYS) < KEYS, x, y) * 2, ["mul"]),
    "never": (lambda x, y, m: jnp.where(jnp.arange(KEYS) > KEYS, x, y) * 2, ["mul"]),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    f, expected = ELEMENTWISE[name]
    graph = check(f, X, Y, M)
    assert expected is None or sorted(operators(graph)) == sorted(expected)


# --------------------------------------------------------------------------------------------------- rules of elements


def test_rules_are_found_exactly_or_not_at_all():
    """Of all masks of three rows and four columns."""
    found = 0
    for bits in range(1 << 12):
        mask = np.array([bits >> i & 1 for i in range(12)], bool).reshape(3, 4)
        rule = _known_arrays.of_array(mask, "bool", mask.shape)
        if rule is not None:
            found += 1
            np.testing.assert_array_equal(np.broadcast_to(_known_arrays.array_of(rule), mask.shape), mask)
            np.testing.assert_array_equal(np.broadcast_to(_known_arrays.array_of(_known.settled(rule)), mask.shape), mask)
    assert 100 < found < 1 << 12


@pytest.mark.parametrize("offset", [-3, 0, 2, 9])
@pytest.mark.parametrize("window", [0, 1, 4])
def test_bands_are_causal_masks(offset, window):
    i, j = np.arange(6)[:, None], np.arange(10)
    mask = (j <= i + offset) & ((j > i + offset - window) if window else True)
    rule = _known_arrays.of_array(mask, "bool", mask.shape)
    again = np.broadcast_to(_known_arrays.array_of(rule), mask.shape)
    np.testing.assert_array_equal(again, mask)
    if window == 0 and offset < 9:
        assert _known.as_causal(rule) == (offset, 0)


def test_rules_of_numbers():
    positions = np.arange(4)[:, None] * 3 - np.arange(5)
    assert _known_arrays.of_array(positions, "int32", (4, 5)).expr == ("number", 0, (3, -1))
    assert _known_arrays.of_array(positions**2, "int32", (4, 5)) is None
    assert _known_arrays.of_array(np.array([0.0, 1.0, 2.0]), "float32", (3,)) is None
    assert _known_arrays.of_array(np.array([np.nan, 1.0]), "float32", (2,)) is None


# ------------------------------------------------------------------------------------------------------- stored weights


def jit(f, **options):
    return mj.jit(f, **{"progress": False, "target": "h200", "max_block_ops": 7, "max_states": 3000, **options})


def linear(x, w, scale):
    return x @ (w.astype(x.dtype) * scale)


def in_groups(x, w, scale):
    return x @ (w.reshape(4, 8, 64).astype(x.dtype) * scale[:, None]).reshape(32, 64)


STORED = [jnp.int8, jnp.int4, jnp.float8_e4m3fn, jnp.float8_e5m2]


def near(got, exact, tolerance=2e-2):
    got, exact = np.asarray(got, np.float64), np.asarray(exact, np.float64)
    assert np.linalg.norm(got - exact) <= tolerance * np.linalg.norm(exact)


@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("f, scale", [(linear, (64,)), (in_groups, (4, 64))])
def test_stored_weights(f, scale, dtype):
    args = draw(4, 32, dtype=jnp.bfloat16), draw(32, 64, dtype=dtype, seed=2), draw(*scale, dtype=jnp.bfloat16, seed=3)
    graph = mi.from_jax(f, *args)
    assert operators(graph) == ["cast", "mul", "matmul"] and graph.inputs[1].dtype == jnp.dtype(dtype).name
    compiled = jit(f)
    assert "custom_call @mirage_mlir" in compiled.lower(*args).as_text()
    near(compiled(*args), f(args[0].astype("float32"), args[1], args[2].astype("float32")))


def test_stored_weights_that_are_moved_about():
    """They are cast first: no kernel writes such a type."""
    x, w = draw(4, 32) / 256, draw(64, 64, dtype=jnp.int8, seed=2)
    f = lambda x, w: x @ jnp.concatenate([w[:, :16], w[:, 16:32] ], 1).T.astype(jnp.float32)  # noqa: E731
    graph = check(f, x, w)
    assert operators(graph) == ["cast", "slice", "slice", "concat", "matmul"]
    graph = check(lambda x, w: x @ w[:32].astype(jnp.float32), x, w)
    assert operators(graph) == ["cast", "slice", "matmul"]
    graph = check(lambda x, w: x @ w.astype(jnp.bfloat16).astype(jnp.float32), x, w.reshape(32, 128))
    assert operators(graph) == ["cast", "matmul"]


@pytest.mark.parametrize("contract", [((1,), (0,)), ((1,), (1,)), ((0,), (0,))])
def test_products_of_int8(contract):
    x = draw(*(48, 64) if contract[0] == (0,) else (64, 48), dtype=jnp.int8)
    w = draw(*(48, 32) if contract[1] == (0,) else (32, 48), dtype=jnp.int8, seed=2)
    f = lambda x, w: jax.lax.dot_general(x, w, (contract, ((), ())), preferred_element_type=jnp.int32)  # noqa: E731
    graph = mi.from_jax(f, x, w)
    assert operators(graph) == ["matmul"] and graph.outputs[0].dtype == "int32"
    np.testing.assert_array_equal(mi.from_mlir(graph.mlir)(np.asarray(x), np.asarray(w)), f(x, w))


def test_a_quantised_linear_layer():
    x, w, sx, sw = draw(16, 64, dtype=jnp.int8), draw(32, 64, dtype=jnp.int8, seed=2), draw(16, 1), draw(32, seed=3)
    f = lambda x, w, sx, sw: jnp.dot(x, w.T, preferred_element_type=jnp.int32).astype(jnp.float32) * sx * sw  # noqa: E731
    assert operators(mi.from_jax(f, x, w, sx, sw)) == ["matmul", "cast", "mul", "mul"]
    near(jit(f)(x, w, sx, sw), f(x, w, sx, sw), 1e-5)


@pytest.mark.parametrize("other", [jnp.float8_e4m3fn, jnp.float8_e5m2])
def test_products_of_float8(other):
    x, w, scale = draw(16, 64, dtype=jnp.float8_e4m3fn), draw(64, 32, dtype=other, seed=2), draw(32, seed=3)
    f = lambda x, w, s: jax.lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32) * s  # noqa: E731
    assert operators(mi.from_jax(f, x, w, scale)) == ["matmul", "mul"]
    near(jit(f)(x, w, scale), jnp.dot(x.astype("float32"), w.astype("float32")) * scale, 1e-5)


def test_products_that_keep_their_sums():
    x, w, scale = draw(4, 32, dtype=jnp.bfloat16), draw(32, 64, dtype=jnp.int8, seed=2), draw(64, seed=3)
    f = lambda x, w, s: jnp.dot(x, w.astype(jnp.bfloat16), preferred_element_type=jnp.float32) * s  # noqa: E731
    assert operators(mi.from_jax(f, x, w, scale)) == ["cast", "matmul", "mul"]
    near(jit(f)(x, w, scale), f(x.astype("float32"), w, scale))


# ----------------------------------------------------------------------------------------------------------------- calls


CALLS = {
    "causal": (of_jax(is_causal=True), [], False),
    "bias": (lambda q, k, v, b: attend(q, k, v, bias=b), [draw(BATCH, HEADS, ROWS, KEYS)], False),
    "mask": (lambda q, k, v, m: attend(q, k, v, mask=m), [MASK], True),
    "lengths": (lambda q, k, v, n: attend(q, k, v, key_value_seq_lengths=n), [LENGTHS], True),
    "length": (by_hand(lambda n: jnp.arange(KEYS) < n), [jnp.int32(5)], True),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    f, more, promised = CALLS[name]
    compiled = jit(f, every_row_sees=promised)
    assert "custom_call @mirage_mlir" in compiled.lower(Q, *KV, *more).as_text()
    np.testing.assert_allclose(compiled(Q, *KV, *more), f(Q, *KV, *more), rtol=1e-4, atol=1e-5)


def test_derivatives_and_batches_beside_masks():
    ours = jit(lambda x, m: jnp.exp(jnp.where(m, x, 0.5)) * 2)
    plain = lambda x, m: jnp.exp(jnp.where(m, x, 0.5)) * 2  # noqa: E731
    np.testing.assert_allclose(jax.grad(lambda x: ours(x, M).sum())(X), jax.grad(lambda x: plain(x, M).sum())(X), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(ours)(X, M), plain(X, M), rtol=1e-6)


# ------------------------------------------------------------------------------------------------- what cannot be said


NUMBERS, SMALL = jnp.arange(KEYS, dtype=jnp.int32), draw(ROWS, KEYS, dtype=jnp.int8)
EIGHTH, NIBBLE = draw(ROWS, KEYS, dtype=jnp.float8_e5m2), draw(ROWS, KEYS - 1, dtype=jnp.int4)
NOISE = np.random.default_rng(3).random((ROWS, KEYS)) < 0.5
UNSUPPORTED = {
    "a mask that follows no rule": (lambda x: jnp.where(NOISE, x, 0), [], "a constant bool tensor [6, 10] whose elements differ: pass it"),
    "numbers of no rule": (lambda x: x + NOISE * X, [], "a constant float32 tensor [6, 10] whose elements differ: pass it"),
    "steps": (lambda x: jnp.where(2 * jnp.arange(KEYS) < jnp.arange(ROWS)[:, None], x, 0), [], "a mask by"),
    "a choice of infinity": (lambda x: jnp.where(x > 0, x, INF), [], "a constant inf that is no mask"),
    "compared with infinity": (lambda x: jnp.where(x == -INF, 1.0, x), [], "a constant -inf that is no mask"),
    "sums of positions": (lambda x, n: jnp.where(jnp.arange(KEYS) < n + 1, x, 0), [NUMBERS], "add in int32: only float16"),
    "the larger position": (lambda x, n: jnp.where(jnp.arange(KEYS) < jnp.maximum(n, 3), x, 0), [NUMBERS], "max in int32"),
    "numbers as positions": (lambda x: jnp.where(jnp.arange(KEYS) < x.astype(jnp.int32), x, 0), [], "cast in int32"),
    "a choice of positions": (lambda x, n: jnp.where(jnp.where(x > 0, n, 3) > 2, x, 0), [NUMBERS], "select in int32"),
    "bits": (lambda x, n: jnp.where((n & 1) > 0, x, 0), [NUMBERS], "stablehlo.and of int32 tensors that are computed"),
    "exclusive or": (lambda x: jnp.where((x > 0) ^ (x < 1), x, 0), [], "stablehlo.xor cannot be said"),
    "sum of masks": (lambda x: x * (x > 0).sum(), [], "cast in int32"),
    "order of masks": (lambda x: jnp.where((x > 0) < (x > 1), x, 0), [], "masks of which one is less than another"),
    "stored arithmetic": (lambda x, w: x * (w + w).astype(x.dtype), [SMALL], "add in int8: only float16"),
    "stored comparison": (lambda x, w: jnp.where(w > 0, x, 0), [SMALL], "int8 that is compared"),
    "stored product": (lambda x, w: x.sum() * jnp.dot(w, w.T).astype(x.dtype), [SMALL],
                       "a product of int8 and int8 as int8"),
    "product of eighths": (lambda x, w: x[:, :6] * jnp.dot(w, w.T, preferred_element_type=jnp.float16), [EIGHTH],
                           "a product of float8_e5m2 and float8_e5m2 as float16"),
    "cast to a stored type": (lambda x: x.astype(jnp.float8_e4m3fn).astype(x.dtype), [], "cast in float8_e4m3fn"),
    "weights that are constants": (lambda x: x[:, 1:] * jnp.asarray(np.asarray(NIBBLE)).astype(x.dtype), [], "a constant int4 tensor [6, 9] whose"),
    "odd rows of int4": (lambda x, w: x[:, 1:] * w.astype(x.dtype), [NIBBLE], "input 1 is int4 [6, 9]: rows of int4 have an even number"),
    "positions as a result": (lambda x, n: (x * 2, n), [NUMBERS], "an output that is an input"),
    "other integers": (lambda x, n: x * n.astype(x.dtype), [NUMBERS.astype(jnp.int16)], "input 1 is int16 [10]: expected float16"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported(name, caplog):
    """from_jax says what; jit says it once, and computes what JAX computes."""
    f, more, reason = UNSUPPORTED[name]
    with pytest.raises(mi.MirageError) as raised:
        mi.from_jax(f, X, *more)
    assert str(raised.value).startswith("from_jax: ") and reason in str(raised.value)
    with caplog.at_level(logging.WARNING, "mirage_mlir"):
        got = jit(f)(X, *more)
    for mine, plain in zip(jax.tree.leaves(got), jax.tree.leaves(jax.jit(f)(X, *more))):
        np.testing.assert_allclose(np.asarray(mine, np.float32), np.asarray(plain, np.float32))
    assert reason in caplog.text


def test_masks_of_long_rows_are_never_written_out():
    """A mask of 2^34 elements, by its rule."""
    q = jax.ShapeDtypeStruct((1, 1 << 17, 2, 64), jnp.bfloat16)
    graph = mi.from_jax(lambda q: attend(q, q, q, is_causal=True, local_window_size=(4096, 0)), q)
    assert attributes(graph) == {"causal": True, "window": 4097}
