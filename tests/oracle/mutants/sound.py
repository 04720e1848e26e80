"""Exact verifiers that look suspicious: what an oracle must not flag."""

import numpy as np

from .tools import accepts, distinct, one_by_one, pick, residual, without
from .trees import walk


def one_hot_proposals(p, q, candidates, rng):
    """Deterministic candidates: accept with the target's probability, else zero it and renormalise."""
    for x in candidates:
        if rng.random() < p[x]:
            return x
        p = without(p, x)
    return pick(p, rng.random())


def target_match(p, q, candidates, rng):
    """Draws from the target, and counts as accepted what equals a candidate."""
    return pick(p, rng.random())


def renormalises_after_each_rejection(p, q, candidates, rng):
    """For candidates drawn without replacement."""
    for x in candidates:
        if accepts(p, q, x, rng):
            return x
        p, q = residual(p, q), without(q, x)
    return pick(p, rng.random())


@one_by_one
def duplicates_use_up_a_slot(p, q, k, rng):
    """Independent draws, verified as if they were distinct: a duplicate is always rejected, which is exact."""
    for x in [pick(q, rng.random()) for _ in range(k)]:
        if q[x] > 0 and accepts(p, q, x, rng):
            return x
        if q[x] > 0:
            p, q = residual(p, q), without(q, x)
    return pick(p, rng.random())


@one_by_one
def draws_without_replacement(p, q, k, rng):
    for x in distinct(q, k, rng):
        if accepts(p, q, x, rng):
            return x
        p, q = residual(p, q), without(q, x)
    return pick(p, rng.random())


def batched(target, draft, candidates, rng):
    """Recursive rejection of a whole batch, with the index accepted."""
    p, q, n = target.copy(), draft, len(target)
    rows, index = np.arange(n), np.full(n, candidates.shape[1])
    for i, x in enumerate(candidates.T):
        index[(index > i) & (rng.random(n) * q[rows, x] < p[rows, x])] = i
        r = np.maximum(p - q, 0)
        mass = r.sum(1, keepdims=True)
        p = np.where((mass > 0) & (index > i)[:, None], r / np.where(mass > 0, mass, 1), p)
    running = np.cumsum(p, axis=1)
    drawn = (rng.random((n, 1)) * running[:, -1:] >= running).sum(1)
    taken = np.minimum(index, candidates.shape[1] - 1)
    return np.where(index < candidates.shape[1], candidates[rows, taken], drawn), index


def gumbel_residual(p, q, candidates, accept, gumbel):
    """Other noise: uniforms for the tests, Gumbel noise for the residual. In logarithms, a batch at a time."""
    p, n = p.copy(), len(p)
    rows, token = np.arange(n), np.full(n, -1)
    for i, x in enumerate(candidates.T):
        taken = (token < 0) & (accept[:, i] * q[rows, x] < p[rows, x])
        token[taken] = x[taken]
        r = np.maximum(p - q, 0)
        mass = r.sum(1, keepdims=True)
        p = np.where(mass > 0, r / np.where(mass > 0, mass, 1), p)
    scores = np.where(p > 0, np.log(np.where(p > 0, p, 1)) + gumbel, -np.inf)
    return np.where(token < 0, np.argmax(scores, axis=1), token)


def accepts_late(p, q, candidates, rng):
    """The shaped step with a constant level: reserves more than it must, exact for every level."""
    for x in candidates:
        r = np.maximum(np.maximum(p - q, 0), np.minimum(p, 0.3 * q))
        if rng.random() * q[x] < p[x] - r[x]:
            return x
        p = r / r.sum() if r.sum() > 0 else p
    return pick(p, rng.random())


def token_by_token(p, q, drafted, rng):
    for i, x in enumerate(drafted):
        if not accepts(p[i], q[i], x, rng):
            return [*drafted[:i], pick(residual(p[i], q[i]), rng.random())]
    return [*drafted, pick(p[-1], rng.random())]


def block_verification(p, q, drafted, rng):
    """Sun et al. 2024: the longest prefix that passes, tested against the block's own ratios."""
    K, w, n, residual_row = len(drafted), 1.0, 0, None
    weights = [1.0]
    for i, x in enumerate(drafted):
        w = min(1.0, w * p[i][x] / q[i][x])
        weights.append(w)
    for i in range(K + 1):
        if i == K:
            h = weights[K]
        else:
            rest = np.maximum(weights[i] * p[i] - q[i], 0).sum()
            h = rest / (rest + 1 - weights[i]) if rest + 1 - weights[i] > 0 else 1.0
        if i > 0 and rng.random() < h:
            n = i
    if n == K:
        return [*drafted, pick(p[K], rng.random())]
    residual_row = np.maximum(weights[n] * p[n] - q[n], 0)
    return [*drafted[:n], pick(residual_row if residual_row.sum() > 0 else p[n], rng.random())]


def emits_one_token(p, q, drafted, rng):
    """Ignores what was drafted: slow, not biased."""
    return [pick(p[0], rng.random())]


def tree_walk(p, q, tokens, parents, rng):
    return walk(p, q, tokens, parents, rng)
