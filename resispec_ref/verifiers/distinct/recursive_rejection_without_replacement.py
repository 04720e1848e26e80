"""Recursive rejection sampling of distinct candidates."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, normalise, one_hot
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.independent.recursive_rejection import RecursiveRejection


@dataclass(frozen=True)
class RecursiveRejectionWithoutReplacement(RecursiveRejection):
    """Recursive rejection where each rejected token leaves the proposal.

        q_{i+1} = q_i off x_i, renormalised;    p_{i+1} = (p_i − q_i)+ / |(p_i − q_i)+|.

    When the rejected tokens exhaust the draft, no candidate is left and the token is drawn from the residual.

    Source: Jeon et al. 2024 (RSD, arXiv 2402.14160); Chen et al. 2024 (Sequoia, arXiv 2402.12374).
    Theorem: `without_replacement_exact` (proofs/recursive_rejection.v).
    """

    name = "recursive-rejection-without-replacement"
    source = "Jeon et al. 2024; Chen et al. 2024"
    replacement = False
    path_dependent = True

    def reject(self, state: State, token: Array) -> State:
        q = state.proposal
        rest = array_namespace(q).where(one_hot(token, q.shape[-1]), q * 0, q)
        return super().reject(state, token)._replace(proposal=normalise(rest, otherwise=rest))
