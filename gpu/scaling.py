"""Timings, and how they grow: the straight line through the times of several sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from resispec_gpu.works import UNIT

CANDIDATES = 4
"""Of the main table, and of all lines in a size."""

SIZES = {"batch": "batch", "vocab": "vocabulary"}


@dataclass(frozen=True)
class Timing:
    """One piece of work on one pair of arrays."""

    what: str
    library: str
    dtype: str
    batch: int
    vocab: int
    candidates: int
    ratio: float
    """To `minimum` + `sum` in the same library on the same arrays."""
    milliseconds: float
    added: float | None
    """Memory beside the inputs, over the size of one of them."""


class Fit(NamedTuple):
    """A straight line through times: `fixed + each · size`, and how well it holds."""

    fixed: float
    each: float
    deviation: float
    """The largest relative distance of a time from the line."""
    slope: float
    """Of log time over log size between the two largest sizes: 1 where the fixed part no longer matters."""


def fit(sizes: list[int], times: list[float]) -> Fit:
    """The line of least relative squares, with no negative part.

    >>> line = fit([1, 10, 100], [5.0, 14.0, 104.0])
    >>> round(line.fixed, 6), round(line.each, 6), round(line.slope, 2)
    (4.0, 1.0, 0.87)
    """
    n, t = np.asarray(sizes, dtype=float), np.asarray(times, dtype=float)
    columns = np.stack([1 / t, n / t], axis=-1)
    fixed, each = np.linalg.lstsq(columns, np.ones(len(t)), rcond=None)[0]
    if fixed < 0:
        fixed, each = 0.0, float(np.sum(n / t) / np.sum((n / t) ** 2))
    slope = math.log(t[-1] / t[-2]) / math.log(n[-1] / n[-2])
    return Fit(float(fixed), float(each), float(np.max(np.abs((fixed + each * n) / t - 1))), slope)


def along(swept: list[Timing], name: str, size: str) -> list[Timing]:
    """The timings in which only `batch`, or only `vocab`, differs: the longest such line."""
    line = [t for t in swept if t.what == name and t.dtype == "float32" and t.candidates == CANDIDATES]
    other = "vocab" if size == "batch" else "batch"
    lines = [[t for t in line if getattr(t, other) == value] for value in {getattr(t, other) for t in line}]
    longest: list[Timing] = max(lines, key=len, default=[])
    return sorted(longest, key=lambda t: getattr(t, size))


def scaling(swept: list[Timing]) -> Iterator[str]:
    """What the times of the sweep are, as lines in the batch and in the vocabulary."""
    for name in dict.fromkeys(t.what for t in swept if t.what != UNIT):
        for size in ("batch", "vocab"):
            line = along(swept, name, size)
            if len(line) > 2:
                found = fit([t.batch * t.vocab for t in line], [t.milliseconds for t in line])
                yield (
                    f"{name}, {SIZES[size]}: {found.fixed:.2f} ms + {found.each * 1e6:.2f} ns an entry, "
                    f"to {found.deviation:.0%}; slope at the end {found.slope:.2f}"
                )
