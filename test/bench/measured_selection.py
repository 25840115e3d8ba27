#!/usr/bin/env python3
"""Measured selection over many programs on a GPU: what it finds, what it costs, and whether it is ever slower.

    measured_selection.py --bin BIN [--folder OUT] [--target h200] [FILE.mlir|FOLDER ...]

Each program (by default, all of workloads/ and varied/ beside this script) is compiled with mirage-superoptimize and
measure=yes, into a tuning database of its own. Then the graph that was chosen is measured again beside the program's own
lowering, in a run of its own: `again` is the ratio of the two, and must not exceed 1 by more than 2 %. Programs are compiled
side by side; on the GPU one process at a time works (mirage-tune sees to that).

OUT receives results.csv, a row a program, in which a later run goes on where this one ended; log/NAME.txt; tuning.json,
the export of all records, for `mirage-tune import` elsewhere. Needs nothing but Python and the three tools.
Exit status: 0 all is well; 1 a program failed, or is slower than its own lowering; 2 not all were done in --limit seconds.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = ["program", "measured", "failed", "own_us", "own_spread", "model_choice", "model_us", "measured_choice",
          "measured_us", "measured_spread", "again", "seconds", "note"]
MOST_SLOWER = 1.02


def sources(paths):
    for path in paths:
        yield from sorted(path.glob("*.mlir")) if path.is_dir() else [path]


class Bench:
    def __init__(self, options):
        self.options = options
        self.start = time.monotonic()
        self.lock = threading.Lock()
        for name in ("log", "db", "compiled"):
            (options.folder / name).mkdir(parents=True, exist_ok=True)
        self.results = options.folder / "results.csv"
        self.done = set()
        if self.results.exists():
            with self.results.open() as file:
                self.done = {row["program"] for row in csv.DictReader(file)}

    def left(self):
        return self.options.limit - (time.monotonic() - self.start)

    def run(self, command, database, log):
        """Standard error goes to the log. None, or why it failed."""
        environment = dict(os.environ, MIRAGE_TUNING_DB=str(database))
        try:
            with log.open("a") as file:
                done = subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=file,
                                      env=environment, timeout=max(self.left(), 1))
        except subprocess.TimeoutExpired:
            return "out of time"
        if done.returncode == 0:
            return None
        errors = [line for line in log.read_text(errors="replace").splitlines() if "error:" in line]
        return errors[-1].split("error:", 1)[1].strip() if errors else f"status {done.returncode}"

    def records(self, database):
        if not database.exists():
            return []
        out = database.with_suffix(".json")
        subprocess.run([str(self.options.bin / "mirage-tune"), "--database", str(database), "export", str(out)],
                       check=True, stderr=subprocess.DEVNULL)
        return json.loads(out.read_text())["records"]

    def compile(self, source, row):
        options, name = self.options, row["program"]
        log, database = options.folder / "log" / f"{name}.txt", options.folder / "db" / f"{name}.db"
        compiled = options.folder / "compiled" / f"{name}.mlir"
        for path in (log, database):
            path.unlink(missing_ok=True)
        passes = (f"--mirage-superoptimize=target={options.target} measure=yes measure-candidates={options.candidates} "
                  f"time-budget={options.budget:g} num-threads={options.threads} progress=none {options.superoptimize}")
        begin = time.monotonic()
        why = self.run([options.bin / "mirage-mlir-opt", passes.strip(), source, "-o", compiled], database, log)
        row["seconds"] = f"{time.monotonic() - begin:.1f}"
        if why:
            row["note"] = why
            return
        records = self.records(database)
        if not records:
            row["note"] = "nothing was measured"  # no candidate
            return
        describe(records[0], row)
        if row["measured_choice"]:
            self.measure_again(compiled, row, log)

    def measure_again(self, compiled, row, log):
        options = self.options
        database = options.folder / "db" / f"{row['program']}.again.db"
        database.unlink(missing_ok=True)
        passes = f"--mirage-select=target={options.target} measure=yes"
        why = self.run([options.bin / "mirage-mlir-opt", passes, compiled, "-o", os.devnull], database, log)
        again = [one for record in self.records(database) for one in record["measured"] if one["name"] and one["ok"]]
        if why or not again:
            row["note"] = why or "the choice could not be measured again"
        else:
            row["again"] = f"{again[0]['us'] / again[0]['own_us']:.4f}"

    def one(self, source):
        row = dict.fromkeys(FIELDS, "") | {"program": source.stem}
        if self.left() < self.options.reserve:
            return None
        try:
            self.compile(source, row)
        except Exception as error:  # a bug of this script costs a row
            row["note"] = f"{type(error).__name__}: {error}"
        if row["note"] == "out of time":
            return None  # the next run takes it again
        with self.lock:
            new = not self.results.exists()
            with self.results.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS)
                if new:
                    writer.writeheader()
                writer.writerow(row)
        print(f"{time.monotonic() - self.start:6.1f} s  {row['program']:28} own {row['own_us']:>9} model {row['model_us']:>9} "
              f"measured {row['measured_us']:>9} again {row['again']:>7}  {row['note'][:200]}", flush=True)
        return row

    def export(self):
        """All records in one database, and that as JSON."""
        total = self.options.folder / "tuning.db"
        tune = str(self.options.bin / "mirage-tune")
        for database in sorted((self.options.folder / "db").glob("*.db")):
            if not database.name.endswith(".again.db"):
                self.records(database)
                subprocess.run([tune, "--database", str(total), "import", str(database.with_suffix(".json"))],
                               check=True, stderr=subprocess.DEVNULL)
        if total.exists():
            subprocess.run([tune, "--database", str(total), "export", str(self.options.folder / "tuning.json")], check=True)


def describe(record, row):
    """The model's choice is what it predicts to be fastest, the own lowering among it."""
    right = [one for one in record["measured"] if one["ok"]]
    model = min(right, key=lambda one: (one["predicted_us"] or math.inf, bool(one["name"])))
    ratio = model["us"] / model.get("own_us", model["us"])
    row |= {"measured": len(record["measured"]) - 1, "failed": len(record["measured"]) - len(right),
            "own_us": f"{record['own_us']:.3f}", "own_spread": f"{record['own_spread']:.4f}",
            "model_choice": model["name"], "model_us": f"{ratio * record['own_us']:.3f}",
            "measured_choice": record["choice"], "measured_us": f"{record['time_us']:.3f}",
            "measured_spread": f"{record['spread']:.4f}"}
    reasons = [f"{one['name']}: {one.get('reason', '')}" for one in record["measured"] if not one["ok"]]
    row["note"] = "; ".join(reasons)[:300]


def summarize(rows):
    timed = [row for row in rows if row["measured_us"]]
    gains = [float(row["own_us"]) / float(row["measured_us"]) for row in timed]
    over_model = [float(row["model_us"]) / float(row["measured_us"]) for row in timed]
    slower = [row for row in timed if row["again"] and float(row["again"]) > MOST_SLOWER]
    seconds = [float(row["seconds"]) for row in rows if row["seconds"]]
    mean = lambda values: math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")
    print(f"{len(rows)} programs, {len(timed)} with measured candidates; {sum(bool(row['measured_choice']) for row in timed)} "
          f"end with a candidate, the others with their own lowering")
    print(f"against the own lowering: {mean(gains):.3f} times as fast (geometric mean); slower by over 2 %: "
          f"{', '.join(row['program'] + ' ' + row['again'] for row in slower) or 'none'}")
    print(f"against the model's choice: better by over 2 % in {sum(ratio > MOST_SLOWER for ratio in over_model)} programs, "
          f"{mean(over_model):.3f} times in the geometric mean, {max(over_model, default=float('nan')):.3f} at most; the model "
          f"alone would be slower than the own lowering by over 2 % in "
          f"{sum(float(row['model_us']) > MOST_SLOWER * float(row['own_us']) for row in timed)}")
    if seconds:
        print(f"seconds a program: {sum(seconds) / len(seconds):.1f} in the mean, {max(seconds):.1f} at most")
    return not slower


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of mirage-mlir-opt and mirage-tune")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("measured-selection"), metavar="OUT")
    parser.add_argument("--target", default="h200")
    parser.add_argument("--candidates", type=int, default=6, help="measured of each program, beside its own lowering")
    parser.add_argument("--budget", type=float, default=15, help="seconds of search a program")
    parser.add_argument("--threads", type=int, default=2, help="of a search")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 12), help="programs at a time")
    parser.add_argument("--limit", type=float, default=520, help="seconds for all")
    parser.add_argument("--reserve", type=float, default=45, help="start no program with fewer seconds left")
    parser.add_argument("--superoptimize", default="", metavar="OPTIONS", help="more options of --mirage-superoptimize")
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[HERE / "workloads", HERE / "varied"])
    options = parser.parse_args()
    bench = Bench(options)
    wanted = [source for source in sources(options.paths) if source.stem not in bench.done]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(bench.one, wanted))
    bench.export()
    with bench.results.open() as file:
        every = list(csv.DictReader(file))
    well = summarize(every)
    failed = [row["program"] for row in every if not row["measured_us"]]
    missing = sum(row is None for row in rows)
    if failed:
        print(f"without a measurement: {', '.join(failed)}")
    if missing:
        print(f"not done for lack of time: {missing}; run it again to go on")
    sys.exit(2 if missing else 0 if well else 1)


if __name__ == "__main__":
    main()
