"""What all tests share: nothing is measured, and each run has a tuning database of its own."""

import os
import tempfile

_folder = tempfile.TemporaryDirectory(prefix="mirage-test-")
os.environ.setdefault("MIRAGE_MEASURE", "no")
os.environ["MIRAGE_TUNING_DB"] = os.path.join(_folder.name, "tuning.db")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
