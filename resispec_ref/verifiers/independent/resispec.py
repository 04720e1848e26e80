"""ResiSpec, exact: the residual keeps the draft's shape, between the floor and the ceiling."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, divide, normalise, positive_part, total
from resispec_ref.proposal import schedule_total
from resispec_ref.residual import shaped
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class ResiSpec(Verifier):
    """The best sequential verifier of independent candidates.

        r = max((p_i − q)+, min(p_i, λ_i q)),    λ_i = (W − S_i) / w_i,    m = p_i − r,    p_{i+1} = r / |r|.

    `λ_i q(x)` is how much of token `x` the remaining candidates can still accept: that much is reserved, the rest
    accepted now. Exact for every `W`; the root of `S_K(W) = W` accepts most, `Σ min(p, W q)` in total.
    Where there are several roots the least is taken, so that early candidates accept; all share their law and
    acceptance rate.

    Source: section 4 of the mathematics, equations (S) and (P), after arXiv 2608.24411.
    Theorems: `resispec_exact` (proofs/resispec.v), `schedule_optimal` (proofs/optimal.v).
    """

    name = "resispec"
    source = "this project, after arXiv 2608.24411"
    exact = True

    def start(self, p: Array, q: Array, candidates: int) -> State:
        W = schedule_total(p, q, max(candidates, 1))
        w = total(p) + W * 0
        return State(p + q * 0, q + p * 0, (W, w, w))

    def accepted(self, state: State) -> Array:
        return positive_part(state.target - _reserved(state))

    def reject(self, state: State, token: Array) -> State:
        W, w, S = state.memory
        r = _reserved(state)
        w = w * total(r)
        return state._replace(target=normalise(r, otherwise=state.target), memory=(W, w, S + w))


def _reserved(state: State) -> Array:
    W, w, S = state.memory
    capacity = positive_part(W - S)
    level = divide(capacity, w, capacity * 0)
    return array_namespace(level).minimum(shaped(state.target, state.proposal, level), state.target)
