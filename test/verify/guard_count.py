#!/usr/bin/env python3
"""Counts what the numeric guard says of the candidates that the search finds, and what that costs.

    python3 test/verify/guard_count.py build/bin/mirage-mlir-opt [--seed N] [--keep DIR] [program.mlir ...]

Without programs: those of test/bench/workloads, test/bench/odd and test/bench/varied. Each is searched and pruned once
(--keep stores the candidates, and takes those that are there), then verified by one trial on one thread, with and without the
guard: the difference of the processor times, over the number of candidates, is a guard's cost. Prints a line for each
program, every refusal, and the sums. Exit status 1 if something was neither accepted nor measured.
"""
import argparse
import collections
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EQUIVALENT = re.compile(r"remark: @(\S+): equivalent to @.*?((?:in full|on a sample of the outputs(?:, for inputs that repeat)?))?$")
INACCURATE = re.compile(r"remark: @(\S+): inaccurate: equivalent to @\S+ in exact arithmetic, but (.*); mirage-verify=guard=false")


def run(command):
    """Standard error and processor seconds of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stderr, after.ru_utime - before.ru_utime


def count(tool, candidates, seed):
    """Of one file: remarks of the run with the guard, and processor seconds of the guard alone."""
    options = f"explain trials=1 num-threads=1 seed={seed}"
    verify = lambda guard: run([tool, candidates, f"--mirage-verify={options} guard={guard}", "-o", "/dev/null"])
    text, seconds = verify("true")
    return text, max(0.0, seconds - verify("false")[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    programs = options.programs or sorted(
        file for folder in ("workloads", "odd", "varied") for file in (ROOT / "bench" / folder).glob("*.mlir"))
    keep = options.keep or pathlib.Path(tempfile.mkdtemp())
    keep.mkdir(parents=True, exist_ok=True)
    counts, instances, costs, refused = collections.Counter(), collections.Counter(), [], []
    for program in programs:
        candidates = keep / program.name
        if not candidates.exists():
            run([options.tool, program, "--mirage-enumerate", "--mirage-prune", "-o", candidates])
        text, seconds = count(options.tool, candidates, options.seed)
        here = collections.Counter()
        for line in text.splitlines():
            if accepted := EQUIVALENT.search(line):
                here["accepted" if accepted[2] else "gap of the program"] += 1
                instances[accepted[2] or "not measured"] += 1
            elif lost := INACCURATE.search(line):
                here["unmeasured" if "cannot be measured" in lost[2] else "inaccurate"] += 1
                refused.append(f"  @{lost[1]}: {lost[2]}")
        counts += here
        number = sum(here.values())
        if number:
            costs.append(1e3 * seconds / number)
        print(f"{program.stem:24} {number:4} candidates, {here['inaccurate']} inaccurate, {here['unmeasured']} unmeasured, "
              f"{here['gap of the program']} with a gap of the program, {1e3 * seconds / max(number, 1):8.1f} ms a guard",
              flush=True)
    print("refused:", *refused, sep="\n")
    print(dict(counts), dict(instances))
    if costs:
        print(f"a guard, mean over the candidates of a program: median {statistics.median(costs):.1f} ms, "
              f"most {max(costs):.1f} ms of processor time")
    return 1 if counts["unmeasured"] else 0


if __name__ == "__main__":
    sys.exit(main())
