"""The registry: one rule a file, one line here."""

from __future__ import annotations

from typing import Any

from resispec_ref.verifiers._base import Selection, State, Verifier
from resispec_ref.verifiers.constant_threshold import ConstantThreshold
from resispec_ref.verifiers.ears import Ears
from resispec_ref.verifiers.gumbel_list_coupling import GumbelListCoupling
from resispec_ref.verifiers.importance_weighted import ImportanceWeighted
from resispec_ref.verifiers.k_seq import KSeq
from resispec_ref.verifiers.lenience import Lenience
from resispec_ref.verifiers.mixture import Mixture
from resispec_ref.verifiers.naive import Naive
from resispec_ref.verifiers.optimal import Optimal
from resispec_ref.verifiers.optimal_without_replacement import OptimalWithoutReplacement
from resispec_ref.verifiers.recursive_rejection import RecursiveRejection
from resispec_ref.verifiers.recursive_rejection_without_replacement import RecursiveRejectionWithoutReplacement
from resispec_ref.verifiers.resispec import ResiSpec
from resispec_ref.verifiers.resispec_published import ResiSpecPublished
from resispec_ref.verifiers.resispec_without_replacement import ResiSpecWithoutReplacement
from resispec_ref.verifiers.several_drafts import (
    NaiveOfSeveral,
    OptimalOfSeveral,
    RecursiveRejectionOfSeveral,
    ResiSpecOfSeveral,
)
from resispec_ref.verifiers.spechub import SpecHub
from resispec_ref.verifiers.target_match_top_k import TargetMatchTopK
from resispec_ref.verifiers.typical_acceptance import TypicalAcceptance

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
)
_BY_NAME = {rule.name: rule for rule in _RULES}


_OF_SEVERAL: dict[type[Verifier], type[Verifier]] = {
    Naive: NaiveOfSeveral,
    RecursiveRejection: RecursiveRejectionOfSeveral,
    ResiSpec: ResiSpecOfSeveral,
    Optimal: OptimalOfSeveral,
}
"""The same rules where each candidate has a law of its own."""


def verifier_names() -> tuple[str, ...]:
    """The registry's keys, in the order of the documentation's table.

    >>> "resispec" in verifier_names()
    True
    """
    return tuple(_BY_NAME)


def get_verifier(name: str | Verifier, **options: Any) -> Verifier:
    """The rule called `name`, with its options; a `Verifier` object is returned as it is.

    Raises:
        ValueError: an unknown name, or an option that the rule does not have.

    >>> get_verifier("resispec-published", spread="water-filling").exact
    False
    """
    if isinstance(name, Verifier) and not options:
        return name
    if not isinstance(name, str) or name not in _BY_NAME:
        raise ValueError(f"verifier: {name!r} is not one of {', '.join(_BY_NAME)}")
    known = getattr(_BY_NAME[name], "__dataclass_fields__", {})
    if not known.keys() >= options.keys():
        raise ValueError(f"{name}: unknown option among {', '.join(options)}; it has: {', '.join(known) or 'none'}")
    try:
        return _BY_NAME[name](**options)
    except TypeError as error:
        raise ValueError(f"{name}: {options} holds a value of the wrong kind ({error})") from None


def of_several(rule: Verifier) -> Verifier:
    """The form of `rule` for candidates with laws of their own (`PerCandidate`).

    Raises:
        ValueError: the rule takes one law for all candidates.
    """
    if type(rule) not in _OF_SEVERAL:
        names = ", ".join(known.name for known in _OF_SEVERAL)
        raise ValueError(f"draft: {rule.name} takes one law for all candidates; laws of their own are for {names}")
    return _OF_SEVERAL[type(rule)]()


__all__ = ["Selection", "State", "Verifier", "get_verifier", "of_several", "verifier_names"]
