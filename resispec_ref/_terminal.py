"""What the commands share on the way to a terminal: tables, and progress that a pipe never sees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

Progress = Callable[[int, int], None]
"""Called with what is done and what is wanted."""


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """A table that fits a terminal, a Markdown table elsewhere; the columns named in `right` are aligned right."""
    cells = [list(map(str, row)) for row in rows]
    if sys.stdout.isatty():
        _print_rich(columns, cells, right)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    rule = ["-" * (n - 1) + (":" if name in right else "-") for name, n in zip(columns, widths, strict=True)]
    for line in [columns, rule, *cells]:
        padded = [
            cell.rjust(n) if name in right else cell.ljust(n)
            for cell, n, name in zip(line, widths, columns, strict=True)
        ]
        print(f"| {' | '.join(padded)} |")


def _print_rich(columns: Sequence[str], cells: list[list[str]], right: Sequence[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for name in columns:
        table.add_column(Text(name), justify="right" if name in right else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    Console(highlight=False).print(table)


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


def law_text(law: Iterable[Any]) -> str:
    """`(1/2, 1/2, 0)`."""
    return f"({', '.join(map(number_text, law))})"


def number_text(x: Any) -> str:
    """A rational as it is, `19/42`; a float with six digits."""
    return str(Fraction(x)) if isinstance(x, Fraction | int) else f"{float(x):.6g}"


def decimal_text(x: Any, digits: int = 3) -> str:
    """A probability with a few digits, and a plain `0` for what is 0 up to rounding."""
    return "0" if abs(x) < 1e-12 else f"{float(x):.{digits}f}"
