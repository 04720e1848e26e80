"""What a whole-tree verification emits, exactly: by enumeration of all trees, for small vocabularies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.sequence.law import WalkLaw
from resispec_ref.sequence.node import Siblings
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import Tree
from resispec_ref.sequence.whole_tree.level import EnumeratedLevel, Lists, Plan, Weights, planned
from resispec_ref.sequence.whole_tree.random_trees import DraftedTrees, RandomTrees, Revealed, instances
from resispec_ref.sequence.whole_tree.walk import State, Stop, below
from resispec_ref.sequence.whole_tree.weights import best_weights
from resispec_ref.validation import check_law


def whole_tree_law(
    target: Model,
    draft: Model,
    tree: Tree,
    *,
    siblings: Siblings = "independent",
    weights: Weights = best_weights,
    prefix: Tokens = (),
    end: int | None = None,
) -> WalkLaw:
    """The law of `verify_whole_tree` on a freshly drafted tree: the probability of every `(tokens, accepted length)`.

    In rationals exact: completed by the target (`completed`) it is the target's joint law with `==`, for every choice
    of weights. All trees are enumerated, `vocab` to the power of the number of nodes.

    Args:
        target, draft: models; the draft may give `PerCandidate` laws.
        tree: the shape; ragged ones too.
        siblings: how the candidates of a node are drawn.
        weights: how the weights of a level are chosen.
        prefix: the tokens before the tree.
        end: the output ends with this token, wherever it comes.

    Raises:
        ValueError: laws that are no laws, or not of one vocabulary and number type; weights that are negative.

    Source: section 8 of the mathematics, T13 and T15.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.chain import chain_tree
    >>> law = whole_tree_law(NGram([1 / 3, 2 / 3]), NGram([2 / 3, 1 / 3]), chain_tree(2))
    >>> round(sum(accepted * chance for (_, accepted), chance in law.items()), 4)  # as block verification: 11/9
    1.2222
    """
    trees = DraftedTrees(draft, tree, siblings=siblings, prefix=prefix, end=end)
    return law_on_trees(target, trees, weights=weights, prefix=prefix, end=end)


def law_on_trees(
    target: Model,
    trees: RandomTrees,
    *,
    weights: Weights = best_weights,
    prefix: Tokens = (),
    end: int | None = None,
) -> WalkLaw:
    """`whole_tree_law` for trees of any known law: pruned, sorted, or drawn in a way of their own.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> from resispec_ref.sequence.whole_tree.random_trees import KeptTrees
    >>> coin = NGram([0.5, 0.5])
    >>> drawn = DraftedTrees(coin, complete_tree((2,)), siblings="independent")
    >>> law_on_trees(coin, KeptTrees(drawn, lambda tree: (min(tree),)))
    {((0, 0), 1): 0.25, ((0, 1), 1): 0.25, ((1,), 0): 0.25, ((1, 0), 1): 0.125, ((1, 1), 1): 0.125}
    """
    found: WalkLaw = {}
    step = stepper(target, trees, weights, prefix, end)

    def follow(revealed: Revealed, chance: Any, state: State) -> None:
        choices, stops, plan, parents, one = step(revealed, state)
        if plan is None:
            add_emitted(found, stops, chance)
            return
        for lists, m in choices.items():
            follow(
                (*revealed, lists),
                chance * m,
                spread(below(state, stops, plan, [lists[j] for j in parents], one), lists, parents, one),
            )

    follow((), 1, State([1], []))
    return {key: mass for key, mass in sorted(found.items()) if mass > 0}


Step = Callable[[Revealed, State], tuple[dict[Lists, Any], list[Stop], Plan | None, list[int], Any]]


def stepper(target: Model, trees: RandomTrees, weights: Weights, prefix: Tokens, end: int | None) -> Step:
    """A function from the levels seen to what may come next: outcomes, stops, the plan, and the nodes it is for."""

    def step(revealed: Revealed, state: State) -> tuple[dict[Lists, Any], list[Stop], Plan | None, list[int], Any]:
        strings, choices, stops = instances(revealed), trees.levels(revealed), list(state.stops)
        reached = [j for j, a in enumerate(state.shares) if a > 0]
        ended = [j for j in reached if strings[j] and strings[j][-1] == end]
        going = [j for j in reached if j not in ended]
        rows = {j: check_law(target.law(prefix + strings[j]), name="target") for j in going}
        parents = [j for j in going if any(lists[j] for lists in choices)]
        stops += [Stop(strings[j], state.shares[j], None) for j in ended]
        stops += [Stop(strings[j], state.shares[j], _constant(rows[j])) for j in going if j not in parents]
        if not parents:
            return choices, stops, None, [], 1
        one = rows[parents[0]].tolist()[0] * 0 + 1
        level = EnumeratedLevel(np.stack([state.shares[j] * rows[j] for j in parents]), only(choices, parents))
        plan = planned(level, weights)
        stops += [
            Stop(strings[j], m, _left(plan, i)) for i, (j, m) in enumerate(zip(parents, plan.stopped, strict=True))
        ]
        return choices, stops, plan, parents, one

    return step


def only(choices: dict[Lists, Any], parents: Sequence[int]) -> dict[Lists, Any]:
    """The law of the children of some of the nodes."""
    found: dict[Lists, Any] = {}
    for lists, chance in choices.items():
        key = tuple(lists[j] for j in parents)
        found[key] = found.get(key, 0) + chance
    return found


def spread(state: State, lists: Lists, parents: Sequence[int], one: Any) -> State:
    """The same state with shares of 0 for the children of the nodes that the plan was not for."""
    kept, shares = iter(state.shares), []
    for j, tokens in enumerate(lists):
        shares += [next(kept) if j in parents else one * 0 for _ in tokens]
    return State(shares, state.stops)


def add_emitted(found: WalkLaw, stops: Sequence[Stop], chance: Any) -> None:
    for stop in stops:
        if stop.extra is None:
            found[stop.node, len(stop.node)] = found.get((stop.node, len(stop.node)), 0) + chance * stop.mass
            continue
        extra = stop.extra()
        whole = sum(extra.tolist())
        for y, m in enumerate(extra.tolist()):
            if m > 0:
                key = ((*stop.node, y), len(stop.node))
                found[key] = found.get(key, 0) + chance * stop.mass * (m / whole)


def accepted_masses(law: WalkLaw) -> list[Any]:
    """How likely at least 1, 2, … candidates are accepted; the sum is the expected accepted length.

    >>> accepted_masses({((0, 1), 1): 0.5, ((1,), 0): 0.25, ((1, 1, 0), 2): 0.25})
    [0.75, 0.25]
    """
    depth = max((accepted for _, accepted in law), default=0)
    return [sum(chance for (_, accepted), chance in law.items() if accepted >= d) for d in range(1, depth + 1)]


def _constant(row: Array) -> Callable[[], Array]:
    return lambda: row


def _left(plan: Plan, i: int) -> Callable[[], Array]:
    return lambda: plan.left(i)
