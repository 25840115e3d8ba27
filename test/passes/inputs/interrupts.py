"""Interrupts mirage-mlir-opt again and again, and checks each time that what it leaves is valid.

interrupts.py counts TOOL FILE PASSES         at the 1st, 3rd, 9th, 27th ... question whether there was an interrupt,
                                              until a run is over before; with a grace after it, and without. No clock.
interrupts.py times [-n N] TOOL FILE PASSES   at N random times; each shall end within two seconds of processor time, which
                                              is what it takes on a machine that is not busy, or less
interrupts.py kills [-n N] TOOL FILE PASSES   kill -9 at N random times after the first checkpoint; the run that goes on
                                              shall give the bytes of one that was never killed

Valid: the exit status is 0, 130, or, where the signal came before any pass ran, that of the signal without an output;
the output is parsed and verified again, and holds every program of the input. Ends with 1 where that is not so.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

GRAPH = re.compile(r"^ *mirage_kernel\.graph @(\w+)(.*)", re.M)


def programs_of(path):
    with open(path) as file:
        return {name for name, rest in GRAPH.findall(file.read()) if ", source = @" not in rest}


def check(tool, path, output, status):
    """A sentence about what is wrong, or None."""
    if status not in (0, 130):
        return f"ended with {status}"
    again = subprocess.run([tool, output, "-o", os.devnull], capture_output=True, text=True)
    if again.returncode:
        return f"its output is refused: {again.stderr.splitlines()[0]}"
    missing = programs_of(path) - programs_of(output)
    return f"its output lacks @{min(missing)}" if missing else None


def counts(options, output):
    """Interrupts by count; the numbers of runs that were interrupted and not."""
    ended, wrong = {0: 0, 130: 0}, 0
    for grace in ("", ",0"):
        number, over = 1, False
        while not over:
            environment = dict(os.environ, MIRAGE_INTERRUPT_AFTER=f"{number}{grace}")
            run = subprocess.run([options.tool, options.file, *options.passes, "-o", output], env=environment, capture_output=True, text=True)
            complaint = check(options.tool, options.file, output, run.returncode)
            if complaint:
                print(f"interrupted at question {number}{grace}: {complaint}\n{run.stderr[-2000:]}")
                wrong += 1
            over = run.returncode != 130
            ended[run.returncode] = ended.get(run.returncode, 0) + 1
            number *= 3
    print(f"{ended[130]} interrupted, {ended[0]} finished before, {wrong} wrong")
    return wrong


def start(options, output):
    return subprocess.Popen([options.tool, options.file, *options.passes, "-o", output], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def cpu_of(process):
    """Seconds of processor time until now, of all its threads."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def times(options, output):
    begun = time.monotonic()
    start(options, output).wait()
    whole = time.monotonic() - begun
    waits, work, wrong, early = [], [], 0, 0
    for i in range(options.n):
        if os.path.exists(output):
            os.remove(output)
        process = start(options, output)
        time.sleep(random.uniform(0, whole))
        sent, before = time.monotonic(), cpu_of(process)
        os.kill(process.pid, signal.SIGINT if i % 2 else signal.SIGTERM)  # send_signal would reap one that has ended
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status = os.waitstatus_to_exitcode(status)
        waits.append(time.monotonic() - sent)
        work.append(max(0, usage.ru_utime + usage.ru_stime - before))
        if status < 0 and not os.path.exists(output):
            early += 1  # no pass ran
            continue
        complaint = check(options.tool, options.file, output, status)
        if complaint or work[-1] > 2:
            print(f"interrupt {i}: {complaint or ''} ended {waits[-1]:.2f} s later, {work[-1]:.2f} s of processor time")
            wrong += 1
    waits.sort()
    work.sort()
    print(f"{options.n} interrupts in {whole:.1f} s of work, {early} before or after the passes: ended after {waits[len(waits) // 2]:.2f} s (median), "
          f"{waits[-1]:.2f} s (longest), of processor time {work[len(work) // 2]:.2f} s, {work[-1]:.2f} s; {wrong} wrong")
    return wrong


def kills(options, output):
    checkpoint = output + ".search"
    passes = [text.replace("CHECKPOINT", checkpoint) for text in options.passes]
    options.passes = passes
    begun = time.monotonic()
    start(options, output).wait()
    whole = time.monotonic() - begun
    with open(output, "rb") as file:
        expected = file.read()
    wrong, killed = 0, 0
    for _ in range(options.n):
        for name in (output, checkpoint):
            if os.path.exists(name):
                os.remove(name)
        process = start(options, output)
        while process.poll() is None and not os.path.exists(checkpoint):
            time.sleep(0.002)
        time.sleep(random.uniform(0, whole / 2))
        process.kill()
        killed += process.wait() < 0
        start(options, output).wait()
        with open(output, "rb") as file:
            if file.read() != expected:
                print("a run that went on gave something else")
                wrong += 1
    print(f"{killed} of {options.n} killed before their end ({whole:.1f} s), {wrong} gave something else when they went on")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("counts", "times", "kills"))
    parser.add_argument("-n", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("tool")
    parser.add_argument("file")
    parser.add_argument("passes", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        return 1 if globals()[options.mode](options, os.path.join(folder, "out.mlir")) else 0


if __name__ == "__main__":
    sys.exit(main())
