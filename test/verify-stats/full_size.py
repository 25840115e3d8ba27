"""What proofs at full size take: every program of test/bench against the candidate that the search finds for it.

    full_size.py --bin build/bin --output FILE.csv [--threads 1 2] [--limit 120] [--most 1e10] [--machine TEXT] [NAME ...]

Runs full_size.c on the programs, each in a process of its own: all trials that the bound asks for, or one where neither theorem
gives a bound. Where they are more than `most` operations together one trial is run, and its times, multiplied, are marked ~.
"""
import argparse
import csv
import datetime
import pathlib
import subprocess

BENCH = pathlib.Path(__file__).resolve().parents[1] / "bench"


def run(binary, path, limit, *arguments):
    try:
        done = subprocess.run([binary, path, *arguments], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0 or not done.stdout:
        raise SystemExit(f"{binary} {path}: {done.stdout} {done.stderr}")
    return next(csv.reader([done.stdout]))


def seconds(row, limit):
    """Seconds and processor seconds of a proof; the verdict where it is not `equal`."""
    if row is None:
        return f"> {limit:g}"
    if row[8] != "equal":
        return row[8]
    needed, run_trials = max(int(row[5]), 1), int(row[6])
    mark = "~" if needed != run_trials else ""
    return f"{mark}{float(row[9]) * needed / run_trials:.2f} ({float(row[10]) * needed / run_trials:.2f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--most", type=float, default=1e10)
    parser.add_argument("--machine", default="unnamed machine")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with open(options.output, "w") as file:
        file.write(f"# {datetime.date.today()}; {options.machine}; seconds (processor seconds) of all trials\n")
        writer = csv.writer(file)
        columns = [f"{count} thread{'s' if count > 1 else ''}" for count in options.threads]
        writer.writerow(["program", "operations of a trial", "theorem", "log2 bound of a trial", "trials", *columns, "MB peak"])
        for path in sorted(path for folder in ("workloads", "odd", "varied") for path in (BENCH / folder).glob("*.mlir")):
            if options.names and path.stem not in options.names:
                continue
            binary = options.bin / "full_size"
            row = run(binary, path, options.limit, "budget_mb=0")  # the bound alone
            if row is None:
                continue
            one = ["trials=1"] if float(row[2]) * int(row[5]) > options.most else []
            rows = [run(binary, path, options.limit, "most=2e10", f"threads={count}", *one) for count in options.threads]
            writer.writerow([path.stem, row[2], row[3] if row[5] != "0" else "none", row[4], row[5],
                             *[seconds(row, options.limit) for row in rows], max((int(row[12]) for row in rows if row), default="")])
            file.flush()


main()
