"""Checks the proofs of every module that the other tests left behind.

    replay.py --check build/bin/mirage-check --made-by build/bin/mirage-mlir-opt FOLDER...

Every file below the folders that is a module and holds a proof (text with a proof attribute, or bytecode) goes through
mirage-check, equal files once. Files older than the program that makes them are left over from an earlier build and
passed over. A test that changes a module by hand to see it refused is listed in REFUSED, and must be. Fails when a proof
does not hold, when one of REFUSED is not refused, when a module cannot be read, and when no proof was found at all.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

SEED = 20261122  # the same draws each time: a failure can be seen again
MOST_BYTES = 1 << 26
REFUSED = {  # end of the path: why
    "names.test.tmp/stale.mlir": "a proof of other graphs",
    "select.mlir.tmp.mlir": "proofs changed by hand",
    "round-trip.mlir.tmp.mlir": "a proof written by hand",
    "cpu.mlir.tmp.small.mlir": "a proof written by hand",
    "emulator.mlir.tmp.chip.mlir": "a proof written by hand",
    "emulator.mlir.tmp.large.mlir": "a proof written by hand",
    "emulator.mlir.tmp.wrong.mlir": "a proof written by hand",
}


def holds_proof(path):
    """Whether it is a module with a proof, or bytecode, which may be one. A log may quote a proof and is no module."""
    if path.stat().st_size > MOST_BYTES or path.suffix in (".o", ".so"):
        return False
    content = path.read_bytes()
    if content.startswith(b"ML\xefR"):
        return True
    if b"proof = #mirage_kernel.proof<" not in content:
        return False
    code = (line for line in content.splitlines() if line.strip() and not line.startswith(b"//"))
    return next(code, b"").startswith((b"module", b"mirage_kernel.graph", b"#", b'"builtin.module"'))


def find_modules(folders, made_by):
    """The modules, and how many files are older than the program."""
    born = made_by.stat().st_mtime
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    young = [path for path in files if path.stat().st_mtime >= born]
    modules = {path.read_bytes(): path for path in reversed(young) if holds_proof(path)}  # the first of equal ones
    return sorted(modules.values()), len(files) - len(young)


def judge(path, answer):
    """A line about the module, and whether all is as it should be."""
    why = next((why for end, why in REFUSED.items() if str(path).endswith(end)), None)
    refused = [f"@{graph['name']}: {graph['reason']}" for graph in answer["graphs"] if graph["outcome"] == "refused"]
    if why:
        return (f"refused, as it must be ({why})", True) if refused else (f"NOT REFUSED: {why}", False)
    if refused:
        return "REFUSED " + "; ".join(refused), False
    return f"{answer['ok']} ok" if answer["num_proofs"] else "no proof", True


def check(program, modules):
    """What mirage-check says of each module that it can read."""
    command = [program, "--json", f"--seed={SEED}", *modules]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    answers = (json.loads(line) for line in done.stdout.splitlines())
    return {answer["module"]: answer for answer in answers}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", type=Path, required=True)
    parser.add_argument("--made-by", type=Path, required=True)
    parser.add_argument("folders", type=Path, nargs="+")
    options = parser.parse_args()
    modules, old = find_modules(options.folders, options.made_by)
    answers = check(options.check, modules) if modules else {}
    wrong, proofs = 0, 0
    for path in modules:
        answer = answers.get(str(path), {})
        text, right = judge(path, answer) if "graphs" in answer else ("NOT READABLE", False)
        wrong += not right
        proofs += answer.get("ok", 0)
        print(f"{'     ' if right else 'WRONG'} {path}: {text}")
    print(f"{len(modules)} modules, {proofs} proofs ok, {wrong} modules wrong; {old} files of an earlier build passed over")
    if not proofs:
        print("no proof was found: run the other tests first (ctest does, in that order)")
    return wrong > 0 or not proofs


if __name__ == "__main__":
    sys.exit(main())
