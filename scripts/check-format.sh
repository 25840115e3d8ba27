#!/usr/bin/env bash
# Says which lines of C and C++ are not as clang-format-22 would have them; `make format` mends them.
#
#   scripts/check-format.sh
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-format-22 >/dev/null; then
  echo "check-format: skipped: there is no clang-format-22"
  exit 77
fi
git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format-22 --dry-run -Werror
echo "check-format: $(git ls-files '*.c' '*.h' '*.cpp' | wc -l) files are as they should be"
