"""Grouped-query attention while decoding: few queries, many keys. The keys are split over blocks, and the parts
combined."""

import math

import common
import numpy as np

import mirage_mlir as mi


def program(groups, queries, keys, width):
    """q [groups, queries, width]: the query heads that share a head of keys and values are its rows."""
    g = mi.new_graph("gqa")
    q = g.new_input((groups, queries, width), name="q")
    k = g.new_input((groups, keys, width), name="k")
    v = g.new_input((groups, keys, width), name="v")
    g.mark_output(g.scaled_dot_product_attention(q, k, v))
    return g


def main():
    options = common.arguments(__doc__)
    groups, queries, keys, width = (8, 16, 4096, 128) if options.full else (2, 16, 256, 64)
    best = common.search(program(groups, queries, keys, width), options)
    values = common.draw((groups, queries, width), (groups, keys, width), (groups, keys, width))
    q, k, v = (t.astype("float64") for t in values)
    common.check(best, values, common.softmax(q @ np.swapaxes(k, 1, 2) / math.sqrt(width)) @ v)


if __name__ == "__main__":
    main()
