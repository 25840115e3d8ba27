#!/usr/bin/env python3
"""Judges the µGraphs that the original system saved: every graph of each NAME_bs1.json against test/programs/NAME_bs1.mlir.

  check.py --bin build/bin --mugraphs FOLDER             every right graph equivalent, every wrong one (qknorm_gqa) different;
                                                         those that the numeric guard refuses are counted
  check.py --bin build/bin --mugraphs FOLDER --mutate 30 30 graphs a file with one attribute changed, against float64
  check.py --bin build/bin --mugraphs FOLDER --emulate   every right graph compiled at full size, and smaller on the emulator
  check.py --bin build/bin --mugraphs FOLDER --replay    every right graph met by the search, or dominated by what it keeps

A mutation changes one attribute of a right graph: a grid extent, the loop's range, an entry of an input or output map, the loop's
dimension, a reduction, an operator, the order of two operands. Shapes follow (mirage-import --recompute-shapes). The truth is a
float64 evaluation by numpy of the JSON itself (evaluate.py). Exit status 1 when a verdict is wrong: above all, when a wrong
graph is accepted. A right graph that is not accepted is a failure too, and is listed. With --replay as well, the verdict on a mutant is
the search's: a wrong one that it meets is a failure, a right one that it neither meets nor beats is listed as lost."""

import argparse
import copy
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RIGHT = ["rmsnorm", "gated_mlp", "gqa", "lora", "norm_transformer", "mqa", "mha"]
WRONG = ["qknorm_gqa"]
ROOT = Path(__file__).resolve().parents[2]


def run(command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def load(folder, name):
    path = folder / f"{name}_bs1.json"
    if not path.exists():
        sys.exit(f"check.py: {path} does not exist")
    return json.loads(path.read_text())


def importer(args, name, json_path, out, extra=()):
    program = ROOT / "test" / "programs" / f"{name}_bs1.mlir"
    return run([args.bin / "mirage-import", json_path, "--program", program, "-o", out, *extra])


def verify(args, module):
    """Verdict of each graph, by number; and the pass's messages."""
    done = run([args.bin / "mirage-mlir-opt", module, f"--mirage-verify=explain guard={args.guard} {args.options}", "-o", "/dev/null"])
    if done.returncode:
        sys.exit(f"check.py: {module}: {done.stderr}")
    verdicts = {}
    for match in re.finditer(r"remark: @\w*?_(\d+): (equivalent|different|unsupported|inaccurate)(.*)", done.stderr):
        verdicts[int(match[1])] = (match[2], match[0])
    return verdicts


def replay(args, module):
    """What the search says of each graph, by number: met, dominated, cut or wrong; the test that cuts it; and the message.

    Cut by kernels or schedule means that the search takes its values for the program's."""
    done = run([args.bin / "mirage-mlir-opt", module, "--mirage-enumerate=replay=yes", "-o", "/dev/null"])
    if done.returncode:
        sys.exit(f"check.py: {module}: {done.stderr}")
    verdicts = {}
    for match in re.finditer(r"remark: @\w*?_(\d+): (in the space|cut at .*? by (\w+)):? (.*)", done.stderr):
        met = match[2] == "in the space"
        verdict = "met" if met else "dominated" if "; dominated by" in match[4] else "cut"
        verdicts[int(match[1])] = (verdict, match[3], match[0])
    return verdicts


# ------------------------------------------------------------------------------------------------------------ as saved


def check_saved(args):
    failures = 0
    for name in args.names or RIGHT + WRONG:
        wanted = "different" if name in WRONG else "equivalent"
        module = args.scratch / f"{name}.mlir"
        graphs = load(args.mugraphs, name)
        start = time.monotonic()
        done = importer(args, name, args.mugraphs / f"{name}_bs1.json", module)
        imported = time.monotonic() - start
        if done.returncode:
            print(f"{name}: {done.stderr.strip()}")
            failures += 1
            continue
        verdicts = verify(args, module)
        seconds = time.monotonic() - start - imported
        # The guard judges rounding, not what a graph computes: it refuses what is proven equivalent.
        refused = [i for i, (verdict, message) in verdicts.items() if verdict == "inaccurate" and ": equivalent to @" in message]
        right = set(refused) if wanted == "equivalent" else set()
        bad = [i for i in range(len(graphs)) if verdicts.get(i, ("missing", ""))[0] != wanted and i not in right]
        good = len(graphs) - len(bad)
        guarded = f", {len(refused)} of them inaccurate" if refused else ""
        print(f"{name:18s} {good:3d} of {len(graphs):3d} {wanted:10s}  import {imported:5.2f} s  verify {seconds:6.2f} s{guarded}")
        for i in bad:
            print(f"  graph {i}: {verdicts.get(i, ('missing', 'no verdict'))[1]}")
        failures += len(bad)
    return failures


def check_replayed(args):
    failures = 0
    print(f"{'file':18s} graphs  met  dominated, cut by")
    for name in args.names or RIGHT:
        module = args.scratch / f"{name}.mlir"
        graphs = load(args.mugraphs, name)
        done = importer(args, name, args.mugraphs / f"{name}_bs1.json", module)
        if done.returncode:
            sys.exit(f"check.py: {name}: {done.stderr}")
        start = time.monotonic()
        verdicts = replay(args, module)
        seconds = time.monotonic() - start
        found = [verdicts.get(i, ("missing", "", "no verdict")) for i in range(len(graphs))]
        met = sum(verdict == "met" for verdict, _, _ in found)
        beaten = [cut for verdict, cut, _ in found if verdict == "dominated"]
        reasons = ", ".join(f"{beaten.count(cut)} {cut}" for cut in sorted(set(beaten)))
        print(f"{name:18s} {len(graphs):6d} {met:4d}  {reasons or 'none':30s} {seconds:6.2f} s", flush=True)
        for i, (verdict, _, text) in enumerate(found):
            if verdict in ("cut", "missing"):
                failures += 1
                print(f"  graph {i}: {text}")
            elif args.verbose:
                print(f"  {text}")
    return failures


# ----------------------------------------------------------------------------------------------------------- mutations

ACCUMS = ["nored", "red_ld_sum", "red_ld_mean", "red_ld_rms", "redtox_ld_sum"]
SWAPS = {"add": ["mul", "div"], "mul": ["add", "div"], "div": ["mul", "add"], "exp": ["square", "silu"], "silu": ["exp", "square"]}


def kernels(graph):
    return [op for op in graph if "bgraph" in op]


def change_grid(graph, rng):
    grid = rng.choice(kernels(graph))["bgraph"]["grid_dim"]
    axis = rng.choice("xyz")
    grid[axis] = rng.choice([max(1, grid[axis] // 2), grid[axis] * 2, max(1, grid[axis] // 4), 3])
    return f"grid_dim.{axis} = {grid[axis]}"


def change_range(graph, rng):
    b = rng.choice(kernels(graph))["bgraph"]
    b["forloop_range"] = rng.choice([1, 2, b["forloop_range"] * 2, max(1, b["forloop_range"] // 2)])
    return f"forloop_range = {b['forloop_range']}"


def change_map(graph, rng, which, key):
    ops = [op for k in kernels(graph) for op in k["bgraph"]["operators"] if op["op_type"] == which]
    op = rng.choice(ops)
    axis = rng.choice("xyz")
    op[key][axis] = rng.choice([d for d in (-1, 0, 1, 2) if d < op["dtensor"]["num_dims"]])
    return f"{key}.{axis} = {op[key][axis]}"


def change_imap(graph, rng):
    return change_map(graph, rng, "tb_input_op", "input_map")


def change_omap(graph, rng):
    return change_map(graph, rng, "tb_output_op", "output_map")


def swap_imap(graph, rng):
    op = rng.choice([op for k in kernels(graph) for op in k["bgraph"]["operators"] if "input_map" in op])
    a, b = rng.sample("xyz", 2)
    op["input_map"][a], op["input_map"][b] = op["input_map"][b], op["input_map"][a]
    return f"input_map.{a} and {b} exchanged"


def change_fmap(graph, rng):
    op = rng.choice([op for k in kernels(graph) for op in k["bgraph"]["operators"] if "forloop_dim" in op])
    op["forloop_dim"] = rng.choice([d for d in (-1, 0, 1, 2) if d < op["dtensor"]["num_dims"]])
    return f"forloop_dim = {op['forloop_dim']}"


def change_accum(graph, rng):
    ops = [op for k in kernels(graph) for op in k["bgraph"]["operators"] if "forloop_accum" in op["op_type"]]
    op = rng.choice(ops)
    op["op_type"] = f"tb_forloop_accum_{rng.choice(ACCUMS)}_op"
    return op["op_type"]


def change_dimx(graph, rng):
    b = rng.choice(kernels(graph))["bgraph"]
    b["reduction_dimx"] = rng.choice([1, 32, 128])
    return f"reduction_dimx = {b['reduction_dimx']}"


def change_operator(graph, rng):
    ops = graph + [op for k in kernels(graph) for op in k["bgraph"]["operators"]]
    ops = [op for op in ops if op["op_type"][3:-3] in SWAPS]
    if not ops:
        return None
    op = rng.choice(ops)
    old = op["op_type"]
    op["op_type"] = f"{old[:3]}{rng.choice(SWAPS[old[3:-3]])}_op"
    arity = 1 if op["op_type"][3:-3] in ("exp", "silu", "square") else 2
    return f"{old} becomes {op['op_type']}" if arity == len(op["input_tensors"]) else None


def swap_operands(graph, rng):
    ops = graph + [op for k in kernels(graph) for op in k["bgraph"]["operators"]]
    ops = [op for op in ops if op["op_type"] not in ("kn_customized_op",) and len(op["input_tensors"]) == 2]
    if not ops:
        return None
    op = rng.choice(ops)
    op["input_tensors"].reverse()
    return f"operands of {op['op_type']} exchanged"


MUTATIONS = [change_grid, change_range, change_imap, change_omap, swap_imap, change_fmap, change_accum, change_dimx]
MUTATIONS += [change_operator, swap_operands]


def mutants(graphs, count, rng):
    """`count` pairs (what was changed, graph); unchanged and repeated ones are drawn again."""
    seen, found = {json.dumps(g) for g in graphs}, []
    for _ in range(100 * count):
        index = rng.randrange(len(graphs))
        graph = copy.deepcopy(graphs[index])
        what = rng.choice(MUTATIONS)(graph, rng)
        text = json.dumps(graph)
        if what and text not in seen:
            seen.add(text)
            found.append((f"graph {index}: {what}", graph))
        if len(found) == count:
            break
    return found


def truth_of(evaluation, graph, inputs, reference):
    """right, wrong, or invalid, with the relative error or the reason."""
    import numpy as np

    try:
        outputs = evaluation.evaluate(graph, inputs)
    except evaluation.Invalid as reason:
        return "invalid", str(reason)
    if [o.shape for o in outputs] != [r.shape for r in reference]:
        return "invalid", "outputs of another shape"
    error = max(np.linalg.norm(o - r) / np.linalg.norm(r) for o, r in zip(outputs, reference))
    return ("right" if error < 1e-9 else "wrong"), f"relative error {error:.2g}"


def replayed_mutants(args, module):
    """met; beaten: its values are the program's, and something dominates it; lost: they are, and nothing does; cut."""
    verdicts = {}
    for i, (verdict, cut, text) in replay(args, module).items():
        right = verdict == "met" or cut in ("kernels", "schedule", "limit")
        known = {"met": "met", "dominated": "beaten", "cut": "lost"}[verdict]
        verdicts[i] = (known if right else "cut", text)
    return verdicts


def check_mutants(args):
    import evaluate as evaluation  # needs numpy

    failures, table = 0, {}
    for name in args.names or RIGHT:
        rng = random.Random(f"{args.seed} {name}")
        graphs = load(args.mugraphs, name)
        inputs = evaluation.draw_inputs(graphs[0], args.seed)
        reference = evaluation.evaluate(graphs[0], inputs)
        kept, results = [], []
        for what, graph in mutants(graphs, args.mutate, rng):
            path = args.scratch / "mutant.json"
            path.write_text(json.dumps([graph]))
            done = importer(args, name, path, args.scratch / "mutant.mlir", ["--recompute-shapes"])
            if done.returncode not in (0, 1):
                sys.exit(f"check.py: {name}, {what}: mirage-import ended with status {done.returncode}: {done.stderr}")
            truth = truth_of(evaluation, graph, inputs, reference)
            results.append([what, truth, ("refused", done.stderr.strip())])
            if done.returncode == 0:
                kept.append((graph, results[-1]))
        path = args.scratch / f"{name}_mutants.json"
        path.write_text(json.dumps([graph for graph, _ in kept]))
        done = importer(args, name, path, args.scratch / f"{name}_mutants.mlir", ["--recompute-shapes"])
        if done.returncode:
            sys.exit(f"check.py: {name}: {done.stderr}")
        judge = replayed_mutants if args.replay else verify
        verdicts = judge(args, args.scratch / f"{name}_mutants.mlir")
        for i, (_, result) in enumerate(kept):
            result[2] = verdicts[i]
        for what, (truth, why), (verdict, text) in results:
            table[truth, verdict] = table.get((truth, verdict), 0) + 1
            accepted = verdict in ("equivalent", "met", "beaten")
            if accepted != (truth == "right"):
                failures += 1
                print(f"{'FALSE ACCEPT' if accepted else 'false reject'}: {name} {what}: {truth} ({why}); {text}")
            elif args.verbose:
                print(f"{name} {what}: {truth} ({why}); {verdict}")
        print(f"{name}: {len(results)} mutants, {len(kept)} of them importable", flush=True)
    print("\ntruth    verdict      count")
    for (truth, verdict), count in sorted(table.items()):
        print(f"{truth:8s} {verdict:12s} {count:5d}")
    return failures


# ------------------------------------------------------------------------------------------------------------ emulated


def check_emulated(args):
    """Generated code for sm_90a and sm_80: compiled at full size; run on the emulator as smaller copies with the same splits."""
    failures = 0
    for name in args.names or RIGHT:
        module = args.scratch / f"{name}.mlir"
        done = importer(args, name, args.mugraphs / f"{name}_bs1.json", module)
        if done.returncode:
            print(f"{name}: {done.stderr.strip()}")
            failures += 1
            continue
        for option in ["--compile", "--shrink"]:
            start = time.monotonic()
            done = run([args.bin / "mirage-module-test", option, module])
            print(f"{name:18s} {option}  {done.stdout.strip()} {done.stderr.strip()}  {time.monotonic() - start:6.1f} s", flush=True)
            failures += done.returncode != 0
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of mirage-import and mirage-mlir-opt")
    parser.add_argument("--mugraphs", type=Path, required=True, help="folder of the original's JSON files")
    parser.add_argument("--mutate", type=int, metavar="N", help="judge N mutants of each right file instead")
    parser.add_argument("--emulate", action="store_true", help="compile and run the right graphs' kernels on the emulator instead")
    parser.add_argument("--replay", action="store_true", help="replay the right graphs, or the mutants, through the search instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--options", default="", help="more options of --mirage-verify, as 'max-work=1e7'")
    parser.add_argument("--no-guard", dest="guard", action="store_const", const="false", default="true", help="without the numeric guard")
    parser.add_argument("--verbose", action="store_true", help="print every mutant's verdict")
    parser.add_argument("names", nargs="*", help="only these: rmsnorm, gqa, ...")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        args.scratch = Path(scratch)
        check = check_emulated if args.emulate else check_mutants if args.mutate else check_replayed if args.replay else check_saved
        failures = check(args)
    if failures:
        print(f"{failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
