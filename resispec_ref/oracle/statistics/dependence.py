"""Evidence that draws depend on each other, at any distance up to a few dozen and at the sizes of batches.

Each draw becomes a number in `[0, 1)` by its law's distribution function, randomised within the cell: under the
hypothesis these are independent and uniform whatever the cases, so draws of different cases may be compared. The bin of
a draw is predicted from what came `lag` draws before; each prediction is a factor of mean 1, given all draws before it,
so their product is an e-process although the pairs overlap.
"""

from __future__ import annotations

import math

import numpy as np

from resispec_ref.oracle.statistics.evidence import log_average, log_mixture

BINS = 8
LAGS = (*range(1, 49), 64, 128, 256, 512, 1024, 4096)
NEAR = (1, 2, 3, 4)  # of what a step ended with, which the next ones may take up
MOST = 100_000  # draws that are looked at


class Dependence:
    """What draws in the order of their making say against independence.

    >>> dependence, rng = Dependence(), np.random.default_rng(0)
    >>> dependence.add(np.repeat(rng.integers(BINS, size=500), 2), None)
    >>> dependence.log_e() > 100, dependence.worst()[0]
    (True, 1)
    """

    def __init__(self) -> None:
        self.draws = 0
        self._after_draws = np.zeros((len(LAGS), BINS, BINS), dtype=np.int64)
        self._after_ends: np.ndarray | None = None
        self._logs: np.ndarray | None = None

    def add(self, bins: np.ndarray, ends: np.ndarray | None) -> None:
        """A round: the bin of each draw, and for steps of several tokens what each ended with, as small integers."""
        bins = bins[: MOST - self.draws]
        self._logs = None
        self.draws += len(bins)
        for table, lag in zip(self._after_draws, LAGS, strict=True):
            if lag < len(bins):
                table += _counts(bins[:-lag], bins[lag:], BINS)
        if ends is None:
            return
        ends, contexts = ends[: len(bins)], int(ends.max(initial=0)) + 1
        if self._after_ends is None or self._after_ends.shape[1] < contexts:
            grown = np.zeros((len(NEAR), max(contexts, 16), BINS), dtype=np.int64)
            if self._after_ends is not None:
                grown[:, : self._after_ends.shape[1]] = self._after_ends
            self._after_ends = grown
        for table, lag in zip(self._after_ends, NEAR, strict=True):
            if lag < len(bins):
                table += _counts(ends[:-lag], bins[lag:], table.shape[0])

    def logs(self) -> np.ndarray:
        """`log E` for each lag, those of what a step ended with last."""
        if self._logs is None:
            uniform = np.full(BINS, 1 / BINS)
            tables = [self._after_draws, *([] if self._after_ends is None else [self._after_ends])]
            self._logs = np.concatenate([log_mixture(t, uniform).sum(-1) for t in tables])
        return self._logs

    def log_e(self) -> float:
        return log_average(self.logs().tolist()) if self.draws else 0.0

    def worst(self) -> tuple[int, bool]:
        """The lag of most evidence, and whether it is of what a step ended with."""
        i = int(np.argmax(self.logs()))
        return (LAGS[i], False) if i < len(LAGS) else (NEAR[i - len(LAGS)], True)

    def shows(self) -> bool:
        """Whether draws depend on each other at that lag, whatever their law: chi-square, at 1e-12; a description."""
        from scipy.stats import chi2_contingency  # slow to import, and only needed where a fault is proved

        i = int(np.argmax(self.logs()))
        table = self._after_draws[i] if i < len(LAGS) else self._after_ends[i - len(LAGS)]  # type: ignore[index]
        table = table[table.sum(1) > 0][:, table.sum(0) > 0]
        return min(table.shape) > 1 and bool(chi2_contingency(table).pvalue < 1e-12)


def bins_of(cells: np.ndarray, law: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The bin of each draw: uniform if the draws have this law.

    >>> bins_of(np.array([0, 1]), np.array([0.5, 0.5]), np.random.default_rng(0)).tolist()
    [2, 5]
    """
    below = np.concatenate([[0.0], np.cumsum(law)])
    u = below[cells] + rng.random(len(cells)) * law[cells]
    return np.minimum((u * (BINS / max(below[-1], math.ulp(1)))).astype(np.int64), BINS - 1)


def _counts(first: np.ndarray, second: np.ndarray, contexts: int) -> np.ndarray:
    return np.bincount(first * BINS + second, minlength=contexts * BINS).reshape(contexts, BINS)
