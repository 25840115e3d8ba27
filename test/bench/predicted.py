#!/usr/bin/env python3
"""Compares what the search predicts of the candidates that it keeps with the cost of their plans.

    python3 predicted.py --bin ../../build/bin workloads/*.mlir [--table] [--target h200]

The search ranks candidates by a cost of structure and schedule; mirage-layout takes the cost anew once it is known where each
tile lives and who does what. Where the two differ, places among the kept candidates go to the wrong ones. Shown is
predicted over planned: how many lie within 1.1 of each other, how far apart they are in the median, at one in twenty and at the
worst, and which candidates could not be planned at all. Needs no GPU; draws nothing and times nothing, so that the same build says
the same everywhere.
"""
import argparse
import math
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NEAR = 1.1


def run(tool, text, option):
    done = subprocess.run([str(tool), "-", option], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[0])
    return done.stdout


def costs(text):
    """Microseconds of each candidate, by name."""
    found = {}
    for graph in re.split(r"(?=mirage_kernel\.graph @)", text)[1:]:
        head = graph.split("\n", 1)[0]
        cost = re.search(r"time_us = ([0-9.e+-]+)", head)
        if "source = @" in head and cost:
            found[re.match(r"mirage_kernel\.graph @(\w+)", graph).group(1)] = float(cost.group(1))
    return found


def of_program(options, program):
    tool, target = options.bin / "mirage-mlir-opt", options.target
    searched = run(tool, program.read_text(), f"--mirage-enumerate=target={target}")
    predicted = costs(searched)
    planned = costs(run(tool, searched, f"--mirage-layout=target={target}"))
    ratios = {name: predicted[name] / planned[name] for name in predicted if name in planned}
    return ratios, [name for name in predicted if name not in planned]


def off(ratio):
    return max(ratio, 1 / ratio)


def at(values, share):
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parent.parent / "build" / "bin")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--table", action="store_true", help="print every candidate that is not near")
    options = parser.parse_args()
    everything, lost, failed = {}, [], 0
    for program in options.programs:
        try:
            ratios, without = of_program(options, program)
        except RuntimeError as error:
            print(f"{program.stem}: {error}", file=sys.stderr)
            failed += 1
            continue
        everything.update(ratios)
        lost += without
        if ratios:
            name = max(ratios, key=lambda candidate: off(ratios[candidate]))
            near = sum(off(ratio) <= NEAR for ratio in ratios.values())
            print(f"{program.stem:28} {len(ratios):3} candidates, {near:3} within {NEAR}, the worst {ratios[name]:5.2f} ({name})"
                  f"{f', {len(without)} without a plan' if without else ''}")
        for name, ratio in ratios.items():
            if options.table and off(ratio) > NEAR:
                print(f"    {name:40} {ratio:5.2f}")
    if not everything:
        sys.exit("no candidates")
    distances = [off(ratio) for ratio in everything.values()]
    near = sum(distance <= NEAR for distance in distances)
    print(f"{'all':28} {len(everything):3} candidates of {len(options.programs) - failed} programs, {near} ({near / len(distances):.0%}) "
          f"within {NEAR}, off by {at(distances, 0.5):.2f} in the median, {at(distances, 0.95):.2f} at one in twenty, "
          f"{max(distances):.2f} at the worst; {len(lost)} without a plan")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
