"""The audited cases of one position: pairs of laws on which faults known from practice show, and real rows.

A two-token vocabulary, or a residual with a single token, hides half of the faults. So: residuals of several tokens at
different draft probabilities, skewed laws, zeros on either side, ties, equal laws, nearly disjoint supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from resispec_ref.distributions import law_from_logits

_PAIRS: dict[str, tuple[str, str]] = {
    "six faults apart": ("1/5 2/5 2/5", "3/5 3/10 1/10"),
    "siblings": ("1/5 1/10 3/10 2/5", "1/2 3/10 1/10 1/10"),
    "die, draft knows two faces": ("1/3 1/3 1/3", "1/2 1/2 0"),
    "close laws": ("1/2 3/10 1/5", "3/5 7/20 1/20"),
    "filtered draft": ("1/5 3/10 1/2 0", "2/5 3/10 1/5 1/10"),
    "draft lacks the rest": ("3/5 1/5 1/5", "1/2 1/2 0"),
    "greedy pair": ("3/5 2/5", "4/5 1/5"),
    "block rows": ("9/20 3/10 1/4", "3/5 1/4 3/20"),
    "skewed": ("3/100 2/25 9/100 3/10 1/2", "16/25 9/50 1/10 3/50 1/50"),
    "nearly disjoint": ("1/100 1/50 37/100 3/5", "3/5 37/100 1/50 1/100"),
    "ties": ("1/4 1/4 1/4 1/4", "1/8 1/8 3/8 3/8"),
    "zeros on both sides": ("0 1/2 1/6 1/3 0", "1/4 1/4 0 1/4 1/4"),
    "near-uniform": ("9/100 11/100 1/10 1/10 12/100 2/25 1/10 1/10 21/200 19/200", " ".join(["1/10"] * 10)),
    "next to 1": ("1999/2000 3/10000 1/5000", "1993/2000 1/400 1/1000"),
    "one token far likelier": ("19/20 1/40 1/40", "1/2 1/4 1/4"),
    "equal laws": ("1/2 3/10 1/5", "1/2 3/10 1/5"),
    "disjoint supports": ("0 0 1/3 2/3", "2/3 1/3 0 0"),
    "target is one token": ("0 0 1", "2/5 2/5 1/5"),
    "draft is one token": ("1/2 1/4 1/4", "1 0 0"),
}
_DEGENERATE = ("equal laws", "disjoint supports", "target is one token", "draft is one token")


@dataclass(frozen=True, eq=False)
class PositionCase:
    """A target, a draft and a number of candidates, at one position.

    `degenerate` cases are inputs at which engines stop with an exception; that is reported, not held against them.
    `cells` `(vocab,)` maps tokens to cells where a vocabulary is pooled, so that the test keeps power.
    """

    name: str
    target: np.ndarray
    draft: np.ndarray
    candidates: int
    degenerate: bool = False
    exact: tuple[tuple[Fraction, ...], tuple[Fraction, ...]] | None = None
    cells: np.ndarray | None = field(default=None, repr=False)

    @property
    def vocab(self) -> int:
        return len(self.target)

    def inputs(self) -> dict[str, Any]:
        """The case as a report prints it."""
        p, q = self.exact or (self.target, self.draft)
        if self.cells is not None:
            return {"pair": self.name, "vocab": self.vocab, "candidates": self.candidates}
        return {"target": [str(v) for v in p], "draft": [str(v) for v in q], "candidates": self.candidates}


def fraction_case(
    target: Sequence[Any], draft: Sequence[Any], candidates: int, *, name: str = "", degenerate: bool = False
) -> PositionCase:
    """A case from rational laws, given as `Fraction` or text.

    >>> fraction_case(["1/2", "1/2"], ["1/4", "3/4"], 1).target.tolist()
    [0.5, 0.5]
    """
    p, q = (tuple(Fraction(v) for v in law) for law in (target, draft))
    for label, law in (("target", p), ("draft", q)):
        if sum(law) != 1 or min(law) < 0:
            raise ValueError(f"{label}: {' '.join(map(str, law))} is not a law; entries are at least 0 and sum to 1")
    if len(p) != len(q):
        raise ValueError(f"target has {len(p)} tokens and draft {len(q)}; both laws are over the same tokens")
    a, b = (np.array([float(v) for v in law]) for law in (p, q))
    return PositionCase(name or "given", a, b, candidates, degenerate, (p, q))


def position_cases(candidates: Sequence[int], *, real_rows: int = 2, distinct: bool = False) -> list[PositionCase]:
    """The built-in cases for each number of candidates; where candidates are distinct, only drafts that have so many.

    >>> len(position_cases([1], real_rows=0))
    19
    """
    found = []
    for K in candidates:
        for name, (target, draft) in _PAIRS.items():
            case = fraction_case(
                target.split(), draft.split(), K, name=f"{name}, K = {K}", degenerate=name in _DEGENERATE
            )
            if not distinct or np.count_nonzero(case.draft) >= K:
                found.append(case)
        found += real_cases(K, real_rows)
    return found


def real_cases(candidates: int, rows: int) -> list[PositionCase]:
    """Rows of the recorded pair of language models at temperature 1, 4096 tokens each, pooled into about 60 cells."""
    if not rows:
        return []
    from resispec_ref.models.pairs import load_pairs

    pairs = load_pairs()
    found = []
    for row in np.linspace(0, pairs.positions - 1, rows).astype(int):
        p = law_from_logits(pairs.target_logits[row].astype(np.float64))
        q = law_from_logits(pairs.draft_logits[row].astype(np.float64))
        name = f"recorded row {row}, K = {candidates}"
        found.append(PositionCase(name, p, q, candidates, cells=pooled(p, q)))
    return found


def pooled(p: np.ndarray, q: np.ndarray, *, single: int = 16, groups: int = 48) -> np.ndarray:
    """A cell for every token: the most probable ones alone, the others in groups of like `p/q` and equal mass.

    Faults move mass between tokens of high and of low ratio, so groups of like ratio lose little of it.
    """
    cells = np.empty(len(p), dtype=np.int64)
    likely = np.argsort(-p, kind="stable")[: min(single, len(p))]
    rest = np.setdiff1d(np.arange(len(p)), likely)
    order = rest[np.argsort(p[rest] / (p[rest] + q[rest] + 1e-300), kind="stable")]
    mass = np.cumsum(p[order] + q[order])
    cells[likely] = np.arange(len(likely))
    if len(order):
        cells[order] = len(likely) + np.minimum((mass / mass[-1] * groups).astype(np.int64), groups - 1)
    return np.unique(cells, return_inverse=True)[1]
