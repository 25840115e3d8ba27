# What --dump-pass-pipeline prints is a pipeline: it is accepted again, and gives the same dump, for every pass and pipeline, with
# defaults and with another value for every option. The passes and their options are read from --help.
#
# usage: pipelines.py MLIR-OPT
import os
import re
import subprocess
import sys
import tempfile

OTHER = {  # of options whose values have a form of their own
    "target": "a100", "griddims": "32,16x4", "blockdims": "64,256", "imaps": "0:-1:1", "omaps": "-1:0:1", "fmaps": "1,-1",
    "franges": "8,16", "search-space": "'a file.json'", "checkpoint": "{a, file}", "resume": "b", "against": "p",
}


def table():
    """pass or pipeline -> [(option, default, choices)], as mirage-mlir-opt --help has it."""
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    passes = {}
    for line in text.splitlines():
        if name := re.match(r"  --([a-z-]+)$", line):
            current = passes.setdefault(name[1], [])
        elif option := re.match(r"    ([a-z0-9-]+)=(\S*)", line):
            current.append([option[1], option[2], ""])
        if choices := re.search(r"\(((?:[\w-]+,)+[\w-]+)\)$", line):
            current[-1][2] = choices[1]
    return passes


def other_value(option, default, choices):
    if option in OTHER:
        return OTHER[option]
    if default in ("true", "false"):
        return "false" if default == "true" else "true"
    if choices:
        return next(word for word in choices.split(",") if word != default)
    if re.fullmatch(r"-?\d+", default):  # a number in the option's range, in most cases the next one
        return {"opt-level": "2", "max-loops": "2", "log2-bound": "-61"}.get(option, str(int(default) + 1))
    if re.fullmatch(r"[\d.e]+", default):
        return str(float(default) * 0.5)
    sys.exit(f"pipelines.py: no other value is known for {option}={default}")


def dump(pipeline):
    run = subprocess.run([tool, "--pass-pipeline=" + pipeline, "--dump-pass-pipeline"], input="module {}", capture_output=True,
                         text=True)
    found = re.search(r"^builtin\.module\(\n(.*?)^\)$", run.stderr, re.M | re.S)
    if run.returncode or not found:
        sys.exit(f"{pipeline}:\n{run.stderr}")
    return re.sub(r"\s*\n\s*", "", found[0])


def check(pipeline):
    first = dump(pipeline)
    second = dump(first)
    if first != second:
        sys.exit(f"{pipeline}:\nfirst  {first}\nsecond {second}")
    return first


tool = sys.argv[1]
scratch = tempfile.TemporaryDirectory()
os.chdir(scratch.name)
with open("a file.json", "w") as space:  # read before any pass runs
    space.write("{}")
passes = table()
changed = 0
for name, options in passes.items():
    default = check(f"builtin.module({name})")
    for option in options:
        value = other_value(*option)
        text = check(f"builtin.module({name}{{{option[0]}={value}}})")
        if text == default:
            sys.exit(f"{name}: {option[0]}={value} is not in the dump: {text}")
        changed += 1
    together = " ".join(f"{option[0]}={other_value(*option)}" for option in options if option[0] != "resume")
    check(f"builtin.module({name}{{{together}}})")
print(f"{len(passes)} passes and pipelines, {changed} options")
