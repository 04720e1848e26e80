"""The small engines that the how-to pages audit: their text, and what the audit says of them."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from IPython.display import Code
from IPython.display import display as show_cell
from page import cli

HERE = Path(__file__).parent / "engines_to_audit"


def listing(name: str) -> None:
    """The file, as Python."""
    show_cell(Code(f"# {name}\n{(HERE / name).read_text()}", language="python"))


def audited(name: str, options: str = "", exit_code: int = 1) -> None:
    """`resispec audit` of the file's `verify`, run where the file is."""
    with contextlib.chdir(HERE):
        cli(f"resispec audit {name}:verify --kind verifier {options}".rstrip(), exit_code)


def run_tests(name: str, options: str) -> None:
    """`pytest` on the file, in a process of its own, as an engine's developer would run it."""
    print(f"$ python -m pytest {options} {name}".replace("  ", " "))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(HERE)]
    found = subprocess.run(
        [*command, *options.split(), name], cwd=HERE, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    print(found.stdout + found.stderr)
    found.check_returncode()
