"""A headless browser for tests: the first of those known, with no network."""

import os
import re
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """Its path, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def dump(page, folder, *switches):
    """Opens a file; gives the document as the browser has it, and what it says on its console."""
    done = subprocess.run([find(), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom",
                           "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}", *switches, page.as_uri()],
                          capture_output=True, text=True, timeout=240, check=True,
                          env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})  # a sanitizer is for us
    return done.stdout, re.findall(r"CONSOLE[:(].*", done.stderr)
