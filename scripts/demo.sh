#!/usr/bin/env bash
# The main job, end to end, on examples/rmsnorm_linear.mlir (or the program given), told in five steps.
#
#   scripts/demo.sh BUILD_DIR [program.mlir]
set -euo pipefail
build=${1:?usage: scripts/demo.sh BUILD_DIR [program.mlir]}
root=$(cd "$(dirname "$0")/.." && pwd)
program=${2:-$root/examples/rmsnorm_linear.mlir}
program=${program#"$PWD"/}
opt=$build/bin/mirage-mlir-opt
run=$build/bin/mirage-run
out=$build/demo
name=$(basename "$program" .mlir)
mkdir -p "$out"

title() { printf '\n== %s\n\n' "$1"; }
# Remarks come as "file:line:col: remark: text", with the source line below: the text is what the reader wants.
remarks() { sed -n 's/^.*: remark: //p' "$1" | fold -s -w 116 | sed 's/^/  /'; }

title "The program ($program)"
grep -v '^//' "$program" | sed '/^ *$/d'

title "Search, proof, layout, lowering"
start=$(date +%s%N)
if ! "$opt" --mirage-superoptimize "$program" -o "$out/$name.compiled.mlir" 2>"$out/$name.log"; then
  cat "$out/$name.log" >&2
  exit 1
fi
end=$(date +%s%N)
remarks "$out/$name.log"
grep -E ': (warning|error): ' "$out/$name.log" || true
printf '  search and compile took %d.%02d s (log: %s)\n' $(((end - start) / 1000000000)) $(((end - start) / 10000000 % 100)) "$out/$name.log"

title "The chosen µGraph"
status=0
"$run" "$out/$name.compiled.mlir" --print-graph --emit-ptx "$out/$name.ptx" >"$out/$name.report" || status=$?
sed '/^program  /,$d' "$out/$name.report"

title "Its proof, its cost, its code, and how right it is"
sed -n '/^program  /,$p' "$out/$name.report"
exit $status
