"""Whole trees from uniforms: one chooses where the accepted path ends, one the extra token."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.arrays.draw import draw
from resispec_ref.candidates.several_drafts import PerCandidate, hub_laws
from resispec_ref.residual import check_option
from resispec_ref.sequence.node import ABSENT, Siblings
from resispec_ref.sequence.tree import ROOT, Emission, Tree, check_drafted, check_noise
from resispec_ref.sequence.whole_tree.bins import binned
from resispec_ref.sequence.whole_tree.children import check_draft, children_law, count_outcomes, joint, unordered
from resispec_ref.sequence.whole_tree.clocks import ClockLevel
from resispec_ref.sequence.whole_tree.level import EnumeratedLevel, Weights, planned
from resispec_ref.sequence.whole_tree.walk import State, Stop, below
from resispec_ref.sequence.whole_tree.weights import best_weights
from resispec_ref.validation import check_law, check_tokens, check_uniforms

MAX_OUTCOMES = 4_000
"""Outcomes of the children of one level up to which they are enumerated where the laws are floats."""
MAX_EXACT_OUTCOMES = 200_000
"""The same for rationals, beyond which there is no other way."""


def verify_whole_tree(
    target_rows: Any,
    draft_rows: Any,
    tree: Tree,
    tokens: Any,
    uniforms: Any,
    *,
    siblings: Siblings = "independent",
    weights: Weights = best_weights,
    end: int | None = None,
) -> Emission:
    """Verify a drafted tree as a whole: a path of it and one extra token, with the target's joint law.

    Args:
        target_rows, draft_rows, tree, tokens: as for `verify_tree`; a row of the draft may be `PerCandidate`. Rows of
            nodes that the path cannot go through are not read, nor the draft's rows of leaves or of deterministic
            candidates. Which nodes have children may depend on the tokens of the levels above, and on no others.
        uniforms: `(2,)` in `[0, 1)`: where the path ends, and the extra token.
        siblings: how the candidates of a node were drawn.
        weights: how the weights of a level are chosen; any choice is exact.
        end: the output ends with this token, wherever it comes.

    Returns:
        `Emission(tokens, path)`.

    Raises:
        ValueError: shapes that do not fit the tree; rows that are no laws; tokens outside the vocabulary, of draft
            probability 0 or, where they are distinct, repeated; rational rows with too many outcomes to enumerate.

    The rule generalises block verification (Sun et al. 2024, arXiv 2403.10444), which it is for one child a node. It
    reveals the tree from the root down, unlike traversal verification (Weng et al. 2025, arXiv 2505.12398), which goes
    up from the leaves, and greedy multi-path block verification (arXiv 2602.16961), which verifies one chosen path.
    Source: section 8 of the mathematics, T15. Theorem: `levels_exact` (proofs/levels.v).

    >>> from resispec_ref.sequence.tree import complete_tree
    >>> rows = [[0.5, 0.5]] * 7
    >>> verify_whole_tree(rows, rows, complete_tree((2, 2)), [1, 0, 1, 1, 0, 1], [0.3, 0.9])
    Emission(tokens=(1, 1, 1), path=(0, 3))
    """
    u = check_noise("uniforms", uniforms, (2,))
    x, stops = _stops(target_rows, draft_rows, tree, tokens, siblings, weights, end)
    noise = check_uniforms(u, check_law(target_rows[0], name="target_rows"), needed=2)
    stop = stops[int(draw(np.array([stop.mass for stop in stops]), noise[:1]))]
    path = _path(stop.node, tree)
    kept = tuple(int(x[node]) for node in path)
    extra = () if stop.extra is None else (int(draw(stop.extra(), noise[1:])),)
    return Emission(kept + extra, path)


def path_law(
    target_rows: Any,
    draft_rows: Any,
    tree: Tree,
    tokens: Any,
    *,
    siblings: Siblings = "independent",
    weights: Weights = best_weights,
    end: int | None = None,
) -> dict[tuple[int, ...], Any]:
    """How likely `verify_whole_tree` accepts each path of nodes of a drafted tree, before any uniform is drawn.

    The mean accepted length for this tree, given its tokens, is `Σ chance · len(path)`.

    Args:
        target_rows, draft_rows, tree, tokens, siblings, weights, end: as for `verify_whole_tree`.

    Returns:
        The probability of every path that may be accepted, from the root down; `()` if no candidate is.

    Raises:
        ValueError: as `verify_whole_tree`.

    Source: section 8 of the mathematics, T15.

    >>> from resispec_ref.sequence.tree import complete_tree
    >>> coin = [[0.5, 0.5]] * 3
    >>> path_law(coin, coin, complete_tree((2,)), [0, 1])
    {(0,): 0.5, (1,): 0.5}
    """
    _, stops = _stops(target_rows, draft_rows, tree, tokens, siblings, weights, end)
    found = dict[tuple[int, ...], Any]()
    for stop in stops:
        path = _path(stop.node, tree)
        if stop.mass > 0:
            found[path] = found.get(path, 0) + stop.mass
    return found


def _stops(
    target_rows: Any,
    draft_rows: Any,
    tree: Tree,
    tokens: Any,
    siblings: Siblings,
    weights: Weights,
    end: int | None,
) -> tuple[np.ndarray, list[Stop]]:
    """The checked tokens, and where the path may end with what probability."""
    check_option("siblings", siblings, Siblings)
    x = check_drafted(tokens, tree)
    for name, rows in (("target_rows", target_rows), ("draft_rows", draft_rows)):
        if len(rows) != len(tree) + 1:
            raise ValueError(f"{name}: {len(rows)} rows; {len(tree) + 1} are needed, one for the root and one a node")
    root = check_law(target_rows[0], name="target_rows")
    one = root.tolist()[0] * 0 + 1
    nodes, state = [ROOT], State([one], [])
    while True:
        reached = [(node, a) for node, a in zip(nodes, state.shares, strict=True) if a > 0]
        parents, stops = list[int](), list(state.stops)
        for node, a in reached:
            if node != ROOT and x[node] == end:
                stops.append(Stop(node, a, None))
            elif any(x[child] != ABSENT for child in tree.children(node)):
                parents.append(node)
            else:
                stops.append(Stop(node, a, _row(target_rows, node)))
        if not parents:
            return x, stops
        shares = dict(reached)
        level = level_of(
            [shares[node] for node in parents],
            [target_rows[node + 1] for node in parents],
            [draft_rows[node + 1] for node in parents],
            [x[list(tree.children(node))] for node in parents],
            siblings,
        )
        plan = planned(level, weights)
        stops += [
            Stop(node, m, _left(plan.left, j)) for j, (node, m) in enumerate(zip(parents, plan.stopped, strict=True))
        ]
        present = [[child for child in tree.children(node) if x[child] != ABSENT] for node in parents]
        state = below(state, stops, plan, [x[children].tolist() for children in present], one)
        nodes = [child for children in present for child in children]


def level_of(
    shares: Sequence[Any],
    targets: Sequence[Any],
    drafts: Sequence[Any],
    tokens: Sequence[np.ndarray],
    siblings: Siblings,
) -> Any:
    """The level below nodes with these shares, rows and children: enumerated where that is quick."""
    drawn = [int(np.count_nonzero(x != ABSENT)) for x in tokens]
    laws = [check_law(row, name="target_rows") for row in targets]
    if siblings == "deterministic":
        for x, p in zip(tokens, laws, strict=True):
            check_tokens(x, p * 0 + 1)
        given = {tuple(tuple(x[x != ABSENT].tolist()) for x in tokens): 1}
        return EnumeratedLevel(np.stack([a * p for a, p in zip(shares, laws, strict=True)]), given)
    checked = []
    for x, p, row in zip(tokens, laws, drafts, strict=True):
        q = check_draft(row)
        q = PerCandidate(hub_laws(q, len(x))) if siblings == "hubs" else q
        own = isinstance(q, PerCandidate)
        check_tokens(x, as_like(q.laws if own else q, p), distinct=siblings == "distinct", own_laws=own)
        checked.append(q)
    kind = "independent" if siblings == "hubs" else siblings
    outcomes = math.prod(count_outcomes(q, n, kind) for q, n in zip(checked, drawn, strict=True))
    rational = laws[0].dtype == object
    if outcomes > (MAX_EXACT_OUTCOMES if rational else MAX_OUTCOMES):
        if rational:
            raise ValueError(f"draft_rows: {outcomes} outcomes of a level are too many to enumerate; pass floats")
        plain = [q for q in checked if not isinstance(q, PerCandidate)]
        if kind != "independent" or len(plain) < len(checked):
            raise ValueError(
                f"draft_rows: {outcomes} outcomes of a level are too many to enumerate, which only independent "
                f"candidates of one law a node can do without; these are {siblings}, or have laws of their own"
            )
        return ClockLevel(shares, [binned(p, q) for p, q in zip(laws, plain, strict=True)], drawn)
    law = joint([unordered(children_law(q, n, kind)) for q, n in zip(checked, drawn, strict=True)])
    return EnumeratedLevel(np.stack([a * p for a, p in zip(shares, laws, strict=True)]), law)


def as_like(q: Array, p: Array) -> Array:
    """The draft's laws, which have to be over the same tokens and as exact as the target's."""
    if q.shape[-1] != p.shape[-1]:
        raise ValueError(f"draft_rows: a vocabulary of {q.shape[-1]} tokens; the target has {p.shape[-1]}")
    if (q.dtype == object) != (p.dtype == object):
        raise ValueError("draft_rows: floats beside exact laws; give all as rationals, or all as floats")
    return q


def _row(rows: Any, node: int) -> Callable[[], Array]:
    return lambda: check_law(rows[node + 1], name="target_rows")


def _left(left: Callable[[int], Array], j: int) -> Callable[[], Array]:
    return lambda: left(j)


def _path(node: int, tree: Tree) -> tuple[int, ...]:
    path = list[int]()
    while node != ROOT:
        path.append(node)
        node = tree.parents[node]
    return tuple(path[::-1])
