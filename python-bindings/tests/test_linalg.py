"""Random structured operations through convert-linalg-to-mirage, judged by NumPy in float64: maps that nobody chose."""

import random
import re

import numpy as np
import pytest

import mirage_mlir as mi
from mirage_mlir import _mirage
from mirage_mlir._ugraph import ugraphs_of

LETTERS = "abcde"


def affine(dims, results):
    names = [f"d{i}" for i in range(len(dims))]
    return f"affine_map<({', '.join(names)}) -> ({', '.join(names[dims.index(r)] if r != '0' else '0' for r in results)})>"


def tensor(extents, letters):
    return "tensor<" + "".join(f"{extents[x] if x != '0' else 1}x" for x in letters) + "f32>"


def generic(dims, extents, inputs, output, body, start):
    """A linalg.generic in a function, added to itself: operands by the letters of their dimensions ('0': an extent of 1 that
    stays)."""
    maps = ", ".join(affine(dims, x) for x in [*inputs, output])
    kinds = ", ".join('"parallel"' if d in output else '"reduction"' for d in dims)
    types = [tensor(extents, x) for x in inputs]
    y = tensor(extents, output)
    args = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    block = ", ".join([*(f"%e{i}: f32" for i in range(len(inputs))), "%held: f32"])
    return f"""func.func @f({args}) -> {y} {{
      %start = arith.constant {start} : f32
      %empty = tensor.empty() : {y}
      %out = linalg.fill ins(%start : f32) outs(%empty : {y}) -> {y}
      %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
        ins({', '.join(f'%x{i}' for i in range(len(inputs)))} : {', '.join(types)}) outs(%out : {y}) {{
      ^bb0({block}):
        {body}
      }} -> {y}
      %twice = arith.addf %y, %y : {y}
      return %twice : {y}
    }}"""


def converted(text):
    ok, out, messages, _ = _mirage.run(text, "builtin.module(convert-linalg-to-mirage{explain=true})")
    assert ok, messages
    assert "mirage_kernel.call" in out, (text, messages)
    order = [int(n) for n in re.findall(r"%arg(\d+)", re.search(r"mirage_kernel.call @\w+\((.*?)\)", out)[1])]
    return mi.from_mlir(out), order


def over(dims, letters, x):
    """x with a dimension for each of `dims`, of extent 1 where it has none."""
    kept = [c for c in letters if c != "0"]
    x = x.reshape([n for c, n in zip(letters, x.shape) if c != "0"])
    x = x.transpose([kept.index(d) for d in dims if d in kept])
    return x.reshape([x.shape[sorted(kept, key=dims.index).index(d)] if d in kept else 1 for d in dims])


def operand(chance, dims):
    letters = chance.sample(dims, chance.randint(1, len(dims)))
    if chance.random() < 0.2:
        letters.insert(chance.randint(0, len(letters)), "0")
    return "".join(letters)


def draw(chance):
    dims = list(LETTERS[: chance.randint(2, 5)])
    extents = {d: chance.randint(1, 5) for d in dims}
    inputs = [operand(chance, dims), operand(chance, dims)]
    missing = [d for d in dims if d not in inputs[0] + inputs[1]]
    inputs[0] += "".join(missing)  # every dimension has an extent
    output = "".join(chance.sample(dims, chance.randint(1, len(dims))))
    return dims, extents, inputs, output


@pytest.mark.parametrize("seed", range(60))
def test_a_sum_of_products(seed):
    chance = random.Random(seed)
    dims, extents, inputs, output = draw(chance)
    reduces = len(output) < len(dims)
    yields = "%r" if reduces else "%p"
    start = chance.choice([0.0, 1.5]) if reduces else 0.0
    body = f"%p = arith.mulf %e0, %e1 : f32\n %r = arith.addf %held, %p : f32\n linalg.yield {yields} : f32"
    f, order = converted(generic(dims, extents, inputs, output, body, start))
    numbers = np.random.default_rng(seed)
    xs = [numbers.standard_normal([extents.get(c, 1) for c in x]).astype(np.float32) for x in inputs]
    product = over(dims, inputs[0], xs[0].astype(float)) * over(dims, inputs[1], xs[1].astype(float))
    product = np.broadcast_to(product, [extents[d] for d in dims])
    expected = product.sum(tuple(i for i, d in enumerate(dims) if d not in output)) + start
    kept = [d for d in dims if d in output]
    expected = expected.transpose([kept.index(d) for d in output])
    np.testing.assert_allclose(f(*[xs[i] for i in order]), 2 * expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(30))
def test_a_maximum_of_a_sum(seed):
    chance = random.Random(1000 + seed)
    dims, extents, inputs, output = draw(chance)
    reduces = len(output) < len(dims)
    body = (f"%n = math.exp %e1 : f32\n %p = arith.subf %e0, %n : f32\n %r = arith.maximumf %p, %held : f32\n"
            f" linalg.yield {'%r' if reduces else '%p'} : f32")
    f, order = converted(generic(dims, extents, inputs, output, body, "0xFF800000"))
    numbers = np.random.default_rng(seed)
    xs = [numbers.standard_normal([extents.get(c, 1) for c in x]).astype(np.float32) for x in inputs]
    value = over(dims, inputs[0], xs[0].astype(float)) - np.exp(over(dims, inputs[1], xs[1].astype(float)))
    value = np.broadcast_to(value, [extents[d] for d in dims])
    axes = tuple(i for i, d in enumerate(dims) if d not in output)
    expected = value.max(axes) if axes else value
    kept = [d for d in dims if d in output]
    np.testing.assert_allclose(f(*[xs[i] for i in order]), 2 * expected.transpose([kept.index(d) for d in output]), rtol=1e-5,
                               atol=1e-5)


def test_more_tensors_than_a_program_takes_are_two_programs():
    count, square = 80, "tensor<4x4xf32>"
    lines = [f"%y0 = arith.mulf %x0, %x0 : {square}"]
    lines += [f"%y{i} = linalg.matmul ins(%y{i - 1}, %x{i} : {square}, {square}) outs(%x{i} : {square}) -> {square}"
              for i in range(1, count)]
    text = (f"func.func @f({', '.join(f'%x{i}: {square}' for i in range(count))}) -> {square} {{\n" + "\n".join(lines) +
            f"\nreturn %y{count - 1} : {square}\n}}")
    ok, out, messages, _ = _mirage.run(text, "builtin.module(convert-linalg-to-mirage{explain=true})")
    assert ok and [m[3] for m in messages] == [f"@f: {count} of {count} operations in 2 graphs"]
    calls = re.findall(r"mirage_kernel.call @(\w+)\((.*?)\)", out)
    assert [name for name, _ in calls] == ["f_0", "f_1"]
    assert [len(operands.split(", ")) for _, operands in calls] == [64, 17]  # 64 inputs; 16, and what the first gave
    graphs = {g.name: g for g in ugraphs_of(out)}
    xs = [x.astype(np.float32) / 4 for x in np.random.default_rng(3).standard_normal((count, 4, 4))]
    half = graphs["f_0"](*xs[:64])
    y = graphs["f_1"](*[half if name.startswith("%0") else xs[int(name[4:])] for name in calls[1][1].split(", ")])
    expected = xs[0].astype(float) ** 2
    for x in xs[1:]:
        expected = expected @ x + x
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_what_cannot_be_said_is_left_alone():
    text = generic(["a", "b"], {"a": 3, "b": 4}, ["ab"], "ab", "%s = math.asin %e0 : f32\n linalg.yield %s : f32", 0.0)
    ok, out, messages, _ = _mirage.run(text, "builtin.module(convert-linalg-to-mirage{explain=true})")
    assert ok and "math.asin" in out and "mirage_kernel" not in out
    assert any("its body has math.asin" in m[3] for m in messages)
