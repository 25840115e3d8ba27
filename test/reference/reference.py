# Reads the reference pages of the dialects and passes, and runs every example that stands in them.
#
# usage: reference.py dialects SOURCE-ROOT DOCS      reference.py passes DOCS SCRATCH      reference.py schedule SOURCE-ROOT DOCS
#        (mirage-mlir-opt, FileCheck on PATH)
#
# A page is a list of entries, "### `mirage_kernel.exp` ..." or "### CostAttr". Each must have a summary, words that describe it, and
# an example. Examples of dialects are whole modules, or lines of a graph, around which a graph of their level is put, or attributes
# and types. All are read, verified, and come back the same from text, from the generic form and from bytecode. Every operation,
# attribute and type of the pages occurs in its example, so that bytecode is known to hold all of them. An example of a pass begins with
# its command and has FileCheck's lines.
import os
import re
import shlex
import subprocess
import sys

LEVELS = ("mirage_kernel", "mirage_block", "mirage_thread")
NO_OPERATOR = {("mirage_kernel", "graph"), ("mirage_kernel", "call")}
# A kernel around lines of the block level; it must fill its result.
BLOCK = """custom (%from = %other) outs(%to) grid [2, 2] cluster [2, 2] : (tensor<4x4xf32>) -> tensor<4x4xf32> {
%piece = load %from {grid = [0, 1]} : tensor<4x4xf32> -> !mirage_block.tile<2x2xf32>
store %piece, %to {grid = [0, 1]} : !mirage_block.tile<2x2xf32>, tensor<4x4xf32>"""
TYPE = r"(?:tensor|!mirage_block\.tile|!mirage_thread\.fragment)<[^>]*>"


class Problem(Exception):
    pass


def entries(page):
    """Heading -> text of each entry of a page."""
    parts = re.split(r"^### (.*)$", open(page).read(), flags=re.M)[1:]
    return [(heading, re.split(r"^## ", text, flags=re.M)[0]) for heading, text in zip(parts[::2], parts[1::2])]


def check_words(text):
    """Summary, description, example: what every entry must have. Returns the examples."""
    if not re.search(r"^_\S.*_$", text, re.M):
        raise Problem("has no summary")
    examples = re.findall(r"^```mlir\n(.*?)^```$", text, re.M | re.S)
    if not examples or not all(example.strip() for example in examples):
        raise Problem("has no example")
    words = re.sub(r"^```.*?^```$", "", text[:text.index("Example:")], flags=re.M | re.S)
    words = re.sub(r"^_\S.*_$|^(Syntax|Traits|Interfaces):.*$", "", words, flags=re.M)
    if len(words.split()) < 3:
        raise Problem("has no description")
    return examples


# ------------------------------------------------------------------------------------------------------------------------ dialects


def opt(arguments, data):
    run = subprocess.run(["mirage-mlir-opt", *arguments], input=data, capture_output=True)
    if run.returncode:
        raise Problem(f"does not run: {run.stderr.decode()}")
    return run.stdout


def inputs(lines):
    """What the lines take and do not define, with the types that stand behind the colon."""
    defined, taken = set(), {}
    for line in lines:
        result, _, rest = line.partition(" = ")
        operands = re.findall(r"%\w+", re.sub(r"\{.*\}", "", rest.split(" : ")[0]).partition(" ")[2])
        for name, type_ in zip(operands, re.findall(TYPE, rest.split(" : ")[-1])):
            if name not in defined:
                taken.setdefault(name, type_)
        defined.update(re.findall(r"%\w+", result))
    return taken


def wrapped(level, example):
    """A module around lines of a graph of that level."""
    lines = example.splitlines()
    taken = inputs(lines)
    end = ["return %other : tensor<4x4xf32>", "}"]  # a graph has a result
    if level == "mirage_kernel":
        arguments = "".join(f", {name}: {type_}" for name, type_ in taken.items())
        return "\n".join([f"mirage_kernel.graph @example(%other: tensor<4x4xf32>{arguments}) -> tensor<4x4xf32> {{", *lines, *end])
    tiles = {name: type_.replace("!mirage_thread.fragment", "!mirage_block.tile") for name, type_ in taken.items()}
    constants = [f"{name}_tile = constant 1.0 : {type_}" for name, type_ in tiles.items()]
    if level == "mirage_thread":
        arguments = ", ".join(f"{name} = {name}_tile" for name in taken)
        types = ", ".join(tiles.values())
        lines = [f"thread ({arguments}) {': ' + types if types else ''} {{", *lines, "yield", "}"]
    else:
        constants = [constant.replace("_tile =", " =") for constant in constants]
    return "\n".join(["mirage_kernel.graph @example(%other: tensor<4x4xf32>) -> tensor<4x4xf32> {", BLOCK, *constants, *lines, "}", *end])


def module_of(level, example):
    if example.startswith(("#", "!")):
        attributes = [f"test.a{i} = {line}" for i, line in enumerate(example.splitlines())]
        return "module attributes {" + ", ".join(attributes) + "} {}"
    return example if "graph @" in example else wrapped(level, example)


def run_together(examples):
    """Runs (level, name, example) of a list, as modules of one module: text, generic form and bytecode give the same again."""
    module = "\n".join(f"module {{\n{module_of(level, example)}\n}}" for level, _, example in examples)
    text = opt([], module.encode())
    if opt([], text) != text:
        raise Problem("its text does not give itself")
    generic = opt(["--mlir-print-op-generic"], text)
    if opt([], generic) != text or opt([], opt(["--emit-bytecode"], text)) != text:
        raise Problem("generic form or bytecode do not give its text")
    if len(examples) == 1:
        return
    for level, name, example in examples:
        if not re.search(rf"\b{name.split('.')[1].strip(chr(34))}\b", example):
            raise Problem("an example is of something else")


def run_example(level, name, example):
    run_together([(level, name, example)])
    generic = opt(["--mlir-print-op-generic"], module_of(level, example).encode()).decode()
    if name not in generic and name.replace(".", "<") not in generic:  # #mirage_block<carry sum>
        raise Problem(f"its example holds no {name}")


def failing(entries_):
    """(entry, problem) of those entries that fail; many are tried at once, and halved where that fails."""
    try:
        if len(entries_) == 1:
            run_example(*entries_[0][1])
        elif entries_:
            run_together([what for _, what in entries_])
        return []
    except Problem as problem:
        if len(entries_) == 1:
            return [(entries_[0][0], problem)]
    half = len(entries_) // 2
    return failing(entries_[:half]) + failing(entries_[half:])


def spelling(level, heading):
    """How the generic form writes an entry: "mirage_block.load", #mirage_block.carry, !mirage_block.tile."""
    if found := re.match(r"`(\w+\.\w+)`", heading):
        return f'"{found[1]}"'
    name, kind = re.fullmatch(r"(\w+?)(Attr|Type)", heading).groups()
    mnemonic = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return ("#" if kind == "Attr" else "!") + f"{level}.{mnemonic}"


def rows(root):
    """(dialect, mnemonic) of the operator table."""
    table = re.findall(r'^MIRAGE_OP\(\w+, "(\w+)", \d+, \w+, ([KBT| ]+),', open(f"{root}/include/mirage/ops.def").read(), re.M)
    return {(LEVELS["KBT".index(level)], mnemonic) for mnemonic, levels in table for level in levels.split(" | ")}


def dialects(root, docs):
    problems, found, examples = [], set(), []
    for level in LEVELS:
        page = f"{docs}/{level}.md"
        for example in re.findall(r"^```mlir\n(.*?)^```$", open(page).read().partition("## Operations")[0], re.M | re.S):
            examples.append((f"{page}: the dialect", (level, '"mirage_kernel.graph"', example)))
        for heading, text in entries(page):
            if "#### Cases" in text:
                continue  # an enumeration, which stands in the attributes
            try:
                examples += [(f"{page}: {heading}", (level, spelling(level, heading), example)) for example in check_words(text)]
            except Problem as problem:
                problems.append(f"{page}: {heading}: {problem}")
            if operation := re.match(r"`(\w+)\.(\w+)`", heading):
                found.add(operation.groups())
    problems += [f"{entry}: {problem}" for entry, problem in failing(examples)]
    problems += [f"{docs}: no entry for {'.'.join(row)}" for row in sorted(rows(root) - found)]
    problems += [f"ops.def: no row for {'.'.join(row)}" for row in sorted(found - rows(root) - NO_OPERATOR)]
    return problems, len(examples)


# -------------------------------------------------------------------------------------------------------------------------- passes


def run_pass(heading, example, scratch):
    """What stands in front of the example is its command; its CHECK lines are FileCheck's."""
    command = re.match(r"// RUN: mirage-mlir-opt (.*)\n", example)
    if not command or "// CHECK" not in example:
        raise Problem("its example has no command or says nothing of what comes of it")
    if heading.strip("`") not in command[1]:
        raise Problem("its example runs another pass")
    path = os.path.join(scratch, heading.strip("`-") + ".mlir")
    with open(path, "w") as file:
        file.write(example)
    result = opt([*shlex.split(command[1]), path], b"")
    check = subprocess.run(["FileCheck", path], input=result, capture_output=True)
    if check.returncode:
        raise Problem(f"its example gives something else: {check.stderr.decode()}")
    opt([], result)


def check_options(text):
    """Every option has a type, a default, its values and a meaning."""
    if "No options." in text or "those of its passes" in text:
        return 0
    rows_ = re.findall(r"^\| `[\w-]+` \|.*\|$", text, re.M)
    for row in rows_:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        if len(cells) != 5 or not all(cells):
            raise Problem(f"its option lacks something: {row}")
    if not rows_:
        raise Problem("has no options, and does not say so")
    return len(rows_)


def passes(docs, scratch):
    problems, count, options = [], 0, 0
    listed = set(re.findall(r"^  --(\S+)$", subprocess.run(["mirage-mlir-opt", "--help"], capture_output=True, text=True).stdout,
                            re.M))
    for heading, text in entries(f"{docs}/passes.md"):
        listed.discard(heading.strip("`-"))
        try:
            for example in check_words(text):
                run_pass(heading, example, scratch)
                count += 1
            options += check_options(text)
        except Problem as problem:
            problems.append(f"{docs}/passes.md: {heading}: {problem}")
    problems += [f"{docs}/passes.md: no entry for {name}" for name in sorted(listed)]
    return problems, f"{count} examples, {options} options"


# ------------------------------------------------------------------------------------------------------------------------ schedule


def row_names(root):
    """Record -> names of its rows, and the names of all words, as schedule.def has them."""
    text = open(f"{root}/include/mirage/schedule.def").read()
    keys = re.findall(r"^MIRAGE_(SCHEDULE|ROLE|LOAD)_KEY\(\w+, (\w+),", text, re.M)
    keys += [("SCHEDULE", name) for name in re.findall(r"^MIRAGE_SCHEDULE_LIST\(\w+, \w+, (\w+),", text, re.M)]
    words = re.findall(r'^MIRAGE_\w+_WORD\(\w+, "(\w+)",', text, re.M)
    return {record: [name for of, name in keys if of == record] for record in ("SCHEDULE", "ROLE", "LOAD")}, words


def shown(record, key, value):
    """A schedule in which this key has this value."""
    by_place = {"kind": f"{value}(1)", "warps": f"producer({value})", "registers": f"producer(1, {value})"}
    item = value if key == "landing" else f"auto({key} = {value})"
    return {"SCHEDULE": f"{key} = {value}", "ROLE": f"roles = [{by_place.get(key)}]", "LOAD": f"loads = [{item}]"}[record]


def values_of(cell):
    """Values to try out of a cell of the page: the words, or the bounds."""
    words = re.findall(r"`(\w+)`", cell)
    bounds = re.match(r"(-?\d+) (?:to (\d+)|and more)", cell)
    return words or [bound for bound in bounds.groups() if bound]


def schedule(root, docs):
    """Every row stands on the page with its meaning, and each value that the page names is read and comes back."""
    problems, count = [], 0
    records, words = row_names(root)
    page = open(f"{docs}/schedule.md").read()
    problems += [f"{docs}/schedule.md: no word {word}" for word in words if f"`{word}`" not in page]
    for record, names in records.items():
        part = page.partition(f"\n## {record.lower()}\n")[2].partition("\n## ")[0]
        for name in names:
            row = re.search(rf"^\| `{name}` \| (.+?) \| (.+?) \| (.+?) \|$", part, re.M)
            if not row:
                problems.append(f"{docs}/schedule.md: no row {name} of a {record.lower()}")
                continue
            for value in values_of(row[1]) if "](#" not in row[1] else []:
                count += 1
                text = f"#mirage_kernel.schedule<{shown(record, name, value)}>"
                back = opt([], f"module attributes {{test.a = {text}}} {{}}".encode()).decode()
                if value not in row[2] and not re.search(rf"\b{value}\b", back):
                    problems.append(f"{docs}/schedule.md: {text} comes back as {back}")
    return problems, f"{count} values read"


def main():
    what, *arguments = sys.argv[1:]
    problems, count = {"dialects": dialects, "passes": passes, "schedule": schedule}[what](*arguments)
    if problems:
        sys.exit("\n".join(problems))
    print(f"{count} examples ran" if what == "dialects" else count)


if __name__ == "__main__":
    main()
