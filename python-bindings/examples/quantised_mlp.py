"""A gated MLP whose weights are integers of 8 bits times a scale a column.

The dialect has no stored integers yet: the integers are held in float16, which has all of -127 to 127. So this shows
the algebra - the scales move behind the products, where they cost a multiplication a result instead of one a weight -
and saves no memory.
"""

import common
import numpy as np

import mirage_mlir as mi


def program(tokens, hidden, inner):
    g = mi.new_graph("quantised_mlp")
    x = g.new_input((tokens, hidden), name="x")
    gate, up = (g.new_input((hidden, inner), name=n) for n in ("gate", "up"))
    gate_scale, up_scale = (g.new_input((1, inner), name=n) for n in ("gate_scale", "up_scale"))
    g.mark_output(g.mul(g.silu(g.matmul(x, gate * gate_scale)), g.matmul(x, up * up_scale)))
    return g


def quantise(w):
    """Integers of 8 bits, and a scale a column, of which both are float16."""
    scale = np.abs(w).max(axis=0, keepdims=True) / 127
    return np.round(w / scale).astype("float16"), scale.astype("float16")


def main():
    options = common.arguments(__doc__)
    tokens, hidden, inner = (8, 4096, 14336) if options.full else (8, 128, 256)
    best = common.search(program(tokens, hidden, inner), options)
    x, w1, w2 = common.draw((tokens, hidden), (hidden, inner), (hidden, inner))
    (gate, gate_scale), (up, up_scale) = quantise(w1 / 16), quantise(w2 / 16)
    values = [x, gate, up, gate_scale, up_scale]
    wide = [v.astype("float64") for v in values]
    expected = common.silu(wide[0] @ (wide[1] * wide[3])) * (wide[0] @ (wide[2] * wide[4]))
    common.check(best, values, expected)


if __name__ == "__main__":
    main()
