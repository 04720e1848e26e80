"""ResiSpec as published: Algorithm 1 of the paper, which is not exact."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, normalise
from resispec_ref.residual import Budget, Spread, check_option, published
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class ResiSpecPublished(Verifier):
    """Accept as recursive rejection does, but reserve the published proxy's residual of the rejected token.

        m = min(p_i, q),    R(x, ·) = r^{(x)} / Z^{(x)}    with `r^{(x)}` from `GetProxy(p_i, q, x)`.

    **Biased**: exactness needs `Σ_x r^{(x)} = (p − q)+`, but `r^{(x)}` puts mass on every other token of the draft,
    also where `q ≥ p`. Fair three-sided die, draft (1/2, 1/2, 0), one candidate: the emitted law is (19/42, 19/42,
    4/42).

    Options: `spread` and `budget`, see `resispec_ref.published_residual`.

    Source: arXiv 2608.24411, Algorithm 1 and Equation 13. Theorem: `published_not_exact` (proofs/published.v).
    """

    name = "resispec-published"
    source = "arXiv 2608.24411, Algorithm 1"
    exact = False
    path_dependent = True

    spread: Spread = "proportional"
    budget: Budget = "rejected-mass"

    def __post_init__(self) -> None:
        check_option("spread", self.spread, Spread)
        check_option("budget", self.budget, Budget)

    def accepted(self, state: State) -> Array:
        return array_namespace(state.target).minimum(state.target, state.proposal)

    def reject(self, state: State, token: Array) -> State:
        r = published(state.target, state.proposal, token, self.spread, self.budget)
        return state._replace(target=normalise(r, otherwise=state.target))
