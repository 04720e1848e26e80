"""Array helpers shared by every algorithm: one body for floats on any backend and for exact rationals.

Only elementwise operations, sorting and gathering are used, never a backend's own summation order: sums and
prefix sums are trees of additions fixed here. The same numbers therefore come out bit for bit on NumPy, Torch
and JAX (run eagerly), for a row alone or inside a batch, and rational input stays rational. Laws with subnormal
masses are left out of that: JAX on a CPU flushes numbers below 2.2e-308 to zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
from array_api_compat import array_namespace, device, is_numpy_array

Array = Any  # an array of any namespace of the array API standard, or a NumPy object array of rationals

_FAN_OUT = 15  # probes a round of `count_while`: four rounds for a vocabulary of 50,000


def is_rational(x: Array) -> bool:
    """Whether `x` is a NumPy object array, the carrier of exact rationals."""
    return is_numpy_array(x) and x.dtype == object


def index_range(n: int, like: Array) -> Array:
    """`0, 1, ..., n - 1` as integers on the device of `like`."""
    return array_namespace(like).arange(n, device=device(like))


def total(x: Array) -> Array:
    """Sum over the last axis, kept with length 1: halves are added until one entry is left."""
    xp = array_namespace(x)
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        folded = x[..., :half] + x[..., half : 2 * half]
        x = folded if x.shape[-1] == 2 * half else xp.concat([folded, x[..., 2 * half :]], axis=-1)
    return x


def prefix_sum(x: Array) -> Array:
    """Running sums over the last axis, inclusive, by doubling: rounding grows with `log(vocab)`, not `vocab`."""
    xp = array_namespace(x)
    shift, ours = 1, is_numpy_array(x)
    x = x.copy() if ours else x
    while shift < x.shape[-1]:
        grown = x[..., shift:] + x[..., :-shift]
        if ours:  # the same sums, with less to copy
            x[..., shift:] = grown
        else:
            x = xp.concat([x[..., :shift], grown], axis=-1)
        shift *= 2
    return x


def prefix_sum_from_zero(x: Array) -> Array:
    """Running sums with a leading 0: entry `n` is the sum of the first `n` entries; length `n + 1`."""
    xp = array_namespace(x)
    return xp.concat([x[..., :1] * 0, prefix_sum(x)], axis=-1)


def take(x: Array, index: Array) -> Array:
    """`x[..., index]` row by row; leading axes of both broadcast."""
    xp = array_namespace(x, index)
    if tuple(x.shape[:-1]) != tuple(index.shape[:-1]):
        batch = numpy.broadcast_shapes(tuple(x.shape[:-1]), tuple(index.shape[:-1]))
        x = xp.broadcast_to(x, (*batch, x.shape[-1]))
        index = xp.broadcast_to(index, (*batch, index.shape[-1]))
    return xp.take_along_axis(x, index, axis=-1)


def one_hot(token: Array, vocab: int) -> Array:
    """Boolean `(..., vocab)`, true at `token` of shape `(...)`."""
    return index_range(vocab, token) == token[..., None]


def divide(x: Array, y: Array, otherwise: Array) -> Array:
    """`x / y` where `y > 0`, `otherwise` elsewhere; never divides by zero."""
    xp = array_namespace(x, y)
    positive = y > 0
    return xp.where(positive, quotient(x, xp.where(positive, y, y * 0 + 1)), otherwise)


def quotient(x: Array, y: Array) -> Array:
    """`x / y`, brought to one shape first: JAX would multiply by the reciprocal of a row's divisor, and round twice."""
    x, y = array_namespace(x, y).broadcast_arrays(x, y)
    return x / y


def capped_quotient(x: Array, y: Array, most: Array) -> Array:
    """`min(x / y, most)` for `x, y ≥ 0`, and `most` where `y` is 0, without the overflow of a quotient by tiny `y`."""
    xp = array_namespace(x, y, most)
    below = x < most * y
    return xp.where(below, xp.minimum(quotient(x, xp.where(below, y, y * 0 + 1)), most), most)


def power(x: Array, n: int) -> Array:
    """`x` to the power `n ≥ 0` by multiplication: libraries round their own powers differently."""
    product = x * 0 + 1
    for _ in range(n):
        product = product * x
    return product


def positive_part(x: Array) -> Array:
    """`(x)+ = max(x, 0)`."""
    return array_namespace(x).maximum(x, abs(x) * 0)


def normalise(mass: Array, otherwise: Array) -> Array:
    """`mass / |mass|`, or `otherwise` in rows of no mass, which are reached with probability 0."""
    return divide(mass, total(mass), otherwise)


def count_while(holds: Callable[[Array], Array], size: int, low: Array) -> Array:
    """How many of the indices `0, ..., size - 1` satisfy `holds`, which must be true first and then false.

    `low` is an integer array of zeros whose shape `(..., n)` is that of the answer; `holds` is given indices of
    shape `(..., n, probes)`. A search with `_FAN_OUT` probes a round, without branching on values.
    """
    xp = array_namespace(low)
    probes = min(_FAN_OUT, size)
    step = (probes + 1) ** (math.ceil(math.log(size + 1, probes + 1) - 1e-9) - 1)
    offsets = index_range(probes, low) + 1
    while step >= 1:
        count = low[..., None] + step * offsets
        inside = count <= size
        index = xp.where(inside, count, xp.asarray(size, dtype=count.dtype, device=device(low))) - 1
        low = low + step * xp.sum(xp.astype(inside & holds(index), low.dtype), axis=-1)
        step //= probes + 1
    return low


def count_below(ascending: Array, x: Array) -> Array:
    """For every `x` of shape `(..., n)`, how many entries of the sorted row `(..., size)` are `< x`."""
    xp = array_namespace(ascending, x)

    def holds(index: Array) -> Array:
        flat = xp.reshape(index, (*index.shape[:-2], index.shape[-2] * index.shape[-1]))
        return xp.reshape(take(ascending, flat), index.shape) < x[..., None]

    zeros = xp.astype(x != x, index_range(1, x).dtype)
    return count_while(holds, ascending.shape[-1], zeros)
