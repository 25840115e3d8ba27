#!/usr/bin/env bash
# Everything that can be checked here, one step after the other; a step that fails does not end the others.
#
#   scripts/check-all.sh [STEP...]      all steps, or these
#
#   format      C and C++ are as clang-format-22 has them
#   tests       the tests of `make test`
#   sanitize    the same under AddressSanitizer and UndefinedBehaviorSanitizer
#   threads     unit tests and seven folders of textual tests, under ThreadSanitizer
#   fuzz        each fuzzer for FUZZ_SECONDS (default 60), with sanitizers
#   linalg      100,000 random modules of linalg, before and after convert-linalg-to-mirage
#   ptxas       every kernel for every GPU, assembled
#   search      the search against Z3 and against brute force, the long runs
#   mutations   10,000 mutants of each known µGraph
#   upstream    µGraphs of the original system, from the folder MIRAGE_UPSTREAM_MUGRAPHS
#
# CONTRIBUTING.md says how long each takes. Logs and tables go to build-check/. A step that cannot run here, as ptxas without a
# ptxas, is shown as skipped. Exit status: 0 when no step failed.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=$PWD/build-check/logs
fuzz_seconds=${FUZZ_SECONDS:-60}
mkdir -p "$logs" build-check/results

configure() { # folder, options of cmake
  local build=$1
  shift
  cmake --preset release -B "$build" --log-level=WARNING "$@"
}

step_format() { scripts/check-format.sh; }

step_tests() { make --no-print-directory test; }

preset() { # builds and tests one preset
  cmake --preset "$1" --log-level=WARNING && cmake --build --preset "$1" -- --quiet && ctest --preset "$1"
}
step_sanitize() { preset sanitize; }
step_threads() { preset threads; }

step_fuzz() {
  local root=$PWD
  configure build-check -DMIRAGE_FUZZ=ON || return 1
  cmake --build build-check --target fuzz_import fuzz_verify fuzz_mlir -- --quiet || return 1
  mkdir -p build-check/findings/{import,verify,mlir}
  cd build-check || return 1 # where a crash leaves its input
  local limits="-max_total_time=$fuzz_seconds -rss_limit_mb=4096 -print_final_stats=1"
  # shellcheck disable=SC2086 # several words
  bin/fuzz_import $limits -timeout=60 findings/import "$root/test/fuzz/corpus/import" &&
    bin/fuzz_verify $limits -timeout=120 -max_len=400 findings/verify "$root/test/fuzz/corpus/verify" &&
    bin/fuzz_mlir $limits -timeout=120 -max_len=8192 findings/mlir "$root"/{examples,test/programs,test/schedules,test/passes,test/run}
}

targets() { # check-* targets, with their tables in build-check/results
  configure build-check -DMIRAGE_RESULTS="$PWD/build-check/results" -DMIRAGE_UPSTREAM_MUGRAPHS="${MIRAGE_UPSTREAM_MUGRAPHS:-}" || return 1
  for target in "$@"; do
    cmake --build build-check --target "$target" -- --quiet || return 1
  done
}
step_ptxas() {
  if ! command -v ptxas >/dev/null; then
    echo "skipped: there is no ptxas"
    return 77
  fi
  targets check-ptxas
}
step_linalg() { targets check-linalg; }
step_search() { targets check-differential check-brute-force; }
step_mutations() { targets check-mutations; }
step_upstream() {
  if [ -z "${MIRAGE_UPSTREAM_MUGRAPHS:-}" ]; then
    echo "skipped: MIRAGE_UPSTREAM_MUGRAPHS names no folder"
    return 77
  fi
  targets check-upstream check-upstream-emulated check-upstream-replay
}

all=(format tests sanitize threads fuzz linalg ptxas search mutations upstream)
for name in "$@"; do
  if ! declare -F "step_$name" >/dev/null; then
    echo "check-all: no step '$name': ${all[*]}" >&2
    exit 2
  fi
done
failed=0
for name in "${@:-${all[@]}}"; do
  start=$SECONDS
  ("step_$name") >"$logs/$name.log" 2>&1
  status=$?
  case $status in
    0) verdict=ok ;;
    77) verdict=skipped ;;
    *) verdict=FAILED failed=1 ;;
  esac
  printf '%-10s %-8s %5d s   %s\n' "$name" "$verdict" $((SECONDS - start)) "build-check/logs/$name.log"
  if [ "$status" != 0 ]; then tail -n 15 "$logs/$name.log" | sed 's/^/    /'; fi
  # What a part of it could not run, as ctest and lit say it.
  if [ "$status" = 0 ]; then grep -E '\((Skipped|Not Run)\)$' "$logs/$name.log" | sed 's/^/    /'; fi
done
exit $failed
