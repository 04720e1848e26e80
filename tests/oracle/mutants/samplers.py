"""Samplers whose draw and test are not a pair."""

import numpy as np

from .tools import accepts, distinct, one_by_one, pick, residual, without


@one_by_one
def reuses_the_draft_noise(p, q, k, rng):
    noise = rng.exponential(size=len(p))
    x = int(np.argmin(np.where(q > 0, noise / np.where(q > 0, q, 1), np.inf)))
    if accepts(p, q, x, rng):
        return x
    r = residual(p, q)
    return int(np.argmin(np.where(r > 0, noise / np.where(r > 0, r, 1), np.inf)))


@one_by_one
def greedy_draft(p, q, k, rng):
    for x in np.argsort(-q, kind="stable")[:k]:
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return pick(p, rng.random())


@one_by_one
def filtered_draft(p, q, k, rng):
    kept = np.argsort(-q, kind="stable")[:2]
    top = np.zeros_like(q)
    top[kept] = q[kept] / q[kept].sum()
    for _ in range(k):
        x = pick(top, rng.random())
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return pick(p, rng.random())


@one_by_one
def distinct_with_raw_q(p, q, k, rng):
    for x in distinct(q, k, rng):
        if accepts(p, q, x, rng):
            return x
        p = residual(p, q)
    return pick(p, rng.random())


@one_by_one
def distinct_sorted_by_q(p, q, k, rng):
    x = distinct(q, k, rng)
    for token in x[np.argsort(-q[x], kind="stable")]:
        if accepts(p, q, token, rng):
            return token
        p, q = residual(p, q), without(q, token)
    return pick(p, rng.random())
