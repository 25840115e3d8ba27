"""Runs pytest on one file for CTest: run.py FILE. The exit status is pytest's, but 77 (skipped) where every test was skipped, so
that what this machine lacks shows as skipped, and 1 where there was nothing to run."""

import sys

import pytest


class Counter:
    """How many tests ran, and how many of them were skipped."""

    def __init__(self):
        self.ran = self.skipped = 0

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.skipped:
            self.ran += 1
            self.skipped += report.skipped

    def pytest_collectreport(self, report):
        if report.skipped:  # a whole module
            self.ran += 1
            self.skipped += 1


def main() -> int:
    counter = Counter()
    code = pytest.main(["-rs", *sys.argv[1:]], plugins=[counter])
    if code in (0, 5) and counter.ran and counter.ran == counter.skipped:
        return 77
    return 1 if code == 5 else int(code)


if __name__ == "__main__":
    sys.exit(main())
