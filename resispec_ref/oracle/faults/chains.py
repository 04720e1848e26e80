"""More known faults of chains: a position's fault at every drafted token, one uniform for all, drafts taken."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.tables import Tables
from resispec_ref.oracle.faults import sequences
from resispec_ref.oracle.faults.parts import Law, Steps, ratio, residual
from resispec_ref.oracle.faults.positions import FAULTS
from resispec_ref.oracle.faults.sequences import Tokenwise, Walk, chain_law, chain_laws

WORDS = {
    "one-uniform-for-the-block": (
        "all drafted tokens are tested against one uniform",
        "draw a uniform for each drafted token",
    ),
    "greedy-draft-softmax-q": (FAULTS["greedy-draft-softmax-q"].description, FAULTS["greedy-draft-softmax-q"].remedy),
}


def all_chain_laws(target: Tables, draft: Tables, draw: str) -> dict[str, np.ndarray]:
    """The joint law of every known fault for drafts that are sampled, or taken (`"top-k"`: each row's likeliest token).

    >>> p, q = (np.array([[0.25, 0.75]]), np.full((2, 2), 0.5)), (np.array([[0.75, 0.25]]),)
    >>> all_chain_laws(p, q, "top-k")["greedy-draft-softmax-q"].round(6).tolist()
    [0.166667, 0.166667, 0.333333, 0.333333]
    """
    drafted = draft
    if draw == "top-k":
        drafted = tuple(np.eye(table.shape[-1])[np.argmax(table, axis=-1)] for table in draft)
    found = chain_laws(target, drafted)
    for name, fault in FAULTS.items():
        if type(fault.given) is Steps and fault.draw is None and name not in found and name != "residual-not-updated":
            steps = fault.given
            found[name] = chain_law(Tokenwise(accept=steps.accept, reject=steps.last or steps.reject), target, drafted)
    found["one-uniform-for-the-block"] = chain_law(_one_uniform, target, drafted)
    if draw == "top-k":
        found["greedy-draft-softmax-q"] = _tested_with(draft, target, drafted)
    return found


def describe(name: str) -> tuple[str, str]:
    """Description and remedy."""
    if name in WORDS:
        return WORDS[name]
    if name in sequences.CHAIN_FAULTS:
        return sequences.describe(name)
    return FAULTS[name].description, FAULTS[name].remedy


def _one_uniform(p: list[Law], q: list[Law], x: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Any]]:
    reached = 1.0
    for i, token in enumerate(x):
        a = min(reached, ratio(p[i], q[i], token))
        for y, mass in enumerate(residual(p[i], q[i], token)):
            if mass and a < reached:
                yield (*x[:i], y), (reached - a) * mass
        reached = a
    for y, mass in enumerate(p[len(x)]):
        if mass and reached:
            yield (*x, y), reached * mass


def _tested_with(draft: Tables, target: Tables, drafted: Tables) -> np.ndarray:
    """Drafts that were taken, and tested with the softmax rows: only one path has any weight."""
    V, path, prefix = target[0].shape[-1], list[int](), 0
    for table in drafted:
        path.append(int(np.argmax(table[prefix])))
        prefix = prefix * V + path[-1]
    prefixes = list(itertools.accumulate(path, lambda number, token: number * V + token, initial=0))
    rows: list[Law] = [table[i].tolist() for table, i in zip(draft, prefixes, strict=False)]
    walk: Walk = Tokenwise()

    def right_rows(p: list[Law], _: list[Law], x: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Any]]:
        return walk(p, rows, x)

    return chain_law(right_rows, target, drafted)
