"""Assembles every generated kernel for every architecture and reports what ptxas says of it, as CSV.

    ptxas_report.py --bin build/bin --source . [--targets h200,a100] [--filter text] [--quick] [--output report.csv]
    ptxas_report.py --assemble FOLDER                 what mirage-kernel-test --ptx left there, and nothing else

Kernels: mirage-kernel-test's, test/schedules, the examples and the benchmark programs in their own lowering, where there are tensor
copies once more with the planner's own ("maps"), and what the
search chooses for the examples and the programs of batch 1 ("chosen"; for h200 and a100 only, since it takes seconds). A row: source, target, chip, kernel, threads, registers,
spilled bytes, stack, shared memory (static and dynamic), CPU time of compiling the source's µGraph to PTX.
Exit status: 1 when ptxas refuses a kernel, or a chosen kernel spills; 77 (skipped) where there is no ptxas. With --limit-ms,
also 1 when one takes longer to compile: that is for a benchmark on a machine one knows, and no test asks it.
"""
import argparse
import concurrent.futures
import csv
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

TARGETS = {"a100": "sm_80", "rtx3090": "sm_86", "rtx4090": "sm_89", "h200": "sm_90a", "b200": "sm_100", "rtx5090": "sm_120"}
SEARCHED = ("h200", "a100")
WITH_MAPS = ("h200", "b200", "rtx5090")
SKIPPED = 77
COLUMNS = ["source", "target", "chip", "kernel", "threads", "registers", "spill_bytes", "stack_bytes", "shared_bytes",
           "compile_ms", "chosen"]


def unescape(text):
    return re.sub(r"\\([0-9A-F]{2}|.)", lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], text)


def run_tool(command, may_fail=False):
    """Standard output, and the CPU milliseconds it took. None with the first error for a tool that may fail and does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0 and may_fail:
        return None, next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr)
    if done.returncode != 0:
        sys.exit(f"ptxas_report: {' '.join(map(str, command))}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout, 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def kernels_of_test(options, target, folder):
    """The cases of mirage-kernel-test: rows with the path of their PTX."""
    command = [options.bin / "mirage-kernel-test", "--compile", "--target", target, "--ptx", folder]
    if options.filter:
        command += ["--filter", options.filter]
    run_tool(command)
    with open(folder / "kernels.csv", newline="") as table:
        return [dict(row, ptx=folder / row["ptx"], chosen=0) for row in csv.DictReader(table)]


def kernels_of_module(text, source, target, chosen, compile_ms, folder):
    """The lowered graphs of a module: one PTX each, and the launch attribute of each kernel."""
    rows = []
    launches = dict(re.findall(r'launch <kernel = "([^"]+)", ([^>]*)>', text))
    for number, ptx in enumerate(re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', text)):
        path = folder / f"{source.replace('/', '_')}.{chosen}.{number}.{target}.ptx"
        path.write_text(unescape(ptx))
        for kernel in re.findall(r"\.entry (\w+)", path.read_text()):
            numbers = dict(re.findall(r"(\w+) = (\d+)", launches.get(kernel, "")))
            rows.append({"source": source, "target": target, "chip": TARGETS[target], "kernel": kernel,
                         "threads": numbers.get("threads", ""), "shared_bytes": numbers.get("shared_bytes", 0),
                         "compile_ms": f"{compile_ms:.1f}", "ptx": path, "chosen": chosen})
    return rows


def programs(options):
    """Name, text, and whether the search is to choose for it."""
    for path in sorted(options.source.glob("test/schedules/*.mlir")) + sorted(options.source.glob("examples/*.mlir")):
        name = str(path.relative_to(options.source))
        # The hand-written candidate is what is to be compiled, not the program's own lowering.
        yield name, re.sub(r"source = @(\w+)", r"source = @\1, selected", path.read_text()), name.startswith("examples/")
    for path in sorted(options.source.glob("test/bench/workloads/*.mlir")):
        yield path.stem, path.read_text(), path.stem.endswith("_b1")


def kernels_of_programs(options, target, folder):
    rows = []
    opt = options.bin / "mirage-mlir-opt"
    for source, text, searched in programs(options):
        if options.filter and options.filter not in source:
            continue
        path = folder / f"{source.replace('/', '_')}.mlir"
        path.write_text(text)
        lowered, ms = run_tool([opt, f"--mirage-lower=target={target}", path], may_fail=True)
        if lowered is None:  # a schedule for another generation
            print(f"ptxas_report: {source} is not for {target}: {ms}", file=sys.stderr)
            continue
        rows += kernels_of_module(lowered, source, target, 0, ms, folder)
        if target in WITH_MAPS:
            lowered, ms = run_tool([opt, f"--mirage-lower=target={target} tensor-maps=true", path])
            rows += kernels_of_module(lowered, f"{source} maps", target, 0, ms, folder)
        if searched and target in SEARCHED and not options.quick:
            found, _ = run_tool([opt, f"--mirage-superoptimize=target={target} max-work=1e6", path])
            path.write_text(found)
            lowered, ms = run_tool([opt, f"--mirage-lower=target={target}", path])
            rows += kernels_of_module(lowered, source, target, 1, ms, folder)
    return rows


def assemble(path, chip):
    """What ptxas -v says of each kernel of a file; None and its message when it refuses."""
    done = subprocess.run(["ptxas", f"-arch={chip}", "-v", "-o", os.devnull, path], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr
    found, kernel = {}, None
    for line in done.stderr.splitlines():
        if entry := re.search(r"Compiling entry function '(\w+)'", line):
            kernel = found.setdefault(entry[1], {"registers": 0, "spill_bytes": 0, "stack_bytes": 0, "static": 0})
        elif kernel is not None and (frame := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) ", line)):
            kernel["stack_bytes"], kernel["spill_bytes"] = int(frame[1]), int(frame[2]) + int(frame[3])
        elif kernel is not None and (used := re.search(r"Used (\d+) registers", line)):
            kernel["registers"] = int(used[1])
            static = re.search(r"(\d+) bytes smem", line)
            kernel["static"] = int(static[1]) if static else 0
    return found, ""


def complete(rows, jobs):
    """Adds ptxas's figures; returns the messages of what it refuses."""
    files = sorted({(row["ptx"], row["chip"]) for row in rows})
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = dict(zip(files, pool.map(lambda file: assemble(*file), files)))
    for row in rows:
        figures = (answers[row["ptx"], row["chip"]][0] or {}).get(row["kernel"])
        for column in ("registers", "spill_bytes", "stack_bytes"):
            row[column] = figures[column] if figures else ""
        if figures:
            row["shared_bytes"] = int(row["shared_bytes"]) + figures["static"]
    return [f"{path.name} for {chip}:\n{message}" for (path, chip), (found, message) in answers.items() if found is None]


def assemble_folder(folder, jobs):
    """The kernels that a run of mirage-kernel-test --ptx left behind."""
    with open(folder / "kernels.csv", newline="") as table:
        rows = [dict(row, ptx=folder / row["ptx"], chosen=0) for row in csv.DictReader(table)]
    errors = complete(rows, jobs)
    print(f"ptxas_report: {len(rows)} kernels assembled, {len(errors)} errors", *errors, sep="\n", file=sys.stderr)
    return 1 if errors or not rows else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--assemble", type=pathlib.Path, metavar="FOLDER", help="only assemble what is there")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--filter", help="cases and files whose name holds this text")
    parser.add_argument("--quick", action="store_true", help="no search")
    parser.add_argument("--limit-ms", type=float, default=float("inf"), help="of CPU to compile one source")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    options = parser.parse_args()
    if not options.assemble and not (options.bin and options.source):
        parser.error("--bin and --source are wanted, or --assemble")
    if not shutil.which("ptxas"):
        print("ptxas_report: skipped: there is no ptxas in PATH", file=sys.stderr)
        return SKIPPED
    if options.assemble:
        return assemble_folder(options.assemble, options.jobs)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for target in options.targets.split(","):
            folder = pathlib.Path(scratch, target)
            folder.mkdir()
            rows += kernels_of_test(options, target, folder) + kernels_of_programs(options, target, folder)
        errors = complete(rows, options.jobs)
    writer = csv.DictWriter(options.output, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    for row in rows:
        name = f"{row['source']} @{row['kernel']} for {row['chip']}"
        if row["chosen"] and row["spill_bytes"]:
            errors.append(f"{name}: chosen, and spills {row['spill_bytes']} bytes")
        if float(row["compile_ms"]) > options.limit_ms:
            errors.append(f"{name}: {row['compile_ms']} ms of CPU to compile, above {options.limit_ms:g}")
    spilling = sum(bool(row["spill_bytes"]) for row in rows)
    print(f"ptxas_report: {len(rows)} kernels, {spilling} with spills, at most {max(float(row['compile_ms']) for row in rows):.0f}"
          f" ms of CPU to compile, {len(errors)} errors", *errors, sep="\n", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
