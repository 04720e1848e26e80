"""Evidence that a law is not the target's: e-processes, which may be looked at after every draw.

An e-process is a non-negative martingale of mean 1 (or less) as long as the hypothesis holds. It exceeds `1/δ` with
probability at most `δ`, ever (Ville's inequality), so an audit may stop whenever it has seen enough. Averages of
e-processes are e-processes: that is how tests and cases are merged under one false-alarm rate. Everything is in nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

CONCENTRATIONS = 4.0 ** np.arange(13)  # how far from the target the alternatives lie: about 1/√c, from far to 1e-4
EXCESSES = 0.5 ** np.arange(21)  # how far above its bound a rate may be, as a share of what is possible
MAX_PAIR_CELLS = 1024


def log_mixture(counts: np.ndarray, law: np.ndarray) -> np.ndarray:
    """`log E` of the mixture e-process: `DirichletMultinomial(counts; α) / Π p^counts`, averaged over `α = c p`.

    `c` runs over `CONCENTRATIONS`, so the alternatives lie around the target at every distance. A cell of
    probability 0 that was met makes it infinite.

    Args:
        counts: `(..., cells)` integers, how often each cell was met.
        law: `(cells,)` the target's probabilities `p`.

    Source: section 7 of the mathematics; Ville's inequality.

    >>> bool(log_mixture(np.array([500, 500]), np.array([0.5, 0.5])) < 0)
    True
    >>> bool(log_mixture(np.array([600, 400]), np.array([0.5, 0.5])) > 10)
    True
    """
    counts = np.asarray(counts)
    seen = law > 0
    impossible = counts[..., ~seen].sum(-1) > 0
    k, p = counts[..., seen].astype(float), law[seen]
    from scipy.special import gammaln  # slow to import, and not needed for the options of the command line

    n = k.sum(-1)
    logs = []
    for c in CONCENTRATIONS:
        terms = gammaln(c * p + k) - gammaln(c * p) - k * np.log(p)
        logs.append(gammaln(c) - gammaln(c + n) + terms.sum(-1))
    mixed = _log_mean_exp(np.array(logs))
    return np.where(impossible, np.inf, mixed)


def log_excess(successes: int, draws: int, bound: float) -> float:
    """`log E` against "each draw succeeds with probability at most `bound`": likelihood ratios, averaged.

    A martingale where the rate is the bound, a supermartingale below it.

    >>> log_excess(500, 1000, 0.5) < 0 < log_excess(600, 1000, 0.5), log_excess(1, 10, 0.0)
    (True, inf)
    """
    if draws == 0 or bound >= 1:
        return 0.0
    if bound <= 0:
        return math.inf if successes else 0.0
    rate = bound + (1 - bound) * EXCESSES
    failures = draws - successes
    with np.errstate(divide="ignore"):
        log_failure = np.log1p(-rate) - math.log1p(-bound)
    logs = successes * (np.log(rate) - math.log(bound))
    logs = logs + (failures * log_failure if failures else 0.0)
    return float(_log_mean_exp(logs))


@dataclass
class Evidence:
    """What the draws of one case say against it; every test is an e-process, and `log_e` their average.

    - *law*: all draws together against the target (`log_mixture`);
    - *pairs*: two draws that follow one another against the product of two targets: shared noise, cycles;
    - *rounds*: each round of draws on its own, multiplied: a law that changes between calls;
    - one test a rate that has a bound, such as acceptance (`log_excess`).

    With `tolerance` `τ > 0` the hypothesis is `TV ≤ τ` instead: the set of cells met too often so far is bet on in the
    next round, against probability `p(set) + τ`; bounds on rates are raised by `τ`.
    """

    law: np.ndarray
    tolerance: float = 0.0
    counts: np.ndarray = field(init=False)
    rounds: list[np.ndarray] = field(default_factory=list)
    rates: dict[str, tuple[float, int, int]] = field(default_factory=dict)
    """Name -> bound, successes, draws."""

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.law), dtype=np.int64)
        self._products = {"rounds": 0.0, "bets": 0.0}
        self._logs: dict[str, float] | None = None
        cells = len(self.law)
        self._pairs = np.zeros((cells, cells), dtype=np.int64) if cells**2 <= MAX_PAIR_CELLS else None

    @property
    def draws(self) -> int:
        return int(self.counts.sum())

    def add(self, cells: np.ndarray, rates: dict[str, tuple[float, int, int]]) -> None:
        """One round of draws, `cells` in the order in which they were made."""
        self._logs = None
        new = np.bincount(cells, minlength=len(self.law))
        if self.tolerance and self.draws:
            often = self.counts > self.draws * self.law
            bound = min(1.0, float(self.law[often].sum()) + self.tolerance)
            self._products["bets"] += log_excess(int(new[often].sum()), len(cells), bound)
        if not self.tolerance:
            self._products["rounds"] += float(log_mixture(new, self.law))
        if self._pairs is not None:
            even = len(cells) // 2 * 2
            number = cells[0:even:2] * len(self.law) + cells[1:even:2]
            self._pairs += np.bincount(number, minlength=self._pairs.size).reshape(self._pairs.shape)
        self.counts = self.counts + new
        self.rounds.append(new)
        for name, (bound, successes, draws) in rates.items():
            _, s, n = self.rates.get(name, (bound, 0, 0))
            self.rates[name] = (min(1.0, bound + self.tolerance), s + successes, n + draws)

    def logs(self) -> dict[str, float]:
        """`log E` of each test."""
        if self._logs is None:
            self._logs = self._compute()
        return self._logs

    def _compute(self) -> dict[str, float]:
        found = {name: log_excess(s, n, bound) for name, (bound, s, n) in self.rates.items()}
        if self.tolerance:
            return {"law": self._products["bets"], **found}
        found |= {"law": float(log_mixture(self.counts, self.law)), "rounds": self._products["rounds"]}
        if self._pairs is not None:
            found["pairs"] = float(log_mixture(self._pairs.reshape(-1), np.outer(self.law, self.law).reshape(-1)))
        return found

    def drifts(self) -> bool:
        """Whether the rounds have different laws: chi-square, at 1e-9; a description, and no part of the evidence."""
        from scipy.stats import chi2_contingency  # slow to import, and only needed where a fault is proved

        table = np.array([r for r in self.rounds if r.sum() >= 100])
        table = table[:, table.sum(0) >= 5 * max(len(table), 1)]
        return min(table.shape) > 1 and bool(chi2_contingency(table).pvalue < 1e-9)

    def log_e(self) -> float:
        return log_average(list(self.logs().values()))


def log_average(logs: list[float]) -> float:
    """The log of the average of e-processes given by their logs; infinite if one is.

    >>> log_average([0.0, 0.0]), log_average([math.inf, 0.0])
    (0.0, inf)
    """
    if math.inf in logs:
        return math.inf
    return float(_log_mean_exp(np.array(logs))) if logs else 0.0


def _log_mean_exp(logs: np.ndarray) -> np.ndarray:
    """`log(mean(exp(logs)))` over the first axis; entries may be -inf, not all of them."""
    top = logs.max(axis=0)
    return top + np.log(np.exp(logs - top).mean(axis=0))
