"""Random candidate trees with a known law: drafted node by node, or pruned and sorted afterwards.

A tree that is seen level by level is a tuple of levels, each with the children of every node of the level above. What a
verifier has to know is how the next level is distributed, given the levels seen; not how that came about. So a pruned
tree is just another random tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from resispec_ref.candidates.several_drafts import PerCandidate, hub_laws
from resispec_ref.sequence.node import Siblings
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import ROOT, Tree
from resispec_ref.sequence.whole_tree.children import ChildrenLaw, check_draft, children_law, joint
from resispec_ref.sequence.whole_tree.level import Lists

Revealed = tuple[Lists, ...]
Branches = tuple[tuple[int, "Branches"], ...]
"""A whole tree: every child of the root with what is below it."""


class RandomTrees(Protocol):
    """The law of a tree, level by level."""

    def levels(self, revealed: Revealed) -> dict[Lists, Any]:
        """The probability of every next level, given the levels seen; no children at all after the last."""


def instances(revealed: Revealed) -> list[Tokens]:
    """The strings of the nodes of the last level seen; two of them may be equal.

    >>> instances((((0, 1),), ((2,), (0, 0))))
    [(0, 2), (1, 0), (1, 0)]
    """
    strings: list[Tokens] = [()]
    for lists in revealed:
        strings = [(*s, y) for s, tokens in zip(strings, lists, strict=True) for y in tokens]
    return strings


class DraftedTrees:
    """Trees of one shape drawn from a draft model, as `draft_tree` draws them; the draft may give `PerCandidate` laws.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> trees = DraftedTrees(NGram([0.5, 0.5]), complete_tree((1, 1)), siblings="independent")
    >>> trees.levels((((1,),),))
    {((0,),): 0.5, ((1,),): 0.5}
    """

    def __init__(
        self, draft: Model, tree: Tree, *, siblings: Siblings, prefix: Tokens = (), end: int | None = None
    ) -> None:
        self._draft, self._tree, self._siblings, self._prefix, self._end = draft, tree, siblings, prefix, end
        self._laws: dict[tuple[Tokens, int], ChildrenLaw] = {}

    def levels(self, revealed: Revealed) -> dict[Lists, Any]:
        nodes = [ROOT]
        for lists in revealed:
            nodes = [
                child
                for node, tokens in zip(nodes, lists, strict=True)
                for child in self._tree.children(node)[: len(tokens)]
            ]
        return joint([self._children(s, node) for s, node in zip(instances(revealed), nodes, strict=True)])

    def _children(self, string: Tokens, node: int) -> ChildrenLaw:
        count = len(self._tree.children(node))
        if not count or (string and string[-1] == self._end):
            return {(): 1}
        if (string, count) not in self._laws:
            self._laws[string, count] = drawn_children(self._draft.law(self._prefix + string), count, self._siblings)
        return self._laws[string, count]


def drawn_children(law: Any, count: int, siblings: Siblings) -> ChildrenLaw:
    """`children_law` for a law as a model gives it."""
    draft = check_draft(law)
    if siblings == "hubs":
        return children_law(PerCandidate(hub_laws(draft, count)), count, "independent")
    return children_law(draft, count, siblings)


class KeptTrees:
    """What is left of random trees after pruning and sorting by any function of the tree.

    `keep` is given the whole tree, as `Branches`, and returns the tree that the verifier is shown. Small vocabularies:
    all trees are enumerated.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> from fractions import Fraction as F
    >>> drawn = DraftedTrees(NGram([F(1, 2), F(1, 3), F(1, 6)]), complete_tree((2,)), siblings="independent")
    >>> kept = KeptTrees(drawn, lambda tree: tuple(sorted(tree)[:1]))  # token 0 is the likeliest
    >>> {lists[0][0]: str(chance) for lists, chance in kept.levels(()).items()}
    {0: '3/4', 1: '2/9', 2: '1/36'}
    """

    def __init__(self, trees: RandomTrees, keep: Callable[[Branches], Branches]) -> None:
        self.law: dict[Revealed, Any] = {}
        for revealed, chance in enumerate_trees(trees).items():
            shown = as_levels(keep(as_branches(revealed)))
            self.law[shown] = self.law.get(shown, 0) + chance
        self._next: dict[Revealed, dict[Lists, Any]] = {}
        for shown, chance in self.law.items():
            for d in range(len(shown)):
                following = self._next.setdefault(shown[:d], {})
                following[shown[d]] = following.get(shown[d], 0) + chance

    def levels(self, revealed: Revealed) -> dict[Lists, Any]:
        following = self._next.get(revealed, {})
        if not following:
            return {tuple(() for _ in instances(revealed)): 1}
        whole = sum(following.values())
        return {lists: chance / whole for lists, chance in following.items()}


def enumerate_trees(trees: RandomTrees) -> dict[Revealed, Any]:
    """The probability of every tree; its last level has no children, and no more follow.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> enumerate_trees(DraftedTrees(NGram([0.5, 0.5]), complete_tree((1,)), siblings="independent"))
    {(((0,),), ((),)): 0.5, (((1,),), ((),)): 0.5}
    """
    found: dict[Revealed, Any] = {}

    def follow(revealed: Revealed, chance: Any) -> None:
        for lists, m in trees.levels(revealed).items():
            if any(lists):
                follow((*revealed, lists), chance * m)
            else:
                found[(*revealed, lists)] = found.get((*revealed, lists), 0) + chance * m

    follow((), 1)
    return found


def as_branches(revealed: Revealed) -> Branches:
    """A tree given by its levels, as nested branches.

    >>> as_branches((((0, 1),), ((2,), ())))
    ((0, ((2, ()),)), (1, ()))
    """
    below: list[Branches] = [() for _ in instances(revealed)]
    for lists in reversed(revealed):
        remaining = iter(below)
        below = [tuple((y, next(remaining)) for y in tokens) for tokens in lists]
    return below[0]


def as_levels(branches: Branches) -> Revealed:
    """The same tree by its levels, the last without children.

    >>> as_levels(((0, ((2, ()),)), (1, ())))
    (((0, 1),), ((2,), ()), ((),))
    """
    found: list[Lists] = []
    nodes: list[Branches] = [branches]
    while not found or any(found[-1]):
        found.append(tuple(tuple(y for y, _ in node) for node in nodes))
        nodes = [below for node in nodes for _, below in node]
    return tuple(found)


def shape_of(revealed: Revealed) -> Tree:
    """The shape of a tree, as if every node had been meant to have the children that it has.

    >>> shape_of((((0, 1),), ((2,), ()))).parents
    (-1, -1, 0)
    """
    parents: list[int] = []
    nodes = [ROOT]
    for lists in revealed:
        below = []
        for node, tokens in zip(nodes, lists, strict=True):
            for _ in tokens:
                below.append(len(parents))
                parents.append(node)
        nodes = below
    return Tree(parents)
