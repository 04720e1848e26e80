"""The frontier: the most acceptance that a given bias can buy. Lossy, and no rule is less so."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, divide, total
from resispec_ref.arrays.convert import number_like
from resispec_ref.residual import floor
from resispec_ref.rule.options import check_share
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.independent.optimal import Optimal


@dataclass(frozen=True)
class Frontier(Optimal):
    """Pick as `optimal` does, by a law `s`, and accept `ε` more than an exact rule may.

        m = min(p, s) + ε' (s − p)+ / |(s − p)+|,    ε' = min(ε, |(s − p)+|),    residual (p − s)+ / |(p − s)+|.

    **Biased** on purpose: the emitted law is at a total variation of `ε'` from the target, and accepted is
    `min(1, B + ε)`, where `B = Σ min(p, s)` is the bound of exact rules. No rule of that bias accepts more: its
    acceptance is at most `min_H e(H) + 1 − Q(H)` for its emitted law `e`, and `e(H) ≤ p(H) + ε`.

    Options: `bias`, the `ε` in `[0, 1]`, a total variation; 0 is `optimal`. And `groups` of `optimal`.

    Source: this project (T17 of the mathematics). Theorem: `frontier_attained` (proofs/frontier.v).
    """

    name = "frontier"
    source = "this project, T17"
    exact = False

    bias: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("bias", self.bias)

    def accepted(self, state: State) -> Array:
        p, s = state.target, state.proposal
        xp = array_namespace(p)
        excess = floor(s, p)
        most = total(excess)
        paid = xp.minimum(most, most * 0 + number_like(self.bias, p))
        # at most the excess, whatever the division rounds to: the accepted mass is part of the proposal
        return xp.minimum(p, s) + xp.minimum(excess, divide(excess * paid, most, excess * 0))
