"""Compares what the shared library exports with what the public headers declare.

    symbols.py --library LIB --headers INCLUDE --cc COMPILER --nm NM [--cflags FLAG]...

Every function of ours that a header in INCLUDE declares must be exported, and nothing else: what is not in a header is nobody's
business, and a second copy of MLIR's C API would clash with the caller's. --list prints the declared ones, for lib/capi/symbols.map.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

OURS = re.compile(r"mirage|mlirGetDialectHandle__mirage_")


def declared(include, cc, cflags):
    """Names of the functions that the headers under `include` declare, as the compiler sees them."""
    headers = sorted(p.relative_to(include) for p in include.rglob("*.h"))
    source = "".join(f'#include "{h}"\n' for h in headers)
    command = [cc, "-x", "c", "-", "-std=c11", "-fsyntax-only", "-Xclang", "-ast-dump=json", f"-I{include}", *cflags]
    tree = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return {node["name"] for node in json.loads(tree)["inner"]
            if node["kind"] == "FunctionDecl" and OURS.match(node["name"]) and node.get("storageClass") != "static"}


def exported(library, nm):
    lines = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[2].split("@")[0] for line in lines.splitlines()}
    return {name for name in names if not name.startswith("MIRAGE_MLIR_")}  # the versions themselves


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library")
    parser.add_argument("--headers", required=True, type=pathlib.Path)
    parser.add_argument("--cc", default="clang-22")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--cflags", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    names = declared(args.headers, args.cc, args.cflags)
    if args.list:
        print("\n".join(sorted(names)))
        return 0
    there = exported(args.library, args.nm)
    for name in sorted(names - there):
        print(f"{name}: declared in a public header, not exported: add it to lib/capi/symbols.map")
    for name in sorted(there - names):
        print(f"{name}: exported, in no public header: take it out of lib/capi/symbols.map, or install its header")
    print(f"{len(names)} functions declared, {len(there)} exported")
    return 1 if names != there or len(names) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
