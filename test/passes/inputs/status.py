"""Runs a command, then prints "ended with STATUS" (negative: by that signal); ends with 0."""
import subprocess
import sys

status = subprocess.run(sys.argv[1:]).returncode
print("ended with", status, file=sys.stderr)
