"""The runners of the conformance vectors, run as pages show them: two commands, and what they print."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from resispec_ref.conformance import write_vectors

COMMANDS = {
    "python": "python -m pytest -q conformance",
    "g++": "g++ -std=c++17 -o verifier conformance/verifier.cpp && ./verifier conformance/vectors.jsonl",
    "counts": "python conformance/counts.py",
    "rustc": "rustc -o verifier conformance/verifier.rs && ./verifier conformance/vectors.jsonl",
}
SOURCES = {"python": "test_vectors.py", "g++": "verifier.cpp", "rustc": "verifier.rs", "counts": "counts.py"}


@functools.cache
def folder() -> Path:
    found = Path(tempfile.mkdtemp())
    write_vectors(found / "conformance")
    return found


def listing(language: str, first: str, last: str) -> None:
    """Lines of an example verifier, from the one that begins with `first` before the one that begins with `last`."""
    lines = (folder() / "conformance" / SOURCES[language]).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(first))
    end = next(i for i, line in enumerate(lines) if i > start and line.startswith(last))
    print("\n".join(lines[start : end + (last == "}")]).rstrip())


def verdict(language: str, change: tuple[str, str] | None = None, lines: int = 6) -> None:
    """What the second command prints, at most so many lines, with the example verifier or with one piece replaced."""
    print(f"$ resispec vectors conformance\n$ {COMMANDS[language]}")
    if language in ("g++", "rustc") and shutil.which(language) is None:
        print(f"({language} is not installed where this page was built)")
        return
    file = folder() / "conformance" / SOURCES[language]
    right = file.read_text()
    if change:
        assert right.count(change[0]) == 1, change
        file.write_text(right.replace(*change))
    command = COMMANDS[language].replace("python ", f"{sys.executable} ")
    quiet = f" -p no:cacheprovider -p no:resispec -c {os.devnull} --rootdir ." if language == "python" else ""
    found = subprocess.run(
        command + quiet, shell=True, cwd=folder(), capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    file.write_text(right)
    assert found.returncode == (1 if change else 0), found.stdout + found.stderr
    shown = [line for line in found.stdout.splitlines() if line.strip()]
    print("\n".join(shown if len(shown) <= lines else [*shown[: lines - 2], "...", shown[-1]]))


def counts_table(name: str):
    """The ranges of one record as a table."""
    from IPython.display import Markdown

    lines = (folder() / "conformance" / "counts.jsonl").read_text().splitlines()
    record = next(r for r in map(json.loads, lines[1:]) if r["id"] == name)
    head = ["token", "target", "draft", *(f"{n:,} draws" for n in record["draws"])]
    rows = [head, ["---"] * len(head)]
    for x, (p, q) in enumerate(zip(record["target"]["exact"], record["draft"]["exact"], strict=True)):
        edges = zip(record["low"], record["high"], strict=True)
        rows.append([str(x), p, q, *(f"{low[x]:,} to {high[x]:,}" for low, high in edges)])
    rows.append(["accepted", "", "", *(f"at most {most:,}" for most in record["accepted_high"])])
    return Markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))
