"""PyTorch's masks, comparisons, choices and stored weights in the kernel dialect: against PyTorch, and what cannot be said."""

import math

import pytest
import torch
import torch.nn.functional as F

import mirage_mlir as mi
from mirage_mlir._torch_import import apply_node, value_of
from mirage_mlir._known import Known, tensor_of
from mirage_mlir._torch_ops import OPS, Unsupported, input_of
from mirage_mlir._torch_table import Turned
from mirage_mlir._torch_partition import specialise

pytestmark = pytest.mark.filterwarnings("ignore:tensors in host memory")

INF = math.inf


def traced(f, args):
    """(module, its arguments): what torch.compile gives a backend."""
    found = []

    def keep(module, given):
        found.append((module, list(given)))
        return module.forward

    torch.compiler.reset()
    torch.compile(f, backend=keep, fullgraph=True, dynamic=False)(*args)
    return found[0]


def imported(f, *args):
    """f as a Graph, node by node, and the arguments in its order."""
    module, given = traced(f, args)
    whole = specialise(module, given)
    graph, values = mi.Graph("one"), {}
    for node in whole.module.graph.nodes:
        if node.op == "placeholder":
            x = value_of(node)
            values[node] = input_of(graph, tuple(x.shape), x.dtype, x.stride())
        elif node.op == "output":
            (result,) = [values[n] for n in node.args[0]]
            graph.mark_output(tensor_of(graph, result) if isinstance(result, Known) else result)
        else:
            values[node] = apply_node(graph, node, values.__getitem__)
    return graph, [given[i] for i in whole.arguments]


def operators(graph):
    return [op for op, _, _ in graph._nodes if op not in ("input", "constant")]


def draw(*shape, dtype=torch.float32, seed=1):
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.6
    if dtype == torch.int8:
        return torch.randint(-128, 128, shape, generator=generator, dtype=dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def check(f, *args, tolerance=1e-5):
    """By the graph that torch.compile gives, and by that of torch.export."""
    graph, given = imported(f, *args)
    expected = f(*args)
    for program, inputs in ((graph, given), (mi.from_torch(f, *args), args)):
        got = mi.from_mlir(program.mlir)(*inputs)
        assert got.dtype == expected.dtype and got.shape == expected.shape
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    return graph


# ------------------------------------------------------------------------------------------------- functions, choices

X, Y, M = (4, 6), (4, 6), (4, 6)
ELEMENTWISE = {
    "sin": lambda x, y, m: torch.sin(3 * x) + y.cos(),
    "sign": lambda x, y, m: torch.sign(x),
    "log1p": lambda x, y, m: torch.log1p(x.abs()),
    "softplus": lambda x, y, m: F.softplus(x) + F.softplus(y, beta=2),
    "leaky": lambda x, y, m: F.leaky_relu(x) + F.leaky_relu(y, 0.3),
    "hard": lambda x, y, m: F.hardsigmoid(4 * x) + F.hardswish(4 * y),
    "powers": lambda x, y, m: x**5 + x.abs() ** 2.5 + (y.abs() + 1) ** -0.3,
    "where": lambda x, y, m: torch.where(m, x, y),
    "where number": lambda x, y, m: torch.where(x > y, x, 0.5) + torch.where(m, 2.0, y),
    "where numbers": lambda x, y, m: torch.where(m, 1.0, 0.25) * x,
    "where method": lambda x, y, m: x.where(m, y),
    "masked_fill": lambda x, y, m: x.masked_fill(m, 0.5) + y.masked_fill(~m, -1),
    "bottom": lambda x, y, m: torch.softmax(x.masked_fill(m & (y < 1), -INF), -1),
    "bottom by where": lambda x, y, m: torch.softmax(torch.where(m | (x > 0), x, -INF), -1),
    "compare": lambda x, y, m: (x < y).float() + (x <= y) * 2.0 + (x > 0.1).float() + torch.ge(x, y).float(),
    "equal": lambda x, y, m: (x == x).float() + (x != y).float() + torch.eq(m, 0).float() + (m == True).float(),  # noqa: E712
    "logic": lambda x, y, m: (torch.logical_and(m, x > 0) | torch.logical_not(y > 0)).to(x.dtype),
    "mask as factor": lambda x, y, m: x * m,
    "to bool": lambda x, y, m: x * torch.relu(y).bool(),
    "tril": lambda x, y, m: torch.tril(x) + y.triu(1) + torch.tril(m, -1).float(),
    "choice of masks": lambda x, y, m: torch.where(x > 0, m, y > 0).float(),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    check(ELEMENTWISE[name], draw(*X), draw(*Y, seed=2), draw(*M, dtype=torch.bool))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_number_is_compared_in_the_tensors_dtype(dtype):
    x = torch.tensor([[0.1, 0.3, 2.7]]).to(dtype)
    check(lambda x: (x <= 0.1).to(dtype) + (x < 0.3).to(dtype) + torch.where(x > 2.7, 0.1, x), x, tolerance=0)


# ------------------------------------------------------------------------------------------------------------ attention


def positions(n, m):
    return torch.arange(n)[:, None], torch.arange(m)[None, :]


N, K = 4, 6
VISIBLE = {
    "tril": lambda: torch.ones(N, K, dtype=torch.bool).tril(),
    "tril offset": lambda: torch.tril(torch.ones(N, K, dtype=torch.bool), diagonal=K - N),
    "not triu": lambda: ~torch.ones((N, K), dtype=torch.bool).triu(1),
    "triu of ones": lambda: torch.triu(torch.ones(N, K), diagonal=1) == 0,
    "arange": lambda: torch.arange(N)[:, None] >= torch.arange(K)[None, :],
    "arange turned": lambda: torch.arange(K) < torch.arange(N).unsqueeze(1) + 3,
    "view": lambda: torch.arange(K) <= (torch.arange(N) + 2).view(-1, 1),
    "reshape, expand": lambda: (torch.arange(K).expand(N, -1) <= torch.arange(N).reshape(-1, 1))[None],
    "difference": lambda: torch.arange(N)[:, None] - torch.arange(K) >= -1,
    "start": lambda: torch.arange(2, N + 2).reshape(-1, 1) >= torch.arange(0, K),
    "window": lambda: torch.ones(N, K, dtype=torch.bool).tril(2).logical_and(torch.arange(K) > torch.arange(N)[:, None] - 1),
    "window by triu": lambda: torch.ones(N, K, dtype=torch.bool).tril(1).triu(-1),
    "full, added": lambda: torch.triu(torch.full((N, K), -INF), diagonal=1),
    "where, added": lambda: torch.where(torch.arange(N)[:, None] >= torch.arange(K), 0.0, -INF),
    "masked_fill, added": lambda: torch.zeros(N, K).masked_fill(torch.ones(N, K, dtype=torch.bool).triu(2), -INF),
}
# What is no causal mask stays a mask.
OTHER = {
    "upper": lambda: torch.ones(N, K, dtype=torch.bool).triu(-2),
    "padding": lambda: (torch.arange(K) < 4)[None, :],
    "band or first": lambda: (torch.arange(K) < 1) | (torch.arange(K) > torch.arange(N)[:, None] - 2),
    "diagonal": lambda: (torch.arange(K) != torch.arange(N)[:, None]),
    "finite": lambda: torch.triu(torch.full((N, K), -2.5), diagonal=1),
}


@pytest.mark.parametrize("name", [*VISIBLE, *OTHER])
def test_attention_by_a_mask_of_positions(name):
    make = {**VISIBLE, **OTHER}[name]
    q, k, v = draw(2, N, 8), draw(2, K, 8, seed=2), draw(2, K, 8, seed=3)
    graph = check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=make()), q, k, v)
    _, operands, attributes = next(n for n in graph._nodes if n[0] == "scaled_dot_product_attention")
    assert attributes.get("causal", False) == (name in VISIBLE)
    assert len(operands) == (3 if name in VISIBLE else 4)


def attends(**more):
    return lambda q, k, v, *m: F.scaled_dot_product_attention(q, k, v, *m, **more)


CASES = {
    "causal": (attends(is_causal=True), (2, 3, N, 8), (2, 3, K, 8), None),
    "causal, more queries": (attends(is_causal=True, scale=0.5), (2, 3, K, 8), (2, 3, N, 8), None),
    "bool": (attends(), (2, 3, N, 8), (2, 3, K, 8), (torch.bool, (2, 1, N, K))),
    "bool of keys": (attends(), (2, 3, N, 8), (2, 3, K, 8), (torch.bool, (1, K))),
    "float": (attends(), (2, 3, N, 8), (2, 3, K, 8), (torch.float32, (3, N, K))),
    "groups causal": (attends(is_causal=True, enable_gqa=True), (2, 6, N, 8), (2, 2, K, 8), None),
    "groups bool": (attends(enable_gqa=True), (2, 6, N, 8), (2, 2, K, 8), (torch.bool, (2, 1, N, K))),
    "groups bool of heads": (attends(enable_gqa=True), (2, 6, N, 8), (2, 2, K, 8), (torch.bool, (1, 6, N, K))),
    "groups float": (attends(enable_gqa=True, scale=0.3), (2, 6, N, 8), (2, 2, K, 8), (torch.float32, (N, K))),
    "no groups": (attends(enable_gqa=True, is_causal=True), (2, 2, N, 8), (2, 2, K, 8), None),
}


@pytest.mark.parametrize("name", CASES)
def test_attention(name):
    f, q, k, mask = CASES[name]
    tensors = [draw(*q), draw(*k, seed=2), draw(*k, seed=3)] + ([draw(*mask[1], dtype=mask[0], seed=4)] if mask else [])
    check(f, *tensors)


def test_a_query_that_sees_no_key_gives_zero():
    q, m = draw(3, 8), torch.tensor([[True, False, False], [False] * 3, [True] * 3])
    check(lambda q, m: F.scaled_dot_product_attention(q, q, q, m), q, m)


def test_scores_plus_a_mask_are_masked_scores():
    """What exporters and models write in place of an attention operator."""
    x, visible = draw(2, N, K), draw(N, K, dtype=torch.bool)
    graph = check(lambda x, m: torch.softmax(x + torch.where(m, 0.0, -INF), -1), x, visible | (torch.arange(K) == 0))
    assert operators(graph)[:1] == ["mask"]


# -------------------------------------------------------------------------------------------------------- stored weights


@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn, torch.float8_e5m2])
@pytest.mark.parametrize("turned", [False, True])
def test_stored_weights(dtype, turned):
    x, w, scale = draw(4, 16, dtype=torch.float16), draw(8, 16, dtype=dtype, seed=2), draw(8, dtype=torch.float16, seed=3)
    if turned:  # as torchao has them
        check(lambda x, w, s: torch.mm(x, w.t().to(x.dtype)) * s, x, w, scale, tolerance=2e-2)
    else:
        check(lambda x, w, s: F.linear(x, w.to(torch.float16)) * s, x, w, scale, tolerance=2e-2)


def test_stored_weights_in_groups():
    x, w, scale = draw(4, 16, dtype=torch.float16), draw(8, 16, dtype=torch.int8), draw(8, 4, 1, dtype=torch.float16, seed=3)
    check(lambda x, w, s: F.linear(x, (w.view(8, 4, 4).half() * s).view(8, 16) / 64), x, w, scale, tolerance=2e-2)


def bytes_of(*shape, dtype, seed=1):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return (x * 40).clamp(-127, 127).to(dtype) if dtype == torch.int8 else x.to(dtype)


@pytest.mark.parametrize("turned", [False, True])
def test_products_of_int8(turned):
    x = bytes_of(32, 64, dtype=torch.int8)
    w = bytes_of(24, 64, dtype=torch.int8, seed=2).t() if turned else bytes_of(64, 24, dtype=torch.int8, seed=2)
    graph = check(lambda x, w: torch._int_mm(x, w), x, w)
    assert operators(graph) == ["matmul"]


def test_a_quantised_linear_layer():
    x, w = bytes_of(32, 64, dtype=torch.int8), bytes_of(24, 64, dtype=torch.int8, seed=2)
    sx, sw = draw(32, 1) / 64, draw(24, seed=3) / 64
    graph = check(lambda x, w, sx, sw: torch._int_mm(x, w.t()) * sx * sw, x, w, sx, sw, tolerance=1e-4)
    assert operators(graph) == ["matmul", "cast", "mul", "mul"]


@pytest.mark.parametrize("dtypes", [(torch.float8_e4m3fn, torch.float8_e4m3fn), (torch.float8_e4m3fn, torch.float8_e5m2)])
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_scaled_products_of_float8(dtypes, rows, bias):
    x, w = bytes_of(32, 64, dtype=dtypes[0]), bytes_of(48, 64, dtype=dtypes[1], seed=2)
    sx, sw = (draw(32, 1), draw(1, 48, seed=3)) if rows else (draw(1), draw(1, seed=3))
    given = [x, w, sx.abs(), sw.abs()] + ([draw(48, dtype=torch.bfloat16, seed=4)] if bias else [])
    graph = check(lambda x, w, sx, sw, *b: torch._scaled_mm(x, w.t(), sx, sw, *b, out_dtype=torch.bfloat16), *given, tolerance=3e-2)
    assert operators(graph) == ["matmul", "mul", "mul", *(["add"] if bias else []), "cast"]


@pytest.mark.parametrize("scale, out, text", [
    ((3, 1), torch.bfloat16, "a scale of float32 [3, 1]: float32 of one element or [32, 1] is possible"),
    ((1,), torch.float8_e4m3fn, "float8_e4m3fn"),
    ((1,), None, "a result of float8"),
])
def test_scaled_products_that_cannot_be_said(scale, out, text):
    graph = mi.Graph("scaled")
    x, w = (graph.new_input(s, "float8_e4m3fn") for s in ((32, 64), (64, 48)))
    with pytest.raises(Unsupported) as raised:
        OPS["_scaled_mm"](graph, x, w, graph.new_input(scale, "float32"), graph.new_input((1,), "float32"), out_dtype=out)
    assert text in str(raised.value)


def test_products_of_other_bytes_cannot_be_said():
    graph = mi.Graph("products")
    x, w, v = graph.new_input((8, 16), "int8"), graph.new_input((16, 8), "float8_e4m3fn"), graph.new_input((2, 8, 16), "int8")
    for operands, text in (((x, w), "float8_e4m3fn of 2 dimensions"), ((v, x), "int8 of 3 dimensions")):
        with pytest.raises(Unsupported) as raised:
            OPS["_int_mm"](graph, *operands)
        assert text in str(raised.value)


def test_a_product_states_its_type():
    a, b = draw(4, 16, dtype=torch.float16), draw(16, 8, dtype=torch.float16)
    graph, _ = imported(lambda a, b: torch.mm(a, b).float(), a, b)
    assert [op for op in operators(graph)] == ["matmul", "cast"]


# ------------------------------------------------------------------------------------------------- what cannot be said


UNSUPPORTED = {
    "power of 0": (lambda x: x**0, "exponent 0"),
    "sharp softplus": (lambda x: F.softplus(x, threshold=5), "threshold=5"),
    "infinite choice": (lambda x: torch.where(x > 0, x, INF), "the choice of inf"),
    "compared with infinity": (lambda x: (x == -INF).float(), "the choice of -inf"),
    "positions as a result of arithmetic": (lambda x: x * torch.arange(12).view(4, 3).sum(), ""),
    "steps": (lambda x: x * (torch.arange(6) * 2 < torch.arange(4)[:, None]), "a mask by"),
    "sum of positions": (lambda x: x * (torch.arange(6) + torch.arange(4)[:, None] < 3), "a mask by"),
    "positions reshaped": (lambda x: x * (torch.arange(24).view(4, 6) < 3), "positions [24] as [4, 6]"),
    "a mask as numbers": (lambda x: x * ((torch.arange(6) > 2).long() * 4 < 3), "arithmetic on a mask"),
    "mask of numbers": (lambda x: torch.logical_and(x, x).float(), "float32 as a mask"),
    "mask compared": (lambda x: ((x > 0) == 2).float(), "compared with something else"),
    "masks compared": (lambda x: ((x > 0) < (x > 1)).float(), "compared with something else"),
    "sum of masks": (lambda x: ((x > 0) + (x > 1)).float(), ""),
    "filled with a tensor": (lambda x: x.masked_fill(x > 0, x.sum()), ""),
    "dropout": (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5), "dropout_p=0.5"),
    "cumulative positions": (lambda x: x * torch.ones(6).cumsum(0), "no such operator"),
    "an index": (lambda x: x[torch.arange(2)], ""),
    "fractions": (lambda x: x * torch.arange(0, 3, 0.5), "an arange of other numbers"),
    "stored arithmetic": (lambda x: x.to(torch.int8), "int8"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported(name):
    f, reason = UNSUPPORTED[name]
    with pytest.raises(Unsupported) as raised:
        imported(f, draw(4, 6))
    assert reason in str(raised.value)


@pytest.mark.parametrize("f, text", [
    (lambda x, w: w + w, "int8"),
    (lambda x, w: w.t() @ w, "int8"),
    (lambda x, w: torch.exp(w.t()), ""),
])
def test_stored_weights_are_cast_first(f, text):
    with pytest.raises((mi.MirageError, RuntimeError)) as raised:
        mi.from_torch(f, draw(4, 4), draw(4, 4, dtype=torch.int8))
    assert text in str(raised.value)


def test_from_torch_says_what_is_no_result():
    with pytest.raises(mi.MirageError, match="is int64, and nothing computes it"):
        mi.from_torch(lambda x: (x * 2, torch.arange(4) + 1), draw(4))
    with pytest.raises(mi.MirageError, match="input 'n': int64: expected float16, bfloat16, float32, bool, int32, int8"):
        mi.from_torch(lambda x, n: x * (torch.arange(4) < n), draw(4), torch.tensor([3]))
