"""Candidates with laws of their own: several drafters, deterministic candidates, and mixtures of these."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, normalise, one_hot, total

MAX_SUBSETS = 2**12
"""Subsets of the vocabulary among which the bound is looked for, where it has no shorter way."""

_TIE = 1e-10  # by which values of the bound in floats may differ and be equal


@dataclass(frozen=True, eq=False)
class PerCandidate:
    """A law for each of `K` independent candidates, to be given in the place of the draft: `laws`, `(..., K, vocab)`.

    A deterministic candidate has a one-hot law. `emitted_law`, `verify` and `optimal_acceptance` take it, with the
    rules `naive`, `recursive-rejection`, `resispec` and (for small vocabularies) `optimal`. Drafters with a head
    for each candidate (Jakiro) are of this kind.

    >>> from resispec_ref import emitted_law
    >>> two_drafters = PerCandidate([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> round(float(emitted_law("resispec", [0.2, 0.3, 0.5], two_drafters, candidates=2).acceptance_rate), 4)
    0.9
    """

    laws: Any


def hub_laws(q: Array, candidates: int) -> Array:
    """One candidate drawn off the `K − 1` most probable tokens, and these, the hubs, one-hot: `(..., K, vocab)`.

    Ties go to the lower token id. Where the hubs hold all of the draft there is nothing to draw: they come first then,
    and laws of no mass, for absent candidates, last.
    """
    xp = array_namespace(q)
    order = xp.argsort(q, axis=-1, descending=True, stable=True)
    nothing, rest, hubs = q * 0, q, []
    for i in range(min(candidates - 1, q.shape[-1])):
        at = one_hot(order[..., i], q.shape[-1])
        hubs.append(xp.where(at & (q > 0), nothing + 1, nothing))
        rest = xp.where(at, nothing, rest)
    hubs += [nothing] * (candidates - 1 - len(hubs))
    drawn = xp.stack([normalise(rest, otherwise=nothing), *hubs], axis=-2)
    without = xp.stack([*hubs, nothing], axis=-2)
    return xp.where((total(rest) > 0)[..., None], drawn, without)


def independent_sets(laws: Array) -> dict[tuple[int, ...], Array]:
    """`P(S)`, `(..., 1)`, of every set of tokens that candidates of laws `(..., K, vocab)` can be; ascending token ids.

    A law of no mass is an absent candidate.
    """
    vocab = laws.shape[-1]
    reached: dict[tuple[int, ...], Array] = {(): total(laws[..., :1, :])[..., 0, :] * 0 + 1}
    for i in range(laws.shape[-2]):
        law = laws[..., i, :]
        absent = 1 - total(law)
        grown = {S: chance * absent for S, chance in reached.items()}
        for S, chance in reached.items():
            for x in range(vocab):
                T = tuple(sorted({*S, x}))
                grown[T] = grown.get(T, chance * 0) + chance * law[..., x : x + 1]
        reached = grown
    return reached


def best_of_subsets(p: Array, laws: Array) -> Array:
    """`min_H p(H) + 1 − Q(H)`, `(..., 1)`, by trying all subsets `H` of the vocabulary.

    `Q(H)` is the probability that all present candidates lie in `H`.

    Raises:
        ValueError: more than `MAX_SUBSETS` subsets.
    """
    xp = array_namespace(p, laws)
    least = total(p) * 0 + total(laws[..., 0, :]) * 0 + 1
    for _, value in _subset_values(p, laws):
        least = xp.minimum(least, value)
    return least


def tight_levels(p: np.ndarray, laws: np.ndarray) -> np.ndarray:
    """How many of a chain of minimising sets, each in the next, every token lies outside of; NumPy, `(rows, vocab)`."""
    tie = 0 if p.dtype == object else _TIE
    least, level = best_of_subsets(p, laws), np.zeros(p.shape, dtype=np.int64)
    inner = np.zeros(p.shape, dtype=bool)
    for H, value in _subset_values(p, laws):
        inside = np.isin(np.arange(p.shape[-1]), H)
        tight = np.asarray(value - least <= tie, dtype=bool) & np.all(inside | ~inner, axis=-1, keepdims=True)
        level += tight & ~inside
        inner = np.where(tight, inside, inner)
    return level


def _subset_values(p: Array, laws: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Every subset but the empty one, smaller ones first, with `p(H) + 1 − Q(H)`, `(..., 1)`."""
    vocab = p.shape[-1]
    if 2**vocab > MAX_SUBSETS:
        raise ValueError(
            f"draft: {vocab} tokens have too many subsets for the bound of candidates with different laws; "
            "one law besides deterministic candidates has a shorter way"
        )
    absent = [1 - total(laws[..., i, :]) for i in range(laws.shape[-2])]
    for size in range(1, vocab + 1):
        for H in itertools.combinations(range(vocab), size):
            value, Q = sum(p[..., x : x + 1] for x in H), 1
            for i, gone in enumerate(absent):
                Q = Q * (sum(laws[..., i, x : x + 1] for x in H) + gone)
            yield H, value + 1 - Q


def per_candidate_bound(p: Array, laws: Array) -> Array:
    """The optimal-transport bound for independent candidates of laws `(..., K, vocab)`.

    With the one-hot candidates `A` and at most one other, of law `q`, it is `p(A) + Σ_{x ∉ A} min(p, q)`; else
    all subsets are tried.
    """
    xp = array_namespace(p, laws)
    if laws.shape[-2] == 0:
        return total(p)[..., 0] * 0
    hot = xp.max(laws, axis=-1, keepdims=True) == 1
    drawn = xp.where(hot, laws * 0, laws)
    several = xp.sum(xp.astype(xp.any(drawn > 0, axis=-1), xp.int64), axis=-1) > 1
    if bool(xp.any(several)):
        return best_of_subsets(p, laws)[..., 0]
    in_A = xp.any(xp.where(hot, laws, laws * 0) > 0, axis=-2)
    q = drawn[..., 0, :]
    for i in range(1, laws.shape[-2]):
        q = q + drawn[..., i, :]
    return total(xp.where(in_A, p + q * 0, xp.minimum(p, q)))[..., 0]
