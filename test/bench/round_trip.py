#!/usr/bin/env python3
"""What one machine measured, used on another that has no GPU.

    round_trip.py export --bin BIN --folder OUT [FILE.mlir|FOLDER ...]      on the machine with the GPU
    round_trip.py import --bin BIN --folder OUT [FILE.mlir|FOLDER ...]      on the other one, with OUT from the first

export compiles each program with measure=yes into one tuning database, and leaves its export (tuning.json) and what was
compiled (expected.json: for each program its choice and a digest of the PTX, names left out). import reads the export into
a fresh database, compiles the same programs where no GPU can be found, and holds each to that: the answer comes from the
database, the remark says so, and the PTX is the same. A program that the export knows nothing of is a line, too.

The programs are by default those of workloads/ beside this script. Exit status: 0 all are the same, 1 not, 2 no record.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BINARY = re.compile(r'gpu\.binary @(\w+)_bin .*?assembly = "((?:[^"\\]|\\.)*)"', re.S)


def programs(paths):
    for path in paths:
        yield from sorted(path.glob("*.mlir")) if path.is_dir() else [path]


def compiled(path):
    """Digest of all PTX of a module, without the names of its graphs."""
    digest, count = hashlib.sha256(), 0
    for name, ptx in BINARY.findall(path.read_text()):
        digest.update(ptx.replace(f"{name}_k", "_k").encode())
        count += 1
    return digest.hexdigest() if count else None


def compile_one(options, source, measure, database, **environment):
    """Standard error, and the digest; the digest is None where it failed."""
    out = options.folder / f"{source.stem}.{options.half}.mlir"
    command = [str(options.bin / "mirage-mlir-opt"), f"--mirage-superoptimize=target={options.target} measure={measure} {options.passes}".strip(),
               str(source), "-o", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, MIRAGE_TUNING_DB=str(database), **environment))
    (options.folder / f"{source.stem}.{options.half}.txt").write_text(run.stderr)
    digest = compiled(out) if run.returncode == 0 else None
    if not options.keep:
        out.unlink(missing_ok=True)
    return run.stderr, digest


def tune(options, database, *arguments):
    subprocess.run([str(options.bin / "mirage-tune"), "--database", str(database), *map(str, arguments)], check=True)


def chosen(said):
    found = re.search(r"remark: @\w+: (selected @\w+|its own lowering is better).*", said)
    return found.group(0).split(": ", 2)[2] if found else "nothing said"


def export_half(options):
    database, expected = options.folder / "machine-a.db", {}
    for source in programs(options.paths):
        said, digest = compile_one(options, source, "yes", database)
        if digest:
            expected[source.stem] = digest
        print(f"{source.stem:28} {'failed' if not digest else chosen(said)[:150]}", flush=True)
    (options.folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    tune(options, database, "export", options.folder / "tuning.json")
    return 0 if expected else 2


def import_half(options):
    database, known = options.folder / "machine-b.db", options.folder / "expected.json"
    expected = json.loads(known.read_text()) if known.exists() else {}
    for leftover in options.folder.glob("machine-b.db*"):
        leftover.unlink()
    tune(options, database, "import", options.folder / "tuning.json")
    same = other = unknown = 0
    for source in programs(options.paths):
        said, digest = compile_one(options, source, "auto", database, MIRAGE_CUDA_LIBRARY="/nowhere")
        by_record = re.search(r"us measured on (.*?) \(spread", said)
        if not digest:
            verdict, other = "failed", other + 1
        elif not by_record:
            verdict, unknown = "no record is used", unknown + 1
        elif source.stem in expected and digest != expected[source.stem]:
            verdict, other = "other code than on the first machine", other + 1
        else:
            verdict, same = "the same code" if source.stem in expected else "by the record", same + 1
        if "by an earlier version" in said:
            verdict += ", of an earlier version"
        if "measured of other code" in said:
            verdict += ": it was measured of other code"
        print(f"{source.stem:28} {verdict}; {chosen(said)[:120]}", flush=True)
    print(f"{same} by the records, {other} other or failed, {unknown} without a record that is used")
    return 1 if other else 0 if same else 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("half", choices=("export", "import"))
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of mirage-mlir-opt and mirage-tune")
    parser.add_argument("--folder", type=pathlib.Path, required=True, metavar="OUT")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--passes", default="progress=none", help="more options of --mirage-superoptimize, the same on both machines")
    parser.add_argument("--keep", action="store_true", help="keep the compiled modules")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[HERE / "workloads"])
    options = parser.parse_intermixed_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    return export_half(options) if options.half == "export" else import_half(options)


if __name__ == "__main__":
    sys.exit(main())
