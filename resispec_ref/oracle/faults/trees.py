"""Known faults of trees, as joint laws of what is emitted: a step's fault at every node, or another node's row.

The law is computed node by node: below an accepted child the walk goes on independently of its siblings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.tables import TreeCase
from resispec_ref.oracle.faults.parts import Steps, for_draw
from resispec_ref.oracle.faults.positions import FAULTS, draws

Place = tuple[int, int]
"""Depth, and the number of the prefix in base `V`: where a row stands in the tables."""


@dataclass(frozen=True)
class TreeFault:
    """A walk that is right but for the rows that it reads."""

    name: str
    description: str
    remedy: str
    below: Callable[[Place, Place], Place] = lambda right, first: right
    """Where the rows of an accepted child are read, given its place and that of its first sibling."""
    bonus: Callable[[Place], Place] = lambda place: place
    """Where the extra token's row is read."""
    draft: Callable[[Place], Place] = lambda place: place
    """Where the draft's row is read."""


ROWS = (
    TreeFault(
        "bonus-from-the-root",
        "the extra token is drawn from the target's row of the root, not from that of the last accepted node",
        "draw the extra token from the row of the last accepted node",
        bonus=lambda place: (0, 0),
    ),
    TreeFault(
        "bonus-from-the-parent",
        "the extra token is drawn from the target's row of the last accepted node's parent",
        "row j + 1 of the target predicts what follows node j",
        bonus=lambda place: (place[0] - 1, -1) if place[0] else place,
    ),
    TreeFault(
        "draft-row-of-the-root",
        "all nodes are tested with, and their residual taken from, the draft's row of the root",
        "the children of a node were drawn from that node's row of the draft",
        draft=lambda place: (0, 0),
    ),
    TreeFault(
        "row-of-the-first-sibling",
        "after a child is accepted the walk goes on with the rows of its first sibling, as if the tree were a chain",
        "go on with the accepted child's own rows: find them by its number, not by its depth",
        below=lambda right, first: first,
    ),
)


def tree_laws(case: TreeCase, draw: str) -> dict[str, np.ndarray]:
    """The joint law of every known fault, `(V^(depth + 1),)`, those that say something about this tree.

    >>> case = TreeCase("", (np.array([[0.25, 0.75]]), np.full((2, 2), 0.5)), (np.array([[0.75, 0.25]]),), (1,))
    >>> tree_laws(case, "independent")["always-accept"].tolist()
    [0.375, 0.375, 0.125, 0.125]
    """
    right, found = for_draw(Steps(), draw), dict[str, np.ndarray]()
    assert isinstance(right, Steps)
    for name, fault in FAULTS.items():
        taken = (fault.draw == "greedy" and draw == "top-k") or fault.draw == draw == "distinct"
        steps = fault.given if taken else for_draw(fault.given, draw)
        if type(steps) is Steps and (fault.draw is None or taken):
            found[name] = tree_law(case, draw, steps)
    kept = for_draw(Steps(reject=lambda p, q, x: p), draw)
    assert isinstance(kept, Steps)
    found["no-residual"] = tree_law(case, draw, kept)
    return found | {fault.name: tree_law(case, draw, right, fault) for fault in ROWS}


def tree_law(case: TreeCase, draw: str, steps: Steps, fault: TreeFault | None = None) -> np.ndarray:
    """What a walk with these steps emits, averaged over the tokens of the tree and completed by the target."""
    fault = fault or TreeFault("", "", "")
    V, depth_in_all, parents = case.vocab, len(case.target), case.parents.tolist()

    def row(tables: tuple[np.ndarray, ...], place: Place, otherwise: Place) -> list[Any]:
        depth, prefix = place if place[1] >= 0 else (place[0], otherwise[1] // V)
        return list(tables[depth][prefix].tolist())

    @cache
    def completed(depth: int, prefix: int) -> np.ndarray:
        if depth == depth_in_all:
            return np.ones(1)
        after = case.target[depth][prefix]
        return np.concatenate([after[y] * completed(depth + 1, prefix * V + y) for y in range(V)])

    def spread(law: list[Any], depth: int, prefix: int) -> np.ndarray:
        return np.concatenate([float(m) * completed(depth + 1, prefix * V + y) for y, m in enumerate(law)])

    @cache
    def walk(node: int, depth: int, prefix: int, read: Place) -> np.ndarray:
        children = [i for i, parent in enumerate(parents) if parent == node]
        if not children:
            return spread(row(case.target, fault.bonus(read), read), depth, prefix)
        p0, drafted = row(case.target, read, read), case.draft[depth][prefix].tolist()
        q0, law = row(case.draft, fault.draft(read), read), np.zeros(V ** (depth_in_all - depth))
        block = V ** (depth_in_all - depth - 1)
        for x, weight in draws(drafted, len(children), draw):
            p, q, left = p0, q0, weight
            for i, (child, token) in enumerate(zip(children, x, strict=False)):
                tested = steps.tested(q, token)
                a = steps.accept(p, tested, token)
                if left * a > 0:
                    place = fault.below((depth + 1, prefix * V + token), (depth + 1, prefix * V + x[0]))
                    law[token * block : (token + 1) * block] += (
                        left * a * walk(child, depth + 1, prefix * V + token, place)
                    )
                left = left * (1 - a)
                if left <= 0:
                    break
                final = i == len(children) - 1
                p = (steps.last if steps.last is not None and final else steps.reject)(p, tested, token)
                q = steps.following(q, token)
            else:
                law += left * spread(p, depth, prefix)
        return law

    return walk(-1, 0, 0, (0, 0))


def describe(name: str) -> tuple[str, str]:
    """Description and remedy."""
    for fault in ROWS:
        if fault.name == name:
            return fault.description, fault.remedy
    return FAULTS[name].description, FAULTS[name].remedy
