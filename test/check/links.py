"""What is in a program: fails when it holds code of an archive that it must not have, or names LLVM's code generators.

    links.py --nm NM PROGRAM ARCHIVE...

An object comes out of an archive when the program needs one symbol of it, and brings all its symbols along. So every
symbol that an archive defines (weak ones, which C++ makes anywhere, left out) must be missing in the program. Both are
read with nm, so nobody keeps a list of names; the archives are what must stay outside: search, layout, codegen ...
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

# Initialising a target, creating a machine for one, compiling at run time. libMLIR itself links libLLVM: what counts is
# what the program asks it for.
GENERATORS = re.compile(r"LLVMInitialize\w+|LLVM(Create)?TargetMachine\w*|LLVMOrc\w+|\w*NVPTX\w*")


def symbols(nm, path, kinds):
    done = subprocess.run([nm, path], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"links.py: {nm} {path}: {done.stderr}")
    lines = (line.split() for line in done.stdout.splitlines())
    return {parts[-1] for parts in lines if len(parts) > 1 and parts[-2] in kinds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("program", type=Path)
    parser.add_argument("archives", type=Path, nargs="+")
    options = parser.parse_args()
    mine = symbols(options.nm, options.program, "TDBR")
    if not any(name.startswith("mirage") for name in mine):
        sys.exit(f"links.py: {options.program} has no symbol of ours: is it stripped?")
    found = 0
    for archive in options.archives:
        theirs = symbols(options.nm, archive, "TDBR")
        if not theirs:
            sys.exit(f"links.py: {archive} defines nothing")
        both = sorted(mine & theirs)
        found += len(both)
        if both:
            print(f"{options.program.name} holds {archive.name}: {len(both)} symbols, as {', '.join(both[:3])}")
    asked = sorted(name for name in symbols(options.nm, options.program, "UTtWw") if GENERATORS.fullmatch(name))
    if asked:
        print(f"{options.program.name} asks for LLVM's code generators: {', '.join(asked[:3])}")
    if found or asked:
        return 1
    print(f"{options.program.name} holds nothing of {', '.join(path.name for path in options.archives)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
