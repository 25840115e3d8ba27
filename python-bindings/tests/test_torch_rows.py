"""Programs on [batch, sequence, features] as programs on rows: the same function, reshapes at the borders alone."""

import random

import pytest
import torch

import mirage_mlir as mi
from mirage_mlir._torch_rows import rows

pytestmark = pytest.mark.filterwarnings("ignore:tensors in host memory")


def operators(graph):
    return [op for op, _, _ in graph._nodes if op not in ("input", "constant")]


def check(graph):
    """rows(graph), which computes what the graph does."""
    changed = rows(graph)
    inputs = [torch.randn(t.shape, generator=torch.Generator().manual_seed(i)) for i, t in enumerate(graph.inputs)]
    ours, theirs = mi.from_mlir(changed.mlir)(*inputs), mi.from_mlir(graph.mlir)(*inputs)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    return changed


def linear(g, x, w):
    lead = x.shape[:-1]
    flat = g.reshape(x, (-1, x.shape[-1]))
    return g.reshape(g.matmul(flat, w), (*lead, w.shape[-1]))


def test_reshapes_move_to_the_borders():
    g = mi.new_graph()
    x, w, gain, bias = (g.new_input(s, "float32") for s in ((2, 3, 8), (8, 4), (8,), (1, 1, 4)))
    y = g.silu(linear(g, g.rms_norm(g.mul(x, 0.5), gain, 1e-5), w) + bias)
    g.mark_output(y, g.reduce_sum(y, 2))
    assert operators(check(g)) == [
        "reshape",
        "mul",
        "rms_norm",
        "matmul",
        "reshape",
        "add",
        "silu",
        "reduce_sum",
        "reshape",
        "reshape",
    ]


def test_two_products_and_a_residual_are_one_program_on_rows():
    g = mi.new_graph()
    x, w, v = (g.new_input(s, "float32") for s in ((2, 3, 8), (8, 4), (4, 8)))
    g.mark_output(x + linear(g, g.relu(linear(g, x, w)), v))
    assert operators(check(g)) == ["reshape", "matmul", "relu", "matmul", "add", "reshape"]


def test_heads_keep_their_shape():
    g = mi.new_graph()
    x, w = g.new_input((2, 3, 8), "float32"), g.new_input((8, 8), "float32")
    q = g.transpose(g.reshape(linear(g, x, w), (2, 3, 2, 4)), (0, 2, 1, 3))
    g.mark_output(g.exp(q))
    assert operators(check(g)) == ["reshape", "matmul", "reshape", "transpose", "exp"]


@pytest.mark.parametrize(
    "build",
    [
        lambda g, x, w: g.exp(x),
        lambda g, x, w: g.matmul(g.reshape(x, (4, 12)), g.reshape(x, (12, 4))),
        lambda g, x, w: g.reshape(g.softmax(x, 1), (3, 16)),
        lambda g, x, w: g.matmul(x, w),
    ],
)
def test_where_nothing_is_gained_nothing_changes(build):
    g = mi.new_graph()
    x, w = g.new_input((2, 3, 8), "float32"), g.new_input((8, 4), "float32")
    g.mark_output(build(g, x, w))
    assert rows(g) is g


def test_what_looks_beside_its_row_stays():
    g = mi.new_graph()
    x, w, scale = (g.new_input(s, "float32") for s in ((2, 3, 8), (8, 8), (2, 1, 8)))
    y = linear(g, g.softmax(x, 1), w)
    g.mark_output(y * scale, g.reduce_max(y, 1))
    changed = check(g)
    (softmax,) = [attributes for op, _, attributes in changed._nodes if op == "softmax"]
    assert softmax["dim"] == 1 and changed.outputs[1].shape == (2, 1, 8)


def test_one_row():
    g = mi.new_graph()
    x, w, row = g.new_input((1, 1, 8), "float32"), g.new_input((8, 8), "float32"), g.new_input((1, 1, 8), "float32")
    g.mark_output(linear(g, g.mul(x, 0.5) * row, w) + row)
    assert operators(check(g)) == ["reshape", "mul", "reshape", "mul", "matmul", "add", "reshape"]


def test_strided_inputs_and_names_stay():
    g = mi.new_graph()
    x, w = g.new_input((2, 3, 8), "float32", strides=(24, 1, 3), name="x"), g.new_input((8, 4), "float32", name="w")
    g.mark_output(linear(g, g.exp(x), w))
    changed = rows(g)
    assert changed._names == ["x", "w"] and changed._perms == g._perms and changed is not g
    a, b = torch.randn(2, 8, 3).transpose(1, 2), torch.randn(8, 4)
    torch.testing.assert_close(mi.from_mlir(changed.mlir)(a, b), torch.exp(a) @ b)


def test_random_programs():
    changed = 0
    for seed in range(150):
        rng = random.Random(seed)
        g = mi.new_graph()
        lead = (2, 3) if seed % 3 else (1, 1)
        values = [g.new_input((*lead, 4), "float32"), g.new_input((*lead, 4), "float32")]
        w, gain, row = (g.new_input(s, "float32") for s in ((4, 4), (4,), (1, 1, 4)))
        for _ in range(rng.randint(2, 9)):
            x, y = rng.choice(values), rng.choice(values)
            values.append(
                rng.choice(
                    [
                        lambda: linear(g, x, w),
                        lambda: g.tanh(x),
                        lambda: x + y,
                        lambda: g.mul(x, row),
                        lambda: g.mul(gain, x),
                        lambda: g.rms_norm(x, gain, 1e-2),
                        lambda: g.softmax(x, 2),
                        lambda: g.softmax(x, 1),
                        lambda: g.sub(x, 0.5),
                        lambda: g.mul(x, g.reduce_mean(x, 2)),
                        lambda: g.add(x, g.reduce_max(y, 1)),
                        lambda: g.concat([g.slice(x, 2, 2, 4), g.slice(y, 2, 0, 2)], 2),
                        lambda: g.reshape(g.transpose(g.reshape(x, (*lead, 2, 2)), (0, 1, 3, 2)), (*lead, 4)),
                    ]
                )()
            )
        g.mark_output(*values[-2:], g.reshape(values[-1], (-1, 4)))
        changed += check(g) is not g
    assert changed > 100
