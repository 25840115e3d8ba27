"""Interrupts mirage-check between two modules: interrupt.py MODULE COMMAND...

The command's second module is standard input. The signal comes when the first one's report is there; the second module is
written only when the tool has said that it was interrupted, so nothing here depends on time.
"""
import signal
import subprocess
import sys

module, command = sys.argv[1], sys.argv[2:]
process = subprocess.Popen(command + [module, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
while " refused" not in (line := process.stdout.readline()) or not line.startswith(module):
    print(line, end="")
print(line, end="")
process.send_signal(signal.SIGINT)
print(process.stderr.readline(), end="")
try:
    process.stdin.write(open(module).read())
    process.stdin.close()
except BrokenPipeError:
    pass  # it had not begun to read, and never did
print(process.stdout.read(), end="")
print("status", process.wait())
