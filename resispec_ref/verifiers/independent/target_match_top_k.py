"""Target matching with a shortcut for the target's top tokens. Lossy."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.independent.naive import Naive


@dataclass(frozen=True)
class TargetMatchTopK(Naive):
    """Accept a candidate among the target's `k` most probable tokens; else draw from the target and compare.

        a = 1 where p(x) is among the k largest, else p_i(x);    R(x, ·) = p_i off x, renormalised.

    **Biased**: the draft's favourite among the top tokens wins too often.

    Options: `top_k`, 1 or more; tokens that tie with the last are among them, those of probability 0 are not.

    Source: the contrast of section 5 of the mathematics; acceptance by rank is common where sampling is replaced by
    greedy matching.
    """

    name = "target-match-top-k"
    source = "this project, as a contrast"
    exact = False

    top_k: int = 2

    def __post_init__(self) -> None:
        if not isinstance(self.top_k, int) or self.top_k < 1:
            raise ValueError(f"top_k: {self.top_k} is no number of tokens to accept; give an integer, 1 or more")

    def start(self, p: Array, q: Array, candidates: int) -> State:
        xp = array_namespace(p)
        last = min(self.top_k, p.shape[-1])
        kth = xp.sort(p, axis=-1, descending=True)[..., last - 1 : last]
        state = super().start(p, q, candidates)
        return state._replace(memory=(xp.where((p >= kth) & (p > 0), p * 0 + 1, p * 0) + q * 0,))

    def accepted(self, state: State) -> Array:
        (top,) = state.memory
        return state.proposal * array_namespace(top).maximum(top, state.target)
