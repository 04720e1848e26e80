"""K-SEQ: the same tempered acceptance test for all candidates."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, is_rational, normalise, positive_part, power, quotient, total
from resispec_ref.rule.verifier import State, Verifier

_BISECTIONS = {"float": 60, "rational": 24}


@dataclass(frozen=True)
class KSeq(Verifier):
    """Accept each candidate with probability `min(1, p/(ρ q))`, one `ρ` for all `K`.

        m = min(p/ρ, q),    β = |m|,    p_{i+1} = (p_i − m) / (1 − β).

    Exact for every `ρ` with `Σ min(p, ρ q) ≥ 1 − (1 − β)^K`; the least such `ρ`, in `[1, K]`, accepts most. It is
    approached
    from above by bisection: a rational within `(K − 1) / 2^24`, exact with `==`, or the float itself.

    Source: Sun et al. 2023 (SpecTr, arXiv 2310.15141), Algorithm 3. Theorem: `k_seq_exact`
    (proofs/recursive_rejection.v).
    """

    name = "k-seq"
    source = "Sun et al. 2023, Algorithm 3"
    exact = True

    def start(self, p: Array, q: Array, candidates: int) -> State:
        rho = least_rho(p, q, candidates)
        return State(p + q * 0, q + p * 0, (array_namespace(p, q).minimum(quotient(p, rho), q),))

    def accepted(self, state: State) -> Array:
        (m,) = state.memory
        return m

    def reject(self, state: State, token: Array) -> State:
        (m,) = state.memory
        return state._replace(target=normalise(positive_part(state.target - m), otherwise=state.target))


def least_rho(p: Array, q: Array, candidates: int) -> Array:
    """The least `ρ` in `[1, K]` with `Σ min(p, ρ q) ≥ 1 − (1 − β)^K`, from above by bisection; shape `(..., 1)`."""
    xp = array_namespace(p, q)

    def enough(rho: Array) -> Array:
        beta = total(xp.minimum(quotient(p, rho), q))
        return rho * beta >= 1 - power(1 - beta, candidates)

    low = total(p * 0 + q * 0) + 1
    high = xp.where(enough(low), low, low * max(candidates, 1))  # ρ = 1 itself where it is enough, as for p = q
    for _ in range(_BISECTIONS["rational" if is_rational(p) else "float"]):
        rho = (low + high) / 2
        found = enough(rho)
        low, high = xp.where(found, low, rho), xp.where(found, rho, high)
    return high
