"""exits.py STATUS COMMAND...: runs the command, and fails unless it ends with this status."""
import subprocess
import sys

done = subprocess.run(sys.argv[2:])
if done.returncode != int(sys.argv[1]):
    sys.exit(f"exits.py: status {done.returncode}, {sys.argv[1]} is wanted: {' '.join(sys.argv[2:])}")
