"""Plans what is planned: nothing may change. planned_again.py OPTIONS FILE...

OPTIONS are mirage-enumerate's; "-" takes a file's candidates as they stand, and plans the program's own lowering besides.
Each file is planned for the H200; then its text once more, and by way of an A100, from what was asked for. All three texts
are one.
"""

import subprocess
import sys


def passes(text, *arguments):
    done = subprocess.run(["mirage-mlir-opt", "-", *arguments], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main(options, files):
    kernels = 0
    for name in files:
        with open(name) as file:
            text = file.read().split("// -----")[0]
        found = text if options == "-" else passes(text, f"--mirage-enumerate={options}")
        planned = passes(found, "--mirage-layout=own")
        again = passes(planned, "--mirage-layout")
        there_and_back = passes(planned, "--mirage-layout=target=a100", "--mirage-layout")
        kernels += planned.count(" plan <")
        if "custom" in planned and " plan <" not in planned:
            sys.exit(f"{name}: nothing says that it is planned")
        if again != planned:
            sys.exit(f"{name}: planned again it differs")
        if passes(planned, "--mirage-layout=target=a100").count('plan <target = "a100"') == planned.count(" plan <"):
            if there_and_back != planned:
                sys.exit(f"{name}: by way of another target it differs")
    print(f"{len(files)} programs: planned once" if kernels else "no kernels")


main(sys.argv[1], sys.argv[2:])
