"""SpecHub: one candidate is drawn, the others are the draft's most probable tokens."""

from __future__ import annotations

from dataclasses import dataclass

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.candidates.several_drafts import hub_laws
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.several_drafts import RecursiveRejectionOfSeveral


@dataclass(frozen=True)
class SpecHub(RecursiveRejectionOfSeveral):
    """Recursive rejection of a token drawn off the hubs, and then of the hubs.

        A = the K − 1 most probable tokens;   q_1 = q off A, renormalised;   q_{i+1} = one-hot at the i-th of A.

    Only tokens of positive probability are hubs: a draft of fewer than `K` tokens makes fewer candidates.

    The paper has two candidates: `(x, a)` and `(a, x)` with the hub `a`, in an order that carries no information. Their
    pair is `a` and a token of the law `q_1`; its linear program sends as much as possible to `x`, and the rest to `a`,
    which is recursive rejection in this order. Candidates are listed so: the drawn one first, then the hubs. More hubs
    give the greedy drafting of Hu et al. One candidate is drawn from the draft itself.

    Accepts `p(A) + Σ_{x ∉ A} min(p, q_1)`, the bound for these candidates.

    Source: Sun et al. 2024 (SpecHub, arXiv 2411.05289); Hu et al. 2025 (arXiv 2502.18779). Theorem:
    `recursive_rejection_exact` (proofs/recursive_rejection.v).
    """

    name = "spechub"
    source = "Sun et al. 2024 (SpecHub)"
    exact = True
    replacement = False

    @property
    def drafting(self) -> str:
        return "hubs"

    def start(self, p: Array, q: Array, candidates: int) -> State:
        p = p + q * 0
        return super().start(p, self.candidate_laws(q + p * 0, candidates), candidates)

    def candidate_laws(self, q: Array, candidates: int) -> Array:
        return hub_laws(q, candidates)
