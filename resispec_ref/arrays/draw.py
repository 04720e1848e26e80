"""One draw and one decision, of arguments that were checked before: the only comparisons with uniforms."""

from __future__ import annotations

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, index_range, prefix_sum, take


def draw(mass: Array, uniform: Array) -> Array:
    """The first token whose running sum exceeds `u |mass|`; `(..., vocab)` and `(..., 1)` make `(...)`.

    >>> import numpy as np
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


def accepts(proposal: Array, accepted: Array, token: Array, uniform: Array) -> Array:
    """Whether `token`, drawn from the mass `proposal`, is accepted: `u q(x) < m(x)`, strictly; shape `(...)`."""
    at = token[..., None]
    return uniform * take(proposal, at)[..., 0] < take(accepted, at)[..., 0]
