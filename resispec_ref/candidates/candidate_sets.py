"""The law of the set of candidates drawn without replacement, by recursion over subsets."""

from __future__ import annotations

import itertools
import math

import numpy as np

from resispec_ref.arrays.arithmetic import Array, divide, total

MAX_SETS = 50_000
"""Sets that are enumerated at most."""


def count_sets(vocab: int, candidates: int) -> int:
    """How many sets of up to `candidates` of `vocab` tokens there are."""
    return sum(math.comb(vocab, k) for k in range(min(candidates, vocab) + 1))


def distinct_sets(q: Array, candidates: int) -> dict[tuple[int, ...], Array]:
    """`P(S)`, shape `(..., 1)`, of every set `S` that the first `K` draws without replacement from `q` can make.

    `P(S) = Σ_{x ∈ S} P(S ∖ x) q(x) / (1 − q(S ∖ x))`. A set smaller than `K` has mass only if it exhausts the draft.
    Keys are ascending token ids; NumPy laws, `(..., vocab)`. Source: section 1 of the mathematics.

    Raises:
        ValueError: more than `MAX_SETS` sets.
    """
    # no other token is ever drawn; an empty batch has none, and is given one to keep its shape
    tokens = np.flatnonzero(np.any(q > 0, axis=tuple(range(q.ndim - 1)))).tolist() or [0]
    q = q[..., tokens]
    vocab, K = len(tokens), min(candidates, len(tokens))
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
    return {tuple(tokens[i] for i in S): P for S, P in (stopped | reached).items()}


def _without(q: Array, S: tuple[int, ...]) -> Array:
    """`q` off `S`; its sum is what is left, without a difference that rounding could turn into 0."""
    if not S:
        return q
    return np.where(np.isin(np.arange(q.shape[-1]), S), q * 0, q)
