"""What a pass rules out: an upper confidence bound on the total variation, and the smallest fault that is found."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from resispec_ref.oracle.statistics.evidence import log_mixture

POWER = 0.99
_SIMULATIONS = (100, 500)  # audits simulated for one point of the power curve, fewer for many cells


def tv_observed(counts: np.ndarray, law: np.ndarray) -> float:
    """`TV` between the frequencies met and the law.

    >>> tv_observed(np.array([6, 4]), np.array([0.5, 0.5]))
    0.1
    """
    return float(np.round(np.abs(counts / max(counts.sum(), 1) - law).sum() / 2, 15))


def tv_upper(counts: np.ndarray, law: np.ndarray, error: float) -> float:
    """An upper bound on `TV(f, p)` for the law `f` of the draws that fails with probability at most `error`.

    The expected distance of the frequencies from `p` is at least `TV(f, p)` (convexity), and the distance met falls
    short of it by more than `t` with probability at most `exp(−2 n t²)` (McDiarmid: one draw moves it by `1/n`).

    >>> round(tv_upper(np.array([5000, 5000]), np.array([0.5, 0.5]), 0.01), 4)
    0.0152
    """
    n = int(counts.sum())
    if n == 0:
        return 1.0
    return min(1.0, tv_observed(counts, law) + math.sqrt(math.log(1 / error) / (2 * n)))


def round_error(error: float, cases: int, rounds: int) -> float:
    """The share of `error` spent on one case after so many rounds: bounds of all cases and rounds hold together."""
    return error / (cases * rounds * (rounds + 1))


def smallest_tv_found(law: np.ndarray, draws: int, log_threshold: float) -> float:
    """The total variation from which on a fault is found with probability 0.99 by `draws` draws.

    For the shape of fault that is hardest to see, mass moved in proportion between two halves of the vocabulary (it has
    the least chi-square distance for its total variation). By simulation of the test at its end.

    Args:
        law: `(cells,)` the target.
        draws: how many independent draws are made.
        log_threshold: what `log E` must reach, in nats.

    >>> 0.01 < smallest_tv_found(np.full(4, 0.25), 20_000, math.log(1e4)) < 0.04
    True
    """
    return _smallest_tv_found(law.tobytes(), draws, log_threshold)


@lru_cache(maxsize=1024)
def _smallest_tv_found(law_bytes: bytes, draws: int, log_threshold: float) -> float:
    law = np.frombuffer(law_bytes)
    half = _half(law)
    mass = float(law[half].sum())
    if not 0 < mass < 1 or draws == 0:
        return 1.0
    rng = np.random.default_rng(0)
    fewest, most = _SIMULATIONS
    size = min(most, max(fewest, 20_000 // len(law)))

    def found(tv: float) -> bool:
        f = law * np.where(half, 1 + tv / mass, 1 - tv / (1 - mass))
        f = np.maximum(f, 0)
        logs = log_mixture(rng.multinomial(draws, f / f.sum(), size=size), law)
        return bool(np.mean(logs >= log_threshold) >= POWER)

    # log E is about n KL, and KL is at least 2 TV² (Pinsker): no test of this kind sees less than `least`
    least, high = math.sqrt(log_threshold / (2 * draws)), 1 - mass
    low = min(least / 2, high / 2)
    if 8 * least < high and found(8 * least):
        high = 8 * least
    elif not found(high):
        return 1.0
    while high > 1.1 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _half(law: np.ndarray) -> np.ndarray:
    """Cells of mass near one half in all: the largest first, as long as they fit."""
    chosen, left = np.zeros(len(law), dtype=bool), 0.5 + 1e-12
    for x in np.argsort(-law, kind="stable"):
        if 0 < law[x] <= left:
            chosen[x], left = True, left - law[x]
    if not chosen.any():
        chosen[np.argmin(np.where(law > 0, law, np.inf))] = True
    return chosen
