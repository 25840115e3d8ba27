"""Runs the commands that a README shows, in the order in which they stand there, in a scratch folder.

readme.py README.md SOURCE BIN SCRATCH

A command is a line of a ```sh or ```console block that begins with build/bin/, or with "$ build/bin/"; a backslash at its end
joins the next one. Comments go. One whose comment or line says that it wants a GPU is run and may fail.
"""
import os
import pathlib
import re
import subprocess
import sys

readme, source, binaries, scratch = map(pathlib.Path, sys.argv[1:])
scratch.mkdir(parents=True, exist_ok=True)
for name, target in (("examples", source / "examples"), ("test", source / "test"), ("build", binaries.parent)):
    if not (scratch / name).is_symlink():
        os.symlink(target, scratch / name)
environment = dict(os.environ, MIRAGE_TUNING_DB=str((scratch / "tuning.db").resolve()))  # not the user's
count = 0
for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", readme.read_text(), re.M | re.S):
    for line in block.replace("\\\n", " ").splitlines():
        command = line.removeprefix("$ ")
        if not command.startswith("build/bin/"):
            continue
        command, _, comment = command.partition(" #")
        done = subprocess.run(command, shell=True, cwd=scratch, env=environment, capture_output=True, text=True)
        optional = "GPU" in comment or "H200" in comment
        print(f"{'ok' if done.returncode == 0 else 'wants a GPU' if optional else 'FAILED'}: {command.strip()}")
        if done.returncode and not optional:
            print(done.stderr)
            sys.exit(1)
        count += 1
print(count, "commands")
