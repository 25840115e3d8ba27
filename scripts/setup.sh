#!/usr/bin/env bash
# Installs what the build needs on Debian 12 (bookworm) and nothing that is already there. Run as root.
# Safe to run again: it ends at once when everything is installed.
set -euo pipefail

packages=(
  build-essential cmake ninja-build pkg-config python3 # build
  clang-22 lld-22 libclang-rt-22-dev clang-format-22   # the C++ of MLIR's plugin ABI has to come from clang
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools # LLVM and MLIR 22.1, lit, FileCheck
  libz3-dev                                            # layouts of shared memory
  libcmocka-dev                                        # C unit tests
  libpopt-dev libjansson-dev libxxhash-dev             # command lines, JSON, hashing
  libsqlite3-dev                                       # the tuning database
  python3-dev python3-venv                             # the Python package and its tests
  file                                                 # what cpack asks about the files of a Debian package
  chromium                                             # reports of searches are looked at in a browser
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

. /etc/os-release
if [ "${ID:-}" != debian ] || [ "${VERSION_ID:-}" != 12 ]; then
  echo "setup: this is ${PRETTY_NAME:-an unknown system}; the script knows Debian 12 (bookworm) only." >&2
  echo "setup: install by hand, then build with cmake: ${missing[*]}" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "setup: installing packages needs root: run 'sudo scripts/setup.sh' once. Missing: ${missing[*]}" >&2
  exit 1
fi
echo "setup: installing from Debian: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
candidate=$(apt-cache policy libmlir-22-dev) # not piped into grep -q: under pipefail its early exit fails the pipe
if ! grep -q 'Candidate: 1:22\.1\|Candidate: 22\.1' <<<"$candidate"; then
  echo "setup: no libmlir-22-dev 22.1 in the package lists: bookworm-security has it; add that suite to the apt sources." >&2
  exit 1
fi
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "setup: done"
