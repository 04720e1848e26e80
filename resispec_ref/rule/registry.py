"""The registry of rules: names to classes, filled by `resispec_ref.verifiers`, asked for by everything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from resispec_ref.rule.verifier import Verifier

_BY_NAME: dict[str, type[Verifier]] = {}
_OF_SEVERAL: dict[type[Verifier], type[Verifier]] = {}


def register(rules: Iterable[type[Verifier]], of_several: Mapping[type[Verifier], type[Verifier]]) -> None:
    """Make rules known by their names; `of_several` has their forms for candidates with laws of their own."""
    _BY_NAME.update({rule.name: rule for rule in rules})
    _OF_SEVERAL.update(of_several)


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
