"""What the tests of the documentation share: where it is, running Sphinx, asking a browser."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LAB = DOCS / "lab"


def sphinx(builder, out, *options):
    """Run Sphinx with warnings as errors; fails with its output."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", builder, *options]
    found = subprocess.run([*command, DOCS, out], capture_output=True, text=True, cwd=ROOT, check=False)
    assert found.returncode == 0, f"{found.stdout[-4000:]}\n{found.stderr[-8000:]}"


def errors(browser):
    """What the browser's console holds since the last call, without what is only said."""
    return [entry for entry in browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")]


def overflow(browser):
    """By how many pixels the page is wider than the window."""
    return browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
