"""python -m mirage_mlir._tune --measure=FILE --timeout=SECONDS FILE...: measurements, in a process made for them.

What mirage-select starts for some of the candidates where this package is what runs it (as mirage-tune is beside
mirage-mlir-opt).
"""

import argparse
import sys


def main() -> int:
    parser = argparse.ArgumentParser("python -m mirage_mlir._tune")
    parser.add_argument("--measure", required=True, metavar="FILE", help="the program and its own lowering")
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="of a kernel")
    parser.add_argument("candidates", nargs="+", metavar="FILE", help="the program and a candidate")
    options = parser.parse_args()
    from . import _mirage

    _mirage.tune_measure(options.measure, options.candidates, options.timeout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
