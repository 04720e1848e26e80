"""The smallest counterexample: small cases in the order of their size, and the first that shows the fault."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import ChainCase, TreeCase

Case = TypeVar("Case", PositionCase, ChainCase, TreeCase, PositionCase | ChainCase | TreeCase)


def first_that_shows(shows_fault: Callable[[Case], bool], cases: Iterable[Case], seconds: float) -> Case | None:
    """The first of `cases` with `shows_fault`, or None where none is reached in so many seconds.

    `shows_fault` must give the same answer to the same case (`case_seed` seeds it).
    """
    end = time.monotonic() + seconds
    for case in cases:
        if time.monotonic() > end:
            return None
        if shows_fault(case):
            return case
    return None


def case_seed(text: str, seed: int = 0) -> int:
    """A seed that depends on the case alone, so that a search meets the same draws when it comes back to it."""
    return zlib.crc32(text.encode()) ^ (seed << 32)
