"""The law of the set of candidates drawn without replacement, by recursion over subsets."""

from __future__ import annotations

import itertools
import math

from array_api_compat import array_namespace

from resispec_ref._arrays import Array, divide, index_range, total

MAX_SETS = 50_000
"""Sets that are enumerated at most."""


def count_sets(vocab: int, candidates: int) -> int:
    """How many sets of up to `candidates` of `vocab` tokens there are."""
    return sum(math.comb(vocab, k) for k in range(min(candidates, vocab) + 1))


def distinct_sets(q: Array, candidates: int) -> dict[tuple[int, ...], Array]:
    """`P(S)`, shape `(..., 1)`, of every set `S` that the first `K` draws without replacement from `q` can make.

    `P(S) = Σ_{x ∈ S} P(S ∖ x) q(x) / (1 − q(S ∖ x))`. A set smaller than `K` has mass only if it exhausts the draft.
    Keys are ascending token ids. Source: section 1 of the mathematics.

    Raises:
        ValueError: more than `MAX_SETS` sets.
    """
    vocab, K = q.shape[-1], min(candidates, q.shape[-1])
    if count_sets(vocab, K) > MAX_SETS:
        raise ValueError(
            f"draft: {vocab} tokens have too many sets of up to {K} candidates to enumerate; pass floats instead"
        )
    columns = [q[..., x : x + 1] for x in range(vocab)]
    whole = total(q)
    reached: dict[tuple[int, ...], Array] = {(): whole}
    stopped: dict[tuple[int, ...], Array] = {}
    for size in range(1, K + 1):
        left = {S: total(_without(q, S)) for S in reached}
        stopped |= {S: P * (left[S] <= 0) for S, P in reached.items()}
        # the last draw was any x of S, made after the others, T
        grown: dict[tuple[int, ...], Array] = {}
        for S in itertools.combinations(range(vocab), size):
            last = [(S[:i] + S[i + 1 :], columns[x]) for i, x in enumerate(S)]
            grown[S] = sum((reached[T] * divide(q_x, left[T], q_x * 0) for T, q_x in last), start=whole * 0)
        reached = grown
    return stopped | reached


def _without(q: Array, S: tuple[int, ...]) -> Array:
    """`q` off `S`; its sum is what is left, without a difference that rounding could turn into 0."""
    if not S:
        return q
    xp = array_namespace(q)
    index = index_range(q.shape[-1], q)
    drawn = index == S[0]
    for x in S[1:]:
        drawn = drawn | (index == x)
    return xp.where(drawn, q * 0, q)
