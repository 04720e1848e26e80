"""The law of a verifier with injected noise, far below what independent draws can resolve.

Candidates are enumerated, with their probabilities as weights; the noise is replaced by the points of a scrambled
Sobol' sequence. Independent scramblings give independent estimates without bias, whose spread is the error.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import ChainCase, joint_law
from resispec_ref.oracle.drawing.positions import laws_seen, verify_many
from resispec_ref.oracle.drawing.sequences import emit_many, likeliest, seen_tables
from resispec_ref.oracle.faults.positions import draws
from resispec_ref.oracle.report.record import HighResolution
from resispec_ref.oracle.subjects.subject import Subject

REPLICATES = 16
_FIRST, _LAST = 6, 17  # points of a scrambling, as powers of two
_MAX_TUPLES = 256
_MAX_CELLS = 128  # the error of a total variation adds up those of all cells


def enumerable(subject: Subject, case: PositionCase | ChainCase) -> bool:
    """Whether the candidates of the case are few enough to take them all."""
    if subject.noise is None or callable(subject.draw) or subject.kind not in ("verifier", "chain"):
        return False
    if isinstance(case, ChainCase):
        return case.vocab ** (case.drafted + 1) <= _MAX_CELLS
    return case.cells is None and case.vocab**case.candidates <= _MAX_TUPLES


def affordable(subject: Subject, case: PositionCase | ChainCase, seconds: float) -> bool:
    """Whether the fewest points of this case can be had in so many seconds, at the pace seen so far."""
    rows = len(_candidates(subject, case)[0]) * REPLICATES * 2**_FIRST
    return rows * (subject.pace.seconds_a_row or 0.0) <= seconds


def resolve(
    subject: Subject,
    case: PositionCase | ChainCase,
    *,
    resolution: float,
    seconds: float,
    error: float,
    seed: int = 0,
) -> HighResolution | None:
    """The law of one case, with points doubled until `tv_upper - tv` is below `resolution` or time is up.

    None where the implementation is too slow for the fewest points in `seconds`.

    Args:
        error: false-alarm rate of `fault`, by Student's t over the scramblings; a fault must also show in a second
            set of scramblings, independent of the first.
    """
    from scipy.stats import qmc  # noqa: F401  (its import is slow, and no part of the time)

    end, m = time.monotonic() + seconds, _FIRST
    if not affordable(subject, case, seconds):
        return None
    right = laws_seen(subject, case)[0] if isinstance(case, PositionCase) else _joint(subject, case)
    while True:
        began = time.monotonic()
        law, half = _estimate(subject, case, m, error, seed)
        took = time.monotonic() - began
        if half.sum() / 2 <= resolution or m >= _LAST or time.monotonic() + 2 * took > end:
            break
        m += 1
    fault = bool((np.abs(law - right) > half).any())
    if fault:
        again, half_again = _estimate(subject, case, m, error, seed + 1)
        fault = bool((np.abs(again - right) > half_again).any())
    tv = float(np.abs(law - right).sum() / 2)
    return HighResolution(
        case.name,
        case.inputs(),
        REPLICATES * 2**m,
        tv,
        tv + float(half.sum() / 2),
        right.tolist(),
        law.tolist(),
        fault,
    )


def _estimate(
    subject: Subject, case: PositionCase | ChainCase, m: int, error: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The mean law over the scramblings and the half-width for each cell."""
    from scipy.stats import qmc, t  # slow to import, and only needed here

    tuples, weights = _candidates(subject, case)
    K = tuples.shape[1]
    assert subject.noise is not None
    dimension = subject.noise.dimension(K, case.vocab)
    laws = []
    for replicate in range(REPLICATES):
        rng = np.random.default_rng([seed, replicate])
        u = qmc.Sobol(dimension, scramble=True, rng=rng).random_base2(m)
        laws.append(_mean_law(subject, case, tuples, weights, np.minimum(u, 1 - 2.0**-53), rng))
    mean, spread = np.mean(laws, axis=0), np.std(laws, axis=0, ddof=1)
    quantile = t.ppf(1 - error / (2 * len(mean)), REPLICATES - 1)
    # a mass that is a multiple of the spacing is met by every scrambling, so the spread alone would be 0
    return mean, quantile * spread / REPLICATES**0.5 + 2.0**-m / REPLICATES


def _mean_law(
    subject: Subject,
    case: PositionCase | ChainCase,
    tuples: np.ndarray,
    weights: np.ndarray,
    u: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    n = len(u)
    many = max(1, 262_144 // n)
    law: np.ndarray | float = 0.0
    for start in range(0, len(tuples), many):
        x, w = tuples[start : start + many], weights[start : start + many]
        candidates, points = np.repeat(x, n, axis=0), np.tile(u, (len(x), 1))
        mass = np.repeat(w / n, n)
        if isinstance(case, PositionCase):
            tokens, _ = subject.guarded(partial(verify_many, subject, [case], candidates, points, rng))
            law = law + np.bincount(tokens, weights=mass, minlength=case.vocab)
        else:
            emitted, _ = subject.guarded(partial(emit_many, subject, case, candidates, points, rng))
            law = law + _completed(emitted, mass, seen_tables(subject, case.target))
    return np.asarray(law)


def _candidates(subject: Subject, case: PositionCase | ChainCase) -> tuple[np.ndarray, np.ndarray]:
    """Every tuple of candidates that can be drawn, and its probability."""
    if isinstance(case, PositionCase):
        _, q = laws_seen(subject, case)
        pairs = list(draws(q.tolist(), case.candidates, str(subject.draw)))
        return np.array([x for x, _ in pairs]), np.array([w for _, w in pairs])
    tables = seen_tables(subject, case.draft)
    if subject.draw == "top-k":
        tables = tuple(likeliest(table) for table in tables)
    weights = joint_law(tables)
    number = np.flatnonzero(weights > 0)
    powers = case.vocab ** np.arange(case.drafted - 1, -1, -1)
    return number[:, None] // powers % case.vocab, weights[number]


def _joint(subject: Subject, case: ChainCase) -> np.ndarray:
    return joint_law(seen_tables(subject, case.target))


def _completed(emitted: np.ndarray, mass: np.ndarray, tables: Sequence[np.ndarray]) -> np.ndarray:
    """The joint law of completed sequences: the mass of each prefix is spread as the target continues it, exactly."""
    V, law = tables[0].shape[-1], np.zeros(1)
    index, running = np.zeros(len(emitted), dtype=np.int64), np.ones(len(emitted), dtype=bool)
    for i, table in enumerate(tables):
        law = (law[:, None] * table).reshape(-1)  # what ended earlier goes on as the target does
        running = running & (emitted[:, i] >= 0)
        index = index * V + np.where(running, emitted[:, i], 0)
        ends = running & (emitted[:, i + 1] < 0 if i + 1 < len(tables) else True)
        law = law + np.bincount(index[ends], weights=mass[ends], minlength=len(law))
    return law
