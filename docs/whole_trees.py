"""The numbers on whole trees in the README and the tutorial: `python docs/whole_trees.py`.

Expected accepted lengths of toy models, two candidates a node, two levels, computed over all trees in rationals;
`tests/docs/test_whole_trees.py` holds the README and the front page to them.
"""

from fractions import Fraction as F
from typing import NamedTuple

import resispec_ref as rs
from resispec_ref.sequence import Model, NGram, ToyModel, complete_tree, expected_accepted_length, whole_tree_law
from resispec_ref.sequence.whole_tree import accepted_masses, whole_tree_bound

TREE = complete_tree((2, 2))
COIN = [F(1, 2), F(1, 2)]
DEEPER = [[COIN] * 2] * 2
P, Q = [F(1, 2), F(3, 10), F(1, 5)], [F(3, 5), F(7, 20), F(1, 20)]
PAIRS: dict[str, tuple[Model, Model]] = {
    "three tokens": (NGram(P), NGram(Q)),
    "the second repeats the first": (
        ToyModel([COIN, [[F(1), F(0)], [F(0), F(1)]], DEEPER]),
        ToyModel([COIN, [COIN] * 2, DEEPER]),
    ),
    "a die, two sides known": (NGram([F(1, 3)] * 3), NGram([F(1, 2), F(1, 2), F(0)])),
}


class Lengths(NamedTuple):
    """Expected accepted lengths of one pair."""

    recursive: F
    node_by_node: F
    """The most that any rule for single nodes reaches: every node at its bound."""
    whole_tree: F
    bound: F


def at_every_nodes_bound(target: Model, draft: Model) -> F:
    """`optimal` at every node, in rationals: where a node's bound is one number a level, the levels multiply."""
    first, second = (
        {rs.optimal_acceptance(target.law(s), draft.law(s), candidates=2) for s in level}
        for level in ([()], [(x,) for x in range(len(target.law(())))])
    )
    (a,), (b,) = first, second
    return a + a * b


def lengths(target: Model, draft: Model) -> Lengths:
    return Lengths(
        expected_accepted_length("recursive-rejection", target, draft, TREE),
        at_every_nodes_bound(target, draft),
        sum(accepted_masses(whole_tree_law(target, draft, TREE))),
        whole_tree_bound(target, draft, TREE).certified,
    )


HEAD = ("toy models", "recursive rejection", "best node by node", "whole tree", "no exact verifier above")


def table() -> str:
    """In Markdown, as the README shows it."""
    rows = [HEAD, *((name, *(f"{float(x):.4f}" for x in lengths(*pair))) for name, pair in PAIRS.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return "\n".join([lines[0], "| " + " | ".join("-" * n for n in widths) + " |", *lines[1:]])


if __name__ == "__main__":
    print(table())
