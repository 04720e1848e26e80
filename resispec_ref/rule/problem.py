"""The arguments that all functions of a rule have in common."""

from __future__ import annotations

from typing import Any

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.candidates.several_drafts import PerCandidate
from resispec_ref.rule.registry import get_verifier, of_several
from resispec_ref.rule.verifier import Verifier
from resispec_ref.validation import check_drafts, check_pair


def check_problem(
    verifier: str | Verifier, target: Any, draft: Any, candidates: int | None = None
) -> tuple[Verifier, Array, Array]:
    """The rule and both laws, checked; the draft's are `(..., K, vocab)` where `draft` is `PerCandidate`.

    Raises:
        ValueError: laws that are not laws; an unknown rule; laws per candidate that are not `K`, or for a rule that
            takes one law for all.
    """
    rule = get_verifier(verifier)
    if not isinstance(draft, PerCandidate):
        return rule, *check_pair(target, draft)
    p, q = check_drafts(target, draft.laws)
    if candidates not in (None, q.shape[-2]):
        raise ValueError(f"draft: laws for {q.shape[-2]} candidates, but there are {candidates}")
    return of_several(rule), p, q
