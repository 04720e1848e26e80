"""What every verifier needs, in plain NumPy."""

import numpy as np


def residual(p, q):
    r = np.maximum(p - q, 0)
    return r / r.sum() if r.sum() > 0 else p


def without(q, x):
    q = q.copy()
    q[x] = 0
    return q / q.sum() if q.sum() > 0 else q


def pick(p, u):
    """Inverse CDF in token order."""
    return min(int(np.sum(np.cumsum(p) <= u * p.sum())), int(np.flatnonzero(p)[-1]))


def accepts(p, q, x, rng):
    return rng.random() * q[x] < p[x]


def distinct(q, k, rng):
    """The order in which exponential clocks of rates `q` ring."""
    rings = rng.exponential(size=len(q)) / np.where(q > 0, q, 1e-300)
    return np.argsort(rings)[: min(k, np.count_nonzero(q))]


def one_by_one(draw_one):
    """A sampler from a function that draws one token."""

    def sampler(target, draft, k, rng, n):
        return np.array([draw_one(target, draft, k, rng) for _ in range(n)])

    sampler.__name__ = draw_one.__name__
    return sampler
