"""Small cases in the order of their size, among which the smallest counterexample is looked for.

Two tokens come before three, few candidates before many, then halves before thirds. A token that neither law has is
never among them, and a draft has at least as many tokens as distinct candidates are drawn from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase, fraction_case
from resispec_ref.oracle.cases.tables import Branching, ChainCase, Tables, TreeCase, nodes_of

Row = tuple[Fraction, ...]
_DENOMINATORS = {2: 6, 3: 4}  # tokens -> largest denominator; 3 for more tokens
_ROWS = 3  # largest denominator of a row of a chain or tree
_SAMPLED = 60  # cases of one shape whose rows differ
TREES: tuple[Branching, ...] = ((1,), (2,), (1, 1), (3,), (2, 1), (1, 2), (1, 1, 1), (2, 2), (2, (0, 1)), (2, 1, 1))


@cache
def small_laws(vocab: int, denominator: int) -> tuple[Row, ...]:
    """All laws over so many tokens whose denominators are at most `denominator`, small ones first.

    >>> [" ".join(map(str, law)) for law in small_laws(2, 2)]
    ['0 1', '1 0', '1/2 1/2']
    """
    found = set[Row]()
    for d in range(1, denominator + 1):
        for bars in itertools.combinations_with_replacement(range(d + 1), vocab - 1):
            edges = (0, *bars, d)
            found.add(tuple(Fraction(b - a, d) for a, b in itertools.pairwise(edges)))
    return tuple(sorted(found, key=lambda law: (max(v.denominator for v in law), law)))


def small_positions(candidates: Sequence[int], vocab: int, *, needed: bool) -> Iterator[PositionCase]:
    """Pairs of small laws; where `needed`, with as many tokens in the draft as there are candidates.

    >>> next(small_positions([1], 2, needed=False)).inputs()
    {'target': ['0', '1'], 'draft': ['1', '0'], 'candidates': 1}
    """
    for V in range(2, vocab + 1):
        laws = small_laws(V, _DENOMINATORS.get(V, 3))
        pairs = [
            (p, q)
            for p, q in itertools.product(laws, laws)
            if p != q and all(a or b for a, b in zip(p, q, strict=True)) and _first_of_its_relabelings(p, q)
        ]
        pairs.sort(key=lambda pair: sum(max(v.denominator for v in law) for law in pair))
        for K in sorted(candidates):
            for p, q in pairs:
                if not needed or sum(v > 0 for v in q) >= K:
                    yield fraction_case(p, q, K)


def near_position(case: PositionCase) -> Iterator[PositionCase]:
    """Cases made of a given one: fewer of its tokens, coarser fractions, the same number of candidates."""
    off = np.argsort(-np.abs(case.target - case.draft), kind="stable")[:6]
    for V in range(2, len(off) + 1):
        for kept in itertools.combinations(sorted(off.tolist()), V):
            for denominator in (2, 3, 4, 6, 12):
                rows = [_coarse(law[list(kept)], denominator) for law in (case.target, case.draft)]
                if all(rows) and all(a or b for a, b in zip(*rows, strict=True)):  # type: ignore[arg-type]
                    yield fraction_case(rows[0], rows[1], case.candidates)  # type: ignore[arg-type]


def small_chains(drafted: Sequence[int], vocab: int) -> Iterator[ChainCase]:
    """Chains of small rows: the same at every position, then one a position, then one for every prefix."""
    for V in range(2, vocab + 1):
        for K in sorted(drafted):
            for text, target, draft in _models(V, K + 1, K):
                yield ChainCase(text, target, draft)


def small_trees(vocab: int, branchings: Sequence[Branching] = TREES, *, needed: bool = False) -> Iterator[TreeCase]:
    """Trees of small rows; where `needed`, siblings are at most as many as there are tokens."""
    for V in range(2, vocab + 1):
        for branching in sorted(branchings, key=lambda b: (nodes_of(b), len(b))):
            widest = max(max(w) if isinstance(w, tuple) else w for w in branching)
            if needed and widest > V:
                continue
            for text, target, draft in _models(V, len(branching) + 1, len(branching) + 1, full=needed):
                yield TreeCase(text, target, draft, branching)


def _models(vocab: int, targets: int, drafts: int, *, full: bool = False) -> Iterator[tuple[str, Tables, Tables]]:
    """A text, and so many tables of a target and of a draft; `full` keeps zeros out of drafts."""
    laws = small_laws(vocab, _ROWS)
    whole = [law for law in laws if min(law) > 0]
    for q, p in itertools.product(whole if full else [*whole, *laws[:vocab]], whole):
        if p != q:
            yield _model([[p]] * targets, [[q]] * drafts)
    rng = np.random.default_rng(0)

    def rows(number: int) -> list[Row]:
        return [whole[i] for i in rng.integers(len(whole), size=number)]

    for _ in range(_SAMPLED):
        yield _model([rows(1) for _ in range(targets)], [rows(1) for _ in range(drafts)])
    for _ in range(_SAMPLED):
        yield _model([rows(vocab**i) for i in range(targets)], [rows(vocab**i) for i in range(drafts)])


def _model(target: list[list[Row]], draft: list[list[Row]]) -> tuple[str, Tables, Tables]:
    def tables(levels: list[list[Row]]) -> Tables:
        V = len(levels[0][0])
        return tuple(
            np.array([[float(v) for v in row] for row in (level if len(level) > 1 else level * V**i)])
            for i, level in enumerate(levels)
        )

    text = " / ".join("; ".join(" ".join(map(str, row)) for level in side for row in level) for side in (target, draft))
    return text, tables(target), tables(draft)


def _first_of_its_relabelings(p: Row, q: Row) -> bool:
    """Of more than three tokens one order stands for all, as they would be too many: the draft's likeliest first."""
    return len(p) <= 3 or all(a >= b for a, b in itertools.pairwise(zip(q, p, strict=True)))


def _coarse(mass: np.ndarray, denominator: int) -> Row | None:
    """`mass` normalised and rounded to multiples of `1 / denominator`, or None where that is no law."""
    if mass.sum() <= 0:
        return None
    exact: Any = mass / mass.sum() * denominator
    parts = np.floor(exact + 1e-9).astype(int)
    for i in np.argsort(parts - exact, kind="stable")[: denominator - int(parts.sum())]:
        parts[i] += 1
    return tuple(Fraction(int(k), denominator) for k in parts)


def near_sequence(case: ChainCase | TreeCase) -> Iterator[ChainCase | TreeCase]:
    """Cases made of a given one: fewer positions, coarser rows, the same tokens and, of a tree, the same branching."""
    for levels in range(1, len(case.draft) + isinstance(case, ChainCase)):
        for denominator in (2, 3, 4, 6, 12):
            target, draft = (
                [[_coarse(row, denominator) or () for row in table] for table in tables]
                for tables in (case.target[: levels + 1], case.draft[: levels + isinstance(case, TreeCase)])
            )
            text, p, q = _model(target, draft)
            if isinstance(case, ChainCase):
                yield ChainCase(text, p, q)
            else:
                yield TreeCase(text, p, q, case.branching[:levels])
