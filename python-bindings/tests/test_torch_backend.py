"""torch.compile(f, backend="mirage") on the CPU: parts run by the evaluator, everything else by PyTorch, meaning
unchanged."""

import sys
import threading
import types
import warnings

import pytest
import torch
import torch.nn.functional as F
import torch_gpu_cases

import mirage_mlir as mi
from mirage_mlir import _torch_backend, _torch_runtime
from mirage_mlir._torch_backend import Settings
from test_torch_partition import random_program, run

# A search of few states: what is found is the program's own lowering, and the same every time.
QUICK = {"force": True, "fallback": "eager", "max_states": 50, "time_budget": 0.0, "num_threads": 1, "measure": "no"}

pytestmark = pytest.mark.filterwarnings("ignore:tensors in host memory")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    mi.replaced().clear()
    _torch_backend._said.clear()
    with torch.no_grad():
        yield


def compiled(f, **options):
    return torch.compile(f, backend="mirage", options={**QUICK, **options})


def same(f, *args, parts=None, calls=3, tolerance=1e-5, **options):
    """f compiled gives what f gives, at every call, and leaves its arguments as f does."""
    g = compiled(f, **options)
    for _ in range(calls):
        ours = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        theirs = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        torch.testing.assert_close(g(*ours), f(*theirs), rtol=tolerance, atol=tolerance, equal_nan=True)
        torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
    if parts is not None:
        table = mi.replaced()
        assert [p.operators for p in table.parts if p.kept] == parts, str(table)
    return g


both = pytest.mark.parametrize("fallback", ["eager", "inductor"])


class Block(torch.nn.Module):
    def __init__(self, width=16, heads=2, hidden=24):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.RMSNorm(width, eps=1e-5), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, hidden), torch.nn.Linear(hidden, width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (s.view(b, t, self.heads, -1).transpose(1, 2) for s in self.qkv(self.norm1(x)).split(d, -1))
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


# ------------------------------------------------------------------------------------------------------------- it works


def test_transformer_block_is_one_part():
    block, x = Block(), torch.randn(2, 5, 16)
    same(
        block, x, parts=["rms_norm linear scaled_dot_product_attention linear add layer_norm linear gelu ... 10 in all"]
    )
    assert mi.replaced().outside == []
    assert "1 of 1 parts replaced" in str(mi.replaced())


def test_a_graph_that_is_one_part_is_called_without_a_graph_around_it():
    g = _torch_backend.mirage(
        torch.fx.symbolic_trace(lambda x, w: (torch.tanh(x @ w),)), [torch.ones(2, 3), torch.ones(3, 4)], options=QUICK
    )
    x, w = torch.randn(2, 3), torch.randn(3, 4)
    g(x, w)
    assert isinstance(g.ready[None], _torch_runtime.Kept)
    torch.testing.assert_close(g(x, w)[0], torch.tanh(x @ w))


def test_half_precision():
    w = torch.randn(32, 16, dtype=torch.bfloat16)
    same(
        lambda x: F.silu((x.float() * 0.3).to(torch.bfloat16) @ w),
        torch.randn(4, 32, dtype=torch.bfloat16),
        parts=["mul matmul silu"],
        tolerance=2e-2,
    )


def test_inductor_computes_the_rest():
    w, v = torch.randn(8, 8), torch.randn(4, 8)

    def f(x):
        return torch.cumsum(torch.tanh(x @ w), 0).t() @ v, x.long()

    same(f, torch.randn(4, 8).t().contiguous().t(), fallback="inductor", parts=["matmul tanh", "matmul"])


def test_inference_mode():
    block, x = Block(), torch.randn(1, 3, 16)
    expected = block(x)
    g = compiled(block)
    with torch.inference_mode():
        for _ in range(2):
            torch.testing.assert_close(g(x), expected, rtol=1e-5, atol=1e-5)
    assert mi.replaced().parts[0].kept


def test_equal_layers_are_searched_once():
    weights = [torch.randn(8, 8) for _ in range(4)]

    def f(x):
        for w in weights:
            x = torch.cumsum(F.silu(x @ w) + x, 0) / 8
        return x

    same(f, torch.randn(3, 8))
    table = mi.replaced()
    kinds = [p.operators for p in table.parts]
    assert len(kinds) == 4 and kinds[1] == kinds[2] == kinds[3]
    assert table.searches == 2  # the first layer, which divides nothing, and the others


def test_threads():
    f = lambda x: torch.tanh(x @ x) * 5  # noqa: E731
    g = compiled(f)
    failed = []

    def work(seed):
        x = torch.randn(6, 6, generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            for _ in range(10):
                if not torch.allclose(g(x), f(x), rtol=1e-4, atol=1e-5):
                    failed.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and mi.replaced().parts[0].kept


def test_equal_parts_of_another_function_are_known():
    w = torch.randn(8, 6)
    same(lambda x: torch.relu(x @ w), torch.randn(5, 8))
    searches = mi.replaced().searches
    torch._dynamo.reset()
    same(lambda y: torch.relu(torch.matmul(y, w)), torch.randn(5, 8))
    assert searches == 1 and mi.replaced().searches == 1


def test_superoptimize_many_searches_on_the_executor(monkeypatch):
    """All programs of a graph in one call, with the executor; what fails comes back as an exception in its place."""
    calls = []

    def superoptimize_many(texts, options, **arguments):
        calls.append((len(texts), arguments))
        return [mi.superoptimize(text, options, progress=False) for text in texts]

    monkeypatch.setitem(sys.modules, "mirage_mlir._many", types.SimpleNamespace(superoptimize_many=superoptimize_many))
    executor = object()
    same(
        lambda x: torch.cumsum(torch.tanh(x @ x) * 7, 0) @ x,
        torch.randn(7, 7),
        executor=executor,
        parts=["matmul tanh mul", "matmul"],
    )
    assert calls == [(2, {"executor": executor, "progress": False, "cache": "always", "return_exceptions": True})]


def test_several_programs_are_searched_at_a_time(monkeypatch):
    """In threads that share the cores; each of these searches waits until all have begun."""
    from mirage_mlir import _many

    meet, seen = threading.Barrier(3), []

    def superoptimize_many(texts, options, *, executor, **_):
        seen.append(options.num_threads)
        assert len(texts) == 3
        return list(executor.map(begin, texts, [options] * 3))

    def begin(text, options):
        meet.wait(60)
        return mi.superoptimize(text, options, progress=False)

    monkeypatch.setattr(_many, "superoptimize_many", superoptimize_many)
    monkeypatch.setattr(_torch_backend.os, "sched_getaffinity", lambda pid: set(range(12)))
    f = lambda x: torch.cumsum(torch.cumsum(torch.tanh(x @ x) * 3, 0) @ x * 2, 0) @ x * 7  # noqa: E731
    same(f, torch.randn(7, 7), num_threads=0, max_states=57)
    assert seen == [4] and mi.replaced().searches == 3


def test_a_search_that_fails_among_others(monkeypatch):
    """Its part stays PyTorch's; the others do not."""
    from mirage_mlir import _jobs

    real = _jobs.attempt

    def attempt(text, pipeline, number):
        if "softmax" in text:
            raise RuntimeError("lost")
        return real(text, pipeline, number)

    monkeypatch.setattr(_jobs, "attempt", attempt)
    monkeypatch.setenv("MIRAGE_CACHE", "no")
    f = lambda x: torch.softmax(torch.cumsum(torch.tanh(x @ x) * 3, 0) @ x, -1)  # noqa: E731
    same(f, torch.randn(5, 7, 7), num_threads=0, max_states=58)
    assert [(p.kept, p.reason) for p in mi.replaced().parts] == [(True, ""), (False, "search: lost")]


# -------------------------------------------------------------------------------------------------- kept only if faster


@pytest.fixture
def stopwatch(monkeypatch, tmp_path):
    """Stands in for the GPU's timing: both ways compute the same, and take what a test says."""

    class Stopwatch:
        took, calls = [2.0, 3.0], 0

        def times(self, functions, inputs):
            self.calls += 1
            ours, theirs = ([t for t in f(*inputs)] for f in functions)
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
            return list(self.took)

    watch = Stopwatch()
    monkeypatch.setattr(_torch_backend, "_can_measure", lambda tensors: True)
    monkeypatch.setattr(_torch_backend._torch_measure, "times", watch.times)
    monkeypatch.setattr(_torch_backend, "_timed", {})
    monkeypatch.setenv("MIRAGE_TUNING_DB", str(tmp_path / "tuning.db"))
    return watch


def layers(x, w):
    for _ in range(3):
        x = torch.cumsum(torch.tanh(x @ w), 0)
    return x


@both
def test_what_is_faster_is_kept(stopwatch, fallback):
    same(
        layers,
        torch.randn(4, 4),
        torch.randn(4, 4),
        force=False,
        fallback=fallback,
        max_states=53,
        parts=["matmul tanh"] * 3,
    )
    assert {(p.ours_us, p.theirs_us) for p in mi.replaced().parts} == {(2.0, 3.0)}
    assert stopwatch.calls == 1  # equal parts are timed once, too
    assert "2.00 us, was 3.00 us" in str(mi.replaced())


@both
def test_what_is_slower_is_left(stopwatch, fallback):
    stopwatch.took = [3.0, 2.5]
    same(layers, torch.randn(5, 5), torch.randn(5, 5), force=False, fallback=fallback, max_states=54, parts=[])
    assert [(p.kept, p.reason) for p in mi.replaced().parts] == [(False, "slower")] * 3


def test_force_keeps_what_is_slower(stopwatch):
    stopwatch.took = [3.0, 2.5]
    same(layers, torch.randn(6, 6), torch.randn(6, 6), max_states=55, parts=["matmul tanh"] * 3)


def test_timing_that_fails_leaves_the_part(stopwatch):
    stopwatch.times = None
    _torch_backend._torch_measure.times = lambda functions, inputs: 1 / 0
    same(layers, torch.randn(7, 7), torch.randn(7, 7), force=False, max_states=56, parts=[])
    assert "division by zero" in mi.replaced().parts[0].reason


# ------------------------------------------------------------------------------------------ what may not change: memory


@both
def test_several_outputs_and_their_aliases(fallback):
    w = torch.randn(4, 4)

    def f(x):
        y = x @ w
        return y, y.t(), y.view(16), x.view(-1), torch.tanh(y)

    g = same(f, torch.randn(4, 4), parts=["matmul tanh"], fallback=fallback)
    x = torch.randn(4, 4)
    y, turned, flat, of_x, other = g(x)
    assert y.data_ptr() == turned.data_ptr() == flat.data_ptr() and of_x.data_ptr() == x.data_ptr()
    assert other.data_ptr() != y.data_ptr()


def test_one_value_twice_is_one_tensor():
    def f(x):
        y = torch.tanh(x) * 2
        return y, y

    a, b = same(f, torch.randn(3, 3))(torch.randn(3, 3))
    assert a.data_ptr() == b.data_ptr()


def test_results_of_two_calls_are_two_tensors():
    g = same(lambda x: torch.tanh(x) * 2, torch.randn(3, 3))
    x = torch.randn(3, 3)
    assert g(x).data_ptr() != g(x).data_ptr()


@both
def test_writes_to_arguments(fallback):
    w = torch.randn(4, 4)

    def f(x):
        y = x @ w
        x.mul_(2)
        x += y
        return x @ w, y

    same(f, torch.randn(4, 4), parts=["matmul", "matmul"], fallback=fallback)
    assert {o.reason for o in mi.replaced().outside} == {"writes to its operand"}


@both
def test_a_view_sees_a_later_write_and_a_copy_does_not(fallback):
    w = torch.randn(4, 4)

    def f(x):
        view, copy = x.t(), x.t().reshape(16)
        x.add_(1)
        return view @ w, copy.view(4, 4) @ w

    same(f, torch.randn(4, 4), parts=["matmul matmul"], fallback=fallback)


def test_writes_through_a_view_and_out():
    w = torch.randn(4, 4)

    def f(x, out):
        y = x @ w
        y[1:3].fill_(0.5)
        torch.add(y, x, out=out)
        return y @ w

    same(f, torch.randn(4, 4), torch.zeros(4, 4))


@both
def test_key_value_cache(fallback):
    wk, wq = torch.randn(8, 8), torch.randn(8, 8)

    def f(x, cache, position):
        k = (x @ wk).view(1, 1, 8)
        cache.index_copy_(1, position, k)
        return torch.softmax((x @ wq).view(1, 1, 8) @ cache.transpose(1, 2), -1) @ cache

    g = compiled(f, fallback=fallback)
    ours, theirs = torch.zeros(1, 6, 8), torch.zeros(1, 6, 8)
    for i in range(6):
        x, position = torch.randn(1, 8), torch.tensor([i])
        torch.testing.assert_close(g(x, ours, position), f(x, theirs, position))
        torch.testing.assert_close(ours, theirs)
    assert mi.replaced().reasons() == {("index_copy_", "writes to its operand"): 1}
    assert [p.operators for p in mi.replaced().parts if p.kept] == ["matmul", "matmul matmul softmax matmul"]


def test_strided_arguments():
    w = torch.randn(6, 6)
    f = lambda x: torch.tanh(x @ w)  # noqa: E731
    big = torch.randn(12, 12)
    for x in (big[:6, :6], big.t()[:6, 3:9], big[::2, :6], torch.randn(1, 6).expand(6, 6), torch.randn(6, 6).t()):
        torch._dynamo.reset()
        g = compiled(f)
        for _ in range(2):
            torch.testing.assert_close(g(x), f(x))
    assert all(p.kept for p in mi.replaced().parts)


def test_strides_of_results():
    f = lambda x, y: (torch.tanh(x) * y, (x + y).square().transpose(0, 2))  # noqa: E731
    x, y = torch.randn(2, 3, 4).permute(2, 0, 1), torch.randn(2, 3, 4).permute(2, 0, 1)
    g = compiled(f)
    for _ in range(2):
        assert [t.stride() for t in g(x, y)] == [t.stride() for t in f(x, y)]
        torch.testing.assert_close(g(x, y), f(x, y))
    assert mi.replaced().parts[0].kept


def test_random_graphs():
    """What the cutting's own test runs with PyTorch's operators, with programs of ours."""
    for seed in range(40):
        module = random_program(seed)
        f = _torch_backend.mirage(module, [torch.ones(4, 4)] * 2, options={**QUICK, "min_nodes": 1, "max_nodes": 6})
        for _ in range(2):
            (got, *ours), (expected, *theirs) = run(f, seed), run(module, seed)
            torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-4, equal_nan=True, msg=f"seed {seed}")
            assert ours == theirs, f"seed {seed}"
    kept = sum(p.kept for p in mi.replaced().parts)
    assert kept > 40 and kept == len(mi.replaced().parts), str(mi.replaced())


# ----------------------------------------------------------------------------------------- what may not change: numbers


def test_integer_masks_stay_outside():
    def f(x, mask):
        scores = torch.tanh(x @ x.t()) * 0.5
        return torch.softmax(scores.masked_fill(mask == 0, float("-inf")), -1) @ x

    mask = torch.tril(torch.ones(5, 5, dtype=torch.int64))
    same(f, torch.randn(5, 5), mask, parts=["matmul tanh mul masked_fill softmax matmul"])
    assert {op for op, _ in mi.replaced().reasons()} == {"eq"}  # of integers that come from outside


def test_a_float_mask_of_infinities():
    mask = torch.full((5, 5), float("-inf")).triu(1)
    same(lambda x: torch.softmax(x @ x.t() + mask, -1) @ x, torch.randn(5, 5))


def test_casts_that_cast_nothing():
    w = torch.randn(6, 6)
    same(
        lambda x: torch.tanh(x.float().to(torch.float32).type_as(x) @ w.float()),
        torch.randn(6, 6),
        parts=["matmul tanh"],
    )


def test_not_a_number_and_infinity_come_out():
    x = torch.tensor([[1.0, float("inf")], [float("nan"), 2.0]])
    same(lambda x: (x * 2 + 1).square(), x)


def test_dtypes_are_promoted():
    h, f, i = torch.randn(4, 4).half(), torch.randn(4, 4), torch.arange(16).view(4, 4)

    def g(h, f, i):
        return (h * 2 + f).tanh() @ f, (h * 0.1) * h, h * i + h

    same(g, h, f, i, tolerance=2e-3)
    assert [t.dtype for t in compiled(g)(h, f, i)] == [torch.float32, torch.float16, torch.float16]


def test_random_numbers_come_in_their_order():
    def f(x):
        return F.dropout(torch.tanh(x @ x), 0.5) @ x + torch.rand(6, 6)

    x = torch.randn(6, 6)
    g = compiled(f)
    for seed in range(3):
        torch.manual_seed(seed)
        expected = f(x)
        torch.manual_seed(seed)
        torch.testing.assert_close(g(x), expected)
    assert {r for _, r in mi.replaced().reasons()} == {"random"}


def test_autocast_inside():
    w = torch.randn(8, 8)

    def f(x):
        y = torch.tanh(x) * 2
        with torch.autocast("cpu", torch.bfloat16):
            z = x @ w
        return y, z

    same(f, torch.randn(8, 8), parts=["tanh mul"])


def test_a_wrong_program_is_not_kept(monkeypatch):
    wrong = mi.from_mlir("""mirage_kernel.graph @part(%x: tensor<9x9xf32>) -> tensor<9x9xf32> {
      %y = matmul %x, %x : tensor<9x9xf32>, tensor<9x9xf32>
      %z = sigmoid %y : tensor<9x9xf32>
      return %z : tensor<9x9xf32>
    }""")
    monkeypatch.setattr(_torch_backend, "_search", lambda texts, settings: [[wrong] for _ in texts])
    same(lambda x: torch.tanh(x @ x), torch.randn(9, 9), parts=[], max_states=51)
    (part,) = mi.replaced().parts
    assert not part.kept and part.reason.startswith("output 0: error")


def test_a_search_that_fails_changes_nothing(monkeypatch):
    monkeypatch.setattr(
        _torch_backend, "_search", lambda texts, settings: [mi.MirageError("no space for it") for _ in texts]
    )
    same(lambda x: torch.tanh(x @ x) + 3, torch.randn(3, 3), parts=[], max_states=52)
    assert mi.replaced().parts[0].reason == "search: no space for it"


# --------------------------------------------------------------------------------------------------------------- shapes


def test_shapes_are_compiled_one_by_one():
    w = torch.randn(8, 8)
    f = lambda x: torch.softmax(x.view(x.shape[0], -1) @ w, -1).sum(0) * x.shape[0]  # noqa: E731
    g = compiled(f)
    for rows in (2, 3, 5, 3, 2, 4, 5):
        x = torch.randn(rows, 2, 4)
        torch.testing.assert_close(g(x), f(x))
    table = mi.replaced()  # the first shape is compiled as the only one, and again when there are others
    assert len(table.parts) == 5 and table.searches == 4 and all(p.kept for p in table.parts)


@both
def test_more_shapes_than_the_limit(fallback):
    f = lambda x: torch.tanh(x @ x.t()) * x.shape[0]  # noqa: E731
    g = compiled(f, shapes=2, fallback=fallback)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for rows in (2, 3, 4, 5, 6, 4):
            x = torch.randn(rows, 3)
            torch.testing.assert_close(g(x), f(x))
    said = [str(w.message) for w in caught if "shapes of one graph" in str(w.message)]
    assert said == [
        "backend mirage: more than 2 shapes of one graph: the others are left to "
        f"{fallback}; option 'shapes' is the limit"
    ]


def test_numbers_that_change():
    f = lambda x, n, s: torch.tanh(x.narrow(0, 0, n) * s) @ x  # noqa: E731
    g = compiled(f)
    x = torch.randn(6, 6)
    for n, s in ((2, 0.5), (3, 0.25), (4, 2.0), (3, 0.25)):
        torch.testing.assert_close(g(x, n, s), f(x, n, s))


def test_sizes_that_depend_on_data():
    f = lambda x: torch.tanh(x[x.sum(1) > 0] * 2) @ x.t()  # noqa: E731
    x = torch.randn(6, 4)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        same(f, x)
    same(f, x)  # with a break of the graph


# ---------------------------------------------------------------------------------------------------- autograd, options


@both
def test_autograd_is_left_to_the_fallback(fallback):
    w = torch.randn(4, 4, requires_grad=True)
    g = compiled(lambda x: torch.tanh(x @ w).sum(), fallback=fallback)
    x = torch.randn(4, 4)
    with torch.enable_grad(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            w.grad = None
            g(x).backward()
        torch._dynamo.reset()
        compiled(lambda x: (x @ w).sum(), fallback=fallback)(x)
    assert sum("autograd is on" in str(c.message) for c in caught) == 1
    y = w.detach().clone().requires_grad_()
    with torch.enable_grad():
        torch.tanh(x @ y).sum().backward()
    torch.testing.assert_close(w.grad, y.grad)
    assert mi.replaced().parts == []


FUNCTIONS = {
    "grad": lambda x: torch.func.grad(lambda y: torch.tanh(y @ y).sum())(x) * 2,
    "jvp": lambda x: torch.func.jvp(lambda y: torch.tanh(y @ y), (x,), (x * 2,)),
    "jacrev": lambda x: torch.func.jacrev(lambda y: torch.tanh(y * 2).sum(0))(x),
    "vmap": lambda x: torch.vmap(lambda row: torch.softmax(row * 2 + 1, -1))(x) @ x,
}


@both
@pytest.mark.parametrize("name", FUNCTIONS)
def test_transformed_functions_are_left_to_the_fallback(name, fallback):
    """In no_grad too: torch.func takes gradients all the same."""
    g, x = compiled(FUNCTIONS[name], fallback=fallback), torch.randn(4, 4)
    torch.testing.assert_close(g(x), FUNCTIONS[name](x))
    assert mi.replaced().parts == []
    assert {r for _, r in mi.replaced().reasons()} == {"transforms functions (torch.func: grad, jvp, vmap)"}


def test_on_the_cpu_nothing_is_replaced_without_force():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        same(lambda x: torch.tanh(x @ x), torch.randn(3, 3), force=False, parts=[])
    assert sum("no tensor is on a GPU" in str(c.message) for c in caught) == 1


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"forse": True}, TypeError, "backend mirage: no option 'forse': did you mean 'force'?"),
        ({"max_block_opps": 3}, TypeError, "no option 'max_block_opps': did you mean 'max_block_ops'?"),
        ({"fallback": "none"}, ValueError, "backend mirage: fallback 'none': expected 'inductor' or 'eager'"),
        ({"target": "h 200"}, ValueError, "target: 'h 200': blanks"),
        ({"shapes": 0}, ValueError, "backend mirage: shapes 0: expected a number of at least 1"),
        ({"max_nodes": "many"}, ValueError, "backend mirage: max_nodes 'many': expected a number of at least 1"),
    ],
)
def test_options_that_are_none(options, error, text):
    with pytest.raises(error) as raised:
        Settings.of(options)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    "options, mode, error, text",
    [
        ({"max_autotun": True}, None, TypeError, "backend mirage: no option 'max_autotun'"),
        ({"mode": "fast"}, None, ValueError, "backend mirage: mode 'fast': expected one of 'default', "),
        ({}, "fast", ValueError, "backend mirage: mode 'fast': expected one of 'default', "),
    ],
)
def test_modes_that_are_none(options, mode, error, text):
    with pytest.raises(error) as raised:
        Settings.of(options, mode)
    assert text in str(raised.value)


@pytest.fixture
def configurations(monkeypatch):
    """What Inductor's configuration is at each of its compilations."""
    import torch._inductor.compile_fx as module
    from torch._inductor import config

    seen, real = [], module._compile_fx_inner

    def compile_fx_inner(*args, **more):
        seen.append({name: getattr(config, name) for name in ("max_autotune", "coordinate_descent_tuning", "epilogue_fusion")})
        return real(*args, **more)

    monkeypatch.setattr(module, "_compile_fx_inner", compile_fx_inner)
    with config.patch(force_disable_caches=True):
        yield seen


def rest_and_part(x):
    return torch.cumsum(torch.tanh(x @ x) * 3, 0).sin()


MODE = "max-autotune-no-cudagraphs"


@pytest.mark.parametrize("options, expected", [
    ({}, (False, False, True)),
    ({"mode": MODE}, (True, True, True)),
    ({"max_autotune": True}, (True, False, True)),
    ({"epilogue_fusion": False, "mode": MODE}, (True, True, False)),
])
def test_the_rest_is_compiled_as_asked(configurations, options, expected):
    same(rest_and_part, torch.randn(5, 5), fallback="inductor", parts=["matmul tanh mul"], **options)
    assert [tuple(c.values()) for c in configurations] == [expected]


def test_torch_compiles_own_mode(configurations):
    """On the CPU, without force, all is the rest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(rest_and_part, backend="mirage", mode=MODE)(torch.randn(6, 6))
    assert [c["max_autotune"] for c in configurations] == [True]


@pytest.mark.parametrize("options", [{}, {"mode": MODE}])
def test_what_ours_is_timed_against_is_compiled_as_asked(configurations, stopwatch, options):
    same(layers, torch.randn(3, 3), torch.randn(3, 3), fallback="inductor", max_states=59, **options)
    assert len(configurations) == 2  # a part of three, and the rest
    assert {c["max_autotune"] for c in configurations} == {bool(options)}


def test_shapes_beyond_the_limit_are_compiled_as_asked(configurations):
    g = compiled(rest_and_part, fallback="inductor", shapes=1, max_autotune=True)
    for rows in (3, 4):
        x = torch.randn(rows, rows)
        torch.testing.assert_close(g(x), rest_and_part(x), rtol=1e-4, atol=1e-5)
    assert configurations and all(c["max_autotune"] for c in configurations)


def test_times_are_kept(stopwatch, monkeypatch):
    x, w = torch.randn(4, 4), torch.randn(4, 4)
    for mode, calls in ((None, 1), (None, 1), (MODE, 2)):
        _torch_backend._timed.clear()
        torch._dynamo.reset()
        mi.replaced().clear()
        same(layers, x, w, force=False, fallback="inductor", max_states=60, mode=mode, parts=["matmul tanh"] * 3)
        assert stopwatch.calls == calls and {(p.ours_us, p.theirs_us) for p in mi.replaced().parts} == {(2.0, 3.0)}
    _torch_backend._timed.clear()
    torch._dynamo.reset()
    monkeypatch.setenv("MIRAGE_CACHE", "no")
    same(layers, x, w, force=False, max_states=60)
    assert stopwatch.calls == 3


def test_where_first_calls_go(stopwatch):
    same(layers, torch.randn(4, 4), torch.randn(4, 4), force=False, max_states=61)
    seconds = mi.replaced().seconds
    assert list(seconds) == ["cutting", "search", "numbers", "timing", "rest", "first calls"]
    assert sum(list(seconds.values())[:-1]) <= seconds["first calls"]
    assert "\nseconds: cutting " in str(mi.replaced())
    mi.replaced().clear()
    assert mi.replaced().seconds == {} and "seconds" not in str(mi.replaced())


def test_options_reach_the_search():
    settings = Settings.of({"seed": 7, "target": "a100", "force": True})
    assert (settings.search.seed, settings.search.target, settings.search.time_budget) == (7, "a100", 15.0)


def test_lists_are_options_too():
    same(lambda x: torch.tanh(x @ x), torch.randn(8, 8), griddims=[8, 1], fmaps=[0, 1, -1], parts=["matmul tanh"])


def test_the_backend_is_known_by_its_name():
    assert "mirage" in torch._dynamo.list_backends()


# --------------------------------------------------------------------------------------------------------- the operator


def kept_program(orders=((0, 1), (0, 1))):
    ugraph = mi.from_mlir("""mirage_kernel.graph @two(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>)
        -> (tensor<3x5xf32>, tensor<3x4xf32>) {
      %y = matmul %x, %w : tensor<3x4xf32>, tensor<4x5xf32>
      %z = tanh %x : tensor<3x4xf32>
      return %y, %z : tensor<3x5xf32>, tensor<3x4xf32>
    }""")
    return _torch_runtime.keep(_torch_runtime.Kept(ugraph, orders))


def test_the_operator_stands_pytorchs_own_check():
    inputs = [torch.randn(3, 4), torch.randn(4, 5)]
    key = kept_program()
    y, z = torch.ops.mirage_mlir.call(key, inputs)
    torch.testing.assert_close((y, z), (inputs[0] @ inputs[1], torch.tanh(inputs[0])))
    result = torch.library.opcheck(torch.ops.mirage_mlir.call.default, (key, inputs))
    assert set(result.values()) == {"SUCCESS"}


def test_the_operator_repairs_strides_that_nobody_promised():
    x, w = torch.randn(4, 3).t(), torch.randn(5, 4).t()
    y, _ = torch.ops.mirage_mlir.call(kept_program(), [x, w])
    torch.testing.assert_close(y, x @ w)


def test_a_key_means_the_same_program_everywhere():
    assert kept_program() == kept_program()
    assert kept_program() != kept_program(((1, 0), (0, 1)))


@pytest.mark.parametrize(
    "arguments, error",
    [
        ((1, [torch.ones(3, 4)]), KeyError),
        (("program", [torch.ones(3, 4), torch.ones(4, 6)]), ValueError),
        (("program", [torch.ones(3, 4)]), TypeError),
        (("program", [torch.ones(3, 4).half(), torch.ones(4, 5)]), TypeError),
    ],
)
def test_the_operator_refuses(arguments, error):
    key, inputs = arguments
    with pytest.raises(error):
        torch.ops.mirage_mlir.call(kept_program() if key == "program" else key, inputs)


# ------------------------------------------------------------------------------------------------------------------ GPU


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("case", torch_gpu_cases.CASES)
def test_on_a_gpu(case):
    torch_gpu_cases.CASES[case]()
