"""Says of each innermost loop with matrix products, in a module's PTX, whether it hides elements: whether it selects bottom more
often than it has rows.

loop_masks.py MODULE.mlir
"""
import re
import sys

BOTTOM = "0fFF800000"
ROWS = 2  # of a thread: where a running maximum is bottom still, it is not subtracted


def kernels(text):
    for assembly in re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', text):
        ptx = re.sub(r"\\([0-9A-F]{2})", lambda byte: chr(int(byte.group(1), 16)), assembly)
        for name, body in re.findall(r"\.entry (\w+)\(.*?\n\{(.*?)\n\}", ptx, re.S):
            yield name, body.split("\n")


def loops(lines):
    """Pairs of first and last line of each loop that multiplies, and holds no other that does."""
    labels, found = {}, []
    for number, line in enumerate(lines):
        if label := re.match(r"(\$L\w+):", line):
            labels[label.group(1)] = number
        jump = re.search(r"\bbra(?:\.uni)?\s+(\$L\w+);", line)
        if jump and jump.group(1) in labels:
            begin = labels[jump.group(1)]
            if any("wgmma.mma_async" in inside for inside in lines[begin:number]):
                found.append((begin, number))
    holds = lambda loop, other: loop != other and loop[0] <= other[0] and other[1] <= loop[1]
    return [loop for loop in found if not any(holds(loop, other) for other in found)]


def hides(lines):
    return ROWS < sum("selp.f32" in line and BOTTOM in line for line in lines)


def main():
    for name, lines in kernels(open(sys.argv[1]).read()):
        for begin, end in loops(lines):
            print(f"{name.split('_')[0]}: {'masked' if hides(lines[begin:end]) else 'whole'}")


main()
