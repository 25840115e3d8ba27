"""The page examples/COMPILER.md, block by block, in an empty folder: what stands there is what is run.

A block whose first line is a comment with a file's name is written to that file. `sh` blocks run as they are; of `console` blocks the
lines that begin with "$ ", and the lines below each are what it prints, where "..." stands for anything.
"""
import re

NAMED = re.compile(r"^(?://|#) ([\w.-]+\.(?:c|cpp|mlir|txt))$")
# What needs root, or builds what was built: the same without the effect.
INSTEAD = {"make package": "make -n -C {source} package >/dev/null", "apt-get install ": "apt-get install --simulate "}


def blocks(text):
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)


def instead(script, source):
    for command, other in INSTEAD.items():
        script = script.replace(command, other.format(source=source))
    return script


def compare(shown, printed, check):
    """Every line that the page shows is printed, in that order, with nothing else."""
    wanted = [re.escape(line).replace(re.escape("..."), ".*") for line in shown]
    check(len(wanted) == len(printed) and all(re.fullmatch(w, p) for w, p in zip(wanted, printed)),
          "the page shows", shown, "and this was printed:", printed)


def run_console(body, execute, check):
    """Commands of one block share a shell's variables; output is compared where the page shows some."""
    before = []
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        printed = execute("\n".join([*before, command])).splitlines()
        if command.startswith("export "):
            before.append(command)
        if shown:
            compare(shown, printed, check)


def step_page(place, run, check):
    folder = place.work / "scratch"
    run(place, "rm", "-rf", folder)
    folder.mkdir()
    (folder / "build").mkdir()
    for name in ("cmake_install.cmake", "CMakeCache.txt"):  # what cmake --install reads
        (folder / "build" / name).symlink_to(place.build / name)
    (folder / "build/packages").symlink_to(place.work.parent / "package/packages")

    def execute(script):
        return run(place, "bash", "-ec", instead(script, place.source), cwd=folder, PREFIX=str(folder / "installed"))

    kinds = []
    for kind, body in blocks((place.source / "examples/COMPILER.md").read_text()):
        named = NAMED.match(body.split("\n", 1)[0])
        kinds.append("file" if named else kind)
        if named:
            (folder / named.group(1)).write_text(body)
        elif kind == "sh":
            execute(body)
        elif kind == "console":
            run_console(body, execute, check)
        else:
            check(False, "a block that nothing runs:\n", body)
    run(place, "rm", "-rf", folder / "installed")
    check(kinds.count("file") >= 5 and kinds.count("sh") >= 3 and kinds.count("console") >= 2, kinds)
