"""Tables: column widths that fit a terminal, and Markdown elsewhere."""

from __future__ import annotations

import itertools
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """A table that fits a terminal, a Markdown table elsewhere; the columns named in `right` are aligned right."""
    cells = [list(map(str, row)) for row in rows]
    if sys.stdout.isatty():
        table = _Fitting(columns, cells, right)
        for row in cells:
            table.print(row)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    rule = ["-" * (n - 1) + (":" if name in right else "-") for name, n in zip(columns, widths, strict=True)]
    for line in [columns, rule, *cells]:
        print(f"| {' | '.join(_aligned(line, widths, columns, right))} |")


@contextmanager
def growing_table(columns: Sequence[str], widest: Sequence[Sequence[str]]) -> Iterator[Callable[[Sequence[str]], None]]:
    """A table that is given a row at a time: shown at once on a terminal, at the end elsewhere.

    Columns are as wide as those of the rows `widest`, which are not shown; a longer cell is wrapped.
    """
    if sys.stdout.isatty():
        yield _Fitting(columns, widest, ()).print
        return
    rows = list[Sequence[str]]()
    yield rows.append
    print_table(columns, rows)


class _Fitting:
    """Columns narrowed until the table fits, but not below their longest word; else a block of lines for each row."""

    def __init__(self, columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[str]):
        terminal = shutil.get_terminal_size().columns
        by_column = list(zip(columns, *cells, strict=True))
        widths = [max(map(len, column)) for column in by_column]
        least = [max(len(part) for cell in column for part in _wrapped(cell, 1)) for column in by_column]
        while sum(widths) + 2 * len(widths) > terminal and widths != least:
            room = [n - m for n, m in zip(widths, least, strict=True)]
            widths[room.index(max(room))] -= 1
        self.columns, self.widths, self.right = columns, widths, right
        self.fits = sum(widths) + 2 * len(widths) <= terminal
        if self.fits:
            print()
            self.print(columns)
            print("─" * (sum(widths) + 2 * len(widths) - 2))

    def print(self, row: Sequence[str]) -> None:
        if self.fits:
            wrapped = [_wrapped(cell, n) for cell, n in zip(row, self.widths, strict=True)]
            for line in itertools.zip_longest(*wrapped, fillvalue=""):
                print("  ".join(_aligned(line, self.widths, self.columns, self.right)).rstrip())
            return
        indent = max(map(len, self.columns)) + 4
        print(f"\n{row[0]}")
        for name, cell in zip(self.columns[1:], row[1:], strict=True):
            start = f"  {name}".ljust(indent)
            print(textwrap.fill(cell, 3 * indent, initial_indent=start, subsequent_indent=" " * indent))


def _wrapped(cell: str, width: int) -> list[str]:
    """Lines of at most `width` characters where words allow it; a name may be broken at its hyphens."""
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=" " not in cell) or [""]


def _aligned(line: Sequence[str], widths: Sequence[int], columns: Sequence[str], right: Sequence[str]) -> list[str]:
    triples = zip(line, widths, columns, strict=True)
    return [cell.rjust(n) if name in right else cell.ljust(n) for cell, n, name in triples]
