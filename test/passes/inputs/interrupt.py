"""Runs a command, and sends it SIGINT, or with --term SIGTERM, as soon as a line of its standard error holds a text.

interrupt.py [--twice] [--idle] [--term] TEXT COMMAND...

--twice sends SIGINT right after the answer to the first one. --idle sends the first after a second, whatever the
command says; its standard input stays open and empty. The command's standard error is passed on, then a line
"ended with STATUS" (negative: by that signal).
"""
import argparse
import signal
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--twice", action="store_true")
parser.add_argument("--idle", action="store_true")
parser.add_argument("--term", action="store_true")
parser.add_argument("text")
parser.add_argument("command", nargs=argparse.REMAINDER)
options = parser.parse_args()

# Whoever runs the tests may ignore SIGINT, and children inherit that.
process = subprocess.Popen(options.command, stdin=subprocess.PIPE if options.idle else None, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
first, sent = signal.SIGTERM if options.term else signal.SIGINT, 0
if options.idle:
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    sent = 1
for line in process.stderr:
    sys.stdout.write(line)
    if sent == 0 and options.text in line or sent == 1 and options.twice and line.startswith("interrupted:"):
        process.send_signal(signal.SIGINT if sent else first)
        sent += 1
print("ended with", process.wait())
