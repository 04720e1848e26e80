"""The law of the children of one node, by enumeration, and of all children of a level."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.candidates.several_drafts import PerCandidate, hub_laws
from resispec_ref.sequence.node import ABSENT, Siblings, draw_candidates
from resispec_ref.sequence.whole_tree.level import Lists
from resispec_ref.validation import check_law

ChildrenLaw = dict[tuple[int, ...], Any]
"""The probability of every list of children, in the order of their draw; children that are absent are left out."""


def children_law(draft: Any, count: int, siblings: Siblings) -> ChildrenLaw:
    """`count` candidates drawn from `draft`, a law `(vocab,)` or `PerCandidate`, as `draw_candidates` draws them.

    >>> children_law(np.array([0.5, 0.25, 0.25]), 2, "distinct")[1, 2]
    0.08333333333333333
    """
    laws = candidate_laws(draft, count, siblings)
    if laws is not None:
        found: ChildrenLaw = {(): 1}
        for law in laws:
            drawn = [(x, m) for x, m in enumerate(law.tolist()) if m > 0]
            if drawn:  # a law of no mass is an absent candidate
                found = {(*xs, x): chance * m for xs, chance in found.items() for x, m in drawn}
        return found
    if siblings == "deterministic":
        best = draw_candidates(draft, np.zeros(count), siblings)
        return {tuple(best[best != ABSENT].tolist()): 1}
    present = [(x, m) for x, m in enumerate(draft.tolist()) if m > 0]
    found = {(): 1}
    for _ in range(min(count, len(present))):
        found = {
            (*xs, x): chance * m / sum(w for y, w in present if y not in xs)
            for xs, chance in found.items()
            for x, m in present
            if x not in xs
        }
    return found


def candidate_laws(draft: Any, count: int, siblings: Siblings) -> Array | None:
    """The law of each candidate, `(count, vocab)`, where they are independent of each other; else None.

    Raises:
        ValueError: laws per candidate that are too few, or for siblings that are not independent.
    """
    if isinstance(draft, PerCandidate):
        laws = np.asarray(draft.laws)
        if siblings != "independent" or len(laws) < count:
            raise ValueError(f"draft: laws for {len(laws)} candidates, but there are {count} {siblings} ones")
        return laws[:count]
    if siblings == "independent":
        return np.broadcast_to(draft, (count, draft.shape[-1]))
    return hub_laws(draft, count)[:count] if siblings == "hubs" and count else None


def check_draft(draft: Any) -> Any:
    """A checked law, or laws of each candidate, of which those of no mass are candidates that are absent."""
    if not isinstance(draft, PerCandidate):
        return check_law(draft, name="draft")
    laws = np.array(draft.laws)
    there = np.asarray(np.sum(laws, axis=-1) != 0, dtype=bool)
    if not there.any():
        return PerCandidate(laws)
    checked = check_law(laws[there], name="drafts")
    whole = np.zeros(laws.shape, dtype=checked.dtype) + checked.reshape(-1)[0] * 0
    whole[there] = checked
    return PerCandidate(whole)


def joint(laws: Sequence[ChildrenLaw]) -> dict[Lists, Any]:
    """Children of several nodes, drawn independently of each other."""
    found: dict[Lists, Any] = {}
    for parts in itertools.product(*(law.items() for law in laws)):
        chance: Any = 1
        for _, m in parts:
            chance = chance * m
        found[tuple(tokens for tokens, _ in parts)] = chance
    return found


def unordered(law: ChildrenLaw) -> ChildrenLaw:
    """The same children with their order forgotten: fewer outcomes."""
    found: ChildrenLaw = {}
    for tokens, chance in law.items():
        key = tuple(sorted(tokens))
        found[key] = found.get(key, 0) + chance
    return found


def count_outcomes(draft: Any, count: int, siblings: Siblings) -> int:
    """How many unordered outcomes the children of a node have at most."""
    if siblings == "deterministic" or count == 0:
        return 1
    laws = candidate_laws(draft, count, siblings) if isinstance(draft, PerCandidate) or siblings == "hubs" else None
    if laws is not None:
        return math.prod([int(np.count_nonzero(law)) or 1 for law in laws])
    size = int(np.count_nonzero(draft))
    if siblings == "distinct":
        return math.comb(size, min(count, size))
    return math.comb(size + count - 1, count)
