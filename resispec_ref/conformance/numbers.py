"""How numbers are written in the vectors: exact fractions, and the shortest decimals that give the same floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Written = dict[str, list[Any]]


def written(law: Any) -> Written:
    """A law, or nested lists of laws: "exact" fractions, and JSON numbers for "float64" and "float32".

    >>> from fractions import Fraction
    >>> written([Fraction(1, 3), Fraction(2, 3)])["float32"]
    [0.33333334, 0.6666667]
    """
    return {
        "exact": nested(law, str),
        "float64": nested(law, float),
        "float32": nested(law, lambda x: float(str(np.float32(float(x))))),
    }


def nested(values: Any, change: Any) -> list[Any]:
    """`change` of every number of nested sequences."""
    return [nested(v, change) if isinstance(v, Sequence | np.ndarray) else change(v) for v in values]


def digits(*values: Any) -> int:
    """The length of the longest fraction among them, as text."""
    return max(len(str(v)) for v in values)
