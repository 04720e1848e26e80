"""How lossy a rule is: the total variation of its worst case, with an interval, beside the frontier of T17."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def tv_lower(rounds: Sequence[np.ndarray], law: np.ndarray, error: float) -> float:
    """A lower bound on `TV(f, p)` for the law `f` of the draws that fails with probability at most `error`.

    The tokens that came too often in all rounds but the last are bet on in the last one: `TV ≥ f(A) − p(A)` for every
    set `A`, and Hoeffding's inequality bounds `f(A)` from below. Rounds double, so half of the draws are in the last.

    >>> round(tv_lower([np.array([600, 400]), np.array([6100, 3900])], np.array([0.5, 0.5]), 0.01), 4)
    0.0948
    """
    if len(rounds) < 2 or not rounds[-1].sum():
        return 0.0
    before, last = np.sum(rounds[:-1], axis=0), rounds[-1]
    often, n = before > before.sum() * law, int(last.sum())
    met = float(last[often].sum()) / n - float(law[often].sum())
    return max(0.0, met - math.sqrt(math.log(1 / error) / (2 * n)))


def frontier(bound: float, bias: float) -> float:
    """The most that a rule can accept whose emitted law is `bias` away from the target: `min(1, B + ε)`.

    `bound` is what exact rules accept at most. Source: T17 of the mathematics; theorem `frontier_everywhere`
    (proofs/attained.v).

    >>> frontier(0.75, 0.125)
    0.875
    """
    return min(1.0, bound + bias)
