"""Prints what mirage-check --json wrote, a line a module and a line a graph."""
import json
import sys


def instance(proof):
    return "none" if proof is None else "smaller" if proof["shrunken"] else "full"


for line in open(sys.argv[1]):
    module = json.loads(line)
    counts = ("seed", "num_graphs", "num_proofs", "ok", "refused", "without_proof", "not_looked_at")
    print(" ".join(f"{name.removeprefix('num_')} {module[name]}" for name in counts))
    for graph in module["graphs"]:
        print(graph["name"], "of", graph["source"], graph["outcome"], graph["reason"], "stored",
              instance(graph["stored"]), "fresh", instance(graph["fresh"]), "guard", graph["fresh_guard"] is not None)
