"""Programs of test/bench/varied through the whole pipeline: at their size, and small on the emulator.

usage: varied.py [--most N] [--keep FOLDER] MIRAGE-MLIR-OPT MIRAGE-RUN TARGET PROGRAM.mlir...

With --most N of them, spread over the list, where time is dear (sanitizers). --keep leaves the compiled modules in a
folder, for ctest -R proofs.

At its size a program must get a proven candidate, or say that its own lowering is better; what is found must be proven, and nothing warned
of but that a candidate does not fit. The small one has every extent above 16, or 32, divided by 16 (so that slices,
concatenations and most reshapes still fit), and must run right. The search is a short one. A line for each; the exit status is 1 when one is wrong.
"""
import argparse
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def shrink_above(text, least):
    """Extents of types, and ends of slices, divided by 16 where they are above `least`."""
    small = lambda number: str(-(-int(number) // 16)) if int(number) > least else number
    shape = lambda match: re.sub(r"\d+(?=x)", lambda extent: small(extent[0]), match[0])
    text = re.sub(r"tensor<(\d+x)+", shape, text)
    return re.sub(r"(?<=begin = )\d+|(?<=end = )\d+", lambda bound: small(bound[0]), text)


def elements(kind):
    return math.prod(int(extent) for extent in re.findall(r"\d+(?=x)", kind))


def shrink(text):
    """The smallest copy in which every reshape still fits; None when there is none."""
    for least in 16, 32:
        small = shrink_above(text, least)
        if all(elements(a) == elements(b) for a, b in re.findall(r"reshape .*: (\S+) -> (\S+)", small)):
            return small
    return None


# Programs whose candidates the guard refuses, all of them, as it should: their own lowering stands. One that gets better is
# to be taken out here.
REFUSED = {"mixed60": "the exponentials of all candidates overflow where the program's do not"}
# Of the shrunken one, candidates of which nothing can be proven: exponentials of exponentials, whose degree has no bound. They are
# not selected; one of them is proven.
BOUNDLESS = {"mixed60"}


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def compiled(opt, target, source, output, boundless=False):
    """What is wrong with compiling it, or None."""
    done = run(opt, f"--mirage-superoptimize=target={target} max-states=4000 full-size-work=0", source, "-o", output)
    complaint = re.search(r"error: .*|warning: (?!layout: the tiles need).*|[1-9]\d* (different|unsupported)", done.stderr)
    if boundless and complaint and complaint[0].endswith("unsupported") and "no useful error bound" in done.stderr:
        complaint = None
    if done.returncode or complaint:
        return complaint[0] if complaint else f"status {done.returncode}"
    if source.stem in REFUSED:
        return None if "no proven candidate; its own lowering stands" in done.stderr else "not refused any more"
    if not re.search(r"selected @\w+ of \d+ proven|own lowering is better|no candidate found", done.stderr):
        return "nothing selected"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=10**6)
    parser.add_argument("--keep", type=Path)
    for name in ("opt", "runner", "target"):
        parser.add_argument(name)
    parser.add_argument("programs", type=Path, nargs="+")
    arguments = parser.parse_args()
    opt, runner, target = arguments.opt, arguments.runner, arguments.target
    programs = arguments.programs[:: -(-len(arguments.programs) // arguments.most)]
    wrong = 0
    for program in programs:
        with tempfile.TemporaryDirectory() as folder:
            kept = arguments.keep or Path(folder)
            kept.mkdir(parents=True, exist_ok=True)
            source, output = Path(folder) / "small.mlir", kept / f"{program.stem}.{target}.small.mlir"
            whole = kept / f"{program.stem}.{target}.mlir"
            small = shrink(program.read_text())
            source.write_text(small or "")
            complaint = compiled(opt, target, program, whole) or (
                small and compiled(opt, target, source, output, program.stem in BOUNDLESS))
            if small and not complaint:
                done = run(runner, "--target=emulator", output)
                complaint = None if done.returncode == 0 else f"small: {done.stderr}{done.stdout}"
        wrong += bool(complaint)
        print(f"{program.stem}: {complaint or 'ok'}")
    print(f"{len(programs) - wrong} of {len(programs)} ok")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
