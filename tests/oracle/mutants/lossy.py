"""Rules that give up exactness on purpose, written from their papers' descriptions; and ResiSpec as published."""

import numpy as np

from .tools import pick, residual, without


def ears(p, q, candidates, rng, tolerance=0.1):
    """The acceptance test is relaxed by an amount that grows with the target's uncertainty, `1 - max p`."""
    slack = tolerance * (1 - p.max())
    for x in candidates:
        if rng.random() < p[x] / q[x] + slack:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def typical_acceptance(p, q, candidates, rng, epsilon=0.09, delta=0.3):
    """Medusa: a candidate is accepted if its target probability exceeds `min(ε, δ exp(-entropy))`."""
    entropy = -np.sum(p * np.log(np.where(p > 0, p, 1)))
    for x in candidates:
        if p[x] > min(epsilon, delta * np.exp(-entropy)):
            return x
    return pick(p, rng.random())


def constant_threshold(p, q, candidates, rng, threshold=0.31):
    """A candidate that the target gives at least so much is always accepted."""
    target = p
    for x in candidates:
        if target[x] >= threshold or rng.random() * q[x] < p[x]:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def high_ratio(p, q, candidates, rng, factor=1.5):
    """The acceptance ratio alone is raised; the residual stays."""
    for x in candidates:
        if rng.random() * q[x] < factor * p[x]:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def lenience(p, q, candidates, rng, share=0.5):
    """A share of `q` stands for `q`, in the residual too."""
    for x in candidates:
        if rng.random() * share * q[x] < p[x]:
            return x
        p = residual(p, share * q)
    return pick(p, rng.random())


def mixture_of_laws(p, q, candidates, rng, weight=0.1):
    """Exact for `(1 - w) p + w q`, an ensemble of both models, and so not for `p`."""
    p = (1 - weight) * p + weight * q
    for x in candidates:
        if rng.random() * q[x] < p[x]:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def top_k_shortcut(p, q, candidates, rng, k=2):
    """Target matching, but what is among the target's `k` likeliest tokens is accepted unseen."""
    likely = (p >= np.sort(p)[-min(k, len(p))]) & (p > 0)
    for x in candidates:
        if likely[x] or rng.random() < p[x]:
            return x
        p = without(p, x)
    return pick(p, rng.random())


def frontier(p, q, candidates, rng, bias=0.05):
    """Accepts as much more than an exact verifier as the bias allows; for one candidate."""
    (x,) = candidates
    excess = np.maximum(q - p, 0)
    if rng.random() * q[x] < min(p[x], q[x]) + excess[x] * min(1, bias / max(excess.sum(), 1e-300)):
        return x
    return pick(residual(p, q), rng.random())


def cactus(p, q, candidates, rng, delta=0.125):
    """The candidate's own target probability is raised by `√(2 δ p (1 - p))`; the others' shrink in proportion."""
    for x in candidates:
        raised = min(1, p[x] + np.sqrt(2 * delta * p[x] * (1 - p[x])))
        moved = without(p, x) * (1 - raised)
        moved[x] = raised
        if rng.random() * q[x] < raised:
            return x
        p = residual(moved, q)
    return pick(p, rng.random())


def second_opinion(p, q, candidates, rng, weight=0.1):
    """Reflective verification: the target is mixed with a second law, which has seen the candidate and agrees."""
    for x in candidates:
        p = (1 - weight) * p + weight * (np.arange(len(p)) == x)
        if rng.random() * q[x] < p[x]:
            return x
        p = residual(p, q)
    return pick(p, rng.random())


def resispec_as_published(p, q, candidates, rng):
    """Algorithm 1 of arXiv 2608.24411, proportional spread."""
    for x in candidates:
        if rng.random() * q[x] < p[x]:
            return x
        others = np.arange(len(p)) != x
        budget = q[x] - p[x]
        r = np.minimum(budget * q, p) * others
        spare = (p - r) * others
        r = r + max(budget - r.sum(), 0) * spare / spare.sum() if spare.sum() > 0 else r
        p = r / r.sum()
    return pick(p, rng.random())
