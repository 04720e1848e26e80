"""Weights and classes with which one of several candidates is picked, so that its law comes close to the bound.

Among the candidates of the highest class present, `x` is picked with probability `v(x) / Σ v`. Classes end where the
bound's minimising sets `H` do, the tokens outside above those inside, and `v ← v (p/s)^η` until `s ≥ p` on the least
`H`, `s ≤ p` off the largest and `s = p` between. Weights found here only decide how much is accepted: a rule takes its
step against the law `s` that they give.

NumPy, a row a position. Source: section 6 of the mathematics, T12. Theorem: `weights_exact` (proofs/optimal.v).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from resispec_ref.arrays.convert import objects
from resispec_ref.bounds import escape_by_race
from resispec_ref.candidates.candidate_sets import count_sets, distinct_sets
from resispec_ref.candidates.quadrature import trapezoid_step
from resispec_ref.picking.race import HEAVY, LEAST_WEIGHT, Nodes, Race, levels, picked_law, token_law

MAX_SETS = 600
"""Sets of candidates up to which float laws are enumerated."""

_ROUNDS, _LATE_ROUNDS, _STRIDE, _RATE, _LEAST = 40, 1000, 8, 0.7, 1e-100
_MOST_CORRECTED = 10.0  # a weight, by a round
_SETTLED = 1e-6  # relative corrections of this size end the rounds of a row
_RACE_ROUNDS = 10
_ROUGH, _CLASSES = 1e-2, 1e-5  # errors of the quadratures in the rounds, and of those for the classes
LAW_ERROR = 1e-11
"""Error of the quadrature for the law of the pick."""
_GROUPS = 40  # of light tokens, in each class
_TIE = 10  # digits in which ratios are compared, so that rounding orders no equal ones


class Weights(NamedTuple):
    """`(rows, vocab)` each: the weight of every token, its class (the higher, the sooner), and the law of the pick."""

    weight: np.ndarray
    level: np.ndarray
    law: np.ndarray


def weights_without_replacement(p: np.ndarray, q: np.ndarray, candidates: int) -> Weights:
    """For `K ≥ 1` distinct candidates, laws `(rows, vocab)`: by enumeration of sets (rationals always), else by
    quadrature. Each row as if alone, and as if its draft's tokens were the vocabulary: no other is ever a candidate.

    Raises:
        ValueError: rational laws with too many sets of candidates to enumerate.
    """
    found = Weights(q * 0 + 1, np.zeros(q.shape, dtype=np.int64), q * 0)
    size = np.count_nonzero(q > 0, axis=-1)
    support = np.argsort(q <= 0, axis=-1, kind="stable")
    for n in np.unique(size):
        rows = np.flatnonzero(size == n)[:, None]
        tokens = support[rows[:, 0], :n]
        part = _weights_on_support(p[rows, tokens], q[rows, tokens], candidates)
        for whole, values in zip(found, part, strict=True):
            whole[rows, tokens] = values
    return found


def _weights_on_support(p: np.ndarray, q: np.ndarray, candidates: int) -> Weights:
    """The same for drafts `q > 0`."""
    vocab = q.shape[-1]
    if candidates == 1:
        return Weights(q * 0 + 1, np.zeros(q.shape, dtype=np.int64), q)
    if vocab > candidates and q.dtype != object and count_sets(vocab, candidates) > MAX_SETS:
        rows = [_by_race(a, b, candidates) for a, b in zip(p, q, strict=True)]
        return Weights(*(np.stack(x) for x in zip(*rows, strict=True)))
    everything = {tuple(range(vocab)): q[:, :1] * 0 + 1}
    sets = distinct_sets(q, candidates) if vocab > candidates else everything
    sets = {S: chance for S, chance in sets.items() if len(S) == min(candidates, vocab)}  # no other has a chance
    chance = np.concatenate(list(sets.values()), axis=-1)
    return weights_of_sets(p, list(sets), chance, _levels(p, list(sets), chance, ratio_order(p, q)))


def weights_of_sets(p: np.ndarray, sets: list[tuple[int, ...]], chance: np.ndarray, level: np.ndarray) -> Weights:
    """For candidates that are the set `sets[i]` with probability `chance[:, i]`, and classes `level`, `(rows, vocab)`.

    A class should end where a set that minimises the bound does: there may be several, one inside the other.
    """
    some = [i for i, S in enumerate(sets) if S]  # where all candidates are absent there is nothing to pick
    sets, chance = [sets[i] for i in some], chance[:, some]
    considered = _considered(_members(sets, p.shape[-1]), level)
    v = _fitted(p.astype(np.float64), chance.astype(np.float64), considered.astype(np.float64), level)
    if p.dtype == object:
        number = type(p[0, 0])
        v = objects([number(Fraction(x)) for x in v.reshape(-1).tolist()], v.shape)
    return Weights(v, level, _law(considered, chance, v))


def _fitted(target: np.ndarray, chance: np.ndarray, considered: np.ndarray, level: np.ndarray) -> np.ndarray:
    """The weights after the rounds: `v ← v (p/s)^η`, and late ones with `η` doubled and one-sided corrections.

    Several rounds are taken between rescalings, so that a round is two products. A row that settled is left alone.
    """
    # what is wanted more often than it can be picked at all would gain for ever, and drown the others' order
    beyond_reach = target >= np.sum(chance[..., None] * considered, axis=-2)
    most = np.where(beyond_reach, 1, _MOST_CORRECTED)
    v, active = np.maximum(target, _LEAST), np.arange(len(target))
    for late in (False, True):
        # mass is to spare in the highest and the lowest class; between two minimising sets, or in one class, it is not
        highest = level.max(axis=-1, keepdims=True)
        upper = np.where(late & (level == highest) & (highest > 0), 1, most)
        lower = np.where(late & (level == 0) & (highest > 0), 1, 1 / most)
        rate = _RATE * (1 + late)
        for _ in range((_LATE_ROUNDS if late else _ROUNDS) // _STRIDE):
            w, C, c, p = v[active], considered[active], chance[active][:, None, :], target[active]
            low, high = lower[active], upper[active]
            for _ in range(_STRIDE):
                share = c / np.swapaxes(C @ w[..., None], -1, -2)
                ratio = np.clip(p / np.maximum(w * (share @ C)[..., 0, :], 1e-300), low, high)
                w = w * ratio**rate
            v[active] = _rescaled(w, level[active], _LEAST)
            if late:
                active = active[np.max(np.abs(ratio - 1), axis=-1) > _SETTLED]
                if not len(active):
                    break
    return v


def ratio_order(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The place of each token when they are sorted by `p/q`, ties by token id; `(rows, vocab)`."""
    share = (p / np.where(p + q > 0, p + q, 1)).astype(np.float64)
    return np.argsort(np.argsort(np.round(share, _TIE), axis=-1, kind="stable"), axis=-1)


def _levels(p: np.ndarray, sets: list[tuple[int, ...]], chance: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """How many minimising sets each token lies outside of, `(rows, vocab)`; they are prefixes of the order `rank`."""
    rows, vocab = p.shape
    inside, sorted_p = np.zeros((2, rows, vocab + 1))
    ends = np.max(np.where(_members(sets, vocab), rank[:, None, :] + 1, 0), axis=-1)
    np.add.at(inside, (np.arange(rows)[:, None], ends), chance.astype(np.float64))
    np.put_along_axis(sorted_p, rank + 1, p.astype(np.float64), axis=-1)
    value = np.round(np.cumsum(sorted_p, axis=-1) - np.cumsum(inside, axis=-1), _TIE)
    tight = (value == value.min(axis=-1, keepdims=True)) & (np.arange(vocab + 1) > 0)
    return np.take_along_axis(np.cumsum(tight, axis=-1), rank, axis=-1)


def _members(sets: list[tuple[int, ...]], vocab: int) -> np.ndarray:
    return np.array([[x in S for x in range(vocab)] for S in sets])


def _considered(members: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Which members of each set can be picked, `(rows, sets, vocab)`: those of the highest class among them."""
    there = np.where(members, level[:, None, :], -1)
    return members & (there == there.max(axis=-1, keepdims=True))


def _law(considered: np.ndarray, chance: np.ndarray, v: np.ndarray) -> np.ndarray:
    weights = np.where(considered, v[:, None, :], v[:1, :1] * 0)
    return np.sum(chance[..., None] * weights / np.sum(weights, axis=-1, keepdims=True), axis=-2)


def _by_race(p: np.ndarray, q: np.ndarray, candidates: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One position in floats: weights by group, fitted with few nodes, and the law of the pick with many."""
    order = np.argsort(ratio_order(p[None], q[None])[0])
    escape = escape_by_race(q[order][None], candidates, error=_CLASSES)[0]
    H = int(np.argmin(np.concatenate([[0], np.cumsum(p[order])]) + escape))
    upper = np.zeros(len(q), dtype=bool)
    upper[order[H:]] = True
    tokens, group_of, heavy = _grouped(p, q, order, upper, candidates)
    first = np.flatnonzero(np.diff(group_of, prepend=-1))
    race = Race(q[tokens], first, heavy, upper[tokens[first]], candidates)
    wanted = np.add.reduceat(p[tokens], first)
    level = race.upper.astype(np.int64)
    v = _rescaled(wanted / np.maximum(np.add.reduceat(q[tokens], first), 1e-300), level, LEAST_WEIGHT)
    t, r = _nodes(race, _ROUGH)
    sums = race.sums(t.at)
    for _ in range(_RACE_ROUNDS):
        s = picked_law(race, v, t, r, sums).groups
        v = _rescaled(v * _ratio(wanted, s) ** _RATE, level, LEAST_WEIGHT)
    t, r = _nodes(race, LAW_ERROR)
    s = token_law(race, picked_law(race, v, t, r, race.sums(t.at)), t)
    weight, law = np.full(len(q), LEAST_WEIGHT), np.zeros(len(q))
    weight[tokens], law[tokens] = v[group_of], s
    return weight, upper.astype(np.int64), law / law.sum()


def _nodes(race: Race, error: float) -> tuple[Nodes, Nodes]:
    return race.times(trapezoid_step(race.candidates, error)), levels(trapezoid_step(1, error))


def _grouped(
    p: np.ndarray, q: np.ndarray, order: np.ndarray, upper: np.ndarray, candidates: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Tokens of the draft in the order of their groups, the group of each, and how many heaviest come first alone."""
    drawn = order[q[order] > 0]
    heavy = min(HEAVY + candidates, len(drawn))
    by_mass = drawn[np.argsort(-q[drawn], kind="stable")]
    alone = by_mass[:heavy]
    light = drawn[~np.isin(drawn, alone)]
    tokens, groups = [alone], [np.arange(heavy)]
    for part in (light[~upper[light]], light[upper[light]]):
        if len(part):
            effort = np.cumsum(np.sqrt(p[part] + q[part]))
            group = np.minimum((effort / effort[-1] * _GROUPS).astype(np.int64), _GROUPS - 1)
            tokens.append(part)
            groups.append(np.unique(group, return_inverse=True)[1] + groups[-1][-1] + 1)
    return np.concatenate(tokens), np.concatenate(groups), heavy


def _ratio(p: np.ndarray, s: np.ndarray) -> np.ndarray:
    """What a weight is corrected by."""
    return np.clip(p / np.maximum(s, 1e-300), 1 / _MOST_CORRECTED, _MOST_CORRECTED)


def _rescaled(v: np.ndarray, level: np.ndarray, least: float) -> np.ndarray:
    """The largest weight of each class as 1, and none below `least`."""
    for i in range(int(level.max()) + 1):
        top = np.max(np.where(level == i, v, 0), axis=-1, keepdims=True)
        v = np.where(level == i, v / np.where(top > 0, top, 1), v)
    return np.maximum(v, least)
