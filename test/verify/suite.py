# suite.py - what holds for all pairs of this folder together.
#
#   suite.py FOLDER count   prints how many pairs there are, by the verdict that the files ask for; of all, and of those with
#                           masks, lengths and stored types
#   suite.py FOLDER self    prints a module in which every graph of every file is a program, followed by its own copy as
#                           candidate: each must be equivalent to itself, wrong ones too
#
# Left out of the second: graphs whose verdict is `unsupported`, that divide by zero or that nothing can be proven of
# (UNPROVABLE), for they race or are undefined; and candidates that are given masks or lengths: the masks of a program are
# tensors that indices, constants and inputs make (lib/verify/README.md), those of a candidate may be tiles and views.
import pathlib
import re
import sys

GRAPH = re.compile(r"^mirage_kernel\.graph @(\w+)\(.*?\n}\n", re.M | re.S)
UNDEFINED = re.compile(r"^// CHECK: @(\w+): different: divides by zero", re.M)
PREDICATES_GIVEN = re.compile(r"%\w+: tensor<[\dx]*xi(1|32)>[^\n]* attributes {source = ")
UNPROVABLE = {  # by file: graphs with a row that no key is left to, and with whether any of many predicates holds
    "lengths": {"none_unguarded"},
    "masks-cap": {"capped_strict"},
    "masks": {"causal_strict", "online_strict"},
    "masks-every": {"given"},
    "predicates": {"src_any", "any_for_all"},
}
VERDICT = re.compile(r"^// CHECK: @(\w+): (equivalent|different|unsupported)", re.M)
BEYOND = "limits"  # true, but refused: neither a right rewrite nor a wrong one
OF_MODELS = ("lengths", "masks", "stored")


def files(folder):
    return [p for p in sorted(pathlib.Path(folder).glob("*.mlir")) if VERDICT.search(p.read_text())]


def count_of(what, paths):
    counts = {"right": 0, "wrong": 0, "beyond the theory": 0}
    for path in paths:
        for _, word in VERDICT.findall(path.read_text()):
            kind = "right" if word == "equivalent" else "beyond the theory" if path.name.startswith(BEYOND) else "wrong"
            counts[kind] += 1
    enough = counts["right"] >= 60 and counts["wrong"] >= 120
    print(f"{what}:", ", ".join(f"{number} {kind}" for kind, number in counts.items()))
    print("enough" if enough else "too few: 60 and 120 are wanted")


def count(folder):
    count_of("all", files(folder))
    count_of("masks, lengths and stored types", [p for p in files(folder) if p.name.startswith(OF_MODELS)])


def self(folder):
    for path in files(folder):
        text = path.read_text()
        left_out = {name for name, word in VERDICT.findall(text) if word == "unsupported"} | set(UNDEFINED.findall(text))
        left_out |= UNPROVABLE.get(path.stem, set())
        for match in GRAPH.finditer(text):
            name, stem = match[1], path.stem.replace("-", "_")
            if name in left_out or PREDICATES_GIVEN.search(match[0]):
                continue
            program = re.sub(r" attributes \{source = @\w+\}", "", match[0], count=1)
            program = program.replace("@" + name, f"@{stem}_{name}", 1)
            print(program)
            head, body = program.split(" {\n", 1)
            head = head.replace(f"@{stem}_{name}", f"@{stem}_{name}_again", 1)
            print(f"{head} attributes {{source = @{stem}_{name}}} {{\n{body}")


{"count": count, "self": self}[sys.argv[2]](sys.argv[1])
