"""The exact shaped rule on known excess: where its levels lie, and the same rule in `resispec_ref`'s terms.

The rule, and why any knots and any `W` keep it exact: `resispec_gpu.levels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from resispec_gpu.levels import Level, Profile, Schedule, above, capped, part, pick
from resispec_ref import State, Verifier
from resispec_ref.arrays.arithmetic import Array, divide, index_range, is_rational, normalise, positive_part, total

SUM_ERROR = 4e-6  # of a backend's sums over the vocabulary, relative to 1
_SECTIONS = 16  # parts of a bracket of the root W that are tried at once
COARSE_KNOTS = 5  # more would cost more time than their acceptance is worth: see `test_two_passes_lose_little`


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
    """The descent from a `W` at, or just below, the least root: the bottom reaches 0 with the last candidate."""
    xp = array_namespace(profile.first)
    low, high = _bracket(profile, candidates, rounds=2)
    bottoms, weights = _descent(profile, xp.concat([_between(low, high), low.at], axis=-1), candidates)
    good = bottoms[..., :1, -1:] <= _rounding(profile, candidates)
    return tuple(xp.where(good, x[..., :1, :], x[..., 1:, :])[..., 0, :] for x in (bottoms, weights))


class _End(NamedTuple):
    """An end of a bracket of the root `W`: its place, and the bottom after the last candidate; `(..., 1)`."""

    at: Array
    last: Array


def _bracket(profile: Profile, candidates: int, rounds: int) -> tuple[_End, _End]:
    """The first `W` tried whose last bottom is 0 or more, and the one before (the same, at the start of the range).

    From `W` to a greater one the last bottom grows at least by what the acceptance rate does, `E(W)` being its
    complement. So all roots accept as much in total, and the least accepts earliest: where `p = q`, at `W = 1`, always
    the first candidate. A last bottom that rounding cannot tell from 0 is a root, and costs no more than that.
    """
    xp = array_namespace(profile.first)
    low = profile.first + 1
    high = low * max(candidates, 1)
    fractions = index_range(_SECTIONS + 1, low)
    for _ in range(rounds):
        W = low + (high - low) * fractions / _SECTIONS
        last = _descent(profile, W, candidates)[0][..., -1]
        short = xp.astype(last < -_rounding(profile, candidates), fractions.dtype)
        count = xp.sum(short, axis=-1, keepdims=True)
        before, after = xp.maximum(count - 1, count * 0), xp.minimum(count, count * 0 + _SECTIONS)
        low, high, low_last, high_last = (pick(x, i) for x in (W, last) for i in (before, after))
    return _End(low, low_last), _End(high, high_last)


def _between(low: _End, high: _End) -> Array:
    """Where the last bottom reaches 0, were it linear in the bracket."""
    missing = positive_part(-low.last)
    return low.at + (high.at - low.at) * divide(missing, missing + positive_part(high.last), missing * 0)


def _rounding(profile: Profile, candidates: int) -> float:
    """What rounding adds to the last bottom: two sums in each weight but the first, and it does not grow on the way."""
    return 0 if is_rational(profile.first) else 2 * max(candidates - 1, 0) * SUM_ERROR


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
    """Levels in `(0, K]` to look at first, closer together near 0, where several bottoms lie.

    One of them is 1, the `W` of `p = q`: they grow as the power of their number, near 1.5, that puts one there.
    """
    n = COARSE_KNOTS
    powers = [math.log(candidates) / math.log(n / j) for j in range(1, n)]
    power = min(powers, key=lambda x: abs(x - 1.5))
    knots = [candidates * (j / n) ** power for j in range(1, n + 1)]
    return [1.0 if abs(t - 1) < 1e-9 else t for t in knots]


def refined_knots(profile: Profile, candidates: int) -> Array:
    """Where a second pass should know `E`: about `W` and the bottoms of the best schedule; `(..., K)`."""
    xp = array_namespace(profile.first)
    low, high = _bracket(profile, candidates, rounds=1)
    bottoms = _descent(profile, _between(low, high), candidates)[0][..., 0, :candidates]
    return xp.maximum(bottoms, bottoms * 0)


def merged(first: Array, first_excess: Array, second: Array, second_excess: Array) -> Profile:
    """One profile from the knots of two passes."""
    xp = array_namespace(first_excess)
    knots = xp.concat([first + first_excess * 0, second], axis=-1)
    order = xp.argsort(knots, axis=-1, stable=True)
    return Profile(pick(knots, order), pick(xp.concat([first_excess, second_excess], axis=-1), order))


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
            top, bottom = (part(x, slice(i, i + 1)) for x in (schedule.top, schedule.bottom))
            u.append(xp.minimum(positive_part(above(p, q, top) + capped(p, q, bottom)), u[-1]))
        return State(u[0], q + p * 0, tuple(u))

    def accepted(self, state: State) -> Array:
        u = state.memory
        return divide(u[0] - u[min(1, len(u) - 1)], total(u[0]), u[0] * 0)

    def reject(self, state: State, token: Array) -> State:
        u = (*state.memory[1:], state.memory[-1])
        return state._replace(target=normalise(u[0], otherwise=state.target), memory=u)
