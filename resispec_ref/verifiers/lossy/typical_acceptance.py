"""Typical acceptance, as in Medusa. Lossy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, is_rational, total
from resispec_ref.arrays.convert import number_like, objects
from resispec_ref.rule.options import check_share
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class TypicalAcceptance(Verifier):
    """Accept a candidate that is typical of the target, whatever the draft; if none is, draw from the target.

        a = 1 where p(x) > min(ε, δ e^{−H(p)}), else 0,    H(p) = −Σ p ln p,    R = p.

    **Biased**: no randomness decides, so the draft's favourite typical token is emitted as often as it is drafted.

    Options: `epsilon` and `delta`, both in `[0, 1]`; the defaults are those of Medusa. For rational laws the threshold
    is computed in floats and is then the decimal that the float prints as.

    Source: Cai et al. 2024 (Medusa, arXiv 2401.10774), section 2.3.1. There the first token of a position is greedy;
    here it is drawn from the target, as the rest of the family does.
    """

    name = "typical-acceptance"
    source = "Cai et al. 2024 (Medusa)"
    exact = False

    epsilon: float = 0.09
    delta: float = 0.3

    def __post_init__(self) -> None:
        check_share("epsilon", self.epsilon)
        check_share("delta", self.delta)

    def start(self, p: Array, q: Array, candidates: int) -> State:
        xp = array_namespace(p)
        floats = p.astype(np.float64) if is_rational(p) else p
        some = floats > 0
        log_p = xp.log(xp.where(some, floats, xp.ones_like(floats)))
        typical = self.delta * xp.exp(total(floats * log_p))
        threshold = xp.minimum(typical, typical * 0 + self.epsilon)
        if is_rational(p):
            threshold = objects([number_like(v, p) for v in threshold.reshape(-1).tolist()], threshold.shape)
        state = super().start(p, q, candidates)
        return state._replace(memory=(threshold + state.proposal[..., :1] * 0,))

    def accepted(self, state: State) -> Array:
        (threshold,) = state.memory
        q = state.proposal
        return array_namespace(q).where(state.target > threshold, q, q * 0)

    def reject(self, state: State, token: Array) -> State:
        return state
