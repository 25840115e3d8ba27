"""How graphs are cut: by hand, and at random graphs with views, writes and aliases, where nothing may change."""

import operator
import random

import pytest
import torch
import torch.nn.functional as F

from mirage_mlir._torch_partition import Limits, partition, specialise


def cut(f, *args, **limits):
    return partition(specialise(torch.fx.symbolic_trace(f), list(args)), Limits(**limits))


def names(module):
    return [n.name.rstrip("_0123456789") for n in module.graph.nodes if n.op.startswith("call")]


def contents(split):
    return [names(part) for part in split.parts.values()]


X, W = torch.randn(4, 4), torch.randn(4, 4)


def test_a_graph_that_is_one_part():
    split = cut(lambda x, w: F.silu(x @ w.t()) * x, X, W)
    assert contents(split) == [["t", "matmul", "silu", "mul"]]
    assert names(split.module) == ["part", "getitem"] and not split.outside


def test_what_stays_outside_cuts():
    split = cut(lambda x, w: torch.cumsum(x @ w, 0) @ w, X, W)
    assert contents(split) == [["matmul"], ["matmul"]]
    assert [(o.op, o.reason) for o in split.outside] == [("cumsum", "no such operator")]


def test_no_part_waits_for_itself():
    # a -> cumsum -> b and a -> b: one part {a, b} would need its own result.
    def f(x, w):
        a = x @ w
        return torch.cumsum(a, 0) + a @ w

    split = cut(f, X, W)
    assert contents(split) == [["matmul", "matmul"]]
    assert names(split.module) == ["part", "getitem", "getitem", "cumsum", "add"]
    torch.testing.assert_close(split.module(X, W), f(X, W))


def test_parts_that_meet_only_directly_become_one():
    # The sum is of a later stage than the product, but nothing outside lies between them.
    split = cut(lambda x, y, w: (x @ w) + torch.cumsum(y, 0), X, X, W)
    assert contents(split) == [["matmul", "add"]]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: x.t(),
        lambda x, w: x.half(),
        lambda x, w: x + w,
        lambda x, w: torch.cat((x, w)),
        lambda x, w: x.view(2, 8).transpose(0, 1).contiguous(),
        lambda x, w: x,
    ],
)
def test_what_is_not_worth_it(f):
    assert cut(f, X, W).parts == {}


def test_how_much_is_worth_it_is_an_option():
    assert contents(cut(lambda x, w: x + w, X, W, min_nodes=1)) == [["add"]]
    assert cut(lambda x, w: F.silu(x) + w, X, W, min_nodes=3).parts == {}


def test_a_view_that_leaves_stays_a_view():
    split = cut(lambda x, w: ((x @ w).t(), (x @ w).view(16) * 2), X, W)
    assert [n for n in names(split.module) if n == "t"] == ["t"]
    assert all("t" not in part for part in contents(split))


def test_a_view_of_an_input_is_the_parts_own():
    split = cut(lambda x, w: (x.t() @ w, x.t()), X, W)
    assert contents(split) == [["t", "matmul"]]
    assert "t" in names(split.module)


def test_writes_are_barriers():
    def f(x, w):
        a = x @ w
        x.add_(1)
        return a, x @ w

    split = cut(f, X, W)
    assert contents(split) == [["matmul"], ["matmul"]]
    assert names(split.module) == ["part", "getitem", "add", "part", "getitem"]
    assert [(o.op, o.reason) for o in split.outside] == [("add_", "writes to its operand")]


def test_a_copy_from_before_a_write_is_not_taken_after_it():
    def f(x, w):
        old = x.t().reshape(16)  # a copy: it keeps what was
        x.add_(1)
        return old.view(4, 4) @ w

    split = cut(f, X, W)
    x, w = torch.randn(4, 4), torch.randn(4, 4)
    expected = x.t().clone() @ w
    torch.testing.assert_close(split.module(x, w), expected)


def test_what_is_written_to_is_made_once():
    """Zeros that become a cache are no zeros to those behind the write."""

    def f(x, y):
        cache = torch.zeros(4, 4)
        before = torch.exp(x @ x) + cache
        cache.index_copy_(0, torch.tensor([1]), y)
        return before, torch.exp(x @ cache) * 2

    module, inputs = traced(f), [torch.ones(4, 4), torch.ones(1, 4)]
    split = partition(specialise(module, inputs))
    for got, expected in zip(split.module(*inputs), f(*inputs)):
        torch.testing.assert_close(got, expected)


def traced(f, *inputs):
    """By dynamo, which sees what is made from nothing."""
    found = []
    torch.compiler.reset()
    inputs = inputs or (torch.ones(4, 4), torch.ones(1, 4))
    torch.compile(f, backend=lambda m, _: found.append(m) or m.forward, fullgraph=True)(*inputs)
    return found[0]


def test_masks_of_positions_are_each_parts_own():
    def f(x, y):
        mask = torch.ones(4, 4, dtype=torch.bool).tril()
        a = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
        y.add_(1)
        return F.scaled_dot_product_attention(a, x, x, attn_mask=mask) @ x, y

    split = partition(specialise(traced(f), [torch.ones(4, 4), torch.ones(1, 4)]))
    assert [o.op for o in split.outside] == ["add_"] and len(split.parts) == 2


@pytest.mark.parametrize("where", ["args", "kwargs", "view"])
def test_attention_with_a_mask_from_outside_stands_alone(where):
    def f(x, w, m):
        q = x @ w
        if where == "args":
            a = F.scaled_dot_product_attention(q, x, x, m)
        elif where == "kwargs":
            a = F.scaled_dot_product_attention(q, x, x, attn_mask=m)
        else:
            a = F.scaled_dot_product_attention(q, x, x, attn_mask=m.t())
        return F.silu(a @ w) * x

    split = cut(f, X, W, torch.ones(4, 4, dtype=torch.bool))
    attention = ["t"] * (where == "view") + ["scaled_dot_product_attention"]
    assert contents(split) == [["matmul"], attention, ["matmul", "silu", "mul"]]
    torch.testing.assert_close(split.module(X, W, torch.ones(4, 4, dtype=torch.bool)), f(X, W, torch.ones(4, 4) > 0))


POSITIONS = [torch.tensor([2]), torch.tensor(1), torch.tensor([[3]], dtype=torch.int32), torch.tensor([[0], [1], [2], [1 << 40]])]


@pytest.mark.parametrize("position", POSITIONS, ids=["one", "scalar", "int32", "rows"])
def test_a_mask_of_positions_is_compared_where_it_is_read(position):
    def f(x, w, p):
        q = x @ w
        seen = ((torch.arange(4) <= p) & (torch.arange(4) >= 0)).view(-1, 4)
        a = F.scaled_dot_product_attention(q, x, x, attn_mask=seen)
        return F.scaled_dot_product_attention(F.silu(a @ w), x, x, seen) @ w

    module, inputs = traced(f, X, W, position), [torch.randn(4, 4), torch.randn(4, 4), position]
    split = partition(specialise(module, inputs))
    compared = [[n.target for n in part.graph.nodes].count(operator.le) for part in split.parts.values()]
    assert compared == [0, 1, 0, 1, 0] and not split.outside
    assert [x.dtype for part in split.parts.values() for x in shown(part) if x.dtype != torch.float32] == 2 * [torch.int32]
    torch.testing.assert_close(split.module(*inputs)[0], f(*inputs))


def shown(part):
    return [n.meta["val"] for n in part.graph.nodes if n.op == "placeholder"]


def test_positions_are_those_of_the_comparison():
    """Not what somebody has written since."""

    def f(x, p):
        y = torch.exp(x @ x)
        seen = (torch.arange(4) <= p)[None]
        p.add_(2)
        return F.scaled_dot_product_attention(y, x, x, attn_mask=seen) @ x

    module = traced(f, X, torch.tensor([0]))
    x = torch.randn(4, 4)
    split = partition(specialise(module, [x, torch.tensor([0])]))
    assert [o.op for o in split.outside] == ["add_"] and len(split.parts) == 3
    torch.testing.assert_close(split.module(x, torch.tensor([0]))[0], f(x, torch.tensor([0])))


@pytest.mark.parametrize(
    "mask",
    [
        lambda p: p.view(1, 4) <= torch.arange(4),  # a number for each key
        lambda p: p.view(4, 1) <= p.view(1, 4),  # nothing that is known
        lambda p: torch.arange(4) + 0.5 <= p.view(4, 1),  # no integers
        lambda p: (torch.arange(4) <= p.view(4, 1)) & (p.view(1, 4) > 0),  # one of two
        lambda p: (torch.arange(4) <= p.view(4, 1)).roll(1, 0),  # moved by an operator that is no view
    ],
    ids=["keys", "unknown", "floats", "one-of-two", "rolled"],
)
def test_other_masks_come_from_outside(mask):
    def f(x, w, p):
        q = x @ w
        return F.scaled_dot_product_attention(q, x, x, attn_mask=mask(p)) @ w

    p = torch.tensor([1, 2, 3, 0])
    split = partition(specialise(traced(f, X, W, p), [X, W, p]))
    assert {x.dtype for part in split.parts.values() for x in shown(part) if x.dtype != torch.float32} == {torch.bool}
    torch.testing.assert_close(split.module(X, W, p)[0], f(X, W, p))


def test_attention_without_such_a_mask_is_cut_like_others():
    def f(x, w, m):
        return F.scaled_dot_product_attention(x @ w, x, x, attn_mask=m) @ w

    assert contents(cut(f, X, W, None)) == [["matmul", "scaled_dot_product_attention", "matmul"]]
    assert contents(cut(f, X, W, torch.zeros(4, 4))) == [["matmul", "scaled_dot_product_attention", "matmul"]]


def test_comparisons_of_numbers_stay_outside():
    """The search takes masks of positions and of inputs alone; a part with another could not be searched."""

    def f(x, y):
        return torch.where(x @ x > 0, x, 0.0) @ x + y

    split = partition(specialise(traced(f), [torch.ones(4, 4), torch.ones(1, 4)]))
    assert {(o.op, o.reason) for o in split.outside} == {("gt", "a comparison of numbers, which the search does not take")}


def test_random_numbers_and_states_are_barriers():
    split = cut(lambda x, w: F.dropout(x @ w, 0.5, True) @ w, X, W)
    assert [(o.op, o.reason) for o in split.outside] == [("dropout", "random")]
    assert len(split.parts) == 2


def test_large_parts_are_cut_where_few_values_cross():
    def f(x, w):
        for _ in range(6):
            x = x + F.silu(x @ w) * torch.tanh(x)
        return x

    split = cut(f, X, W, max_nodes=10)
    assert contents(split) == [["matmul", "silu", "tanh", "mul", "add"] * 2] * 3
    assert all(len([n for n in p.graph.nodes if n.op == "output"][0].args[0]) == 1 for p in split.parts.values())


def test_a_table_that_all_layers_read_belongs_to_none():
    def f(x, w, angles):
        table = (angles * 2).half()
        for _ in range(3):
            x = torch.cumsum((x @ w) * table.t(), 0)
        return x

    split = cut(f, X, W, X)
    assert contents(split) == [["matmul", "t", "mul"]] * 3
    assert "mul" in names(split.module)


def test_two_devices():
    split = cut(lambda x, w: (x @ w).to("meta") * 2, X, W)
    assert ("to", "tensors on two devices") in [(o.op, o.reason) for o in split.outside]


def test_autocast_shows_in_the_dtype():
    graph = torch.fx.symbolic_trace(lambda x, w: x @ w)
    with torch.autocast("cpu", torch.bfloat16):
        split = partition(specialise(graph, [X, W]))
    assert split.parts == {}
    assert "PyTorch gives bfloat16" in split.outside[0].reason


# ------------------------------------------------------------------------------------------------------------ at random


def random_program(seed):
    """A graph on two 4x4 tensors, of operators that read, view, write and alias."""
    rng = random.Random(seed)
    graph = torch.fx.Graph()
    values = [graph.placeholder("x"), graph.placeholder("y")]
    for _ in range(rng.randint(4, 24)):
        a, b = rng.choice(values[-6:]), rng.choice(values)
        kind = rng.randrange(13)
        if kind < 3:
            values.append(graph.call_function(torch.add, (a, b)))
        elif kind < 5:
            values.append(graph.call_function(torch.tanh, (a,)))
        elif kind == 5:
            values.append(graph.call_function(torch.matmul, (graph.call_function(torch.tanh, (a,)), b)))
        elif kind == 6:
            values.append(graph.call_method("t", (a,)))
        elif kind == 7:
            values.append(graph.call_method("reshape", (graph.call_method("reshape", (a, 2, 8)), 4, 4)))
        elif kind == 8:
            values.append(graph.call_function(torch.cumsum, (a, 0)))
        elif kind == 9:
            values.append(graph.call_method(rng.choice(["sin_", "tanh_"]), (a,)))
        elif kind == 10:
            halves = graph.call_method("chunk", (a, 2, 0))
            first, second = (graph.call_function(operator.getitem, (halves, i)) for i in (0, 1))
            values.append(graph.call_function(torch.cat, ([second, first], 0)))
        elif kind == 11:
            values.append(graph.call_method("clone", (a,)))
        else:
            graph.call_method("mul_", (graph.call_method("narrow", (a, 0, 1, 2)), 0.5))
    graph.output(tuple(rng.sample(values, min(3, len(values)))))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def run(module, seed):
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.randn(4, 4, generator=generator), torch.randn(4, 4, generator=generator)
    results = module(x, y)
    aliases = [
        [a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() for b in (*results, x, y)] for a in results
    ]
    return [*results, x, y], aliases, [(r.shape, r.stride()) for r in results]


def test_random_graphs_mean_what_they_meant():
    """Results, what is written to arguments, which results share memory, and strides stay as they were."""
    cut_parts = 0
    for seed in range(300):
        module = random_program(seed)
        split = partition(specialise(module, [X, W]), Limits(min_nodes=1, max_nodes=1 + seed % 7))
        cut_parts += len(split.parts)
        (expected, aliases, strides), (got, ours, our_strides) = run(module, seed), run(split.module, seed)
        for a, b in zip(got, expected):
            torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True, msg=f"seed {seed}")
        assert (ours, our_strides) == (aliases, strides), f"seed {seed}"
    assert cut_parts > 300
