#!/usr/bin/env bash
# Makes .venv, the environment that the Python tests run in, or brings it up to python-bindings/requirements-test.txt, and to
# test/exporters/requirements.txt as far as its packages can be had: without them, the tests of exporters are skipped.
# Ends at once when it is as it should be. MIRAGE_VENV names another folder.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${MIRAGE_VENV:-.venv}

# install REQUIREMENTS STAMP: what is asked for, unless the stamp in the folder says that it is there.
install() {
  if cmp -s "$1" "$folder/$2"; then
    return 0
  fi
  echo "python-env: installing $1 into $folder (large packages: some minutes)"
  [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$1" || return 1
  cp "$1" "$folder/$2"
}

install python-bindings/requirements-test.txt requirements.txt
install test/exporters/requirements.txt requirements-exporters.txt ||
  echo "python-env: the exporters cannot be installed here: ctest -R exporters will be skipped"
