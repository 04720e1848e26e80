"""The best that sequential rules can do, as a linear program over histories: the yardstick on small vocabularies.

SciPy is imported when one is solved; it comes with the extra `test`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from resispec_ref.validation import check_candidates, check_pair

MAX_HISTORIES = 5_000
"""Histories of rejected tokens that are written down at most."""


def best_sequential_acceptance(target: Any, draft: Any, *, candidates: int, replacement: bool = True) -> float:
    """The highest acceptance rate of an exact rule that decides on each candidate before it sees the next.

    With `ω_h` the probability that the tokens `h` were drawn and all rejected, the accepted mass after `h` is
    `A_h(x) = ω_h q_h(x) − ω_{hx}`, and

        maximise Σ_h |A_h|    subject to    A_h ≥ 0,  ω ≥ 0,  Σ_h A_h ≤ p.

    Decisions may depend on the whole history, which helps only without replacement. A rejected candidate is not taken
    up again: with recall, looking at all candidates first would be sequential too, and the maximum the bound
    (`optimal_acceptance`).

    Args:
        target, draft: `(vocab,)` laws.
        candidates: `K ≥ 0`.
        replacement: whether candidates are independent draws, or distinct ones drawn in sequence.

    Returns:
        A float, accurate to about 1e-9, the solver's tolerance.

    Raises:
        ValueError: laws that are not laws or that come in a batch; more than `MAX_HISTORIES` histories.

    Source: section 4 of the mathematics (T9).

    >>> round(best_sequential_acceptance([1 / 3, 1 / 3, 1 / 3], [1 / 2, 1 / 2, 0], candidates=2), 6)
    0.666667
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    p, q = check_pair(target, draft)
    K = check_candidates(candidates)
    if p.ndim != 1 or q.ndim != 1:
        raise ValueError(f"target: shape {tuple(p.shape)}; the linear program is for one position, (vocab,)")
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    number: dict[tuple[int, ...], int] = {(): 0}
    steps: list[tuple[tuple[int, ...], int, float]] = []
    level: list[tuple[int, ...]] = [()]
    for _ in range(K):
        following = []
        for h in level:
            left = q if replacement else np.where(np.isin(np.arange(len(q)), h), 0, q)
            for x in np.flatnonzero(left).tolist():
                steps.append((h, x, left[x] / left.sum()))
                following.append((*h, x))
                number[following[-1]] = len(number)
        level = following
        if len(number) > MAX_HISTORIES:
            raise ValueError(f"candidates: {len(q)} tokens have too many histories of {K} rejections; use fewer tokens")
    accepted = np.zeros(len(number))
    rows, columns, values = [], [], []
    for i, (h, x, chance) in enumerate(steps):
        before, after = number[h], number[(*h, x)]
        accepted[before] += chance
        accepted[after] -= 1
        for row, sign in ((i, -1), (len(steps) + x, 1)):  # −A ≤ 0, and a share of token x
            rows += [row, row]
            columns += [before, after]
            values += [sign * chance, -sign]
    shape = (len(steps) + len(p), len(number))
    found = linprog(
        -accepted,
        A_ub=csr_array((values, (rows, columns)), shape=shape),
        b_ub=np.concatenate([np.zeros(len(steps)), p]),
        bounds=[(1, 1)] + [(0, 1)] * (len(number) - 1),
    )
    return float(-found.fun)
