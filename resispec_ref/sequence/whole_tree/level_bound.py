"""The most that one level can keep, and the set that says so (T16), for nodes with independent children.

Over all ways of choosing among the children, the largest `Σ_j |min(σ_j, t_j)|` is the least of

    t(H^c) + 1 − Π_j (1 − q_j(H_j))^{k_j}

over sets `H` of pairs of node and token. In the best `H` each node has the tokens whose target ratio `a_j p/q` exceeds
`k_j M / (1 − q_j(H_j))`, where `M` is the chance that no child is in `H`: a prefix of its ratios for every `M`, which
grows as `M` falls. So all `M` are tried, on a grid that is refined once.

Source: section 8 of the mathematics, T16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from resispec_ref.sequence.whole_tree.bins import BinnedRow

_GRID, _LEAST = 256, 1e-9


class BestSet(NamedTuple):
    """`H`, and the bound that it gives: no less than the least, since another `H` could only give less."""

    taken: np.ndarray
    """How many bins of each node are in `H`, the highest ratios first."""
    bound: float


def best_set(shares: Sequence[float], rows: Sequence[BinnedRow], counts: Sequence[int]) -> BestSet:
    """For nodes with these shares, rows and numbers of children; a bin is as if all in it had its least ratio.

    >>> from resispec_ref.sequence.whole_tree.bins import binned
    >>> row = binned(np.array([0.2, 0.8]), np.array([0.5, 0.5]))
    >>> round(best_set([1.0], [row], [2]).bound, 4)  # 1 − max over H of q(H)² − p(H) is 1 − (1/4 − 1/5)
    0.95
    """
    falling = [(-a * row.edge * np.cumsum(row.mass))[::-1] for a, row in zip(shares, rows, strict=True)]
    inside = [np.append(0, np.cumsum(row.mass[::-1])) for row in rows]
    wanted = [a * np.append(0, np.cumsum((row.mass * row.edge)[::-1])) for a, row in zip(shares, rows, strict=True)]
    low, high = math.log(_LEAST), 0.0
    for _ in range(2):
        miss = np.linspace(low, high, _GRID)
        taken = np.array([np.searchsorted(x, -k * np.exp(miss)) for x, k in zip(falling, counts, strict=True)])
        lost = sum(w[-1] - w[n] for w, n in zip(wanted, taken, strict=True))
        chance = sum(k * np.log(np.maximum(1 - x[n], 1e-300)) for x, n, k in zip(inside, taken, counts, strict=True))
        bound = lost + 1 - np.exp(chance)
        best, step = int(np.argmin(bound)), miss[1] - miss[0]
        low, high = miss[best] - step, min(miss[best] + step, 0.0)
    return BestSet(taken[:, best], float(bound[best]))
