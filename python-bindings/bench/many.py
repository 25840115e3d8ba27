"""How much faster several workers search many programs than one: python many.py [--programs 32] [--workers 4] [--dask]

Prints the seconds of one worker and of several, each with processes of its own and without the cache, their ratio, and whether
all results were the same. On a machine with as many idle processors as workers; this script does not look whether they are.
"""

import argparse
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import mirage_mlir as mi


def programs(count):
    """RMSNorm, a product, a residual sum and GELU, in `count` sizes."""
    graphs = []
    for i in range(count):
        rows, columns = 16 * (1 + i % 4), 256 * (1 + i // 4)
        g = mi.new_graph(f"program_{i}")
        x, w, b = g.new_input((rows, columns)), g.new_input((columns, 512)), g.new_input((rows, 512))
        g.mark_output(g.gelu(g.add(g.matmul(g.rms_norm(x), w), b)))
        graphs.append(g)
    return graphs


@contextmanager
def processes(count):
    with ProcessPoolExecutor(count, get_context("spawn")) as pool:
        list(pool.map(warm, range(4 * count)))  # started, and the package imported
        yield pool


@contextmanager
def dask(count):
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            Client(cluster) as client:
        client.run(warm, 0)
        yield client


def warm(_):
    import mirage_mlir
    g = mirage_mlir.new_graph()
    g.mark_output(g.exp(g.new_input((8, 64))))
    return len(mirage_mlir.superoptimize(g, measure="no", progress=False, cache=False))


def timed(graphs, place, count, options):
    with place(count) as executor:
        start = time.monotonic()
        results = mi.superoptimize_many(graphs, executor=executor, cache=False, progress=False, measure="no", **options)
        return time.monotonic() - start, [[graph.mlir for graph in result] for result in results]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=32)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--block-ops", type=int, default=11)
    parser.add_argument("--dask", action="store_true", help="a Dask LocalCluster instead of a process pool")
    given = parser.parse_args()
    graphs = programs(given.programs)
    options = {"target": "h200", "max_block_ops": given.block_ops}
    place = dask if given.dask else processes
    ratios, same = [], True
    for _ in range(given.repeats):
        one, alone = timed(graphs, place, 1, options)
        several, together = timed(graphs, place, given.workers, options)
        ratios.append(one / several)
        same = same and alone == together
        print(f"{given.programs} programs: 1 worker {one:.1f} s, {given.workers} workers {several:.1f} s, {one / several:.2f} x")
    print(f"median {statistics.median(ratios):.2f} x on {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; "
          f"results {'the same' if same else 'DIFFER'}")


if __name__ == "__main__":
    main()
