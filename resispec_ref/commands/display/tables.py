"""Tables: column widths that fit a terminal, and Markdown elsewhere."""

from __future__ import annotations

import itertools
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """A table that fits a terminal, a Markdown table elsewhere; the columns named in `right` are aligned right."""
    cells = [list(map(str, row)) for row in rows]
    if sys.stdout.isatty():
        _print_fitting(columns, cells, right)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    rule = ["-" * (n - 1) + (":" if name in right else "-") for name, n in zip(columns, widths, strict=True)]
    for line in [columns, rule, *cells]:
        print(f"| {' | '.join(_aligned(line, widths, columns, right))} |")


def _print_fitting(columns: Sequence[str], cells: list[list[str]], right: Sequence[str]) -> None:
    """Columns narrowed until the table fits, but not below their longest word; else a block of lines for each row."""
    terminal = shutil.get_terminal_size().columns
    by_column = list(zip(columns, *cells, strict=True))
    widths = [max(map(len, column)) for column in by_column]
    least = [max(len(part) for cell in column for part in _wrapped(cell, 1)) for column in by_column]
    while sum(widths) + 2 * len(widths) > terminal and widths != least:
        room = [n - m for n, m in zip(widths, least, strict=True)]
        widths[room.index(max(room))] -= 1
    if sum(widths) + 2 * len(widths) <= terminal:
        print()
        for i, row in enumerate([columns, *cells]):
            wrapped = [_wrapped(cell, n) for cell, n in zip(row, widths, strict=True)]
            for line in itertools.zip_longest(*wrapped, fillvalue=""):
                print("  ".join(_aligned(line, widths, columns, right)).rstrip())
            if i == 0:
                print("─" * (sum(widths) + 2 * len(widths) - 2))
        return
    indent = max(map(len, columns)) + 4
    for first, *rest in cells:
        print(f"\n{first}")
        for name, cell in zip(columns[1:], rest, strict=True):
            start = f"  {name}".ljust(indent)
            print(textwrap.fill(cell, 3 * indent, initial_indent=start, subsequent_indent=" " * indent))


def _wrapped(cell: str, width: int) -> list[str]:
    """Lines of at most `width` characters where words allow it; a name may be broken at its hyphens."""
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=" " not in cell) or [""]


def _aligned(line: Sequence[str], widths: Sequence[int], columns: Sequence[str], right: Sequence[str]) -> list[str]:
    triples = zip(line, widths, columns, strict=True)
    return [cell.rjust(n) if name in right else cell.ljust(n) for cell, n, name in triples]
