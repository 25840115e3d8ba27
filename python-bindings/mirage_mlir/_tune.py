"""python -m mirage_mlir._tune --measure=FILE --timeout=SECONDS: one measurement, in a process of its own.

What mirage-select starts for each candidate where this package is what runs it (as mirage-tune is beside mirage-mlir-opt).
"""

import sys


def main() -> int:
    options = dict(argument[2:].split("=", 1) for argument in sys.argv[1:] if argument.startswith("--") and "=" in argument)
    if "measure" not in options:
        print("usage: python -m mirage_mlir._tune --measure=FILE --timeout=SECONDS", file=sys.stderr)
        return 2
    from . import _mirage
    _mirage.tune_measure(options["measure"], float(options.get("timeout", 10)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
