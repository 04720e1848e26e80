"""Cases of one shape, drawn together: rows of a batch, and calls that follow one another, have different laws.

Where every row and every call has the same pair, rows of another request, the draft law of the step before, or a buffer
that was not renewed cannot be seen. A case that has no other of its shape is drawn beside its own mirror image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import ChainCase, TreeCase
from resispec_ref.oracle.drawing.positions import Outcome, draw_positions
from resispec_ref.oracle.drawing.sequences import draw_sequences
from resispec_ref.oracle.subjects.subject import Subject

AnyCase = PositionCase | ChainCase | TreeCase


@dataclass(frozen=True)
class Mixed:
    """Draws of several cases in the order of their making."""

    outcomes: list[Outcome]
    """Of each case."""
    which: np.ndarray
    """`(n,)` whose draw each was."""
    cells: np.ndarray
    """`(n,)` the cell of each draw, of its own case."""
    ends: np.ndarray | None
    """`(n,)` the token that each step of several tokens ended with."""


def shape_of(case: AnyCase) -> tuple[Any, ...]:
    """Cases of equal shape fit into one batch."""
    if isinstance(case, PositionCase):
        return ("position", case.vocab, case.candidates)
    if isinstance(case, ChainCase):
        return ("chain", case.vocab, case.drafted)
    return ("tree", case.vocab, case.branching)


def mirrored(case: AnyCase) -> AnyCase:
    """The case with its tokens in reverse order.

    >>> from resispec_ref.oracle.cases.positions import fraction_case
    >>> mirrored(fraction_case(["1/4", "3/4"], ["1/2", "1/2"], 1)).target.tolist()
    [0.75, 0.25]
    """
    name = f"{case.name}, reversed"
    if isinstance(case, PositionCase):
        exact = None if case.exact is None else (case.exact[0][::-1], case.exact[1][::-1])
        cells = None if case.cells is None else case.cells[::-1].copy()
        return replace(
            case, name=name, target=case.target[::-1].copy(), draft=case.draft[::-1].copy(), exact=exact, cells=cells
        )
    target, draft = (tuple(table[::-1, ::-1].copy() for table in tables) for tables in (case.target, case.draft))
    return replace(case, name=name, target=target, draft=draft)


def with_companions(cases: Sequence[AnyCase]) -> list[AnyCase]:
    """The cases, and mirror images of those that have no other of their shape and are not their own."""
    shapes = [shape_of(case) for case in cases]
    found = list(cases)
    for case, shape in zip(cases, shapes, strict=True):
        if shapes.count(shape) == 1 and not case.degenerate:
            image = mirrored(case)
            if any((a != b).any() for a, b in zip(_laws(case), _laws(image), strict=True)):
                found.append(image)
    return found


def draw_mixed(
    subject: Subject, cases: Sequence[AnyCase], sizes: Sequence[int], rng: np.random.Generator, bounds: Sequence[Any]
) -> Mixed:
    """So many draws of each case, in an order of chance."""
    which = np.repeat(np.arange(len(cases)), sizes)
    if subject.kind != "sampler":  # which makes the draws of a case in one call
        which = rng.permutation(which)
    if isinstance(cases[0], PositionCase):
        positions = [case for case in cases if isinstance(case, PositionCase)]
        outcomes, ends = draw_positions(subject, positions, which, rng, bounds), None
    else:
        sequences = [case for case in cases if not isinstance(case, PositionCase)]
        outcomes, ends = draw_sequences(subject, sequences, which, rng, bounds)
    cells = np.empty(len(which), dtype=np.int64)
    for j, outcome in enumerate(outcomes):
        cells[which == j] = outcome.cells
    return Mixed(outcomes, which, cells, ends)


def _laws(case: AnyCase) -> list[np.ndarray]:
    if isinstance(case, PositionCase):
        return [case.target, case.draft]
    return [*case.target, *case.draft]
