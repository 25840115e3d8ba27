#!/usr/bin/env python3
"""Compares the pictures of the parts with what the files include.

    structure.py ROOT        the tree at ROOT; prints every difference, exit status 1 where there is one
    structure.py --self-test trees that are wrong in one way each, which must be told

README.md has a picture of all parts, lib/search/README.md one of the search's. Each is a Mermaid flowchart in which A --> B says
that A may ask B. It is true when every include between two parts follows a path of arrows, every arrow has an include, and no
arrows go in a circle. The way of a program, the other picture in README.md, names the passes of the pipeline in their order. And
no two source files have one name: what a message or a debugger names is one file.
"""
import pathlib
import re
import sys
import tempfile

SOURCES = {".c", ".h", ".cpp", ".def"}
ROOTS = ("lib", "dialect", "passes", "tools", "python-bindings/src")
# Parts of public headers that are not named like their part.
HEADERS = {
    "support": "arena cancel diag random status target",
    "ugraph": "attrs ops schedule dtypes",
    "expr": "oracle",
    "verify": "guard",
    "search": "cost",
    "runtime": "launch_plan",
    "capi": "Compile Register",
    "passes": "Passes",
    "dialect": "Block Dialects Kernel Thread Values",
}


def picture(text, title):
    """The arrows of the Mermaid flowchart that follows the heading `title`: pairs of names."""
    after = text.partition(f"\n{title}\n")[2]
    chart = re.search(r"```mermaid\nflowchart[^\n]*\n(.*?)```", after, re.S)
    if not chart:
        return None
    arrows = []
    for line in chart.group(1).splitlines():
        names = [re.findall(r"[\w-]+", re.sub(r"\[[^]]*\]|\([^)]*\)", "", side)) for side in line.split("-->")]
        for left, right in zip(names, names[1:]):
            arrows += [(a, b) for a in left for b in right]
    return arrows


def reachable(arrows, start):
    found, left = set(), [start]
    while left:
        at = left.pop()
        for a, b in arrows:
            if a == at and b not in found:
                found.add(b)
                left.append(b)
    return found


def sources(root, folders=ROOTS):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES:
                yield path


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)


def owner(root, header):
    """The part that a public header, by its name under include/, belongs to; None: no public header of ours."""
    if not (root / "include" / header).exists():
        return None
    name = pathlib.PurePath(header).stem
    for part, names in HEADERS.items():
        if name in names.split():
            return part
    return name


def part_of(path):
    """lib/expr/expr.c -> expr; dialect/Block.cpp -> dialect."""
    first, *rest = path.parts
    if first == "lib":
        return rest[0]
    return {"python-bindings": "python"}.get(first, first)


def asks(root):
    """(part, part it includes something of) -> one file that does. Public headers count with the part that they belong to."""
    found = {}
    headers = [path for folder in ("include/mirage", "include/mirage-c") for path in sorted((root / folder).glob("*.*"))]
    for path in [*sources(root), *headers]:
        relative = path.relative_to(root)
        mine = owner(root, str(relative.relative_to("include"))) if relative.parts[0] == "include" else part_of(relative)
        for name in includes(path) if path.suffix in SOURCES else []:
            theirs = owner(root, name)
            if not theirs and (root / "lib" / name).exists():
                theirs = part_of(pathlib.PurePath("lib") / name)
            if theirs and theirs != mine:
                found.setdefault((mine, theirs), str(relative))
    return found


def search_asks(root):
    """The same of the folders of lib/search; what lies in none of them is `search`."""
    found = {}
    folder = root / "lib/search"
    for path in sources(root, ["lib/search"]):
        relative = path.relative_to(folder)
        mine = relative.parts[0] if len(relative.parts) > 1 else "search"
        for name in includes(path):
            parts = pathlib.PurePath(name).parts
            theirs = parts[1] if len(parts) == 3 and parts[0] == "search" else None
            if theirs and theirs != mine:
                found.setdefault((mine, theirs), str(path.relative_to(root)))
    return found


def compare(where, arrows, found):
    """What is wrong with a picture, given who asks whom."""
    if not arrows:
        return [f"{where}: there is no picture of the parts (a Mermaid flowchart)"]
    wrong = []
    parts = {name for arrow in arrows for name in arrow}
    for (mine, theirs), path in sorted(found.items()):
        if theirs not in parts or mine not in parts:
            wrong.append(f"{where}: {path}: part '{theirs if theirs not in parts else mine}' is not in the picture")
        elif theirs not in reachable(arrows, mine):
            wrong.append(f"{path}: includes a header of '{theirs}': {where} has no path of arrows from '{mine}' to there")
    wrong += [f"{where}: arrow {a} --> {b}: nothing includes anything along it" for a, b in arrows if (a, b) not in found]
    wrong += [f"{where}: the arrows from '{part}' lead back to it" for part in sorted(parts) if part in reachable(arrows, part)]
    return wrong


def check_way(root, text):
    """The passes in the way of a program, and those of the pipeline."""
    table = (root / "passes/pass_table.c").read_text()
    summary = re.search(r'"mirage-superoptimize", "[^:]*: ([^"]*)"', table)
    way = [a for a, _ in picture(text, "### The way of a program") or []]
    named = [name.removeprefix("mirage-") for name in way if name.startswith("mirage-")]
    wanted = summary.group(1).split(", ") if summary else []
    if named != wanted:
        return [f"README.md: the way of a program names the passes {named}, the pipeline has {wanted}"]
    return []


def check_names(root):
    seen, wrong = {}, []
    for path in sources(root, [folder for folder in ROOTS if not folder.startswith("python")]):
        relative = str(path.relative_to(root))
        if path.name in seen:
            wrong.append(f"{relative}: {seen[path.name]} has the same name; let it say where one is")
        seen[path.name] = relative
    return wrong


def check(root):
    text = (root / "README.md").read_text()
    search = (root / "lib/search/README.md").read_text()
    wrong = compare("README.md", picture(text, "### The parts"), asks(root))
    wrong += compare("lib/search/README.md", picture(search, "## The parts"), search_asks(root))
    return wrong + check_way(root, text) + check_names(root)


# ------------------------------------------------------------------------------------------------------------ self-test

GOOD = {
    "README.md": "\n### The parts\n```mermaid\nflowchart TB\n  search[the search] --> ugraph & expr\n  expr --> ugraph\n```\n"
    "### The way of a program\n```mermaid\nflowchart LR\n  mirage-a --> mirage-b --> code[end]\n```\n",
    "passes/pass_table.c": '{"mirage-superoptimize", "All: a, b"}',
    "include/mirage/ugraph.h": "",
    "include/mirage/expr.h": '#include "mirage/ugraph.h"\n',
    "lib/search/README.md": "\n## The parts\n```mermaid\nflowchart TB\n  search --> space --> run\n```\n",
    "lib/search/search.c": '#include "search/space/space.h"\n#include "mirage/expr.h"\n#include "mirage/ugraph.h"\n',
    "lib/search/space/space.h": '#include "search/run/pool.h"\n',
    "lib/search/run/pool.h": "",
}
BAD = {
    "README.md has no path of arrows from 'expr' to there": {"lib/expr/term.c": '#include "mirage/search.h"\n', "include/mirage/search.h": ""},
    "part 'layout' is not in the picture": {"lib/search/cost.c": '#include "layout/block.h"\n', "lib/layout/block.h": ""},
    "arrow expr --> ugraph: nothing includes": {"include/mirage/expr.h": ""},
    "the arrows from 'run' lead back to it": {
        "lib/search/README.md": GOOD["lib/search/README.md"].replace("run\n", "run --> space\n"),
        "lib/search/run/pool.h": '#include "search/space/space.h"\n',
    },
    "lib/search/README.md has no path of arrows from 'run' to there": {"lib/search/run/pool.h": '#include "search/space/space.h"\n'},
    "there is no picture of the parts": {"lib/search/README.md": "nothing"},
    "the pipeline has ['a', 'c']": {"passes/pass_table.c": '{"mirage-superoptimize", "All: a, c"}'},
    "lib/search/search.c has the same name": {"tools/search.c": ""},
}


def wrong_with(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return check(root)


def self_test():
    failures = [f"a good tree: {line}" for line in wrong_with(GOOD)]
    for expected, change in BAD.items():
        got = wrong_with({**GOOD, **change})
        if not any(expected in line for line in got):
            failures.append(f"expected '{expected}', got {got}")
    return failures


def main():
    wrong = self_test() if sys.argv[1:] == ["--self-test"] else check(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong) or "the pictures are true")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
