"""One level of a whole tree: among all children of all its nodes one is picked, and shares of the path are kept.

After some levels are seen each of their last nodes `j` has a *share* `a_j`, the probability that the accepted path goes
through it, given what is seen. Its children have the targets `t_j(y) = a_j p(y|s_j)`. With weights `v_j(y)`, chosen
before the children are seen, child `i` is picked with probability `v_i / Σ v`; the pick is a child of `j` with token
`y` with probability `σ_j(y)`, and

    a_i = (v_i / Σ v) min(1, t_j(y) / σ_j(y)),    e_j = (t_j − σ_j)+

are the child's share and what node `j` emits as an extra token. Exact for every choice of weights.

Source: section 8 of the mathematics, T15. For one child a node this is the recursion of block verification (Sun et al.
2024, arXiv 2403.10444).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from resispec_ref.arrays.arithmetic import Array, divide, positive_part
from resispec_ref.arrays.convert import number_type, objects

Lists = tuple[tuple[int, ...], ...]
"""The tokens of the children of every node of a level."""


class Level(Protocol):
    """What weights may be chosen by: nothing of it depends on which children are drawn."""

    targets: np.ndarray
    """`(nodes, cells)`: `t_j`, the target's share of each cell; a cell is a token, or a range of ratios `p/q`."""
    upper: np.ndarray | None
    """`(nodes, cells)`: whether a cell is in the set `H` that attains the level's bound (T16); None if not known."""

    def picked(self, weights: np.ndarray) -> np.ndarray:
        """`σ_j`, `(nodes, cells)`: how often the pick is a child of node `j` in that cell."""


Weights = Callable[[Level], np.ndarray]
"""A way of choosing `v_j`, `(nodes, cells)`, not negative."""


class Plan(NamedTuple):
    """What a level does with its children, whichever come."""

    weight: Callable[[int, int], Any]
    """`v_j(y)` of node `j` and token `y`."""
    kept: Callable[[int, int], Any]
    """`min(1, t_j(y) / σ_j(y))`: the part of a pick that is kept."""
    stopped: list[Any]
    """`|e_j|`."""
    left: Callable[[int], Array]
    """`e_j`, `(vocab,)`."""


class EnumeratedLevel:
    """A level whose children are known by their joint law, for small vocabularies; floats or exact rationals."""

    upper = None

    def __init__(self, targets: np.ndarray, law: Mapping[Lists, Any]) -> None:
        """`targets`, `(nodes, vocab)`, and the probability of every outcome; the order of siblings is of no account."""
        self.targets = targets
        vocab, merged = targets.shape[-1], dict[tuple[int, ...], Any]()
        for lists, chance in law.items():
            key = tuple(sorted(j * vocab + y for j, tokens in enumerate(lists) for y in tokens))
            merged[key] = merged.get(key, 0) + chance
        longest = max(map(len, merged), default=0)
        self._children = np.array(
            [[*key, *[targets.size] * (longest - len(key))] for key in sorted(merged)], dtype=np.int64
        )
        chances = [merged[key] for key in sorted(merged)]
        self._chance = objects(chances, (len(chances),)) if targets.dtype == object else np.array(chances)
        self._rough = self._chance.astype(np.float64)

    def picked(self, weights: np.ndarray) -> np.ndarray:
        """By enumeration; in floats for weights in floats, whatever the laws."""
        v = np.append(weights.reshape(-1), weights.reshape(-1)[:1] * 0)  # the last for children that are not there
        of_child = v[self._children]
        total = np.sum(of_child, axis=-1, keepdims=True)
        share = divide(of_child, total, of_child * 0)
        share = share * (self._rough if weights.dtype != object else self._chance)[:, None]
        found = v * 0
        np.add.at(found, self._children, share)
        return found[:-1].reshape(weights.shape)

    def plan(self, weights: np.ndarray) -> Plan:
        sigma, t = self.picked(weights), self.targets
        kept, left = divide(np.minimum(t, sigma), sigma, t * 0).tolist(), positive_part(t - sigma)
        v = weights.tolist()
        stopped = np.sum(left, axis=-1).tolist()
        return Plan(lambda j, y: v[j][y], lambda j, y: kept[j][y], stopped, lambda j: left[j])


def planned(level: Any, weights: Weights) -> Plan:
    """The plan of a level for its weights; those in floats become rationals beside rational laws.

    Raises:
        ValueError: weights of another shape, negative or not finite.
    """
    v = np.asarray(weights(level))
    if v.shape != level.targets.shape:
        raise ValueError(f"weights: shape {v.shape}; {level.targets.shape} is needed, a weight for each node and cell")
    rational = level.targets.dtype == object
    if not rational or v.dtype != object:
        v = v.astype(np.float64)
        if not np.all(np.isfinite(v)):
            raise ValueError(f"weights: {v[~np.isfinite(v)][0]} is not a finite number")
        v = as_rational(v, number_type(level.targets)) if rational else v
    if (v < 0).any():
        raise ValueError(f"weights: {v[v < 0][0]} is negative")
    return level.plan(v)


def as_rational(v: np.ndarray, number: type) -> np.ndarray:
    """Floats with their 8 leading bits, as rationals: any weights are exact, and short ones are quicker."""
    mantissa, exponent = np.frexp(v)
    short, power = np.rint(mantissa * 256).astype(int).reshape(-1), (exponent - 8).reshape(-1)
    return objects([number(m) * number(2) ** e for m, e in zip(short.tolist(), power.tolist(), strict=True)], v.shape)


def children_kept(plan: Plan, lists: Sequence[Sequence[int]], zero: Any) -> list[list[Any]]:
    """`a_i` of the children that came, by node."""
    v = [[plan.weight(j, y) for y in tokens] for j, tokens in enumerate(lists)]
    total = sum((w for row in v for w in row), start=zero)
    if not total > 0:
        return [[zero for _ in row] for row in v]
    return [
        [w / total * plan.kept(j, y) for w, y in zip(row, tokens, strict=True)]
        for j, (row, tokens) in enumerate(zip(v, lists, strict=True))
    ]
