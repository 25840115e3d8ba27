# Compares include/mirage/ops.def with the ODS of the three dialects: every operator of a level is an operation of that
# level's dialect and the other way round, with the same number of operands, and the same attributes.
#
# usage: ops-table.py SOURCE-ROOT      (llvm-tblgen on PATH)
import json
import os
import re
import subprocess
import sys

DIALECTS = {"K": "Kernel", "B": "Block", "T": "Thread"}
NO_OPERATOR = {("K", "graph"), ("K", "call")}  # what holds operators, and what calls it
# Of kinds with a form of their own, which attrs.def lists no fields of. SHAPE is the result type.
OWN = {
    "SHAPE": set(), "PERM": {"perm"}, "CUSTOM": {"grid", "cluster", "schedule", "plan", "launch"}, "LOOP": {"range", "carries"},
    "ACCESS": {"grid", "loop", "order", "begin", "end", "tiles", "cyclic", "fill"}, "AXES": {"axes"},
}


def fields(path):
    """Kind of attributes -> names, from attrs.def; default-valued attributes count."""
    text = open(path).read()
    kinds = {kind: set() for kind in re.findall(r"^MIRAGE_ATTRS\((\w+)\)", text, re.M)}
    for kind, name in re.findall(r"^MIRAGE_ATTR\((\w+), \w+, (\w+), ", text, re.M):
        if kind not in kinds:
            sys.exit(f"attrs.def: {kind} has the field {name}, and is no kind with fields")
        kinds[kind].add(name)
    own = set(re.findall(r"^MIRAGE_ATTRS_OWN\((\w+)\)", text, re.M))
    if own != set(OWN):
        sys.exit(f"attrs.def: kinds of their own form are {sorted(own)}, {sorted(OWN)} are known here")
    return {**kinds, **OWN}


def rows(path):
    """(level, mnemonic) -> (least, most, attributes kind); most None is unbounded."""
    table = {}
    pattern = r'^MIRAGE_OP\(\w+, "(\w+)", (\d+), (\w+), ([KBT| ]+), \w+, (\w+)\)'
    for mnemonic, least, most, levels, attrs in re.findall(pattern, open(path).read(), re.M):
        for level in levels.split(" | "):
            table[level, mnemonic] = (int(least), None if most == "ANY" else int(most), attrs)
    return table


def operations(root, level):
    """(level, mnemonic) -> (least, most, attribute names), from the records of the dialect's ODS."""
    folder = os.path.join(root, "dialect")
    include = subprocess.run(["llvm-config", "--includedir"], check=True, capture_output=True, text=True).stdout.strip()
    text = subprocess.run(["llvm-tblgen", "--dump-json", "-I", folder, "-I", include,
                           os.path.join(folder, f"Mirage{DIALECTS[level]}.td")],
                          check=True, capture_output=True, text=True).stdout
    records = json.loads(text)
    table = {}
    for name in records["!instanceof"]["Op"]:
        record = records[name]
        least = most = 0
        attributes = set()
        for kind, argument in record["arguments"]["args"]:
            constraint = records[kind["def"]]
            supers = constraint["!superclasses"]
            while "OpVariable" in supers:  # Arg<...>
                constraint = records[constraint["constraint"]["def"]]
                supers = constraint["!superclasses"]
            if "AttrConstraint" in supers:
                attributes.add(argument)
                continue
            least += 0 if "Variadic" in supers or "Optional" in supers else 1
            most = None if "Variadic" in supers or most is None else most + 1
        table[level, record["opName"]] = (least, most, attributes)
    return table


def main():
    root = sys.argv[1]
    table, attributes = rows(os.path.join(root, "include/mirage/ops.def")), fields(os.path.join(root, "include/mirage/attrs.def"))
    if len(table) < 50:
        sys.exit(f"ops.def: only {len(table)} rows were understood")
    ods = {}
    for level in DIALECTS:
        ods.update(operations(root, level))
    problems = []
    for key in sorted(set(table) ^ (set(ods) - NO_OPERATOR)):
        where = "ops.def" if key in table else "the ODS"
        problems.append(f"{key[1]}: only {where} has it at level {key[0]}")
    for key in sorted(set(table) & set(ods)):
        least, most, attrs = table[key]
        ods_least, ods_most, names = ods[key]
        # ODS may be looser than the table in number, since a variadic group stands for a range; the core checks it again.
        if ods_least > least or (ods_most is not None and (most is None or ods_most != most)):
            problems.append(f"{key[1]}: {least} to {most} operands in ops.def, {ods_least} to {ods_most} in the ODS")
        if attrs not in attributes:
            problems.append(f"{key[1]}: attrs.def has no kind {attrs}")
            continue
        expected = attributes[attrs] - ({"fill"} if key[1] == "store" else set())
        if names != expected:
            problems.append(f"{key[1]}: attributes {sorted(expected)} in attrs.def, {sorted(names)} in the ODS")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(table)} operators agree")


main()
