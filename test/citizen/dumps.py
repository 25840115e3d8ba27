# Reads every dump that --mlir-print-ir-after-all left among the remarks of a run.
#
# usage: dumps.py STANDARD-ERROR MLIR-OPT
import re
import subprocess
import sys

text = open(sys.argv[1]).read()
parts = re.split(r"^// -----// IR Dump After .* //----- //\n", text, flags=re.M)[1:]
for i, part in enumerate(parts):
    module = part[:part.index("\n}\n") + 3]  # the remarks of the next pass follow
    run = subprocess.run([sys.argv[2]], input=module, capture_output=True, text=True)
    if run.returncode or run.stdout.strip() != module.strip():
        sys.exit(f"dump {i}: read as {run.stdout}, {run.stderr}")
print(f"{len(parts)} dumps were read")
