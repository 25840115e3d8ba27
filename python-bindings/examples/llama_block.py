"""A layer of a Llama-style model while decoding: one token, a cache of keys and values, attention, gated MLP, both
residuals.

The cache is read as it is: the key and the value of the token itself are in it, written by whoever calls. A mask is not
needed, since every position of the cache is in the past. What is too large to be searched as one is searched in pieces.
"""

import math

import common
import numpy as np

import mirage_mlir as mi


def program(hidden, heads, groups, width, inner, length):
    g = mi.new_graph("llama_block")
    x = g.new_input((1, hidden), name="x")
    k, v = (g.new_input((groups, length, width), name=n) for n in ("k", "v"))
    cos, sin = (g.new_input((1, width // 2), name=n) for n in ("cos", "sin"))
    gain1, gain2 = (g.new_input((hidden,), name=n) for n in ("gain1", "gain2"))
    wq, wo = g.new_input((hidden, heads * width), name="wq"), g.new_input((heads * width, hidden), name="wo")
    gate, up = (g.new_input((hidden, inner), name=n) for n in ("gate", "up"))
    down = g.new_input((inner, hidden), name="down")

    q = g.reshape(g.matmul(g.rms_norm(x, gain1), wq), (groups, heads // groups, width))
    left, right = g.slice(q, 2, 0, width // 2), g.slice(q, 2, width // 2, width)
    q = g.concat([left * cos - right * sin, right * cos + left * sin], 2)  # rotary position
    attended = g.reshape(g.scaled_dot_product_attention(q, k, v), (1, heads * width))
    x = x + g.matmul(attended, wo)
    n = g.rms_norm(x, gain2)
    g.mark_output(x + g.matmul(g.silu(g.matmul(n, gate)) * g.matmul(n, up), down))
    return g


def reference(x, k, v, cos, sin, gain1, gain2, wq, wo, gate, up, down):
    groups, _, width = k.shape
    q = (common.rms_norm(x, gain1) @ wq).reshape(groups, -1, width)
    left, right = np.split(q, 2, axis=2)
    q = np.concatenate([left * cos - right * sin, right * cos + left * sin], axis=2)
    x = x + (common.softmax(q @ np.swapaxes(k, 1, 2) / math.sqrt(width)) @ v).reshape(1, -1) @ wo
    n = common.rms_norm(x, gain2)
    return x + (common.silu(n @ gate) * (n @ up)) @ down


def main():
    options = common.arguments(__doc__)
    # hidden, heads of queries, heads of keys and values, width of a head, inner, positions in the cache
    graph = program(*((4096, 32, 8, 128, 14336, 2048) if options.full else (128, 4, 2, 32, 256, 64)))
    best = common.search(graph, options)
    values = common.draw(*(tensor.shape for tensor in graph.inputs))
    for i in range(7, len(values)):
        values[i] = (values[i] / math.sqrt(values[i].shape[0])).astype("float16")  # weights
    common.check(best, values, reference(*(value.astype("float64") for value in values)))


if __name__ == "__main__":
    main()
