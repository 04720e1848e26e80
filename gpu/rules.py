"""The rules of the batched layer, written once for all backends: which levels a rule needs, and its decision.

A backend offers reductions over the vocabulary (`Reductions`); everything else here is arithmetic on `(batch, K)`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from array_api_compat import array_namespace

from resispec_gpu.levels import Decision, Level, Profile, Schedule, decide, rising_schedule, shaped_schedule
from resispec_ref._arrays import Array, divide, take

RULES = ("recursive-rejection", "recursive-rejection-without-replacement", "resispec")


class Step(NamedTuple):
    """The outcome of a batched step, `(batch,)`, and the schedule it used."""

    token: Array
    accepted_index: Array
    schedule: Schedule


class Reductions(Protocol):
    """What a backend computes over the vocabulary, for laws `p, q` divided by their sums."""

    def at(self, tokens: Array) -> tuple[Array, Array]:
        """`p` and `q` at `tokens`, `(batch, K)`."""

    def excess(self, levels: Array) -> Array:
        """`E(t) = Σ (p − t q)+` at `levels`, `(batch, n)`."""

    def profile(self, candidates: int) -> Profile:
        """`E` at knots in `[0, K]` of the backend's choice."""


def _recursive(laws: Reductions, q: Array, *, distinct: bool) -> Schedule:
    """`c_i = c_{i−1} + w_i / (1 − q(seen))`, `w_{i+1} = E(c_i)`: without replacement only the draft's mass differs.

    A rejected token has no residual from then on, so it need not be taken out of the target.
    """
    xp = array_namespace(q)
    zero = xp.sum(q, axis=-1, keepdims=True) * 0
    tops, steps, seen = [zero], [], zero
    for i in range(q.shape[-1]):
        w = laws.excess(tops[-1]) if i else zero + 1
        mine = q[..., i : i + 1]
        steps.append(divide(w, xp.maximum(1 - seen, mine), w) if distinct else w)
        tops.append(tops[-1] + steps[-1])
        seen = seen + mine
    return rising_schedule(tops, steps)


def run(laws: Reductions, rule: str, tokens: Array, uniforms: Array) -> tuple[Decision, Schedule, Level, Level]:
    """The decision, the schedule, and the band `(batch, 1)` whose residual the last uniform draws from."""
    xp = array_namespace(uniforms)
    present, K = tokens >= 0, tokens.shape[-1]
    # before any other use of the laws, so that this pass finds their sums as well
    profile = laws.profile(K) if rule == "resispec" else None
    p, q = laws.at(xp.where(present, tokens, tokens * 0))
    distinct = rule == "recursive-rejection-without-replacement"
    bands = _recursive(laws, q, distinct=distinct) if profile is None else shaped_schedule(profile, K)
    decision = decide(p, q, bands, present, uniforms)
    last = decision.looked[..., None]
    return decision, bands, _pick(bands.top, last), _pick(bands.bottom, last)


def _pick(level: Level, index: Array) -> Level:
    return Level(*(take(x, index) for x in level))
