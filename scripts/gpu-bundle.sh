#!/usr/bin/env bash
# Builds the tools statically and packs them for a GPU machine that has neither LLVM nor a CUDA toolkit.
#
#   scripts/gpu-bundle.sh            writes dist/mirage-gpu-bundle.tar.xz
#
# On the other machine (x86-64 Linux, glibc 2.36 or newer, an NVIDIA driver):
#   tar xf mirage-gpu-bundle.tar.xz && mirage-gpu-bundle/run.sh [program.mlir]
set -euo pipefail
cd "$(dirname "$0")/.."

build=build-bundle
name=mirage-gpu-bundle
tools=(mirage-mlir-opt mirage-run mirage-tune mirage-kernel-test)
library=libmirage_runtime.so # for code that stock MLIR compiled; on a GPU it needs nothing but the driver
limit_mib=40

cmake --preset bundle --log-level=WARNING >/dev/null
# Only the tools that this tree has: one that is added later travels by itself.
targets=$(cmake --build $build --target help)
wanted=()
for tool in "${tools[@]}"; do
  if grep -q "^$tool: " <<<"$targets"; then wanted+=("$tool"); fi
done
cmake --build $build --target "${wanted[@]}" mirage_launch -- --quiet >/dev/null

rm -rf "dist/$name"
mkdir -p "dist/$name/bin" "dist/$name/lib" "dist/$name/examples"
for tool in "${wanted[@]}"; do
  strip -o "dist/$name/bin/$tool" "$build/bin/$tool"
done
strip -o "dist/$name/lib/$library" "$build/lib/$library"
cp examples/*.mlir "dist/$name/examples/"
cp -r test/bench/workloads.py test/bench/measured_selection.py test/bench/round_trip.py test/bench/workloads test/bench/odd test/bench/varied "dist/$name/"
cp LICENSE "dist/$name/"

# Shared libraries beyond the C library travel along: the tools look for them in lib/ beside bin/.
for tool in "${wanted[@]}"; do
  ldd "$build/bin/$tool" | while read -r soname _ path _; do
    case $soname in
      linux-vdso.so.* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | /lib*/ld-linux-*) ;;
      *) cp -L "$path" "dist/$name/lib/$soname" ;;
    esac
  done
done

cat >"dist/$name/run.sh" <<'RUN'
#!/bin/sh
# Compiles a program and runs it on the GPU: run.sh [program.mlir [option of mirage-run...]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/examples/rmsnorm_linear.mlir}
[ $# -eq 0 ] || shift
compiled=$(mktemp)
trap 'rm -f "$compiled"' EXIT
"$here/bin/mirage-mlir-opt" --mirage-superoptimize "$program" -o "$compiled"
"$here/bin/mirage-run" "$compiled" --benchmark "$@"
RUN
chmod +x "dist/$name/run.sh"

cat >"dist/$name/README" <<README
Mirage-MLIR, static tools: $(cat version.txt 2>/dev/null || sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

  run.sh                                      compiles examples/rmsnorm_linear.mlir, runs it, times it
  run.sh program.mlir --json                  the same for a program of yours
  python3 workloads.py --bin bin              the benchmark programs, one table (needs no package)
  python3 measured_selection.py --bin bin     the same programs and varied/, the fastest candidate chosen by measuring
  python3 round_trip.py export --bin bin --folder OUT     measures, for a machine without a GPU to use
  bin/mirage-mlir-opt --mirage-superoptimize program.mlir -o compiled.mlir
                                              measures too, where the GPU is the target's; mirage-tune list shows what it found
  bin/mirage-run compiled.mlir --benchmark    --help lists the options
  lib/$library                    for code that stock gpu-to-llvm compiled (test/bench/launch/prepare.py in the
                                              source tree makes a folder of its own of such code)

Needs: x86-64 Linux with glibc 2.36 or newer, and an NVIDIA driver 525 or newer for the GPU. Nothing has to be installed;
lib/ holds what the tools need beyond the C library. Where libcuda.so.1 is not found, name it in MIRAGE_CUDA_LIBRARY.
README

# The tools hold the same archives, so a dictionary that spans two of them (64 MiB) saves half; threads would split it.
tar -C dist -c "$name" | xz --lzma2=preset=6,dict=128MiB >"dist/$name.tar.xz"
bytes=$(stat -c %s "dist/$name.tar.xz")
echo "dist/$name.tar.xz: $((bytes / 1024)) KiB with ${wanted[*]}"
if [ "$bytes" -gt $((limit_mib * 1024 * 1024)) ]; then
  echo "gpu-bundle: the bundle is larger than $limit_mib MiB: something big was linked in by accident" >&2
  exit 1
fi
