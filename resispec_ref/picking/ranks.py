"""Cuts of `[0, 1]` into ranks, with which `K` independent candidates choose a winner whose law attains the bound.

A candidate `x` gets a rank uniform on its set `I(x)`, of length `q(x)`; the largest of `K` ranks wins, so the winner
has the law `s(x) = Σ_{[a, b] in I(x)} (b^K − a^K)`. Tokens may share sets, and mix two of them.

Cuts are made by NumPy in float64, and settled in rationals where the laws are rational. Rounding in a cut costs
acceptance and never exactness, since the rule takes its step against the law of the cut that was made.

Source: section 6 of the mathematics, T11. Theorem: `ranks_exact` (proofs/optimal.v).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from resispec_ref.arrays.arithmetic import capped_quotient, power
from resispec_ref.arrays.convert import objects
from resispec_ref.picking.shadow import shadow_cut

_BINS = 9  # bins of the ratio p/q: 2^9 an octave, 0.2% wide, from the leading bits of the float
_OCTAVES = (-10, 6)


class Sets(NamedTuple):
    """Which sets the tokens of one position draw their ranks from.

    A class of tokens (`class_of`, `(vocab,)`) draws with probability `share` from the set `lower` and else from the set
    after it (both `(classes,)`); `length` and `mass`, `(sets,)`, are those of the sets, ascending by `mass / length`.
    """

    class_of: np.ndarray
    lower: np.ndarray
    share: np.ndarray
    length: np.ndarray
    mass: np.ndarray


class Ranks(NamedTuple):
    """How the tokens of each row draw ranks, and what law that gives the winner.

    A token's class is `class_of`, `(rows, vocab)`. A class draws from the set `lower` with probability `share` and else
    from the set after it, all `(rows, classes)`; a winner in the class has `ratio` times the draft's probability. Laid
    end to end, set after set, the pieces of the sets end at `end`, and their ranks at `top`, `(rows, pieces)`; the sets
    have lengths `length`, `(rows, sets)`.
    """

    class_of: np.ndarray
    lower: np.ndarray
    share: np.ndarray
    ratio: np.ndarray
    length: np.ndarray
    end: np.ndarray
    top: np.ndarray


def make_ranks(p: np.ndarray, q: np.ndarray, candidates: int, groups: int | None = None) -> Ranks:
    """The cut for laws `(rows, vocab)`, floats or rationals; `groups` as in `sets_of_groups`, or a set a token."""
    floats = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(p, q, strict=True)]
    choose = sets_of_tokens if groups is None else partial(sets_of_groups, groups=groups)
    sets = [choose(a, b, candidates) for a, b in floats]
    pieces = shadow_cut(_padded([s.length for s in sets]), _padded([s.mass for s in sets]), candidates)
    rows = []
    for s, b, start, size, owner in zip(sets, q, *pieces, strict=True):
        start, size, owner = (x[size > 0] for x in (start, size, owner))
        if b.dtype == object:
            s = _without_empty_classes(s)
            share, start, size, owner = _settle_exactly(s, b, start, size, owner)
        else:
            share, start, size = _settle(s, b, start, size, owner)
        sums = partial(_sums, owner, sets=len(s.length))
        length, mass = sums(size), sums((start + size) ** candidates - start**candidates)
        ratio = np.append(mass / np.where(length > 0, length, 1), 0)
        mixed = share * ratio[s.lower] + (1 - share) * ratio[s.lower + 1]
        rows.append(Ranks(s.class_of, s.lower, share, mixed, length, np.cumsum(size), start + size))
    fill = {"end": 2, "top": 2}  # beyond every place, so that rounding at the end gives a rank next to 1
    return Ranks(*(_padded([getattr(row, name) for row in rows], fill.get(name, 0)) for name in Ranks._fields))


def sets_of_tokens(p: np.ndarray, q: np.ndarray, candidates: int) -> Sets:
    """A set for every token, but one for all that share the lowest or the highest ratio of `s*`: nothing is lost."""
    order = np.argsort(_ratio(p, q), kind="stable")
    Q = q[order]
    s, _, low, high = winner_law(p[order], Q, candidates)
    place = np.arange(len(p))
    owner = np.where(place < low, 0, np.minimum(place, high) - low + 1)
    index = np.empty_like(order)
    index[order] = owner
    sets = int(owner[-1]) + 1
    return Sets(index, np.arange(sets), np.ones(sets), np.bincount(owner, Q, sets), np.bincount(owner, s, sets))


def sets_of_groups(p: np.ndarray, q: np.ndarray, candidates: int, groups: int) -> Sets:
    """About `groups` sets for all tokens, without sorting them: classes of 0.2% in ratio mix the two sets around them.

    Mixing gives each class its own ratio, between those of its two sets. What it costs is spread: the sets' ratios vary
    more than the classes', by the square of the distance of two sets. No class mixes across the bound's prefix `H`.
    """
    lowest, highest = (exponent << _BINS for exponent in _OCTAVES)
    one = int(np.float64(1).view(np.int64)) >> (52 - _BINS)
    index = np.clip((_ratio(p, q).view(np.int64) >> (52 - _BINS)) - (one + lowest), 0, highest - lowest - 1)
    bins = highest - lowest
    P, Q = np.bincount(index, p, bins), np.bincount(index, q, bins)
    s, H, _, _ = winner_law(P, Q, candidates)
    ratio = np.divide(s, Q, out=np.zeros(bins), where=Q > 0)
    lower, share, marks = np.zeros(bins, dtype=np.int64), np.ones(bins), list[float]()
    for part in (np.arange(H), np.arange(H, bins)):
        inside = part[Q[part] > 0]
        if len(inside):
            effort = np.cumsum(np.cbrt(np.minimum(P, s)[inside]))
            level = np.linspace(effort[0], effort[-1], max(groups // 2, 2))
            nodes = np.unique(ratio[inside[np.searchsorted(effort, level).clip(0, len(inside) - 1)]])
            at = np.clip(np.searchsorted(nodes, ratio[inside], side="right") - 1, 0, max(len(nodes) - 2, 0))
            gap = nodes[np.minimum(at + 1, len(nodes) - 1)] - nodes[at]
            lower[inside] = at + len(marks)
            share[inside] = 1 - np.clip((ratio[inside] - nodes[at]) / np.where(gap > 0, gap, np.inf), 0, 1)
            marks += nodes.tolist()
    sets = len(marks) + 1
    length = np.bincount(lower, Q * share, sets) + np.bincount(lower + 1, Q * (1 - share), sets)
    return Sets(index, lower, share, length, length * [*marks, 0.0])


def winner_law(P: np.ndarray, Q: np.ndarray, candidates: int) -> tuple[np.ndarray, int, int, int]:
    """`s* = clip(p, λ q, μ q)` of tokens sorted by `p/q`; how many are in `H`, below `λ`, and not above `μ`.

    `H` is the minimising prefix of the bound; `λ` gives `s*(H) = q(H)^K`, `μ` gives `s*` the sum 1.
    """
    C, D = (np.concatenate([[0.0], np.cumsum(x)]) for x in (P, Q))
    D /= D[-1]
    inside = power(D, candidates)
    H = int(np.argmin(C - inside))
    inside, rest = inside[H], D[-1] - D[:-1]
    most = np.float64(candidates)  # no part of the winner's law is above K times the draft's
    some = D[1 : H + 1] > 0
    lacking, left = (np.maximum(x, 0) for x in (inside - C[H] + C[1 : H + 1], 1 - inside - (C[H:-1] - C[H])))
    lam = np.min(capped_quotient(lacking[some], D[1 : H + 1][some], most), initial=np.inf)
    some = rest[H:] > 0
    mu = np.max(capped_quotient(left[some], rest[H:][some], most), initial=0)
    low = int(np.searchsorted(P[:H] >= lam * Q[:H], True)) if H else 0
    high = H + int(np.searchsorted(P[H:] > mu * Q[H:], True))
    s = np.concatenate([lam * Q[:low], P[low:high], mu * Q[high:]]) if low else np.append(P[:high], mu * Q[high:])
    return s, H, low, high


def _ratio(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """`p/q`, infinite where only `q` is 0, and NaN, which sorts last, where both are."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return p / q


def _without_empty_classes(sets: Sets) -> Sets:
    classes, class_of = np.unique(sets.class_of, return_inverse=True)
    return sets._replace(class_of=class_of, lower=sets.lower[classes], share=sets.share[classes])


def _settle(
    sets: Sets, q: np.ndarray, start: np.ndarray, size: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return sets.share, start, size


def _settle_exactly(
    sets: Sets, q: np.ndarray, start: np.ndarray, size: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Shares, starts and sizes as rationals, and owners: the largest size of each set makes up its exact length.

    Starts follow from the sizes, in the order that the pieces have, so that the pieces cover `[0, 1]`. A set too small
    for floats has no piece among theirs and gets one at the end.
    """
    number = type(q[0])

    def rational(x: np.ndarray) -> np.ndarray:
        return objects([number(Fraction(v)) for v in x.tolist()], x.shape)

    share, classes = rational(sets.share), _sums(sets.class_of, q, len(sets.lower))
    length = _sums(sets.lower, classes * share, len(sets.length) + 1)
    length = length + _sums(sets.lower + 1, classes * (1 - share), len(sets.length) + 1)
    missing = np.setdiff1d(np.flatnonzero(length > 0), owner)
    by_set = np.argsort(np.append(owner, missing), kind="stable")
    start = np.append(start, np.ones(len(missing)))[by_set]
    size = np.append(size, np.zeros(len(missing)))[by_set]
    owner = np.append(owner, missing)[by_set]
    exact = rational(size)
    for owned in (np.flatnonzero(owner == n) for n in np.unique(owner)):
        largest = owned[np.argmax(size[owned])]
        others = owned[owned != largest]
        if exact[others].sum() > length[owner[largest]]:
            exact[others] = number(0)
        exact[largest] = length[owner[largest]] - exact[others].sum()
    order = np.argsort(start, kind="stable")
    starts = np.empty_like(exact)
    starts[order] = np.cumsum(exact[order]) - exact[order]
    return share, starts, exact, owner


def _sums(index: np.ndarray, x: np.ndarray, sets: int) -> np.ndarray:
    """Sums of `x` by set."""
    found = np.repeat(x[:1] * 0, sets)
    np.add.at(found, index, x)
    return found


def _padded(rows: list[np.ndarray], fill: int = 0) -> np.ndarray:
    """Rows of different lengths as one array."""
    found = np.full((len(rows), max(map(len, rows))), fill, dtype=rows[0].dtype)
    for row, x in zip(found, rows, strict=True):
        row[: len(x)] = x
    return found
