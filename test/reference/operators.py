# Takes each operator of the kernel level that ops.def has through the compiler: proof, search, code, the emulated GPU and float64.
# An operator that one of these does not know is named, with what does not know it.
#
# usage: operators.py SOURCE-ROOT DOCS SCRATCH      (mirage-mlir-opt, mirage-run on PATH)
#
# The program of an operator is its example in the reference page, and its candidate the same once more.
import os
import re
import subprocess
import sys

import reference

STRUCTURE = ("REGION", "TERMINATOR")
PREDICATES = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "and", "or", "not", "sign")  # what compares is not searched
COMPUTES = ("UNARY", "BINARY", "MATMUL", "REDUCE", "SUGAR")  # kinds of which the search makes kernels


def kinds(root):
    """mnemonic -> kind, of the kernel level."""
    rows = re.findall(r'^MIRAGE_OP\(\w+, "(\w+)", \d+, \w+, ([KBT| ]+), (\w+),', open(f"{root}/include/mirage/ops.def").read(), re.M)
    return {mnemonic: kind for mnemonic, levels, kind in rows if "K" in levels and kind not in STRUCTURE}


def graph(mnemonic, line):
    """The example's line as a program, and as a candidate for it."""
    generic = reference.opt(["--mlir-print-op-generic"], reference.wrapped("mirage_kernel", line).encode()).decode()
    found = re.search(rf'"mirage_kernel\.{mnemonic}"\(.*-> (tensor<\S*>)$', generic, re.M)
    if not found:
        raise reference.Problem("its example is of another operator")
    result = found[1]
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in reference.inputs([line]).items())
    head = f"({arguments}) -> {result}"
    body = f"{{\n{line}\nreturn {line.split(' = ')[0]} : {result}\n}}\n"
    return f"mirage_kernel.graph @{mnemonic}{head} {body}" \
           f"mirage_kernel.graph @{mnemonic}_again{head} attributes {{source = @{mnemonic}}} {body}"


def examples(docs):
    """mnemonic -> first line of its example."""
    found = {}
    for heading, text in reference.entries(f"{docs}/mirage_kernel.md"):
        example = re.search(r"^```mlir\n(%.*)$", text, re.M)
        if example and (name := re.match(r"`mirage_kernel\.(\w+)`", heading)):
            found[name[1]] = example[1]
    return found


def say(command):
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def judge(mnemonic, kind, path, remarks):
    """What does not know the operator, or None."""
    if not re.search(rf"@{mnemonic}: 1 candidate, 1 equivalent", remarks):
        return f"is not proven equal to itself (lib/field, lib/verify): {remarks[:300]}"
    if not re.search(rf"@{mnemonic}_\w+: lowered to", remarks):
        return "has no code (lib/codegen)"
    status, said = say(["mirage-run", path, f"--program={mnemonic}", "--target=emulator", "--skip-non-finite"])
    if status:
        return f"does not compute what float64 does (lib/eval, lib/codegen, lib/emulator): {said}"
    status, said = say(["mirage-mlir-opt", f"{path}.program", "--mirage-enumerate=max-candidates=1 max-block-ops=6 target=a100",
                        "-o", os.devnull])
    if kind in COMPUTES and mnemonic not in PREDICATES and (status or not re.search(r"1 candidate kept", said)):
        return f"is not found by the search (lib/expr, lib/search): {said}"
    return None


def main():
    root, docs, scratch = sys.argv[1:]
    lines, problems, count = examples(docs), [], 0
    for mnemonic, kind in kinds(root).items():
        if mnemonic not in lines:
            problems.append(f"{mnemonic}: has no example in {docs}/mirage_kernel.md")
            continue
        path = os.path.join(scratch, mnemonic + ".mlir")
        try:
            text = graph(mnemonic, lines[mnemonic])
        except reference.Problem as problem:
            problems.append(f"{mnemonic}: {problem}")
            continue
        with open(path + ".program", "w") as file:
            file.write(text[:text.index("\nmirage_kernel.graph")])
        with open(path + ".both", "w") as file:
            file.write(text)
        _, remarks = say(["mirage-mlir-opt", path + ".both", "--mirage-verify", "--mirage-lower=target=a100", "-o", path])
        problem = judge(mnemonic, kind, path, remarks)
        count += 1
        if problem:
            problems.append(f"{mnemonic}: {problem}")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{count} operators")


main()
