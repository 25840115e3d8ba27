"""narrowed.py FILE [PROGRAM [wrong]]: by program, whether blocks of some candidate exchange sums in 16 bits ("narrowed"), or whole; or a module of one
program and the first candidate that does, its parts multiplied with their factor alone where they are to be wrong."""
import re, sys

NARROW = re.compile(r"(%\d+) = mul (%\d+), (%\d+) : !mirage_block\.tile<[0-9x]+xb?f16>, !mirage_block\.tile<[0-9x]+xf32>\n(?:.*\n)??.*(?:grid|cluster)_sum \1 ")

text = (sys.stdin if sys.argv[1] == "-" else open(sys.argv[1])).read()
graphs = re.findall(r"^ *mirage_kernel\.graph @.*?^ *return [^\n]*\n *\}\n", text, re.M | re.S)
programs = {re.search(r"@(\w+)", g)[1]: g for g in graphs if "source = @" not in g}
candidates = {p: [g for g in graphs if f"source = @{p}}}" in g or f"source = @{p}," in g] for p in programs}
if len(sys.argv) == 2:
    for program in programs:
        split = [g for g in candidates[program] if re.search(r"(grid|cluster)_sum", g)]
        print(f"{program}: {'narrowed' if any(NARROW.search(g) for g in split) else 'whole' if split else 'nothing is split'}")
else:
    one = next(g for g in candidates[sys.argv[2]] if NARROW.search(g))
    if "wrong" in sys.argv:
        product, part, factor = NARROW.search(one).groups()
        scale = re.search(re.escape(factor) + r" = mul %\S+, (%\d+) ", one)[1]
        one = one.replace(f"{product} = mul {part}, {factor} ", f"{product} = mul {part}, {scale} ")
    print(programs[sys.argv[2]] + one)
