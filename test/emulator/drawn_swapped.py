"""Products with their operands swapped, in kernels that nobody chose: planned, and right on the emulated GPU.

usage: drawn_swapped.py [--seed N] [--count N] MIRAGE-MLIR-OPT MIRAGE-RUN

Draws tiles - any eights of rows, slabs of columns -, sizes that they do not divide, one product or two, weights either way round, what is
computed of the sums, roles and stages: also such that not all sums have room in registers, or a loop room for one stage only. A kernel
whose tiles have no room at all is drawn again. A line for each that is wrong; then how many were right, and in how many warpgroups
multiplied. The exit status is 1 when one is wrong.
"""
import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROLES = (None, "producer(4, 40), consumer(8, 232)", "producer(4, 40), consumer(4, 240)", "consumer(4), producer(1)")
NO_ROOM = "bytes of shared memory"


def tensor(*extents, dtype):
    return f"tensor<{'x'.join(map(str, extents))}x{dtype}>"


def tile(*extents, dtype="f32"):
    return f"!mirage_block.tile<{'x'.join(map(str, extents))}x{dtype}>"


def access(grid, loop=None, tiles=()):
    parts = [f"grid = {grid}"] + [f"loop = [{loop}]"] * (loop is not None) + [f"tiles = {list(tiles)}"] * any(tiles)
    return "{" + ", ".join(parts) + "}"


def draw(rng):
    dtype, (tm, tn, tk) = rng.choice(["f16", "bf16"]), (8 * rng.randint(1, 24), 64 * rng.randint(1, 4), rng.choice([32, 64, 64, 128]))
    turns, columns, rows = rng.randint(2, 6), rng.randint(1, 3), rng.randint(1, 3)
    k, m, n = tk * turns, tm * rows - rng.choice([0, rng.randrange(tm)]), tn * columns - rng.choice([0, 8 * rng.randrange(tn // 8)])
    by_row, bias, residual, function = (rng.random() < p for p in (0.3, 0.3, 0.4, 0.6))
    weights = ["w", "v"][: 1 + (rng.random() < 0.3)]
    across, down = tn if n % tn else 0, tm if m % tm else 0
    x, y = tensor(m, k, dtype=dtype), tensor(m, n, dtype=dtype)
    w, wt = (tensor(n, k, dtype=dtype), tile(tn, tk, dtype=dtype)) if by_row else (tensor(k, n, dtype=dtype), tile(tk, tn, dtype=dtype))
    w_access = access([0], 1, [across, 0]) if by_row else access([1], 0, [0, across])
    y_access, xt, sums = access([1, 0], tiles=[down, across]), tile(tm, tk, dtype=dtype), tile(tm, tn)
    inputs = [("x", x)] + [(name, w) for name in weights] + [("b", tensor(n, dtype=dtype))] * bias + [("r", y)] * residual
    schedule, roles = ["swap = true"] + ["tile_order = grouped"] * (rng.random() < 0.3), rng.choice(ROLES)
    if roles:
        loads = [f"tensor(stages = {rng.choice([2, 3])})"] * (1 + len(weights)) + ["register"] * (bias + residual)
        schedule += [f"roles = [{roles}]", f"loads = [{', '.join(loads)}]"]
    scales = ", ".join(f"{k ** -0.5:.4f}" if name in weights else "1.0" for name, _ in inputs)
    count, all_sums = len(weights), ", ".join([sums] * len(weights))
    lines = [
        f"mirage_kernel.graph @p({', '.join(f'%{name}: {t}' for name, t in inputs)}) -> {y}",
        f"    attributes {{mirage_kernel.input_scales = array<f64: {scales}>}} {{",
        f"  %y = custom ({', '.join(f'%c{name} = %{name}' for name, _ in inputs)}) outs(%o) grid [{columns}, {rows}]",
        f"      schedule <{', '.join(schedule)}> : ({', '.join(t for _, t in inputs)}) -> {y} {{",
        f"    %zero = constant 0.0 : {sums}",
        f"    %s:{count} = loop {turns} ({', '.join(f'%a{name} = %zero sum' for name in weights)}) : {all_sums} {{",
        f"      %xt = load %cx {access([-1, 0], 1, [down, 0])} : {x} -> {xt}",
    ]
    for name in weights:
        lines += [f"      %t{name} = load %c{name} {w_access} : {w} -> {wt}",
                  f"      %p{name} = matmul %xt, %t{name}{' {transpose_b}' if by_row else ''} : {xt}, {wt}"]
    lines += [f"      yield {', '.join(f'%p{name}' for name in weights)} : {all_sums}", "    }"]
    last = "%s#0"
    if function:
        lines.append(f"    %f = {rng.choice(['relu', 'gelu', 'silu'])} {last} : {sums}")
        last = "%f"
    if count > 1:
        lines.append(f"    %h = mul {last}, %s#1 : {sums}, {sums}")
        last = "%h"
    if bias:
        lines += [f"    %bt = load %cb {access([0], tiles=[across])} : {tensor(n, dtype=dtype)} -> {tile(tn, dtype=dtype)}",
                  f"    %bs = add {last}, %bt : {sums}, {tile(tn, dtype=dtype)}"]
        last = "%bs"
    if residual:
        lines += [f"    %rt = load %cr {y_access} : {y} -> {tile(tm, tn, dtype=dtype)}",
                  f"    %rs = add {last}, %rt : {sums}, {tile(tm, tn, dtype=dtype)}"]
        last = "%rs"
    lines += [f"    store {last}, %o {y_access} : {sums}, {y}", "  }", f"  return %y : {y}", "}"]
    return "\n".join(lines) + "\n"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("opt")
    parser.add_argument("runner")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    done = right = by_warpgroups = 0
    with tempfile.TemporaryDirectory() as folder:
        source, compiled, ptx = (Path(folder) / name for name in ("p.mlir", "c.mlir", "p.ptx"))
        while done < arguments.count:
            text = draw(rng)
            source.write_text(text)
            lowered = run(arguments.opt, source, "--mirage-lower", "-o", compiled)
            if lowered.returncode and NO_ROOM in lowered.stderr:
                continue
            done += 1
            ran = lowered if lowered.returncode else run(arguments.runner, "--target=emulator", f"--emit-ptx={ptx}", compiled)
            right += ran.returncode == 0
            if ran.returncode:
                print(f"{ran.stdout[-400:]}{ran.stderr[-400:]}\n{text}")
            else:
                by_warpgroups += "wgmma" in ptx.read_text()
    print(f"{right} of {done} right, {by_warpgroups} by warpgroups")
    return right < done


if __name__ == "__main__":
    sys.exit(main())
