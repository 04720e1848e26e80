"""What the commands share on the way to a terminal: help texts, and progress that a pipe never sees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from resispec_ref.measurements.parallel import Progress


@contextmanager
def progress_bar(description: str) -> Iterator[Progress]:
    """A bar on stderr where that is a terminal, and nothing otherwise."""
    if not sys.stderr.isatty():
        yield lambda done, wanted: None
        return
    from rich import progress
    from rich.console import Console

    with progress.Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, wanted: bar.update(task, completed=done, total=wanted)


def describe(parser: argparse.ArgumentParser, description: str, examples: Sequence[str]) -> None:
    """Set a parser's description and its examples, one a line."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = description
    parser.epilog = "examples:\n" + "\n".join(f"  {line}" for line in examples)
