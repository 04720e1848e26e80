"""Nine single faults, each in a verifier that is otherwise right for the way in which its candidates are drawn."""

import numpy as np

from .tools import pick, residual, without


def one_hot(q, x):
    return (np.arange(len(q)) == x).astype(float)


def tested(q, x, draw):
    return one_hot(q, x) if draw == "top-k" else q


def following(q, x, draw):
    return without(q, x) if draw == "distinct" else q


def verifier(draw, accept=None, reject=residual, last=None, one_uniform=False):
    def verify(p, q, candidates, rng):
        shared = rng.random()
        for i, x in enumerate(candidates):
            t = tested(q, x, draw)
            u = shared if one_uniform else rng.random()
            if u < (min(1, p[x] / t[x]) if accept is None else accept(p, t, x)):
                return x
            p = (last if last is not None and i == len(candidates) - 1 else reject)(p, t)
            q = following(q, x, draw)
        return pick(p, rng.random())

    return verify


def absolute(p, q):
    r = np.abs(p - q)
    return r / r.sum()


def softmax(p, q):
    weights = np.exp(np.maximum(p - q, 0))
    return weights / weights.sum()


FAULTS = {
    "resample-from-target": {"last": lambda p, q: p},
    "no-residual": {"reject": lambda p, q: p},
    "softmax-of-the-residual": {"reject": softmax},
    "always-accept": {"accept": lambda p, q, x: 1.0},
    "one-uniform-for-all-candidates": {"one_uniform": True},
    "residual-not-updated": {"reject": lambda p, q: p, "last": residual},
    "absolute-difference": {"reject": absolute},
    "resample-from-draft": {"last": lambda p, q: q},
    "acceptance-ratio-times-1.5": {"accept": lambda p, q, x: min(1, 1.5 * p[x] / q[x])},
}
