# Bytecode gives the text again, the same bytecode comes of it, and a file that is not whole is refused.
#
# usage: bytecode.py TEXT MLIR-OPT SCRATCH
#
# That bytecode holds every operation, attribute and type of the dialects: test/reference does this with the example of each.
import os
import subprocess
import sys

source, tool, scratch = sys.argv[1:]


def opt(arguments, data=b""):
    return subprocess.run([tool, *arguments], input=data, capture_output=True)


def main():
    text = opt([source]).stdout
    code = opt(["--emit-bytecode"], text).stdout
    if not code.startswith(b"ML\xefR"):
        sys.exit("no bytecode")
    if opt([], code).stdout != text:
        sys.exit("bytecode does not give the text again")
    if opt(["--emit-bytecode"], code).stdout != code:
        sys.exit("bytecode read and written is not the same bytecode")

    refused = 0
    for length in range(4, len(code), max(1, len(code) // 40)):
        run = opt(["-o", os.path.join(scratch, "cut.mlir")], code[:length])
        if run.returncode != 1:
            sys.exit(f"the first {length} bytes: exit status {run.returncode}, {run.stderr.decode()[-300:]}")
        refused += 1
    print(f"{len(code)} bytes; {refused} cut files were refused")


main()
