"""Attention under masks that nobody chose: found, proven, and right on the emulated GPU.

usage: drawn_masks.py [--seed N] [--count N] MIRAGE-MLIR-OPT MIRAGE-RUN

Draws heads, queries, keys, depths and masks - by position, given, by lengths, both - at sizes that tiles do not divide. A program
must have a candidate selected, and that must err no more than the tolerance, with lengths from below none to above all. Of
masks by position no candidate may be different or unsupported; of given ones the proof for every mask has no rule for tiles that go
beyond their block's part of the keys, and such candidates are refused. A line for each program that is wrong; then how many
were right. The exit status is 1 when one is wrong.
"""
import argparse
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = ("causal", "window", "empty", "cap", "given", "row", "length", "lengths", "both")
MAKE_NPY = Path(__file__).parent.parent / "run" / "inputs" / "make_npy.py"


def tensor(extents, dtype):
    return f"tensor<{'x'.join(map(str, extents))}x{dtype}>"


def draw(rng):
    """(text, kind, extents of the lengths or None)"""
    lead = [rng.choice([2, 3])] * rng.randint(0, 1) + [rng.choice([1, 2, 3, 5])] * rng.randint(0, 1)
    m, n, d = rng.choice([1, 1, 2, 4, 7, 16, 33]), rng.choice([17, 32, 48, 65, 100, 130]), rng.choice([8, 16, 24, 32])
    kind, rank, offset = rng.choice(KINDS), len(lead) + 2, max(n - m, 0)
    ones = [1] * (rank - 2)
    q, k = tensor(lead + [m, d], "f16"), tensor(lead + [n, d], "f16")
    arguments, body, attributes, mask, lengths = [f"%q: {q}", f"%k: {k}", f"%v: {k}"], [], "scale = 0.3", None, None
    if kind in ("causal", "cap", "window", "empty"):
        attributes += f", causal, offset = {-rng.randint(1, 3) if kind == 'empty' else offset}"
        attributes += {"cap": ", cap = 3.0", "window": f", window = {rng.randint(1, n)}"}.get(kind, "")
    elif kind in ("given", "row"):
        mask = ("%m", tensor(ones + [m if kind == "given" else 1, n], "i1"))
        arguments.append(f"%m: {mask[1]}")
    else:
        lengths = lead[:1] + [1] * (rank - 1) if kind == "lengths" and lead else [1] * rank
        keys, given = tensor([1] * (rank - 1) + [n], "i32"), tensor(lengths, "i32")
        mask = ("%in", tensor(lengths[:-1] + [n], "i1"))
        arguments.append(f"%n: {given}")
        body = [f"%j = iota {{dim = {rank - 1}}} : {keys}", f"%in = less %j, %n : {keys}, {given}"]
    if kind == "both":
        rows, both = tensor(ones + [m, 1], "i32"), tensor(ones + [m, n], "i1")
        body += [f"%i = iota {{dim = {rank - 2}, start = {offset}}} : {rows}",
                 f"%c = less_equal %j, %i : {keys}, {rows}", f"%b = and %in, %c : {mask[1]}, {both}"]
        mask = ("%b", both)
    name, kind_of = (f", {mask[0]}", f", {mask[1]}") if mask else ("", "")
    body += [f"%y = scaled_dot_product_attention %q, %k, %v{name} {{{attributes}}} : {q}, {k}, {k}{kind_of}",
             f"return %y : {q}"]
    text = f"mirage_kernel.graph @drawn({', '.join(arguments)}) -> {q} {{\n  " + "\n  ".join(body) + "\n}\n"
    return text, kind, lengths, n


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def complaint_of(rng, opt, runner, folder, text, kind, lengths, keys):
    source, output, npy = folder / "drawn.mlir", folder / "found.mlir", folder / "n.npy"
    source.write_text(text)
    done = run(opt, source, "--mirage-superoptimize=target=h200 measure=no max-states=60000", "-o", output)
    if done.returncode or "selected @drawn_" not in done.stderr:
        return f"nothing selected: {done.stderr[-400:]}"
    refused = re.search(r"[1-9]\d* (different|unsupported)", done.stderr)
    if refused and kind in ("causal", "window", "empty", "cap"):
        return refused[0]
    for _ in range(3 if lengths else 1):
        given = []
        if lengths:
            values = [rng.choice([0, 1, keys - 1, keys, keys + 1, rng.randint(-3, keys + 3)]) for _ in range(math.prod(lengths))]
            run(sys.executable, MAKE_NPY, npy, "<f8", "x".join(map(str, lengths)), "values=" + ",".join(map(str, values)))
            given = [f"--input=3={npy}"]
        done = run(runner, "--target=emulator", *given, output)
        if done.returncode:
            return f"{given and values} {done.stdout[-400:]}{done.stderr[-400:]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("opt")
    parser.add_argument("runner")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(arguments.count):
            text, kind, lengths, keys = draw(rng)
            complaint = complaint_of(rng, arguments.opt, arguments.runner, Path(folder), text, kind, lengths, keys)
            right += complaint is None
            if complaint:
                print(f"{i} {kind}: {complaint}\n{text}")
    print(f"{right} of {arguments.count} right")
    return right < arguments.count


if __name__ == "__main__":
    sys.exit(main())
