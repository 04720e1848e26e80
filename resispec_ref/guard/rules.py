"""Lossy rules that settings of engines make, for one candidate, beside those of the registry."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, normalise, one_hot
from resispec_ref.arrays.convert import number_like
from resispec_ref.rule.options import check_share
from resispec_ref.rule.verifier import State, Verifier
from resispec_ref.verifiers.independent.recursive_rejection import RecursiveRejection


def _one_at_most(candidates: int) -> None:
    if candidates > 1:
        raise ValueError(f"candidates: {candidates}; this rule is modelled for one candidate")


@dataclass(frozen=True)
class ForcedAcceptance(RecursiveRejection):
    """A candidate is accepted with a constant probability, whatever the laws; else the residual is drawn.

        m = r q,    R = (p − q)+ / |(p − q)+|.

    **Biased**: a benchmark's setting. Emitted is `r q + (1 − r) R`, at a total variation of `max(r, 1 − r)` from the
    target at worst: with disjoint laws, or with a draft that lacks a token of small probability.

    Options: `rate`, the `r` in `[0, 1]`.

    Source: vLLM, `rejection_sample_method="synthetic"`.
    """

    name = "forced-acceptance"
    source = "vLLM, synthetic acceptance"
    exact = False

    rate: float = 1.0

    def __post_init__(self) -> None:
        check_share("rate", self.rate)

    def start(self, p: Array, q: Array, candidates: int) -> State:
        _one_at_most(candidates)
        return super().start(p, q, candidates)

    def accepted(self, state: State) -> Array:
        return state.proposal * number_like(self.rate, state.proposal)


@dataclass(frozen=True)
class TargetMatchThresholds(Verifier):
    """Target matching of the draft's likeliest token, accepted more readily by two thresholds.

        a(x) = 1 where p(x) ≥ t, else min(1, p(x) / c);    R = p off x, renormalised.

    **Biased** where a threshold is below 1. Emitted is `x` with probability `a(x)` and `y` with `(1 − a(x)) R(y)`.

    Options: `single`, the `t`, and `accumulated`, the `c`, both in `[0, 1]`.

    Source: SGLang, `speculative_accept_threshold_single` and `speculative_accept_threshold_acc`, for one candidate.
    """

    name = "target-match-thresholds"
    source = "SGLang, accept thresholds"
    exact = False
    replacement = False

    single: float = 1.0
    accumulated: float = 1.0

    def __post_init__(self) -> None:
        check_share("single", self.single)
        check_share("accumulated", self.accumulated)

    @property
    def drafting(self) -> str:
        return "deterministic"

    def candidate_laws(self, q: Array, candidates: int) -> Array:
        xp = array_namespace(q)
        top = one_hot(xp.argmax(q, axis=-1), q.shape[-1])
        return xp.stack([xp.where(top, q * 0 + 1, q * 0)] * candidates, axis=-2) if candidates else q[..., None, :][:0]

    def start(self, p: Array, q: Array, candidates: int) -> State:
        _one_at_most(candidates)
        p, q = p + q * 0, q + p * 0
        return State(p, self.candidate_laws(q, 1)[..., 0, :] if candidates else q * 0)

    def accepted(self, state: State) -> Array:
        xp, (p, x) = array_namespace(state.target), state[:2]
        least = max(self.accumulated, 1e-9)  # as the engine has it
        raised = xp.minimum(p / number_like(least, p), p * 0 + 1)
        return x * xp.where(p >= number_like(self.single, p), p * 0 + 1, raised)

    def reject(self, state: State, token: Array) -> State:
        xp, (p, x) = array_namespace(state.target), state[:2]
        return state._replace(target=normalise(xp.where(x > 0, p * 0, p), otherwise=p))
