"""Recursive rejection sampling of independent candidates."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, normalise
from resispec_ref.residual import floor
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class RecursiveRejection(Verifier):
    """One ordinary speculative step after another, each against the residual of the last.

        m = min(p_i, q),    p_{i+1} = (p_i − q)+ / |(p_i − q)+|.

    The residual sits on the floor: it has no mass wherever `q ≥ p_i`, and later candidates drawn from `q` meet it
    rarely. That is residual drift.

    Source: Miao et al. 2023 (arXiv 2305.09781), Algorithm 2; Yang et al. 2024 (arXiv 2401.06706).
    Theorem: `recursive_rejection_exact` (proofs/recursive_rejection.v).
    """

    name = "recursive-rejection"
    source = "Miao et al. 2023, Algorithm 2"
    exact = True

    def accepted(self, state: State) -> Array:
        return array_namespace(state.target).minimum(state.target, state.proposal)

    def reject(self, state: State, token: Array) -> State:
        r = floor(state.target, state.proposal)
        return state._replace(target=normalise(r, otherwise=state.target))
