"""Deep programs: are the candidates that the search finds for them proven?

    stacks.py --bin build/bin                                      stacks of 1, 2, 4, 8 and 16 blocks, small and real
    stacks.py --bin build/bin --blocks 1,2,3 --sizes small         some of them
    stacks.py --bin build/bin --no-stacks --programs FOLDER        every *.mlir of a folder, one program a file

A stack is one graph of Llama-style blocks: RMSNorm, attention with heads, residual, RMSNorm, gated MLP, residual. Each
program is searched (mirage-enumerate, mirage-prune) within --time-budget seconds, and its candidates are verified within
--verify-limit seconds. So that depth does not depend on what the search can do, the candidates of one block are also put
on top of each other (rows "composed"), and once more with two weights of the last block exchanged (rows "wrong").

What the search builds is right but for a fault of the search, so "different" is either that or a fault of the verifier.
The exit status is 1 when a right candidate is different or a wrong one is proven. A candidate that is unsupported is
counted, with the reason; a program that is not searched, or not verified in time, is a line that says so, and no failure.

Seconds are of the processor, all candidates together, and megabytes the most that was resident; "predicted" is the time
of the program's own lowering and of the best candidate. The table goes to standard output, as Markdown; --keep FOLDER keeps the modules.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = {  # rows, width, heads, width of the MLP
    "small": (16, 64, 4, 96),
    "real": (64, 4096, 32, 11008),
}
COLUMNS = ["candidates", "proven", "unsupported", "different", "inaccurate"]


# --------------------------------------------------------------------------------------------------------- the programs


class Graph:
    """The text of one kernel graph, an operator a line."""

    def __init__(self, name, dtype="f16"):
        self.name, self.dtype, self.inputs, self.lines = name, dtype, [], []

    def type(self, shape):
        return f"tensor<{'x'.join(map(str, shape))}x{self.dtype}>"

    def input(self, name, *shape):
        self.inputs.append(f"%{name}: {self.type(shape)}")
        return name, shape

    def op(self, mnemonic, operands, shape, attributes="", result=False):
        name = f"t{len(self.lines)}"
        text = f"%{name} = {mnemonic} {', '.join('%' + o[0] for o in operands)}"
        text += f" {{{attributes}}}" if attributes else ""
        text += " : " + ", ".join(self.type(o[1]) for o in operands)
        self.lines.append(text + (f" -> {self.type(shape)}" if result else ""))
        return name, tuple(shape)

    def constant(self, value):
        name = f"t{len(self.lines)}"
        self.lines.append(f"%{name} = constant {value} : {self.type([1])}")
        return name, (1,)

    def matmul(self, a, b, transpose_b=False):
        columns = b[1][-2 if transpose_b else -1]
        return self.op("matmul", [a, b], (*a[1][:-1], columns), "transpose_b" if transpose_b else "")

    def text(self, result):
        body = "\n".join("  " + line for line in self.lines)
        kind = self.type(result[1])
        return (f"mirage_kernel.graph @{self.name}({', '.join(self.inputs)}) -> {kind} {{\n{body}\n"
                f"  return %{result[0]} : {kind}\n}}\n")


def split_heads(graph, x, heads):
    rows, width = x[1]
    parts = graph.op("reshape", [x], (rows, heads, width // heads), result=True)
    return graph.op("transpose", [parts], (heads, rows, width // heads), "perm = [1, 0, 2]")


def attention(graph, x, number, heads):
    rows, width = x[1]
    weights = [graph.input(f"{name}{number}", width, width) for name in ("wq", "wk", "wv", "wo")]
    query, key, value = (split_heads(graph, graph.matmul(x, weight), heads) for weight in weights[:3])
    scores = graph.matmul(query, key, transpose_b=True)
    scaled = graph.op("mul", [scores, graph.constant((width // heads) ** -0.5)], scores[1])
    mixed = graph.matmul(graph.op("softmax", [scaled], scaled[1], "dim = 2"), value)
    merged = graph.op("transpose", [mixed], (rows, heads, width // heads), "perm = [1, 0, 2]")
    return graph.matmul(graph.op("reshape", [merged], (rows, width), result=True), weights[3])


def gated_mlp(graph, x, number, inner):
    width = x[1][1]
    gate, up = (graph.matmul(x, graph.input(f"{name}{number}", width, inner)) for name in ("wg", "wu"))
    product = graph.op("mul", [graph.op("silu", [gate], gate[1]), up], up[1])
    return graph.matmul(product, graph.input(f"wd{number}", inner, width))


def norm(graph, x, name):
    return graph.op("rms_norm", [x, graph.input(name, x[1][1])], x[1], "eps = 1.0e-05")


def stack_graph(size, blocks):
    """The graph, and its result."""
    rows, width, heads, inner = SIZES[size]
    graph = Graph(f"{size}_{blocks}")
    x = graph.input("x", rows, width)
    for number in range(blocks):
        x = graph.op("add", [x, attention(graph, norm(graph, x, f"ga{number}"), number, heads)], x[1])
        x = graph.op("add", [x, gated_mlp(graph, norm(graph, x, f"gm{number}"), number, inner)], x[1])
    return graph, x


def stack(size, blocks):
    """Its name and text."""
    graph, result = stack_graph(size, blocks)
    return graph.name, graph.text(result)


# ------------------------------------------------------------------------------------------------- candidates, composed

GRAPH = re.compile(r"  mirage_kernel\.graph @(\w+)\((.*?)\) -> \S+ attributes \{(.*?)\} \{\n(.*?)\n  \}\n", re.DOTALL)


def candidates_of(module):
    """Inputs, lines and result of each graph of the module that has a source."""
    for match in GRAPH.finditer(module):
        if "source = @" in match[3]:
            *lines, last = match[4].split("\n")
            yield re.findall(r"%\w+", match[2]), lines, re.match(r"\s*return (%[\w#]+) :", last)[1]


def compose(size, blocks, candidate, name, swap_last):
    """A candidate for the stack, from one for a single block."""
    arguments, lines, result = candidate
    block = stack_graph(size, 1)[0]
    graph = stack_graph(size, blocks)[0]
    roles = [re.match(r"%([a-z]+)", text)[1] for text in block.inputs[1:]]
    value, body = "%x", []
    for number in range(blocks):
        outer = dict(zip(arguments, [value] + [f"%{role}{number}" for role in roles]))
        if swap_last and number == blocks - 1:
            key, of_value = (arguments[1 + roles.index(role)] for role in ("wk", "wv"))
            outer[key], outer[of_value] = outer[of_value], outer[key]
        rename = lambda match: outer.get(match[0], f"%b{number}_{match[0][1:]}")
        body += [re.sub(r"%\w+", rename, line) for line in lines]
        value = re.sub(r"%\w+", rename, result)
    kind = graph.type(SIZES[size][:2])
    return (f"mirage_kernel.graph @{name}({', '.join(graph.inputs)}) -> {kind} attributes {{source = @{graph.name}}} {{\n"
            + "\n".join(body) + f"\n  return {value} : {kind}\n}}\n")


def composed(size, blocks, found, swap_last):
    program = stack(size, blocks)[1]
    return program + "".join(compose(size, blocks, candidate, f"c{i}", swap_last) for i, candidate in enumerate(found))


# ------------------------------------------------------------------------------------------------------------ measuring


def run(command, limit):
    """Standard error, processor seconds, megabytes, and what went wrong or None."""
    with tempfile.TemporaryFile("w+") as log:
        child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=log)
        end, pid = time.time() + limit, 0
        while not pid and time.time() < end:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            time.sleep(0.01)
        if not pid:
            child.kill()
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        text = log.read()
    error = re.search(r"error: (.*)", text)
    wrong = None if child.returncode == 0 else error[1] if error else f"status {child.returncode}"
    wrong = wrong if pid else f"not done after {limit:g} s"
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, wrong


def search(options, source, candidates):
    passes = [f"--mirage-enumerate=target={options.target} time-budget={options.time_budget:g} "
              f"max-candidates={options.max_candidates}", f"--mirage-prune=target={options.target}"]
    return run([options.bin / "mirage-mlir-opt", source, *passes, "-o", candidates], options.search_limit)


def verify(options, candidates, row):
    command = [options.bin / "mirage-mlir-opt", candidates, "--mirage-verify=explain", "-o", row["proven_module"]]
    log, row["verify_s"], row["verify_mb"], row["wrong"] = run(command, options.verify_limit)
    counts = re.search(r"remark: @\w+: (\d+) candidates?, (\d+) equivalent.*, (\d+) different, (\d+) unsupported"
                       r"(?:, (\d+) inaccurate)?", log)
    if counts:
        total, proven, different, unsupported, inaccurate = (int(n or 0) for n in counts.groups())
        row.update(zip(COLUMNS, (total, proven, unsupported, different, inaccurate)))
    row["reasons"] = re.findall(r"@\w+: unsupported: (.*)", log)


def why_not_searched(log):
    """What the search or a stage said of a program for which there is no candidate."""
    said = re.search(r"(?:warning|remark): (.*(?:no candidate|not searched|more than|at most).*)", log)
    return said[1][:100] if said else "no candidate"


def new_row(name, folder):
    return dict.fromkeys(COLUMNS, 0) | {"name": name, "reasons": [], "wrong": None, "search_s": 0.0, "search_mb": 0.0,
                                        "verify_s": 0.0, "verify_mb": 0.0, "gain": "", "must": "equal",
                                        "proven_module": folder / f"{name}.proven.mlir"}


def measure(options, name, text, folder):
    """Searches a program and verifies what is found."""
    row = new_row(name, folder)
    source, candidates = folder / f"{name}.mlir", folder / f"{name}.candidates.mlir"
    source.write_text(text)
    log, row["search_s"], row["search_mb"], row["wrong"] = search(options, source, candidates)
    if times := re.search(r"predicted to take ([\d.]+) us on \S+, its own lowering ([\d.]+) us", log):
        row["gain"] = f"{float(times[2]):.1f} -> {float(times[1]):.1f} us"
    if row["wrong"]:
        row["wrong"] = f"search: {row['wrong']}"
    elif "source = @" not in candidates.read_text():
        row["wrong"] = why_not_searched(log)
    else:
        verify(options, candidates, row)
    return row


def measure_composed(options, size, blocks, found, folder):
    """Verifies right candidates of a stack, and wrong ones."""
    for kind, must in ("composed", "equal"), ("wrong", "differ"):
        row = new_row(f"{size}_{blocks}_{kind}", folder) | {"must": must}
        module = folder / f"{size}_{blocks}_{kind}.mlir"
        module.write_text(composed(size, blocks, found, must == "differ"))
        verify(options, module, row)
        yield row


def measure_stacks(options, size, folder):
    """All rows of one size. Composed candidates come from those of one block, which is searched for that if need be."""
    depths = [int(blocks) for blocks in options.blocks.split(",")]
    if 1 not in depths:
        measure(options, *stack(size, 1), folder)
    for blocks in depths:
        yield measure(options, *stack(size, blocks), folder)
        single = folder / f"{size}_1.candidates.mlir"
        found = list(candidates_of(single.read_text())) if single.exists() else []
        if found:
            yield from measure_composed(options, size, blocks, found[: options.compose], folder)


# --------------------------------------------------------------------------------------------------------------- output


def short(reason):
    """The reason without its numbers, so that equal ones are counted together."""
    return re.sub(r"\d[\d.e+]*", "N", reason)[:90]


def note(row):
    reasons = collections.Counter(short(reason) for reason in row["reasons"])
    parts = [row["wrong"]] if row["wrong"] else []
    return "; ".join(parts + [f"{count} x {reason}" for reason, count in reasons.most_common()])


def print_row(row):
    figures = [row["name"]] + [row[column] for column in COLUMNS]
    print("| " + " | ".join(map(str, figures)) + f" | {row['gain']} | {row['search_s']:.1f} | {row['search_mb']:.0f} | "
          f"{row['verify_s']:.1f} | {row['verify_mb']:.0f} | {note(row)} |", flush=True)


def print_sum(rows, must):
    rows = [row for row in rows if row["must"] == must]
    without = sum(row["candidates"] == 0 for row in rows)
    if rows:
        print(f"\n{'right' if must == 'equal' else 'wrong'} candidates: {len(rows)} rows, {without} without a verdict; " +
              ", ".join(f"{sum(row[column] for row in rows)} {column}" for column in COLUMNS))


def all_rows(options, folder):
    if not options.no_stacks:
        for size in options.sizes.split(","):
            yield from measure_stacks(options, size, folder)
    for given in options.programs:
        for path in sorted(given.glob("*.mlir")) if given.is_dir() else [given]:
            yield measure(options, path.stem, path.read_text(), folder)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=Path, required=True, help="folder of mirage-mlir-opt")
    parser.add_argument("--blocks", default="1,2,4,8,16", metavar="N,...")
    parser.add_argument("--sizes", default="small,real", metavar="NAME,...", help=f"of {', '.join(SIZES)}")
    parser.add_argument("--no-stacks", action="store_true", help="only what --programs names")
    parser.add_argument("--programs", type=Path, nargs="*", default=[], metavar="FOLDER|FILE")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--time-budget", type=float, default=10, metavar="S", help="of a search (default 10)")
    parser.add_argument("--search-limit", type=float, default=300, metavar="S", help="after which it is killed (300)")
    parser.add_argument("--verify-limit", type=float, default=300, metavar="S", help="of all candidates (300)")
    parser.add_argument("--max-candidates", type=int, default=8, metavar="N")
    parser.add_argument("--compose", type=int, default=2, metavar="N", help="candidates of one block to compose (2)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where modules stay")
    return parser.parse_args()


def main():
    options = parse_arguments()
    rows = []
    print("| program | " + " | ".join(COLUMNS) + " | predicted | search s | MB | verify s | MB | |\n|"
          + "---|" * (len(COLUMNS) + 7))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for row in all_rows(options, folder):
            rows.append(row)
            print_row(row)
    print_sum(rows, "equal")
    print_sum(rows, "differ")
    faults = [row["different" if row["must"] == "equal" else "proven"] for row in rows]
    return any(faults) or not rows


if __name__ == "__main__":
    sys.exit(main())
