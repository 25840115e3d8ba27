"""RMSNorm, then a linear layer: the norm's division moves behind the product, so that one kernel reads everything
once."""

import common

import mirage_mlir as mi


def program(tokens, hidden, out):
    g = mi.new_graph("rmsnorm_linear")
    x = g.new_input((tokens, hidden), name="x")
    gain = g.new_input((hidden,), name="gain")
    w = g.new_input((hidden, out), name="w")
    g.mark_output(g.matmul(g.rms_norm(x, gain), w))
    return g


def main():
    options = common.arguments(__doc__)
    tokens, hidden, out = (2, 4096, 6144) if options.full else (2, 256, 384)
    best = common.search(program(tokens, hidden, out), options)
    x, gain, w = values = common.draw((tokens, hidden), (hidden,), (hidden, out))
    common.check(best, values, common.rms_norm(x.astype("float64"), gain.astype("float64")) @ w.astype("float64"))


if __name__ == "__main__":
    main()
