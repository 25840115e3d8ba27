#!/usr/bin/env python3
"""Counts the files that name a key of a schedule: whoever changes what a key means has to read them.

    keys.py ROOT         the tree at ROOT; prints every key that stands in too many files, exit status 1 where there is one
    keys.py ROOT --list  the files of each key
    keys.py --self-test  trees that are wrong in one way each, which must be told

A file names a key that reads or writes its field in a MirageSchedule, MirageRole or MirageLoadSchedule, or one of its words
(MIRAGE_LANDING_TENSOR); so does its row in include/mirage/schedule.def. The variables of those types are found by their
declarations. Printers, parsers, hashes, checks and descriptions walk the table and name no key.
"""
import pathlib
import re
import sys
import tempfile

MOST = 5
FOLDERS = ("include", "lib", "dialect", "passes", "tools", "python-bindings/src")
TYPES = {"schedule": "MirageSchedule", "role": "MirageRole", "load": "MirageLoadSchedule"}
FIELDS = {"schedule": ["schedule", "asked"], "role": ["roles"], "load": ["loads", r"\w*load_schedule"]}  # of structures, of these types
INDEX = r"(?:\[[^\]]*\]|\((?:[^()]|\([^()]*\))*\))?"


def rows(root):
    """Key, as record.name -> the beginning of its words, or None."""
    text = (root / "include/mirage/schedule.def").read_text()
    found = {}
    for record, kind, name in re.findall(r"^MIRAGE_(SCHEDULE|ROLE|LOAD)_KEY\((\w+), (\w+),", text, re.M):
        word = re.fullmatch(r"Mirage(?:Warp|Tile)?([A-Z]\w+?)(?:Kind)?", kind)
        found[f"{record.lower()}.{name}"] = f"MIRAGE_{word[1].upper()}_" if word else None
    for name in re.findall(r"^MIRAGE_SCHEDULE_LIST\(\w+, \w+, (\w+),", text, re.M):
        found[f"schedule.{name}"] = None
    return found


def sources(root):
    """Path -> text without comments, without words in quotes and without the table's own macros."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".c", ".h", ".cpp", ".td"}:
                text = re.sub(r'//.*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"(?!\n)', "", path.read_text())
                found[str(path.relative_to(root))] = re.sub(r"\bMIRAGE_\w+_(WORD|KEY|LIST|GONE)\b", "", text)
    return found


def names(text, key, words):
    record, field = key.split(".")
    declared = re.findall(r"\b(\w+)\b(?:\s*\*+\s*(?:const\s+)?|\s+)(\w+)(?=\s*[=;,)\[])", text)
    variables = {name for type_, name in declared if type_ == TYPES[record]}
    variables |= set(FIELDS[record]) - {name for type_, name in declared if type_ not in ("const", "return", TYPES[record])}
    if '#include "search/schedule/' in text:  # which has schedules of its own
        variables.discard("schedule")
    number = "(?:num_)?" if field in ("roles", "loads") else ""
    access = rf"\b(?:{'|'.join(sorted(variables)) or '-'})\b{INDEX}(?:->|\.){number}{field}\b"
    given = rf"\b{TYPES[record]}\)?\s*\w*\s*=?\s*\{{[^;}}]*\.{number}{field}\b"  # (MirageSchedule){.warps = 4}
    return bool(re.search(access, text) or re.search(given, text) or (words and re.search(words + r"(?!NUM)[A-Z]", text)))


def count(root):
    texts = sources(root)
    return {key: ["include/mirage/schedule.def", *(path for path, text in texts.items() if names(text, key, words))]
            for key, words in rows(root).items()}


def check(root):
    return [f"{key} is named in {len(files)} files, at most {MOST} may: {' '.join(files)}"
            for key, files in count(root).items() if len(files) > MOST]


DEF = "MIRAGE_SCHEDULE_KEY(int32_t, warps, 0, 32, x)\nMIRAGE_LOAD_KEY(MirageLanding, landing, 0, 0, x)\nMIRAGE_SCHEDULE_LIST(A, a, loads, 1, x)\n"
WAYS = {  # what names a key, and what does not
    "schedule.warps": ["int f(const MirageSchedule *s) { return s->warps; }", "int a = node.attrs->custom.schedule->warps;",
                       "MirageSchedule one = {.warps = 4};", "f(&(MirageSchedule){.split = 1, .warps = 4});"],
    "load.landing": ["plan->schedule.loads[i].landing = x;", "x = mirage__load_schedule(p, node(n))->landing;", "x = MIRAGE_LANDING_TENSOR;"],
    "schedule.loads": ["n = schedule->num_loads;", "l = &schedule.loads[i];"],
}
OTHERS = ["int a = partition->warps; // schedule->warps", "x = block->values[i].landing;", "#define MIRAGE_LANDING_WORD(x) x", "int f(const SearchSchedule *schedule) { return schedule->warps; }",
          "n = plan->num_loads;"]


def tree(folder, texts):
    root = pathlib.Path(folder)
    (root / "include/mirage").mkdir(parents=True)
    (root / "lib").mkdir()
    (root / "include/mirage/schedule.def").write_text(DEF)
    for i, text in enumerate(texts):
        (root / f"lib/f{i}.c").write_text(text)
    return root


def self_test():
    failures = []
    for key, texts in WAYS.items():
        for text in texts:
            with tempfile.TemporaryDirectory() as folder:
                if len(count(tree(folder, [text]))[key]) != 2:
                    failures.append(f"'{text}' names {key}")
    with tempfile.TemporaryDirectory() as folder:
        failures += [f"nothing names {key}: {files}" for key, files in count(tree(folder, OTHERS)).items() if len(files) != 1]
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder, WAYS["schedule.warps"][:1] * MOST)
        if not any("at most 5 may" in line for line in check(root)):
            failures.append(f"six files that name a key are too many, got {check(root)}")
    with tempfile.TemporaryDirectory() as folder:
        if check(tree(folder, WAYS["schedule.warps"][:1] * (MOST - 1))):
            failures.append("five files that name a key are told")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
    elif sys.argv[2:] == ["--list"]:
        wrong = []
        for key, files in count(pathlib.Path(sys.argv[1])).items():
            print(f"{key} {len(files)}: {' '.join(files)}")
    else:
        wrong = check(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong) or "no key of a schedule stands in too many files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
