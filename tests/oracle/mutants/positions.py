"""Verifiers of one position that are wrong in the acceptance test, the residual, or the use of noise."""

import numpy as np

from .tools import accepts, pick, residual


def resamples_from_target(p, q, candidates, rng):
    for i, x in enumerate(candidates):
        if accepts(p, q, x, rng):
            return x
        if i < len(candidates) - 1:
            p = residual(p, q)
    return pick(p, rng.random())


def draws_last_from_the_original_target(p, q, candidates, rng):
    original = p
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return pick(original, rng.random())


def lowers_only_the_drafted_token(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q * (np.arange(len(q)) == x))
    return pick(p, rng.random())


def softmax_of_the_residual(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        weights = np.exp(np.maximum(p - q, 0))
        p = weights / weights.sum()
    return pick(p, rng.random())


def accepts_always(p, q, candidates, rng):
    return candidates[0]


def reuses_the_acceptance_uniform(p, q, candidates, rng):
    for x in candidates:
        u = rng.random()
        if u * q[x] < p[x]:
            return x
        p = residual(p, q)
    return pick(p, u)


def one_uniform_for_all(p, q, candidates, rng):
    u = rng.random()
    for x in candidates:
        if u * q[x] < p[x]:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def keeps_the_target(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
    return pick(residual(p, q), rng.random())


def has_no_residual(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
    return pick(p, rng.random())


def does_not_normalise(p, q, candidates, rng):
    for i, x in enumerate(candidates):
        if accepts(p, q, x, rng):
            return x
        r = np.maximum(p - q, 0)
        p = r / r.sum() if i < len(candidates) - 1 and r.sum() > 0 else r
    return min(int(np.sum(np.cumsum(p) <= rng.random())), len(p) - 1)


def absolute_difference(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        r = np.abs(p - q)
        p = r / r.sum()
    return pick(p, rng.random())


def reversed_residual(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p = residual(q, p)
    return pick(p, rng.random())


def resamples_from_draft(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return pick(q, rng.random())


def greedy_residual(p, q, candidates, rng):
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return int(np.argmax(p))


def accepts_with_target_probability(p, q, candidates, rng):
    for x in candidates:
        if rng.random() < p[x]:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def inverted_ratio(p, q, candidates, rng):
    for x in candidates:
        if rng.random() * p[x] < q[x]:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def hot_target(p, q, candidates, rng):
    """Temperature applied on one side only."""
    p = p**0.5 / np.sum(p**0.5)
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def raw_q_of_top_candidates(p, q, candidates, rng):
    """Handed the draft's likeliest tokens, but tests them with their softmax probabilities."""
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def constant_noise(p, q, candidates, rng):
    """Accepts with u = 0, always: far above the bound."""
    for x in candidates:
        if p[x] > 0:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def ratio_one_percent_high(target, draft, candidates, rng):
    """Batched, because so small a fault takes many draws."""
    p, q, n = target.copy(), draft, len(target)
    rows, token = np.arange(n), np.full(n, -1)
    for x in candidates.T:
        taken = (token < 0) & (rng.random(n) * q[rows, x] < 1.01 * p[rows, x])
        token[taken] = x[taken]
        r = np.maximum(p - q, 0)
        mass = r.sum(1, keepdims=True)
        p = np.where(mass > 0, r / np.where(mass > 0, mass, 1), p)
    drawn = (rng.random((n, 1)) >= np.cumsum(p, axis=1)).sum(1)
    return np.where(token < 0, np.minimum(drawn, p.shape[1] - 1), token)


def shares_noise_in_a_batch(target, draft, candidates, rng):
    """Exact row by row, but all rows of a call use the same uniforms."""
    u = rng.random(2)
    tokens = []
    for p, q, (x, *_) in zip(target, draft, candidates, strict=True):
        tokens.append(x if u[0] * q[x] < p[x] else pick(residual(p, q), u[1]))
    return np.array(tokens)


def last_row_of_a_batch(target, draft, candidates, rng):
    """Exact in every row but the last of a call, which is drawn from the target after a rejection."""
    tokens = []
    for i, (p, q, (x, *_)) in enumerate(zip(target, draft, candidates, strict=True)):
        left = p if i == len(target) - 1 else residual(p, q)
        tokens.append(x if accepts(p, q, x, rng) else pick(left, rng.random()))
    return np.array(tokens)
