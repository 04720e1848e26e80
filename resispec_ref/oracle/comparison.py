"""The oracle beside a ratio test like those in engines' own suites: `python -m resispec_ref.commands.comparison`.

Vocabulary 10, chains of two drafted tokens, near-uniform laws, 100,000 draws a run. The faulty verifier's acceptance
ratio is 1% too high. The ratio test compares the frequency of each first token with its probability and allows a
relative error, here the one that about 1% of the runs of a correct verifier exceed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import beta

from resispec_ref.oracle import audit
from resispec_ref.oracle.cases.tables import ChainCase, near_uniform_chain

DRAWS = 100_000
FALSE_ALARM_RATE = 1e-3
RELATIVE_ERROR = 0.033  # of the largest of ten frequencies near 0.1 in 100,000 draws: exceeded by about 1 run in 100
Verify = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def chain(factor: float) -> Verify:
    """Token-by-token verification of a batch whose acceptance ratio is `factor` times the right one."""

    def verify(p: np.ndarray, q: np.ndarray, drafted: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        n, K = drafted.shape
        rows, emitted, going = np.arange(n), np.full((n, K + 1), -1), np.ones(n, dtype=bool)
        for i in range(K + 1):
            row = p[:, i]
            if i < K:
                x = drafted[:, i]
                taken = going & (rng.random(n) * q[rows, i, x] < factor * p[rows, i, x])
                emitted[taken, i] = x[taken]
                residual = np.maximum(p[:, i] - q[:, i], 0)
                row = np.where(residual.sum(1, keepdims=True) > 0, residual, row)
            else:
                taken = np.zeros(n, dtype=bool)
            ends = going & ~taken
            running = np.cumsum(row[ends], axis=1)
            emitted[ends, i] = (rng.random((int(ends.sum()), 1)) * running[:, -1:] >= running).sum(1)
            going = taken
        return emitted

    return verify


def ratio_test_passes(verify: Verify, case: ChainCase, seed: int) -> bool:
    """Every token's frequency is within `RELATIVE_ERROR` of its probability, on the same number of draws."""
    rng = np.random.default_rng(seed)
    p0, q0 = case.target[0][0], case.draft[0][0]
    x = rng.choice(len(q0), size=(DRAWS, 1), p=q0)
    p, q = np.tile(p0, (DRAWS, 2, 1)), np.tile(q0, (DRAWS, 1, 1))
    first = verify(p, q, x, rng)[:, 0]
    frequency = np.bincount(first, minlength=len(p0)) / DRAWS
    return bool(np.max(np.abs(frequency / p0 - 1)) <= RELATIVE_ERROR)


def oracle_passes(verify: Verify, case: ChainCase, seed: int) -> bool:
    report = audit(
        verify,
        kind="chain",
        cases=[case],
        draws=DRAWS,
        batched=True,
        false_alarm_rate=FALSE_ALARM_RATE,
        search=False,
        seed=seed,
    )
    return report.verdict == "no fault found"


def compare(runs: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """How often each test fails a correct verifier and finds the faulty one, over `runs` runs of each."""
    case = near_uniform_chain(2)
    tests = (("ratio test, one token", ratio_test_passes), ("oracle, joint law of the chain", oracle_passes))
    found = []
    for name, passes in tests:
        row: dict[str, Any] = {"test": name, "runs": runs}
        began = time.monotonic()
        for label, factor in (("fails a correct one", 1.0), ("finds the faulty one", 1.01)):
            failed = sum(not passes(chain(factor), case, seed + run) for run in range(runs))
            row[label] = failed
            row[f"{label}, 95%"] = _interval(failed, runs)
        row["seconds a run"] = (time.monotonic() - began) / (2 * runs)
        found.append(row)
    return found


def _interval(successes: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's."""
    low = float(beta.ppf(0.025, successes, n - successes + 1)) if successes else 0.0
    high = float(beta.ppf(0.975, successes + 1, n - successes)) if successes < n else 1.0
    return low, high
