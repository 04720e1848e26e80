"""Toy autoregressive models as tables, for chains and trees: a row of probabilities for every prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Branching = tuple[int | tuple[int, ...], ...]
"""Children of the nodes of each level, from the root: one number for all of them, or one for each."""

Tables = tuple[np.ndarray, ...]
"""Entry `i` is `(V^i, V)`: the law of token `i` after each prefix of length `i`, prefixes counted in base `V`."""


@dataclass(frozen=True, eq=False)
class ChainCase:
    """A target and a draft model and a number of drafted tokens; the target has one more table, for the extra token."""

    name: str
    target: Tables
    draft: Tables
    degenerate: bool = False

    @property
    def drafted(self) -> int:
        return len(self.draft)

    @property
    def vocab(self) -> int:
        return self.target[0].shape[-1]

    def inputs(self) -> dict[str, Any]:
        return {
            "target": [_shown(t) for t in self.target],
            "draft": [_shown(t) for t in self.draft],
        }


@dataclass(frozen=True, eq=False)
class TreeCase:
    """Models, and a tree with `branching[d]` children at every node of depth `d`; nodes are numbered level by level.

    A ragged tree has a tuple in place of a number: the children of each node of that depth, `(2, (1, 0))`.

    Raises:
        ValueError: a tuple that is not as long as its level.
    """

    name: str
    target: Tables
    draft: Tables
    branching: Branching
    degenerate: bool = False

    def __post_init__(self) -> None:
        nodes_of(self.branching)

    @property
    def vocab(self) -> int:
        return self.target[0].shape[-1]

    @property
    def siblings(self) -> int:
        """The children of the root."""
        return _widths(self.branching[0], 1)[0]

    @property
    def parents(self) -> np.ndarray:
        """`(nodes,)`: the parent of each node, -1 for the children of the root.

        >>> TreeCase("", (np.ones((1, 1)),), (), (2, 1)).parents.tolist()
        [-1, -1, 0, 1]
        >>> TreeCase("", (np.ones((1, 1)),), (), (2, (0, 2))).parents.tolist()
        [-1, -1, 1, 1]
        """
        parents, level = list[int](), [-1]
        for width in self.branching:
            following = []
            for parent, children in zip(level, _widths(width, len(level)), strict=True):
                for _ in range(children):
                    following.append(len(parents))
                    parents.append(parent)
            level = following
        return np.array(parents, dtype=np.int64)

    def inputs(self) -> dict[str, Any]:
        return {
            "branching": list(self.branching),
            "target": [_shown(t) for t in self.target],
            "draft": [_shown(t) for t in self.draft],
        }


def nodes_of(branching: Branching) -> int:
    """The number of nodes below the root.

    >>> nodes_of((2, (0, 2)))
    4
    """
    nodes, level = 0, 1
    for width in branching:
        level = sum(_widths(width, level))
        nodes += level
    return nodes


def _widths(width: int | tuple[int, ...], nodes: int) -> tuple[int, ...]:
    if isinstance(width, int):
        return (width,) * nodes
    if len(width) != nodes:
        raise ValueError(f"branching: {width} has {len(width)} numbers for a level of {nodes} nodes")
    return tuple(width)


def _shown(table: np.ndarray) -> list[list[str | float]]:
    """Small fractions as such, other numbers to six digits."""

    def entry(x: float) -> str | float:
        small = Fraction(x).limit_denominator(100)
        return str(small) if float(small) == x else round(x, 6)

    return [[entry(x) for x in row] for row in table.tolist()]


def joint_law(tables: Tables) -> np.ndarray:
    """`(V^n,)`: the law of the first `n = len(tables)` tokens.

    >>> joint_law((np.array([[0.25, 0.75]]), np.array([[0.5, 0.5], [0.0, 1.0]]))).tolist()
    [0.125, 0.125, 0.0, 0.75]
    """
    law = np.ones(1)
    for table in tables:
        law = (law[:, None] * table).reshape(-1)
    return law


def sample_rows(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One token a row, `(n, V)` to `(n,)`, never one of probability 0."""
    running = np.cumsum(rows, axis=-1)
    u = rng.random((len(rows), 1)) * running[:, -1:]
    return np.argmax(u < running, axis=-1)


def sample_tokens(law: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    """`n` tokens of one law, never one of probability 0."""
    running = np.cumsum(law)
    return np.searchsorted(running, rng.random(n) * running[-1], side="right")


def memoryless(name: str, targets: Sequence[Any], drafts: Sequence[Any]) -> ChainCase:
    """A chain whose rows do not depend on the prefix."""
    p, q = ([np.asarray(row, dtype=float) for row in rows] for rows in (targets, drafts))
    V = len(p[0])
    return ChainCase(
        name,
        tuple(np.tile(row, (V**i, 1)) for i, row in enumerate(p)),
        tuple(np.tile(row, (V**i, 1)) for i, row in enumerate(q)),
    )


def random_tables(rng: np.random.Generator, vocab: int, depth: int, spread: float) -> Tables:
    """Rows `softmax(spread · normal)`; a large `spread` gives skewed laws."""
    rows = [np.exp(spread * rng.standard_normal((vocab**i, vocab))) for i in range(depth)]
    return tuple(row / row.sum(-1, keepdims=True) for row in rows)


def chain_cases(drafted: Sequence[int]) -> list[ChainCase]:
    """The built-in chains: rows of their own for every prefix, the blocks of practice, zeros, near-uniform laws."""
    found = []
    for K in drafted:
        rng = np.random.default_rng(1000 + K)
        for V, spread in ((2, 0.8), (3, 1.0)):
            if V ** (K + 1) <= 1024:
                p = random_tables(rng, V, K + 1, spread)
                q = random_tables(rng, V, K, spread)
                found.append(ChainCase(f"vocabulary {V}, {K} drafted", p, q))
        ramp = np.array([0.45, 0.30, 0.25]), np.array([0.60, 0.25, 0.15])
        found.append(memoryless(f"same rows, {K} drafted", [ramp[0]] * (K + 1), [ramp[1]] * K))
        half = np.array([1 / 3, 2 / 3]), np.array([2 / 3, 1 / 3])
        found.append(memoryless(f"two tokens, {K} drafted", [half[0]] * (K + 1), [half[1]] * K))
        zero = np.array([0.5, 0.0, 0.5]), np.array([0.25, 0.5, 0.25])
        found.append(memoryless(f"zeros, {K} drafted", [zero[0]] * (K + 1), [zero[1]] * K))
        if K <= 2:
            found.append(near_uniform_chain(K))
    return found


def near_uniform_chain(drafted: int, *, vocab: int = 10, spread: float = 0.1, seed: int = 7) -> ChainCase:
    """Laws like those on which one engine tests itself: softmax of small random logits, new ones for every prefix."""
    rng = np.random.default_rng(seed)
    p, q = (random_tables(rng, vocab, n, spread) for n in (drafted + 1, drafted))
    return ChainCase(f"near-uniform, vocabulary {vocab}, {drafted} drafted", p, q)


def tree_cases(siblings: Sequence[int] = (1, 2, 3)) -> list[TreeCase]:
    """The built-in trees with so many children below the root: up to three levels, some of them ragged.

    Three siblings or three levels take a vocabulary of 3 at most, so that the joint law has few cells.
    """
    shapes: dict[int, tuple[tuple[Branching, int], ...]] = {
        1: (((1,), 3), ((1, 1), 3), ((1, 1, 1), 2), ((1, 3), 3)),
        2: (((2,), 3), ((2, 2), 3), ((2, 1), 3), ((2, (0, 2)), 3), ((2, (1, 2), 1), 2)),
        3: (((3,), 4), ((3, 1), 3), ((3, (2, 0, 1)), 3), ((3, 3), 3)),
    }
    found = []
    for k in siblings:
        for number, (branching, V) in enumerate(shapes.get(k, (((k,), 4), ((k, 1), 3)))):
            rng = np.random.default_rng(2000 + 10 * k + number)
            for spread in (0.7, 1.3):
                depth = len(branching) + 1
                p, q = random_tables(rng, V, depth, spread), random_tables(rng, V, depth, spread)
                found.append(TreeCase(f"branching {branching}, spread {spread}", p, q, branching))
    return found


def candidates_of(case: Any) -> int:
    """Candidates at one position, drafted tokens of a chain, children of a tree's root."""
    if isinstance(case, ChainCase):
        return case.drafted
    return int(case.siblings if isinstance(case, TreeCase) else case.candidates)
