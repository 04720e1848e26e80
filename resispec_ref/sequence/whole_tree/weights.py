"""How the weights of a level are chosen: any are exact, these come close to the most that one level can keep.

Over all ways of choosing among the children, the largest `Σ_j |min(σ_j, t_j)|` is `min over H of t(H^c) + Pr(some child
in H)`, `H` a set of pairs of node and token (T16): the bound of one position, with a target of mass `Σ a_j ≤ 1`.
"""

from __future__ import annotations

import numpy as np

from resispec_ref.sequence.whole_tree.level import Level

_RATE, _MOST = 1.4, 10.0
_GAP, _DECADES = 8, 240  # decades between one class of weights and the next, and between the first and the last
_ROUNDS, _SETTLED = 200, 1e-8
_CLASS_ROUNDS, _RANGE, _CLASS_GAP = 20, 5, 4  # decades of each of two classes, and between them


def best_weights(level: Level) -> np.ndarray:
    """Weights from the iteration `v ← v · clip(t/σ, 1/10, 10)^1.4`: the default.

    What is wanted more often than it can come at all would gain for ever and drown the order of the others; so would
    what can only come too often lose. Sorted weights are therefore kept within eight decades of each other, which
    leaves as many classes, in the sense of T12, as the level has. The iteration ends once `|min(σ, t)|` has not changed
    by more than 1e-8 in ten rounds, or after 200. Where the set that attains the level's bound is known, there are two
    classes, and twenty rounds. Source: section 8 of the mathematics, T16.

    >>> from resispec_ref.sequence.whole_tree.level import EnumeratedLevel
    >>> level = EnumeratedLevel(np.array([[0.25, 0.75]]), {((0, 0),): 0.25, ((0, 1),): 0.5, ((1, 1),): 0.25})
    >>> best_weights(level).round(2).tolist()  # token 0 comes often enough where it comes alone
    [[0.0, 1.0]]
    """
    if level.upper is not None:
        return _in_two_classes(level, level.upper)
    t = level.targets.astype(np.float64)
    log_v, past = np.zeros_like(t), 0.0
    for i in range(_ROUNDS):
        sigma = level.picked(np.exp(log_v))
        if i % 10 == 0:
            kept = float(np.sum(np.minimum(sigma, t)))
            if i and abs(kept - past) <= _SETTLED:
                break
            past = kept
        log_v = log_v + _RATE * np.log(np.clip(t / np.maximum(sigma, 1e-300), 1 / _MOST, _MOST))
        log_v = compressed(log_v, _GAP, _DECADES)
    return np.exp(log_v)


def _in_two_classes(level: Level, upper: np.ndarray) -> np.ndarray:
    """What is in the best set is picked first; the range of each class, and the gap, are narrow enough for clocks."""
    t = level.targets
    log_v = _classed(np.log(np.maximum(t, 1e-300)), upper)
    for _ in range(_CLASS_ROUNDS):
        correction = np.clip(t / np.maximum(level.picked(np.exp(log_v)), 1e-300), 1 / _MOST, _MOST)
        log_v = _classed(log_v + np.log(correction), upper)
    return np.exp(log_v)


def _classed(log_v: np.ndarray, upper: np.ndarray) -> np.ndarray:
    decade = np.log(10)
    found = np.zeros_like(log_v)
    for there, top in ((upper, 0.0), (~upper, -(_RANGE + _CLASS_GAP) * decade * upper.any())):
        if there.any():
            found[there] = np.maximum(log_v[there] - log_v[there].max(), -_RANGE * decade) + top
    return found


def compressed(log_v: np.ndarray, gap: float, decades: float) -> np.ndarray:
    """Logarithms of weights, the largest 0, in the same order, with gaps and range of so many decades at most.

    >>> compressed(np.log([1e-9, 10, 1e-2]), 4, 5).round(2).tolist()  # gaps of 3 and 4 decades, cut to 5 in all
    [-11.51, 0.0, -6.91]
    """
    flat = log_v.reshape(-1)
    order = np.argsort(flat, kind="stable")
    gaps = np.minimum(np.diff(flat[order]), gap * np.log(10))
    found = np.zeros_like(flat)
    found[order[:-1]] = -np.cumsum(gaps[::-1])[::-1]
    return np.maximum(found, -decades * np.log(10)).reshape(log_v.shape)


def equal_weights(level: Level) -> np.ndarray:
    """Every child alike: the pick is one of the children at random.

    >>> from resispec_ref.sequence.whole_tree.level import EnumeratedLevel
    >>> equal_weights(EnumeratedLevel(np.array([[0.25, 0.75]]), {((0,),): 1.0})).tolist()
    [[1.0, 1.0]]
    """
    return np.ones(level.targets.shape)


def target_weights(level: Level) -> np.ndarray:
    """`v = t`. Best for deterministic candidates, which are certain to come: then `a_i = t`, which no rule exceeds.

    >>> from resispec_ref.sequence.whole_tree.level import EnumeratedLevel
    >>> target_weights(EnumeratedLevel(np.array([[0.25, 0.75]]), {((0,),): 1.0})).tolist()
    [[0.25, 0.75]]
    """
    return level.targets
