"""PyTorch's operators in the kernel dialect: each against PyTorch, and what cannot be said."""

import pytest
import torch
import torch.nn.functional as F

import mirage_mlir as mi
from mirage_mlir._graph import Graph
from mirage_mlir._torch_import import apply_node, value_of
from mirage_mlir._torch_ops import OPS, Unsupported, name_of
from mirage_mlir._torch_partition import specialise

pytestmark = pytest.mark.filterwarnings("ignore:tensors in host memory")

X = (4, 6)


def imported(f, *args):
    """f, traced and imported node by node: a Graph."""
    whole = specialise(torch.fx.symbolic_trace(f), list(args))
    graph, values = Graph("one"), {}
    for node in whole.module.graph.nodes:
        if node.op == "placeholder":
            x = value_of(node)
            values[node] = graph.new_input(tuple(x.shape), x.dtype, strides=x.stride())
        elif node.op == "output":
            results = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
            graph.mark_output(*[values[r] for r in results])
        else:
            values[node] = apply_node(graph, node, values.__getitem__)
    return graph


def tensors(*shapes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(s, generator=generator).to(dtype) for s in shapes]


def check(f, *args, tolerance=1e-5):
    got, expected = mi.from_mlir(imported(f, *args).mlir)(*args), f(*args)
    got, expected = (r if isinstance(r, tuple) else (r,) for r in (got, expected))
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        assert a.dtype == b.dtype and a.shape == b.shape
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


ELEMENTWISE = {
    "add": lambda x, y: x + y,
    "add alpha": lambda x, y: torch.add(x, y, alpha=2),
    "sub": lambda x, y: x - y,
    "rsub": lambda x, y: torch.rsub(x, y),
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (y.abs() + 1),
    "number first": lambda x, y: 2 - x / 3 + 1 / (1 + y * y),
    "maximum": lambda x, y: torch.maximum(x, y),
    "max of two": lambda x, y: torch.max(x, y),
    "minimum": lambda x, y: torch.minimum(x, y),
    "exp": lambda x, y: x.exp() + y,
    "log": lambda x, y: torch.log(x.abs() + 1) * y,
    "sqrt": lambda x, y: torch.sqrt(x * x),
    "neg": lambda x, y: -x,
    "rsqrt": lambda x, y: torch.rsqrt(x * x + 1),
    "square": lambda x, y: x.square(),
    "sigmoid": lambda x, y: x.sigmoid(),
    "silu": lambda x, y: F.silu(x),
    "gelu": lambda x, y: F.gelu(x),
    "gelu tanh": lambda x, y: F.gelu(x, approximate="tanh"),
    "erf": lambda x, y: torch.erf(x),
    "tanh": lambda x, y: torch.tanh(x),
    "relu": lambda x, y: F.relu(x),
    "abs": lambda x, y: abs(x) + y.abs(),
    "reciprocal": lambda x, y: torch.reciprocal(x.abs() + 1),
    "clamp": lambda x, y: torch.clamp(x, -0.5, max=0.25),
    "hardtanh": lambda x, y: F.hardtanh(2 * x) + F.relu6(y),
    "clamp_min": lambda x, y: x.clamp_min(0.1),
    "glu": lambda x, y: F.glu(x),
    "pow 2": lambda x, y: x**2,
    "pow 3": lambda x, y: torch.pow(x, 3),
    "pow 4": lambda x, y: x.pow(4),
    "pow -1": lambda x, y: (x.abs() + 1) ** -1,
    "pow 0.5": lambda x, y: (x * x) ** 0.5,
    "pow -0.5": lambda x, y: (x * x + 1).pow(-0.5),
    "pow -2": lambda x, y: (x.abs() + 1) ** -2,
    "broadcast": lambda x, y: x + y[:1] * y[:, :1],
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    check(ELEMENTWISE[name], *tensors(X, X))


OTHERS = {
    "matmul": (lambda a, b: a @ b, (4, 6), (6, 3)),
    "mm": (lambda a, b: torch.mm(a, b), (4, 6), (6, 3)),
    "bmm": (lambda a, b: torch.bmm(a, b), (2, 4, 6), (2, 6, 3)),
    "vector left": (lambda a, b: a @ b, (6,), (6, 3)),
    "vector right": (lambda a, b: torch.mv(a, b), (4, 6), (6,)),
    "rows": (lambda a, b: a @ b, (2, 3, 6), (6, 5)),
    "batch": (lambda a, b: torch.matmul(a, b), (2, 1, 4, 6), (3, 6, 5)),
    "linear": (lambda x, w, b: F.linear(x, w, b), (2, 3, 6), (5, 6), (5,)),
    "linear vector": (lambda x, w: F.linear(x, w), (6,), (5, 6)),
    "addmm": (lambda c, a, b: torch.addmm(c, a, b, beta=2, alpha=0.5), (5,), (4, 6), (6, 5)),
    "einsum": (lambda a, b: torch.einsum("bhid,bhjd->bhij", a, b), (2, 3, 4, 6), (2, 3, 5, 6)),
    "einsum turned": (lambda a, b: torch.einsum("ikj,kl->jli", a, b), (2, 6, 3), (6, 5)),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), (2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 7)),
    "attention scale": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.5),
        (3, 4, 8),
        (3, 5, 8),
        (3, 5, 8),
    ),
    "attention groups": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        (2, 6, 4, 8),
        (2, 2, 5, 8),
        (2, 2, 5, 8),
    ),
    "sum": (lambda x: x.sum(-1), X),
    "sum dims": (lambda x: torch.sum(x, (0, 2), keepdim=True), (2, 3, 4)),
    "mean": (lambda x: x.mean(0, keepdim=True), X),
    "mean dims": (lambda x: x.mean((-1, -2)), (2, 3, 4)),
    "amax": (lambda x: x.amax(1), X),
    "amin": (lambda x: torch.amin(x, 0), X),
    "max": (lambda x: x.max(-1)[0] * 2, X),
    "min values": (lambda x: torch.min(x, 1, keepdim=True)[0], X),
    "softmax": (lambda x: torch.softmax(x, 0), X),
    "F.softmax": (lambda x: F.softmax(x, dim=-1, dtype=torch.float32), X),
    "log_softmax": (lambda x: F.log_softmax(x, -1), X),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (6,), w, b, 1e-3), X, (6,), (6,)),
    "layer_norm 2": (lambda x: F.layer_norm(x, (3, 6)), (2, 3, 6)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (6,), w, 1e-3), X, (6,)),
    "rms_norm eps": (lambda x: F.rms_norm(x * 1e-3, [6]), X),
    "view": (lambda x: x.view(2, -1, 3) * 2, X),
    "reshape": (lambda x: torch.reshape(x.t(), (8, 3)) * 2, X),
    "flatten": (lambda x: x.flatten(1) * 2, (2, 3, 4)),
    "unflatten": (lambda x: x.unflatten(1, (2, -1)) * 2, X),
    "unsqueeze": (lambda x: x.unsqueeze(-1).unsqueeze(0) * 2, X),
    "squeeze": (lambda x: x.squeeze(1).squeeze() * 2, (1, 1, 3)),
    "permute": (lambda x: x.permute(2, 0, 1) * 2, (2, 3, 4)),
    "transpose": (lambda x: x.transpose(-1, 0) * 2, (2, 3, 4)),
    "T": (lambda x: x.t() * 2 + x.T, (4, 4)),
    "mT": (lambda x: x.mT * 2, (2, 3, 4)),
    "movedim": (lambda x: x.movedim(0, -1) * 2, (2, 3, 4)),
    "expand": (lambda x: x.expand(4, -1) * 2, (1, 6)),
    "expand_as": (lambda x, y: x.expand_as(y) * y, (6,), X),
    "repeat": (lambda x: x.repeat(2, 3, 1) * 2, X),
    "tile": (lambda x: x.tile(2) * 2, X),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, dim=1) * 2, X),
    "narrow": (lambda x: x.narrow(1, 2, 3) * 2, X),
    "select": (lambda x: x.select(1, -1) * 2, X),
    "split": (lambda x: x.split(4, 1)[1] * x.split([2, 4], -1)[0], X),
    "chunk": (lambda x: x.chunk(3, 0)[1] * 2, X),
    "unbind": (lambda x: x.unbind(1)[2] * 2, X),
    "cat": (lambda x, y: torch.cat((x, y), dim=-1), X, (4, 2)),
    "stack": (lambda x, y: torch.stack([x, y], 1), X, X),
    "getitem": (lambda x: x[..., None, 1:3, 2] * x[0, -2:, :1], (2, 4, 6)),
    "dropout": (lambda x: F.dropout(x, 0.5, False) * 2, X),
    "clone": (lambda x: x.clone().contiguous().detach() * 2, X),
    "several outputs": (lambda x, y: (x + y, (x * y).t()), X, X),
}


@pytest.mark.parametrize("name", OTHERS)
def test_operators(name):
    f, *shapes = OTHERS[name]
    check(f, *tensors(*shapes))


def test_cases_reach_every_operator():
    """Each operator of the dialect's kernel level has a case above or in test_torch_masks.py, and each name that we know an entry that works."""
    reached = set()
    for f in ELEMENTWISE.values():
        reached |= {op for op, _, _ in imported(f, *tensors(X, X))._nodes}
    for f, *shapes in OTHERS.values():
        reached |= {op for op, _, _ in imported(f, *tensors(*shapes))._nodes}
    reached |= {op for op, _, _ in imported(lambda x: x.half(), *tensors(X))._nodes}
    written = {
        "exp",
        "log",
        "sqrt",
        "rsqrt",
        "square",
        "neg",
        "sigmoid",
        "silu",
        "gelu",
        "gelu_tanh",
        "erf",
        "tanh",
        "relu",
        "abs",
        "pow",
        "add",
        "sub",
        "mul",
        "div",
        "max",
        "min",
        "matmul",
        "reduce_sum",
        "reduce_max",
        "reduce_mean",
        "broadcast",
        "repeat",
        "transpose",
        "reshape",
        "slice",
        "concat",
        "cast",
        "constant",
        "softmax",
        "rms_norm",
        "layer_norm",
        "scaled_dot_product_attention",
    }
    assert reached - {"input"} == written
    assert all(callable(f) for f in OPS.values())


# --------------------------------------------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_number_is_not_rounded_to_the_tensors_dtype(dtype):
    (x,) = tensors((64, 8), dtype=dtype)
    got = mi.from_mlir(imported(lambda x: x * 0.1 + 3, x).mlir)(x)
    torch.testing.assert_close(got, x * 0.1 + 3, rtol=0, atol=0)


def test_promotion_and_casts():
    x, y = tensors(X)[0].bfloat16(), tensors(X)[0]
    check(lambda x, y: x + y, x, y)
    check(lambda x, y: (x * x.float()).to(torch.bfloat16) * y.type_as(x), x, y, tolerance=1e-2)
    check(lambda x, y: torch.cat((x, y), 1), x, y)
    check(lambda x, y: x.sum(1, dtype=torch.float32) + y.to(x.device)[:, 0], x, y)
    check(lambda x, y: F.softmax(x, -1, dtype=torch.float32).half() * y.half(), x, y, tolerance=1e-3)


def test_reductions_of_two_dimensions_round_once():
    (x,) = tensors((8, 16, 8), dtype=torch.bfloat16)
    check(lambda x: x.mean((0, 1)), x, tolerance=1e-2)


# -------------------------------------------------------------------------------------------------- what cannot be said


UNSUPPORTED = {
    "cumsum": (lambda x: x.cumsum(0), "no such operator"),
    "tan": (lambda x: torch.tan(x), "no such operator"),
    "exponent": (lambda x: x**0, "exponent 0: a number but 0"),
    "tensor exponent": (lambda x: x**x, "exponent Tensor"),
    "integers": (lambda x: x.long() + 1, "int64"),
    "float64": (lambda x: x.double(), "float64"),
    "rank 0": (lambda x: x.sum(), "rank 0"),
    "scalar operand": (lambda x: x * x.sum(), "rank 0"),
    "step": (lambda x: x[::2], "a step of 2"),
    "infinity": (lambda x: x + float("inf"), "the number inf"),
    "rounding": (lambda x: torch.div(x, 2, rounding_mode="floor"), "rounding_mode='floor'"),
    "indices": (lambda x: x[torch.tensor([0])] * 2.0, ""),
    "maximum's indices": (lambda x: x.max(1)[1] + 1, "indices"),
    "diagonal": (lambda x: torch.einsum("ii->i", x @ x.t()), "only two operands"),
    "view of bits": (lambda x: x.view(torch.int32), ""),
    "dropout": (lambda x: F.dropout(x, 0.5, True), "random"),
    "no elements": (lambda x: x[:0] * 2, ""),
    "elu": (lambda x: F.elu(x), "no such operator"),
    "bias alone": (lambda x: F.layer_norm(x, (6,), None, x[0]), "a bias without a weight"),
    "std": (lambda x: x.std(1), "no such operator"),
    "sort": (lambda x: x.sort(0)[0], "no such operator"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported(name):
    f, reason = UNSUPPORTED[name]
    with pytest.raises(Unsupported) as raised:
        imported(f, *tensors(X))
    assert reason in str(raised.value)


def test_a_function_of_a_known_name_is_not_pytorchs():
    def add(x, y):
        return x - y

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(add, (x, x)))
    whole = specialise(torch.fx.GraphModule(torch.nn.Module(), graph), tensors(X))
    node = next(n for n in whole.module.graph.nodes if n.op == "call_function")
    assert name_of(node) == "add"
    with pytest.raises(Unsupported, match="not PyTorch's"):
        apply_node(Graph("one"), node, lambda n: None)


# ----------------------------------------------------------------------------------------------------------- from_torch


def test_from_torch_of_a_function():
    def f(x, w, scale):
        return torch.softmax(x @ w.t() * scale, -1), F.silu(x)

    x, w = tensors((4, 6), (3, 6))
    graph = mi.from_torch(f, x, w, 0.5)
    assert [(t.dtype, t.shape) for t in graph.outputs] == [("float32", (4, 3)), ("float32", (4, 6))]
    for got, expected in zip(mi.from_mlir(graph.mlir)(x, w), f(x, w, 0.5)):
        torch.testing.assert_close(got, expected)


def test_from_torch_of_a_module_takes_parameters_behind_arguments():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.LayerNorm(8))
    (x,) = tensors((4, 6))
    graph = mi.from_torch(module, x)
    assert graph._names == ["input", "0.weight", "0.bias", "2.weight", "2.bias"]
    torch.testing.assert_close(mi.from_mlir(graph.mlir)(x, *module.state_dict().values()), module(x))


def test_from_torch_of_batches_works_on_rows():
    layers = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.SiLU(), torch.nn.Linear(8, 6))
    (x,) = tensors((2, 3, 6))
    graph = mi.from_torch(layers, x)
    assert [op for op, _, _ in graph._nodes if op != "input"] == [
        "reshape",
        "matmul",
        "add",
        "silu",
        "matmul",
        "add",
        "reshape",
    ]
    torch.testing.assert_close(mi.from_mlir(graph.mlir)(x, *layers.state_dict().values()), layers(x))


def test_from_torch_keeps_strides_and_names():
    x, w = tensors((6, 4), (6, 3))
    graph = mi.from_torch(lambda left, right: left @ right, x.t(), w)
    f = mi.from_mlir(graph.mlir)
    torch.testing.assert_close(f(x.t(), w), x.t() @ w)
    with pytest.raises(ValueError, match="'right'"):
        f(x.t(), w.t())


def bad_cumsum(x):
    y = x * 2
    return y.cumsum(0)


@pytest.mark.parametrize(
    "f, args, text",
    [
        (bad_cumsum, (torch.ones(4),), "from_torch: cumsum: no such operator, at test_torch_import.py"),
        (lambda x: x.add_(1), (torch.ones(4),), "from_torch: add_: no such operator"),
        (lambda x: x + 1, (torch.ones(4, dtype=torch.int64),), "from_torch: input 'x': int64: expected float16"),
        (lambda x: x * 2, (torch.ones(()),), "input 'x': a tensor of rank 0"),
        (torch.nn.ELU(), (torch.ones(4),), "from_torch: elu: no such operator"),
        (lambda x: (x + 1).double(), (torch.ones(4),), "float64"),
    ],
)
def test_from_torch_says_what_and_where(f, args, text):
    with pytest.raises(mi.MirageError) as raised:
        mi.from_torch(f, *args)
    assert text in str(raised.value)


def test_from_torch_wants_dense_strides():
    with pytest.raises(ValueError, match="permutation of contiguous strides"):
        mi.from_torch(lambda x: x * 2, torch.ones(4, 8)[:, :4])


# ------------------------------------------------------------------------------------------------------------- mistakes

ONES = torch.ones(4, 4)


@pytest.mark.parametrize(
    "f, args, error, text",
    [
        (3, (ONES,), TypeError, r"^from_torch: expected a function or a module, got int$"),
        (lambda x, w: x @ w, (ONES,), TypeError, r"^from_torch: missing a required argument: 'w', for <lambda>\(x, w\)$"),
        (lambda x: x @ x, (ONES, ONES), TypeError, r"^from_torch: too many positional arguments, for <lambda>\(x\)$"),
        (torch.nn.Linear(4, 4), (), TypeError, r"^from_torch: missing a required argument: 'input', for Linear\("),
        (lambda x: x @ x, (ONES.numpy(),), TypeError,
         r"^from_torch: argument 0: expected a tensor of PyTorch's, got ndarray: pass torch.as_tensor\(x\)$"),
        (lambda x, w: x @ w, (ONES, torch.ones(3, 3)), mi.MirageError,
         r"^from_torch: PyTorch cannot trace it: RuntimeError: a and b must have same reduction dim, but got \[4, 4\] X \[3, 3\]"),
        (lambda x: x @ x if x.sum() > 0 else x, (ONES,), mi.MirageError,
         r"^from_torch: PyTorch cannot trace it: Data-dependent branching$"),
        (lambda x: x * 2, (torch.ones(1, 4).expand(4, 4),), mi.MirageError,
         r"^from_torch: input 'x': strides \[0, 1\] of dims \[4, 4\]: expected a permutation"),
    ],
)
def test_mistakes(f, args, error, text):
    with pytest.raises(error, match=text) as raised:
        mi.from_torch(f, *args)
    assert raised.type is error
