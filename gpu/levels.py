"""Levels: what a batched verification needs of a pair of laws, and why it is exact.

With `ρ = p/q` and the *excess* `E(t) = Σ (p − t q)+`, the unnormalised residual targets of both sequential rules are

    u_i = p − q (min(ρ, top_i) − min(ρ, bottom_i)),      |u_i| = E(top_i) + 1 − E(bottom_i) = w_{i+1},

a band of levels accepted so far. Recursive rejection raises the top from 0, each time by the weight reached:
`top_{i+1} = top_i + w_{i+1}`. The exact shaped rule (equation (P) of the mathematics) keeps the top at `W` and lowers
the bottom: `bottom_{i+1} = (bottom_i − w_{i+1})+`, from `bottom_0 = W` to 0. Candidate `x` is accepted with probability

    a_i(x) = (growth of min(ρ, top) − min(ρ, bottom) at x) / w_i.

So a step needs `E` at a few levels, one reduction over the vocabulary each, and `p, q` at the candidates.

**Any knots are exact.** Let `E` be known at knots `t_1 < … < t_n` only. Replace `min(ρ, t)` by its linear interpolation
in `t` between the knots around `t` (0 is a knot, and beyond `t_n` it stays constant). The interpolation is still 0 at
`t = 0`, at most `ρ`, non-decreasing, and grows by at most the growth of `t`; so `0 ≤ u_{i+1} ≤ u_i` and
`u_i − u_{i+1} ≤ q w_i` hold token by token, which is the condition (F) of an exact step, and the weights `|u_i|` are
the same interpolation of `E`, exact without another pass. Knots that do not sit at the levels cost acceptance only, an
amount of second order in their spacing. The test is in rationals, with `==` (`tests/gpu/test_levels.py`).

The functions are pure, against the array API, and run on float and rational arrays alike; leading axes are batch axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, divide, index_range


class Level(NamedTuple):
    """Levels as points between two knots, `t = a + θ (b − a)`; each field has the shape of the levels."""

    a: Array
    b: Array
    theta: Array


class Band(NamedTuple):
    """What of each token the candidates looked at could have accepted: `min(ρ, top) − min(ρ, bottom)`, times `q`."""

    top: Level
    bottom: Level


class Schedule(NamedTuple):
    """Bands after 0, 1, …, K candidates, `(..., K + 1)`, and the divisor of each acceptance test, `(..., K)`."""

    top: Level
    bottom: Level
    step: Array


class Decision(NamedTuple):
    """Which candidate is accepted, and how many were looked at before the residual draw, both `(...)`."""

    accepted_index: Array
    """`K` if none was."""
    looked: Array


class Profile:
    """`E` at knots, with `E(0) = 1`, and its interpolation.

    `excess` is `(..., n)`; `knots`, ascending, `(..., n)`, or `(n,)` where all rows share them up to a `scale`,
    `(..., 1)`, that they are divided by.
    """

    def __init__(self, knots: Array, excess: Array, scale: Any = 1):
        xp = array_namespace(knots, excess)
        zero = excess[..., :1] * 0
        self.scale, self._shared = scale, knots.ndim < excess.ndim
        self._knots = xp.concat([(knots if self._shared else zero)[..., :1] * 0, knots], axis=-1)
        E = xp.concat([zero + 1, excess], axis=-1)
        width = self._knots[..., 1:] - self._knots[..., :-1] + excess * 0
        slope = divide(E[..., 1:] - E[..., :-1], width, excess * 0)
        self._slope = xp.concat([slope, zero], axis=-1)  # constant beyond the last knot
        self._start = E - self._slope * self._knots

    @property
    def first(self) -> Array:
        """The knot 0, `(..., 1)`."""
        return self._start[..., :1] * 0

    @property
    def knots(self) -> Array:
        """The knots in levels of the laws, with 0; `(..., n + 1)`."""
        return (self._knots + self._start * 0) / self.scale

    def level(self, t: Array) -> Level:
        """Where `t`, `(..., m)`, lies between the knots."""
        below = self._below(t)
        following = array_namespace(t).minimum(below + 1, below * 0 + self._start.shape[-1] - 1)
        a, b = (self._knots[i] if self._shared else pick(self._knots, i) for i in (below, following))
        a, b = a / self.scale, b / self.scale
        return Level(a, b, divide(t - a, b - a, t * 0))

    def at(self, t: Array) -> Array:
        """`E` interpolated at `t >= 0`, `(..., m)`."""
        below = self._below(t)
        return pick(self._start, below) + pick(self._slope, below) * (t * self.scale)

    def _below(self, t: Array) -> Array:
        """Index of the last knot `<= t`."""
        xp = array_namespace(t)
        t = t * self.scale
        if self._shared:
            return xp.searchsorted(self._knots, t, side="right") - 1
        count = xp.sum(xp.astype(self._knots[..., None, :] <= t[..., :, None], index_range(1, t).dtype), axis=-1)
        return count - 1


def exact_level(t: Array) -> Level:
    """A level that needs no knots, because `E` was summed at it."""
    return Level(t, t, t * 0)


def rising_schedule(tops: list[Array], steps: list[Array]) -> Schedule:
    """Recursive rejection: tops after 0, 1, …, K candidates and the divisors, each `(..., 1)`."""
    xp = array_namespace(tops[0])
    top = xp.concat(tops, axis=-1)
    return Schedule(exact_level(top), exact_level(top * 0), xp.concat([tops[0][..., :0], *steps], axis=-1))


def decide(p: Array, q: Array, schedule: Schedule, present: Array, uniforms: Array) -> Decision:
    """Accept the first candidate with `u_i q(x_i) w_i <` its growth of the band.

    `p`, `q`: laws at the candidates, `(..., K)`; `present`: which candidates exist (absent ones come last).
    """
    xp = array_namespace(p)
    K = p.shape[-1]
    index = index_range(K + 1, p)
    after, before = slice(1, None), slice(0, K)
    top = capped(p, q, part(schedule.top, after)) - capped(p, q, part(schedule.top, before))
    bottom = capped(p, q, part(schedule.bottom, before)) - capped(p, q, part(schedule.bottom, after))
    taken = present & (uniforms[..., :K] * q * schedule.step < top + bottom)
    looked = xp.sum(xp.astype(present, index.dtype), axis=-1)
    first = xp.where(taken, index[:K], index[:K] * 0 + K)
    return Decision(xp.min(first, axis=-1) if K else looked, looked)


def capped(p: Array, q: Array, level: Level) -> Array:
    """`q min(ρ, t)`, interpolated between the knots: `(1 − θ) min(p, a q) + θ min(p, b q)`."""
    xp = array_namespace(p, q)
    low, high = xp.minimum(p, level.a * q), xp.minimum(p, level.b * q)
    return low + level.theta * (high - low)


def above(p: Array, q: Array, level: Level) -> Array:
    """`p − q min(ρ, t)`, interpolated, as a sum of positive parts: exactly 0 where `p <= a q`."""
    xp = array_namespace(p, q)
    zero = p * 0
    return xp.maximum(p - level.a * q, zero) * (1 - level.theta) + xp.maximum(p - level.b * q, zero) * level.theta


def pick(x: Array, index: Array) -> Array:
    """`x[..., index]` row by row, where both have the same leading axes."""
    return array_namespace(x).take_along_axis(x, index, axis=-1)


def part(level: Level, entries: slice) -> Level:
    """Some of the levels along the last axis."""
    return Level(*(x[..., entries] for x in level))
