"""The small engines that pages show and audit: what the audit says of them. The pages hold their text."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from page import cli

HERE = Path(__file__).parent / "engines_to_audit"


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
