"""The registry: one rule a file, one line here."""

from __future__ import annotations

from resispec_ref.rule.registry import get_verifier, of_several, register, verifier_names
from resispec_ref.rule.verifier import Selection, State, Verifier
from resispec_ref.verifiers.distinct.optimal_without_replacement import OptimalWithoutReplacement
from resispec_ref.verifiers.distinct.recursive_rejection_without_replacement import RecursiveRejectionWithoutReplacement
from resispec_ref.verifiers.distinct.resispec_without_replacement import ResiSpecWithoutReplacement
from resispec_ref.verifiers.distinct.spechub import SpecHub
from resispec_ref.verifiers.independent.gumbel_list_coupling import GumbelListCoupling
from resispec_ref.verifiers.independent.importance_weighted import ImportanceWeighted
from resispec_ref.verifiers.independent.k_seq import KSeq
from resispec_ref.verifiers.independent.naive import Naive
from resispec_ref.verifiers.independent.optimal import Optimal
from resispec_ref.verifiers.independent.recursive_rejection import RecursiveRejection
from resispec_ref.verifiers.independent.resispec import ResiSpec
from resispec_ref.verifiers.independent.target_match_top_k import TargetMatchTopK
from resispec_ref.verifiers.lossy.cactus import Cactus
from resispec_ref.verifiers.lossy.constant_threshold import ConstantThreshold
from resispec_ref.verifiers.lossy.ears import Ears
from resispec_ref.verifiers.lossy.frontier import Frontier
from resispec_ref.verifiers.lossy.lenience import Lenience
from resispec_ref.verifiers.lossy.mixture import Mixture
from resispec_ref.verifiers.lossy.reflective import Reflective
from resispec_ref.verifiers.lossy.resispec_published import ResiSpecPublished
from resispec_ref.verifiers.lossy.typical_acceptance import TypicalAcceptance
from resispec_ref.verifiers.several_drafts import (
    NaiveOfSeveral,
    OptimalOfSeveral,
    RecursiveRejectionOfSeveral,
    ResiSpecOfSeveral,
)

_RULES: tuple[type[Verifier], ...] = (
    Naive,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    KSeq,
    ImportanceWeighted,
    GumbelListCoupling,
    ResiSpec,
    ResiSpecWithoutReplacement,
    Optimal,
    OptimalWithoutReplacement,
    ResiSpecPublished,
    Ears,
    Lenience,
    ConstantThreshold,
    Mixture,
    TypicalAcceptance,
    TargetMatchTopK,
    Cactus,
    Reflective,
    Frontier,
)

_OF_SEVERAL: dict[type[Verifier], type[Verifier]] = {
    Naive: NaiveOfSeveral,
    RecursiveRejection: RecursiveRejectionOfSeveral,
    ResiSpec: ResiSpecOfSeveral,
    Optimal: OptimalOfSeveral,
}
"""The same rules where each candidate has a law of its own."""

register(_RULES, _OF_SEVERAL)

__all__ = ["Selection", "State", "Verifier", "get_verifier", "of_several", "verifier_names"]
