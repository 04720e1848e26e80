"""EARS: a tolerance for uncertain targets. Lossy."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.arrays.convert import number_like
from resispec_ref.rule.options import check_share
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.independent.recursive_rejection import RecursiveRejection


@dataclass(frozen=True)
class Ears(RecursiveRejection):
    """Accept with a probability raised by a tolerance that grows with the target's uncertainty.

        a = min(1, p_i/q + τ),    τ = β (1 − max p),    p_{i+1} = (p_i − q)+ / |(p_i − q)+|.

    **Biased**: each token gets up to `τ q` too much, and the residual does not make up for it.

    Options: `tolerance`, the `β` in `[0, 1]`. The paper has one candidate; later ones are treated alike, with the `τ`
    of the target itself.

    Source: Sun et al. 2025 (EARS, arXiv 2512.13194).
    """

    name = "ears"
    source = "Sun et al. 2025 (EARS)"
    exact = False

    tolerance: float = 0.1

    def __post_init__(self) -> None:
        check_share("tolerance", self.tolerance)

    def start(self, p: Array, q: Array, candidates: int) -> State:
        tau = number_like(self.tolerance, p) * (1 - array_namespace(p).max(p, axis=-1, keepdims=True))
        return super().start(p, q, candidates)._replace(memory=(tau,))

    def accepted(self, state: State) -> Array:
        (tau,) = state.memory
        return array_namespace(tau).minimum(state.proposal, state.target + tau * state.proposal)
