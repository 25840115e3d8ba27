"""The table of README.md: what of each program stays outside of ours, and why.

  python test/exporters/table.py --write     (PYTHONPATH=build/python)
"""

import collections
import re
import sys
from pathlib import Path

import export
import share
import stages
from programs import PROGRAMS

README = Path(__file__).with_name("README.md")


def reasons(remarks):
    """What stays outside, the cause before what follows from it: "2 linalg.generic: its body has tensor.extract"."""
    found = collections.Counter()
    for severity, sentence in remarks:
        match = re.fullmatch(r"(\S+) stays outside: (.*)", sentence)
        if match and match[2] != "alone it is not worth a kernel":
            found[f"{match[1]}: {match[2]}"] += 1
    return "; ".join(f"{count} {reason}" for reason, count in found.items())


def row(road, name, text, module, remarks):
    """The table's line of a program, or "" where all of it is inside."""
    outside = reasons(remarks)
    if not outside:
        return ""
    part = share.share(stages.as_linalg(road, text), module)
    return f"| {road} | {name} | {100 * part:.1f} % | {outside} |"


def kept(road):
    """The lines of the README."""
    lines = README.read_text().partition("<!-- table -->")[2].splitlines()
    return [line for line in lines if line.startswith(f"| {road} |")]


def main():
    head, _, rest = README.read_text().partition("<!-- table -->\n")
    tail = rest.partition("<!-- end -->")[2]
    lines = ["| road | program | flops inside | what stays outside |", "|---|---|---|---|"]
    for road in export.ROADS:
        for name in PROGRAMS:
            text = export.export(road, name)
            line = row(road, name, text, *stages.convert(road, text))
            lines += [line] if line else []
    new = f"{head}<!-- table -->\n" + "\n".join(lines) + f"\n<!-- end -->{tail}"
    if "--write" in sys.argv:
        README.write_text(new)
    else:
        print(new)


if __name__ == "__main__":
    main()
