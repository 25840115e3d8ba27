"""one_target.py OPTIONS FILE.mlir...: what mirage-select judged is what mirage-lower compiled.

For each program: the time that the remark of mirage-select gives for its choice, or for the program's own lowering where that is
the choice, is the time in the cost of the graph beside the code; and tensor maps are used only where OPTIONS leave them on.
"""
import re
import subprocess
import sys

options, files = sys.argv[1], sys.argv[2:]  # of mirage-superoptimize; "-": the candidates are there
for path in files:
    passes = [f"--mirage-superoptimize={options}"]
    if options == "-":
        passes = ["--mirage-verify", "--mirage-select=measure=no full-size-work=0", "--mirage-lower"]
    done = subprocess.run(["mirage-mlir-opt", *passes, path], capture_output=True, text=True, check=True)
    judged = re.search(r"remark: @\S+ (?:selected .* proven: ([0-9.]+) us predicted on (.*), its own lowering [0-9.]+ us; proof"
                       r"|its own lowering is better: ([0-9.]+) us predicted on (.*), the best of"
                       r"|no proven candidate; its own lowering stands \(([0-9.]+) us predicted on (.*)\))", done.stderr)
    assert judged, f"{path}: no choice in\n{done.stderr}"
    time_us, target = [group for group in judged.groups() if group]
    selected = [line for line in done.stdout.splitlines() if "mirage_kernel.graph" in line and " selected" in line]
    assert len(selected) == 1, f"{path}: {len(selected)} graphs are selected"
    cost = re.search(r'time_us = ([0-9.eE+-]+), .*target = "([^"]*)"', selected[0])
    assert cost and cost[2] == target, f"{path}: judged on {target}, the cost says {selected[0]}"
    assert f"{float(cost[1]):.2f}" == time_us, f"{path}: judged {time_us} us, compiled {cost[1]} us"
    if "tensor-maps=false" in options:
        assert "maps = [" not in done.stdout and "without tensor maps" in target, f"{path}: tensor maps on {target}"
print(f"{len(files)} programs: the same")
