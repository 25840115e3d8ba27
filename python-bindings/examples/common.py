"""What the examples share: arguments, a search with its table, a check against NumPy in float64."""

import argparse
import warnings

import numpy as np

import mirage_mlir as mi


def arguments(description):
    """--full for the sizes of real models (minutes on a CPU), --target, --report FILE, --svg FILE."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--full", action="store_true", help="the sizes of real models, instead of small ones")
    parser.add_argument("--target", help="the GPU to compile for; the one that is there, else h200")
    parser.add_argument("--report", help="write the search as an HTML page")
    parser.add_argument("--svg", help="write a drawing of the best µGraph")
    return parser.parse_args()


def search(graph, options):
    """Searches, and prints what was found."""
    best = mi.superoptimize(graph, target=options.target)
    proven = sum(found.proof is not None for found in best)
    print(f"{graph}: {proven} µGraphs proven; the own lowering would take {best.funnel['own_us']:.2f} us")
    for found in best[:3]:
        print(f"  {found}")
    if options.report:
        best.report(options.report)
    if options.svg:
        best.visualize().save(options.svg)
    return best


def check(best, values, expected, tolerance=2e-3):
    """Calls the best µGraph (on the CPU, here) and prints its error against `expected`, float64, Frobenius-relative."""
    warnings.simplefilter("ignore", RuntimeWarning)  # that host tensors are slow
    got = np.asarray(best(*values), "float64")
    error = np.linalg.norm(got - expected) / np.linalg.norm(expected)
    print(f"  error {error:.1e} against float64")
    if not error < tolerance:
        raise SystemExit(f"the error is {error:.1e}, more than {tolerance:.0e}")


def draw(*shapes, seed=0):
    """Standard normal values of these shapes, float16."""
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype("float16") for shape in shapes]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rms_norm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True)) * gain


def silu(x):
    return x / (1 + np.exp(-x))
