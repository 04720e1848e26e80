"""The rules of the batched layer, written once for all backends: which levels a rule needs, and its decision.

A backend offers reductions over the vocabulary (`Reductions`); everything else here is arithmetic on `(batch, K)`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from array_api_compat import array_namespace

from resispec_gpu.levels import Band, Decision, Level, Profile, Schedule, decide, rising_schedule
from resispec_gpu.optimal import choose
from resispec_gpu.shaped import shaped_schedule
from resispec_ref.arrays.arithmetic import Array, divide, take

RULES = ("recursive-rejection", "recursive-rejection-without-replacement", "resispec", "optimal")


class Step(NamedTuple):
    """The outcome of a batched step, `(batch,)`, and what it was decided with (see `run`)."""

    token: Array
    accepted_index: Array
    found: Any


class Reductions(Protocol):
    """What a backend computes over the vocabulary, for laws `p, q` divided by their sums."""

    def at(self, tokens: Array) -> tuple[Array, Array]:
        """`p` and `q` at `tokens`, `(batch, K)`."""

    def excess(self, levels: Array) -> Array:
        """`E(t) = Σ (p − t q)+` at `levels`, `(batch, n)`."""

    def profile(self, candidates: int) -> Profile:
        """`E` at knots in `[0, K]` of the backend's choice."""

    def binned(self) -> tuple[Array, Array]:
        """Masses of `p` and `q` in `BINS` of the ratio, `(batch, bins)`."""

    def bin_at(self, tokens: Array) -> Array:
        """The bins of `tokens`, `(batch, K)`."""


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


def run(laws: Reductions, rule: str, tokens: Array, uniforms: Array) -> tuple[Decision, Band | Array, Any]:
    """The decision; what is kept for the candidates (the last uniform draws from the rest); and how that was found.

    Kept is a band, `(batch, 1)`, found from a schedule; or the ratio of the winner's law to the draft's by bin of the
    token, `(batch, bins)`, found from the masses of these bins.
    """
    xp = array_namespace(uniforms)
    present, K = tokens >= 0, tokens.shape[-1]
    # before any other use of the laws, so that this pass finds their sums as well
    profile = laws.profile(K) if rule == "resispec" else None
    masses = laws.binned() if rule == "optimal" else None
    index = xp.where(present, tokens, tokens * 0)
    p, q = laws.at(index)
    if masses is not None:
        decision, ratio = choose(*masses, p, q, laws.bin_at(index), present, uniforms)
        return decision, ratio, ratio
    distinct = rule == "recursive-rejection-without-replacement"
    bands = _recursive(laws, q, distinct=distinct) if profile is None else shaped_schedule(profile, K)
    decision = decide(p, q, bands, present, uniforms)
    last = decision.looked[..., None]
    return decision, Band(*(Level(*(take(x, last) for x in level)) for level in bands[:2])), bands
