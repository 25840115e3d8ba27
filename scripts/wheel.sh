#!/usr/bin/env bash
# Builds the Python package as a wheel for machines without LLVM: dist/wheel/mirage_mlir-*.whl. auditwheel puts the small
# libraries in (Z3, jansson, zstd, the C++ runtime that Z3 needs) and gives it the lowest tag that its symbols allow.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/python-env.sh
python=${MIRAGE_VENV:-.venv}/bin/python
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
"$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$raw" ./python-bindings
rm -rf dist/wheel
mkdir -p dist/wheel
PATH="$(dirname "$("$python" -c 'import sys; print(sys.executable)')"):$PATH" "$python" -m auditwheel repair --strip -w dist/wheel "$raw"/*.whl
ls -l dist/wheel
