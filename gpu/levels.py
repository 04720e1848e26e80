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

from dataclasses import dataclass
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from resispec_ref import State, Verifier
from resispec_ref._arrays import Array, divide, index_range, normalise, positive_part, total

_SECTIONS = 16  # parts of a bracket of the root W that are tried at once
COARSE_KNOTS = 8


class Level(NamedTuple):
    """Levels as points between two knots, `t = a + θ (b − a)`; each field has the shape of the levels."""

    a: Array
    b: Array
    theta: Array


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
        a, b = (self._knots[i] if self._shared else _pick(self._knots, i) for i in (below, following))
        a, b = a / self.scale, b / self.scale
        return Level(a, b, divide(t - a, b - a, t * 0))

    def at(self, t: Array) -> Array:
        """`E` interpolated at `t >= 0`, `(..., m)`."""
        below = self._below(t)
        return _pick(self._start, below) + _pick(self._slope, below) * (t * self.scale)

    def _below(self, t: Array) -> Array:
        """Index of the last knot `<= t`."""
        xp = array_namespace(t)
        t = t * self.scale
        if self._shared:
            return xp.searchsorted(self._knots, t, side="right") - 1
        count = xp.sum(xp.astype(self._knots[..., None, :] <= t[..., :, None], index_range(1, t).dtype), axis=-1)
        return count - 1


def shaped_schedule(profile: Profile, candidates: int, W: Array | None = None) -> Schedule:
    """The exact shaped rule on the profile's knots; `W`, `(..., 1)`, is found unless given (any is exact)."""
    xp = array_namespace(profile.first)
    if W is None:
        bottoms, weights = _best_descent(profile, candidates)
    else:
        bottoms, weights = (x[..., 0, :] for x in _descent(profile, W, candidates))
    top = profile.level(bottoms[..., :1])
    bottom = profile.level(xp.maximum(bottoms, bottoms * 0))
    return Schedule(Level(*(x + bottom.theta * 0 for x in top)), bottom, weights)


def _best_descent(profile: Profile, candidates: int) -> tuple[Array, Array]:
    """The descent from a `W` at, or just below, the root at which the bottom reaches 0 with the last candidate."""
    xp = array_namespace(profile.first)
    low, high = _bracket(profile, candidates, rounds=2)
    W = low.at - (high.at - low.at) * divide(low.last, high.last - low.last, low.at * 0)
    bottoms, weights = _descent(profile, xp.concat([W, low.at], axis=-1), candidates)
    good = bottoms[..., :1, -1:] <= 0
    return tuple(xp.where(good, x[..., :1, :], x[..., 1:, :])[..., 0, :] for x in (bottoms, weights))


class _End(NamedTuple):
    """An end of a bracket of the root `W`: its place, and the bottom after the last candidate; `(..., 1)`."""

    at: Array
    last: Array


def _bracket(profile: Profile, candidates: int, rounds: int) -> tuple[_End, _End]:
    """`W` with a last bottom `<= 0`, and the next one tried (which may be the same, at the end of the range)."""
    xp = array_namespace(profile.first)
    low = profile.first + 1
    high = low * max(candidates, 1)
    fractions = index_range(_SECTIONS + 1, low)
    for _ in range(rounds):
        W = low + (high - low) * fractions / _SECTIONS
        last = _descent(profile, W, candidates)[0][..., -1]
        reached = xp.sum(xp.astype(last <= 0, fractions.dtype), axis=-1, keepdims=True)
        before, after = xp.maximum(reached - 1, reached * 0), xp.minimum(reached, reached * 0 + _SECTIONS)
        low, high, low_last, high_last = (_pick(x, i) for x in (W, last) for i in (before, after))
    return _End(low, low_last), _End(high, high_last)


def _descent(profile: Profile, W: Array, candidates: int) -> tuple[Array, Array]:
    """For every `W` of `(..., m)`: bottoms after 0, …, K candidates, below 0 where the band is full early, and weights.

    Shapes `(..., m, K + 1)` and `(..., m, K)`.
    """
    xp = array_namespace(W)
    zero = W * 0
    bottoms, weights = [W], []
    spent = profile.at(W) + 1 if candidates > 1 else zero
    for i in range(candidates):
        weights.append(spent - profile.at(xp.maximum(bottoms[-1], zero)) if i else zero + 1)
        bottoms.append(bottoms[-1] - weights[-1])
    bands = xp.stack(bottoms, axis=-1)
    return bands, xp.stack(weights, axis=-1) if weights else bands[..., :0]


def coarse_knots(candidates: int) -> list[float]:
    """Levels in `(0, K]` to look at first, closer together near 0, where several bottoms lie."""
    n = COARSE_KNOTS
    return [candidates * (j / n) ** 1.5 for j in range(1, n + 1)]


def refined_knots(profile: Profile, candidates: int) -> Array:
    """Where a second pass should know `E`: about `W` and the bottoms of the best schedule; `(..., K)`."""
    xp = array_namespace(profile.first)
    low, high = _bracket(profile, candidates, rounds=1)
    W = low.at - (high.at - low.at) * divide(low.last, high.last - low.last, low.at * 0)
    bottoms = _descent(profile, W, candidates)[0][..., 0, :candidates]
    return xp.maximum(bottoms, bottoms * 0)


def merged(first: Array, first_excess: Array, second: Array, second_excess: Array) -> Profile:
    """One profile from the knots of two passes."""
    xp = array_namespace(first_excess)
    knots = xp.concat([first + first_excess * 0, second], axis=-1)
    order = xp.argsort(knots, axis=-1, stable=True)
    return Profile(_pick(knots, order), _pick(xp.concat([first_excess, second_excess], axis=-1), order))


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
    top = capped(p, q, _part(schedule.top, after)) - capped(p, q, _part(schedule.top, before))
    bottom = capped(p, q, _part(schedule.bottom, before)) - capped(p, q, _part(schedule.bottom, after))
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


def _pick(x: Array, index: Array) -> Array:
    """`x[..., index]` row by row, where both have the same leading axes."""
    return array_namespace(x).take_along_axis(x, index, axis=-1)


def _part(level: Level, entries: slice) -> Level:
    return Level(*(x[..., entries] for x in level))


@dataclass(frozen=True, eq=False)
class InterpolatedResiSpec(Verifier):
    """The rule that the batched layer runs for `resispec`, as `resispec_ref` states rules: on given knots.

    `knots`, `(..., n)` or `(n,)`, ascending; `top`, `(..., 1)`, is found unless given. With it `resispec_ref` computes
    emitted laws and verifies the same uniforms, on rationals too.
    """

    knots: Any
    top: Any = None

    name = "resispec"
    source = "this project, after arXiv 2608.24411"
    exact = True

    def start(self, p: Array, q: Array, candidates: int) -> State:
        xp = array_namespace(p, q)
        knots = self.knots + total(p + q) * 0
        excess = [total(positive_part(p - knots[..., j : j + 1] * q)) for j in range(knots.shape[-1])]
        schedule = shaped_schedule(Profile(knots, xp.concat(excess, axis=-1)), max(candidates, 1), self.top)
        u = [p + q * 0]
        for i in range(1, candidates + 1):
            top, bottom = (_part(x, slice(i, i + 1)) for x in (schedule.top, schedule.bottom))
            u.append(xp.minimum(positive_part(above(p, q, top) + capped(p, q, bottom)), u[-1]))
        return State(u[0], q + p * 0, tuple(u))

    def accepted(self, state: State) -> Array:
        u = state.memory
        return divide(u[0] - u[min(1, len(u) - 1)], total(u[0]), u[0] * 0)

    def reject(self, state: State, token: Array) -> State:
        u = (*state.memory[1:], state.memory[-1])
        return state._replace(target=normalise(u[0], otherwise=state.target), memory=u)
