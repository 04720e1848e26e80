"""Which known fault explains what was observed: a comparison with the exact law of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from resispec_ref.oracle.report.record import Diagnosis
from resispec_ref.oracle.statistics.evidence import log_mixture

Observation = tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]
"""Counts, right law, and the law of each known fault, of one case."""

_EXPLAINS = 0.8  # of the evidence for what was observed against the right law, from which on a fault is worth naming
_CONSISTENT = math.log(1e4)  # evidence against a fault's law, all cases together, from which on it is ruled out


def diagnose(observations: Sequence[Observation], describe: Callable[[str], tuple[str, str]]) -> Diagnosis | None:
    """The known fault of highest likelihood among those that the evidence does not rule out, or the nearest one.

    A fault has to explain every case about which it says something, cases in which it changes nothing included, and
    must differ from the right law in one of them. It matches if every other known fault is ruled out, save those with
    the same laws. None where no known fault explains most of what was observed.
    """
    against, gain, differs, most = dict[str, float](), dict[str, float](), dict[str, bool](), 0.0
    for counts, right, laws in observations:
        most += _log_likelihood(counts, counts / counts.sum()) - _log_likelihood(counts, right)
        for name, law in laws.items():
            law = law / law.sum()
            e = float(log_mixture(counts, law))
            against[name] = max(against.get(name, -math.inf), e)
            gain[name] = gain.get(name, 0.0) + _log_likelihood(counts, law) - _log_likelihood(counts, right)
            differs[name] = differs.get(name, False) or bool(np.abs(law - right).sum() > 1e-9)
    names = [n for n in against if differs[n] and gain[n] > 0]
    if not names:
        return None
    threshold = _CONSISTENT + math.log(len(observations))
    consistent = sorted((n for n in names if against[n] < threshold), key=lambda n: -gain[n])
    # a likelihood ratio of 1e4 rules the others out; some have the same law in all cases met
    left = [n for n in consistent if gain[n] > gain[consistent[0]] - _CONSISTENT]
    if left and gain[left[0]] > _CONSISTENT:
        alike = [n for n in left[1:] if _same_laws(observations, left[0], n)]
        return Diagnosis(left[0], *describe(left[0]), matches=len(alike) == len(left) - 1, also=left[1:])
    nearest = max(names, key=lambda n: gain[n])
    return Diagnosis(nearest, *describe(nearest), matches=False) if gain[nearest] >= _EXPLAINS * most else None


def _same_laws(observations: Sequence[Observation], one: str, other: str) -> bool:
    pairs = [(laws[one], laws[other]) for _, _, laws in observations if one in laws and other in laws]
    return all(np.abs(a / a.sum() - b / b.sum()).sum() < 1e-9 for a, b in pairs)


def _log_likelihood(counts: np.ndarray, law: np.ndarray) -> float:
    """With a floor far below what a draw can show, so that a token the law lacks counts heavily but finitely."""
    return float((counts * np.log(np.maximum(law, 1e-12)))[counts > 0].sum())
