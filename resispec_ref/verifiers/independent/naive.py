"""Target matching: draw from the target, accept if the draw is a candidate."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, normalise, one_hot
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class Naive(Verifier):
    """The emitted token `y` is drawn from `p`; candidates are accepted when they equal it.

    Seen one candidate at a time, `x` is accepted with probability `p_i(x)`, so `m = q p_i`, and rejecting it rules
    it out: `R(x, ·) = p_i / (1 − p_i(x))` off `x`. Exact; acceptance rate `Σ p (1 − (1 − q)^K)`, also where `p = q`.

    Source: the baseline of SpecInfer (Miao et al. 2023, arXiv 2305.09781). Theorem: `naive_exact`
    (proofs/recursive_rejection.v).
    """

    name = "naive"
    source = "Miao et al. 2023, baseline"
    exact = True
    path_dependent = True

    def accepted(self, state: State) -> Array:
        return state.proposal * state.target

    def reject(self, state: State, token: Array) -> State:
        p = state.target
        open_p = array_namespace(p).where(one_hot(token, p.shape[-1]), p * 0, p)
        return state._replace(target=normalise(open_p, otherwise=p))
