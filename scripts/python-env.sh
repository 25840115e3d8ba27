#!/usr/bin/env bash
# Makes .venv, the environment that the Python tests run in, or brings it up to python-bindings/requirements-test.txt.
# Ends at once when it is as it should be. MIRAGE_VENV names another folder.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=python-bindings/requirements-test.txt
folder=${MIRAGE_VENV:-.venv}
if cmp -s "$requirements" "$folder/requirements.txt"; then
  exit 0
fi
echo "python-env: installing $requirements into $folder (PyTorch and JAX among it: some minutes)"
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
cp "$requirements" "$folder/requirements.txt"
