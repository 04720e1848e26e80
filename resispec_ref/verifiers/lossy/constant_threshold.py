"""A constant acceptance threshold. Lossy."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.arrays.convert import number_like
from resispec_ref.rule.options import check_share
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.independent.recursive_rejection import RecursiveRejection


@dataclass(frozen=True)
class ConstantThreshold(RecursiveRejection):
    """Recursive rejection, but a candidate that the target gives at least a constant probability is always accepted.

        a = 1 where p ≥ τ, else min(1, p_i/q);    p_{i+1} = (p_i − q)+ / |(p_i − q)+|.

    **Biased** wherever `q > p ≥ τ`.

    Options: `threshold`, the `τ` in `[0, 1]`.

    Source: inference engines have such a setting (SGLang: `speculative_accept_threshold_single`, beside a test of its
    own).
    """

    name = "constant-threshold"
    source = "a setting of inference engines"
    exact = False

    threshold: float = 0.31

    def __post_init__(self) -> None:
        check_share("threshold", self.threshold)

    def start(self, p: Array, q: Array, candidates: int) -> State:
        state = super().start(p, q, candidates)
        return state._replace(memory=(state.target,))

    def accepted(self, state: State) -> Array:
        (p,) = state.memory
        likely = p >= number_like(self.threshold, p)
        return array_namespace(p).where(likely, state.proposal, super().accepted(state))
