"""What one walk emits, exactly: its law, the expected accepted length, and the joint law that it leads to.

By recursion over the tree, node after node: the candidates of a node reached are fresh draws, whatever was accepted
above it, so the law of the walk is the product of the laws of its nodes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import Verifier
from resispec_ref.sequence.node import NodeLaw, Siblings, check_siblings, node_law
from resispec_ref.sequence.toy import Model, Tokens, joint_law
from resispec_ref.sequence.tree import ROOT, Tree
from resispec_ref.validation import check_pair

WalkLaw = dict[tuple[Tokens, int], Any]
"""The probability of every `(tokens emitted, accepted length)`."""


def walk_law(
    verifier: str | Verifier,
    target: Model,
    draft: Model,
    tree: Tree,
    *,
    siblings: Siblings | None = None,
    prefix: Tokens = (),
    end: int | None = None,
) -> WalkLaw:
    """The law of what one walk down a freshly drafted `tree` emits after `prefix`; `==` for rational models.

    Raises:
        ValueError: as `emitted_law` and `speculate`.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.chain import chain_tree
    >>> walk_law("recursive-rejection", NGram([0.5, 0.5]), NGram([1.0, 0.0]), chain_tree(1))
    {((0, 0), 1): 0.25, ((0, 1), 1): 0.25, ((1,), 0): 0.5}
    """
    rule = get_verifier(verifier)
    kind = check_siblings(siblings, rule)
    found: WalkLaw = {}

    _check_alike(rule, tree)

    def add(tokens: Tokens, accepted: int, chance: Any) -> None:
        if chance > 0:
            found[tokens, accepted] = found.get((tokens, accepted), 0) + chance

    def follow(node: int, emitted: Tokens, reached: Any) -> None:
        here = _law_at(rule, target, draft, tree, node, kind, prefix + emitted)
        for child, masses in zip(tree.children(node), here.accepted, strict=True):
            for x, m in enumerate(masses.tolist()):
                if m > 0 and x == end:
                    add((*emitted, x), len(emitted) + 1, reached * m)
                elif m > 0:
                    follow(child, (*emitted, x), reached * m)
        for x, m in enumerate(here.extra.tolist()):
            add((*emitted, x), len(emitted), reached * m)

    follow(ROOT, (), 1)
    return found


def completed(law: WalkLaw, target: Model, length: int, prefix: Tokens = ()) -> dict[Tokens, Any]:
    """The joint law of the first `length` tokens when the target model goes on where the walk has stopped.

    An exact walk gives `joint_law(target, length, prefix)`. Source: section 2 of the mathematics, T3.
    Theorem: `tree_walk_exact` (proofs/chain.v).

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.chain import chain_tree
    >>> target, draft = NGram([0.5, 0.5]), NGram([1.0, 0.0])
    >>> completed(walk_law("recursive-rejection", target, draft, chain_tree(1)), target, 2)
    {(0, 0): 0.25, (0, 1): 0.25, (1, 0): 0.25, (1, 1): 0.25}
    """
    found: dict[Tokens, Any] = {}
    for (tokens, _), chance in law.items():
        if len(tokens) > length:
            raise ValueError(f"length: {length}, but the walk emits up to {len(tokens)} tokens")
        for more, mass in joint_law(target, length - len(tokens), prefix + tokens).items():
            found[tokens + more] = found.get(tokens + more, 0) + chance * mass
    return found


def expected_accepted_length(
    verifier: str | Verifier,
    target: Model,
    draft: Model,
    tree: Tree,
    *,
    siblings: Siblings | None = None,
    prefix: Tokens = (),
    end: int | None = None,
) -> Any:
    """The expected number of candidates that one walk accepts after `prefix`, exactly.

    A node law is computed once for each number of candidates and each state of both models, and a value once for each
    shape below a node besides; so complete trees over n-grams cost little more than their states.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> die, known = NGram([1 / 3, 1 / 3, 1 / 3]), NGram([1 / 2, 1 / 2, 0.0])
    >>> round(float(expected_accepted_length("recursive-rejection", die, known, complete_tree((1, 1)))), 4)
    1.1111
    """
    rule = get_verifier(verifier)
    kind = check_siblings(siblings, rule)
    _check_alike(rule, tree)
    shapes = _shapes_below(tree)
    laws: dict[Hashable, NodeLaw] = {}
    values: dict[Hashable, Any] = {}

    def value(node: int, tokens: Tokens) -> Any:
        children = tree.children(node)
        if not children:
            return 0
        states = (target.state(tokens), draft.state(tokens))
        if (len(children), states) not in laws:
            laws[len(children), states] = _law_at(rule, target, draft, tree, node, kind, tokens)
        key = (shapes[node + 1], states)
        if key not in values:
            alike: dict[int, tuple[int, Array]] = {}
            for child, masses in zip(children, laws[len(children), states].accepted, strict=True):
                shape = shapes[child + 1]
                alike[shape] = (child, alike[shape][1] + masses if shape in alike else masses)
            values[key] = sum(
                m * (1 + (0 if x == end else value(child, (*tokens, x))))
                for child, masses in alike.values()
                for x, m in enumerate(masses.tolist())
                if m > 0
            )
        return values[key]

    return value(ROOT, prefix)


def _law_at(
    rule: Verifier, target: Model, draft: Model, tree: Tree, node: int, siblings: Siblings, tokens: Tokens
) -> NodeLaw:
    K = len(tree.children(node))
    p, q = check_pair(target.law(tokens), draft.law(tokens) if K else target.law(tokens))
    return node_law(rule, p, q, K, siblings)


def _check_alike(rule: Verifier, tree: Tree) -> None:
    """`node_law` does not say which of several distinct candidates is picked by a rule that looks at all at once."""
    shapes = _shapes_below(tree)
    for node in range(ROOT, len(tree)):
        if not (rule.sequential or rule.replacement) and len({shapes[child + 1] for child in tree.children(node)}) > 1:
            raise ValueError(
                f"tree: {rule.name} may pick any sibling, and those of node {node} differ in what is below"
            )


def _shapes_below(tree: Tree) -> list[int]:
    """A number for the shape below every node, the root first: equal numbers, equal shapes."""
    numbers: dict[tuple[int, ...], int] = {}
    shapes = [0] * (len(tree) + 1)
    for node in range(len(tree) - 1, ROOT - 1, -1):
        below = tuple(shapes[child + 1] for child in tree.children(node))
        shapes[node + 1] = numbers.setdefault(below, len(numbers))
    return shapes
