"""The modules of this folder beside each other, nothing measured, and a tuning database of this run's own."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
_folder = tempfile.TemporaryDirectory(prefix="mirage-test-")
os.environ.setdefault("MIRAGE_MEASURE", "no")
os.environ["MIRAGE_TUNING_DB"] = os.path.join(_folder.name, "tuning.db")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
