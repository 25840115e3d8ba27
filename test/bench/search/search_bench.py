"""The search: how long it takes, what it visits, and what each of its ideas gains. No GPU is needed.

    search_bench.py --bin build/bin --output test/bench/results [--quick] [--limit 60] [--machine TEXT]

Writes DATE-search.csv (all workloads at 11 and 13 operators, one thread and two), DATE-search-table5.csv (RMSNorm + linear at
5 to 11 and 13 operators as [Mirage, Table 5] has it: with and without threads, with and without abstract expressions, and with
each other idea turned off) and DATE-search-checks.csv (nanoseconds of a prefix check). A row that took longer than the limit
says so ("> 60 s"), and rows of the same kind at more operators are then not tried. Times are wall clock of mirage_search,
medians of several runs in one process (search_bench.c).
"""
import argparse
import csv
import datetime
import pathlib
import platform
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
STATES = 10**12  # no limit: what is measured is the whole space
IDEAS = ["expr", "axis", "merge", "products", "needs", "memory", "share"]


def machine():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {len(names)} processors"


class Bench:
    def __init__(self, options):
        self.options = options
        self.header = self.run([])[0]

    def run(self, arguments, limit=None):
        """Lines of output; None when the limit was reached."""
        try:
            done = subprocess.run([self.options.bin / "search_bench", *arguments], capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            raise SystemExit(f"search_bench {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout.splitlines()

    def row(self, path, ops, threads, off=""):
        """A row of CSV: one run that may reach the limit, then as many as the first one's time allows."""
        arguments = [path, f"ops={ops}", f"threads={threads}", f"states={STATES}", f"off={off}"]
        limit = self.options.limit
        first = self.run([*arguments, "runs=1"], limit)
        if first is None:
            fields = dict.fromkeys(self.header.split(","), "")
            fields.update(program=path.stem, max_block_ops=ops, threads=threads, off=off.replace(",", "+"), runs=1, exhausted=0,
                          seconds_median=f"> {limit:g} s")
            return fields
        seconds = float(self.read(first[0])["seconds_median"])
        runs = max(1, min(self.options.runs, int(self.options.spend / max(seconds, 1e-3))))
        return self.read(self.run([*arguments, f"runs={runs | 1}"])[0]) if runs > 1 else self.read(first[0])

    def read(self, line):
        return dict(zip(self.header.split(","), next(csv.reader([line]))))

    def write(self, name, rows):
        path = self.options.output / f"{datetime.date.today()}-{name}.csv"
        with open(path, "w") as file:
            file.write(f"# {datetime.date.today()}; {self.options.machine}; search_bench.py --limit {self.options.limit:g}\n")
            writer = csv.DictWriter(file, self.header.split(","))
            writer.writeheader()
            for row in rows:
                writer.writerow(row)
                file.flush()
        print(path)


def workloads(bench):
    paths = sorted((HERE.parent / "workloads").glob("*.mlir"))
    for path in paths[::6] if bench.options.quick else paths:
        for ops in (11, 13):
            for threads in (1, 2):
                yield bench.row(path, ops, threads)


def table5(bench):
    path = HERE.parent / "workloads" / "rmsnorm_linear_b1.mlir"
    sizes = (5, 6) if bench.options.quick else (5, 6, 7, 8, 9, 10, 11, 13)
    for off in ["", *IDEAS]:
        for threads in (1, 2) if off in ("", "expr") else (1,):
            for ops in sizes:
                row = bench.row(path, ops, threads, off)
                yield row
                if row["seconds_median"].startswith(">"):
                    break  # more operators take longer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of search_bench and reach_bench")
    parser.add_argument("--output", type=pathlib.Path, default=HERE.parent / "results", help="folder of the tables")
    parser.add_argument("--limit", type=float, default=60, help="seconds of one search")
    parser.add_argument("--runs", type=int, default=21, help="of each search, at most")
    parser.add_argument("--spend", type=float, default=2, help="seconds of repeated runs of each search")
    parser.add_argument("--machine", default=machine())
    parser.add_argument("--quick", action="store_true", help="a few rows, to see that it works")
    options = parser.parse_args()
    bench = Bench(options)
    bench.write("search", workloads(bench))
    bench.write("search-table5", table5(bench))
    checks = subprocess.run([options.bin / "reach_bench"], capture_output=True, text=True, check=True).stdout
    path = options.output / f"{datetime.date.today()}-search-checks.csv"
    path.write_text(f"# {datetime.date.today()}; {options.machine}; reach_bench\n{checks}")
    print(path)


if __name__ == "__main__":
    main()
