# Copies the reference pages, each fault of a kind that reference.py must name put in once.
#
# usage: spoil.py DOCS COPY
import re
import sys

docs, copy = sys.argv[1:]


def change(text, entry, pattern, replacement):
    """Replaces once inside the entry; the pattern must be there."""
    start = text.index("### " + entry)
    end = text.find("\n### ", start + 1)
    part, count = re.subn(pattern, replacement, text[start:end], count=1, flags=re.M | re.S)
    if count != 1:
        sys.exit(f"{entry}: no {pattern}")
    return text[:start] + part + text[end:]


FAULTS = {
    "mirage_kernel.md": [("`mirage_kernel.exp`", r"^_E to.*?_$", ""), ("`mirage_kernel.log`", r"^```mlir.*?^```$", ""),
                         ("`mirage_kernel.sqrt`", r"^Element by element\.$", ""),
                         ("`mirage_kernel.neg`", "neg %x", "neg %x {dim = 1}"), ("`mirage_kernel.tanh`", "= tanh", "= exp"),
                         ("`mirage_kernel.relu`", "`mirage_kernel.relu`", "`mirage_kernel.reluu`")],
    "mirage_block.md": [("CarryAttr", r"carry sum", "carry summ")],
    "mirage_thread.md": [],
    "passes.md": [("`--mirage-expand`", "CHECK: mul", "CHECK: square"), ("`--mirage-prune`", r"^```mlir.*?^```$", ""),
                  ("`--mirage-layout`", r"add each program's own lowering[^|]*", ""), ("`--mirage-lower`", "lower", "lowers")],
}
for page, faults in FAULTS.items():
    text = open(f"{docs}/{page}").read()
    for fault in faults:
        text = change(text, *fault)
    with open(f"{copy}/{page}", "w") as file:
        file.write(text)
