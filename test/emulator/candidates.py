"""Runs every proven candidate of a module on the emulator, not only the selected one.

usage: candidates.py [--most N] [--keep FOLDER] MIRAGE-MLIR-OPT MIRAGE-RUN TARGET MODULE.mlir [arguments of mirage-run]

The module holds programs; the pipeline's candidates for each are selected one after the other, lowered and run; with
--most N of them, spread over the list from the best to the worst, where time is dear (sanitizers). --keep leaves the
module with all proven candidates in a folder, for ctest -R proofs.
Prints one line for each and exits with 1 when one is wrong.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def spread(items, most):
    if most is None or len(items) <= most:
        return items
    return [items[i * (len(items) - 1) // max(most - 1, 1)] for i in range(most)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int)
    parser.add_argument("--keep", type=Path)
    for name in ("opt", "runner", "target", "module"):
        parser.add_argument(name)
    arguments, more = parser.parse_known_args()
    opt, runner, target, module = arguments.opt, arguments.runner, arguments.target, arguments.module
    pipeline = f"builtin.module(mirage-enumerate{{target={target}}},mirage-verify,mirage-layout{{target={target}}})"
    text = run(opt, f"--pass-pipeline={pipeline}", module).stdout
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        (arguments.keep / f"{Path(module).stem}.{target}.mlir").write_text(text)
    header = re.compile(r"(mirage_kernel\.graph @(\w+)\(.*attributes \{)(?=.*source = @(\w+))")
    candidates = spread([(m.group(2), m.group(3)) for m in header.finditer(text)], arguments.most)
    wrong = 0
    for name, program in candidates:
        # the attribute dictionary's first entry
        chosen = re.sub(rf"(mirage_kernel\.graph @{name}\(.*attributes \{{)", r"\1selected, ", text, count=1)
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as before, tempfile.NamedTemporaryFile(
            "r", suffix=".mlir"
        ) as after:
            before.write(chosen)
            before.flush()
            lowered = run(opt, f"--mirage-lower=target={target}", before.name, "-o", after.name)
            result = run(runner, "--target=emulator", f"--program={program}", *more, after.name)
        ran = f"µGraph        @{name}:" in result.stdout
        ok = lowered.returncode == 0 and ran and result.returncode == 0
        wrong += not ok
        error = re.search(r"error [0-9.e+-]+|error inf", result.stdout)
        print(f"{'ok' if ok else 'WRONG':5} @{name} {error.group(0) if error else ''}")
        if not ok:
            print(lowered.stderr[-600:], result.stderr[-600:])
    print(f"{len(candidates) - wrong} of {len(candidates)} ok")
    return wrong > 0 or not candidates


if __name__ == "__main__":
    sys.exit(main())
