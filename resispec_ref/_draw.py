"""The inverse of a cumulative sum, for everything that draws a token from a mass and a uniform."""

from __future__ import annotations

from array_api_compat import array_namespace

from resispec_ref._arrays import Array, index_range, prefix_sum


def draw(mass: Array, uniform: Array) -> Array:
    """Inverse CDF in token order: the first token whose running sum exceeds `u |mass|`, and never one without mass.

    `mass` is `(..., vocab)`, non-negative, not necessarily normalised; `uniform` `(..., 1)` in `[0, 1)`. Returns
    `(...)`.

    >>> import numpy as np
    >>> int(draw(np.array([0.0, 0.5, 0.5]), np.array([0.0]))), int(draw(np.array([0.5, 0.5]), np.array([0.5])))
    (1, 1)
    >>> int(draw(np.array([0.1, 0.2, 0.3, 0.0, 0.4]), np.array([0.6])))
    4
    """
    xp = array_namespace(mass, uniform)
    cumulative = prefix_sum(mass)
    index = index_range(mass.shape[-1], mass)
    last = xp.max(xp.where(mass > 0, index, index * 0), axis=-1, keepdims=True)
    # rounding can make a running sum larger than a later one, so a token without mass is left out by name
    beyond = (cumulative > uniform * cumulative[..., -1:]) & (mass > 0)
    return xp.min(xp.where(beyond, index, last), axis=-1)
