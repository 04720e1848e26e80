"""Candidate trees: the walk from the root, verifying one node after the other.

A tree is given by `parents`: node `j` is a child of node `parents[j] < j`, or of the root where that is `-1`. Siblings
in the order of their numbers are the candidates of their parent in the order of their draw. A chain is the tree with
one child a node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from resispec_ref.acceptance import uniforms_needed, verify
from resispec_ref.arrays.arithmetic import Array
from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import Verifier
from resispec_ref.sequence.node import ABSENT, Siblings, check_siblings, draw_candidates
from resispec_ref.sequence.toy import Model, Tokens

ROOT = -1


class Emission(NamedTuple):
    """What one walk emits."""

    tokens: Tokens
    """The accepted candidates, and one extra token from the last residual target unless an end token was accepted."""
    path: tuple[int, ...]
    """The nodes accepted, from the root down."""

    @property
    def accepted(self) -> int:
        """The accepted length."""
        return len(self.path)


class Tree:
    """A shape of candidate trees: which nodes are children of which.

    >>> tree = Tree((-1, -1, 0, 0))
    >>> tree.children(-1), tree.children(0), tree.depth
    ((0, 1), (2, 3), 2)

    Raises:
        ValueError: a parent that is not an earlier node.
    """

    def __init__(self, parents: Sequence[int]) -> None:
        for j, parent in enumerate(parents):
            if not ROOT <= parent < j:
                raise ValueError(f"parents, node {j}: {parent} is not an earlier node, nor -1 for the root")
        self.parents = tuple(int(parent) for parent in parents)
        lists: list[list[int]] = [[] for _ in range(len(self.parents) + 1)]
        for j, parent in enumerate(self.parents):
            lists[parent + 1].append(j)
        self._children = tuple(map(tuple, lists))

    def __len__(self) -> int:
        return len(self.parents)

    def children(self, node: int) -> tuple[int, ...]:
        return self._children[node + 1]

    @property
    def depth(self) -> int:
        levels = [0]
        for parent in self.parents:
            levels.append(levels[parent + 1] + 1)
        return max(levels)

    @property
    def branching(self) -> int:
        """The most children that a node has."""
        return max(map(len, self._children))


def complete_tree(branching: Sequence[int]) -> Tree:
    """The tree with `branching[d]` children for each node of depth `d`, level by level.

    >>> complete_tree((2, 1)).parents
    (-1, -1, 0, 1)
    """
    parents: list[int] = []
    level = [ROOT]
    for count in branching:
        if count < 1:
            raise ValueError(f"branching: {count} children; each depth has 1 or more")
        below = range(len(parents), len(parents) + count * len(level))
        parents += [node for node in level for _ in range(count)]
        level = list(below)
    return Tree(parents)


def draft_tree(
    draft: Model, tree: Tree, uniforms: Any, *, siblings: Siblings, prefix: Tokens = (), end: int | None = None
) -> np.ndarray:
    """The tokens of all nodes, `(nodes,)`, drawn from the draft model with one uniform a node.

    A node is `-1`, absent, where the draft is exhausted; so is everything below it and below the token `end`.

    >>> from resispec_ref.sequence.toy import NGram
    >>> draft_tree(NGram([0.5, 0.5]), complete_tree((2, 1)), [0.1, 0.9, 0.9, 0.1], siblings="independent")
    array([0, 1, 1, 0])
    """
    u = check_noise("uniforms", uniforms, (len(tree),))
    tokens = np.full(len(tree), ABSENT, dtype=np.int64)

    def below(node: int, path: Tokens) -> None:
        children = list(tree.children(node))
        if not children or (path and path[-1] == end):
            return
        tokens[children] = draw_candidates(draft.law(prefix + path), u[children], siblings)
        for child in children:
            if tokens[child] != ABSENT:
                below(child, (*path, int(tokens[child])))

    below(ROOT, ())
    return tokens


def verify_tree(
    verifier: str | Verifier,
    target_rows: Any,
    draft_rows: Any,
    tree: Tree,
    tokens: Any,
    uniforms: Any,
    *,
    siblings: Siblings | None = None,
    end: int | None = None,
) -> Emission:
    """Walk down a drafted tree: verify the candidates of a node, go on at the one accepted, stop when none is.

    Args:
        verifier: any rule of the registry, applied at each node.
        target_rows, draft_rows: `(nodes + 1, vocab)`; row 0 is the law of the first token, row `j + 1` that of the
            token after node `j`. Rows of absent nodes are not read, nor the draft's rows of leaves.
        tree: its shape.
        tokens: `(nodes,)`; `-1` marks an absent node, after which no sibling is present.
        uniforms: `(tree.depth + 1, uniforms_needed(verifier, tree.branching))` in `[0, 1)`: a row for each depth, of
            which a node of `K` candidates uses the first `uniforms_needed(verifier, K)`.
        siblings: how the candidates were drawn, by default as the rule expects.
        end: the output ends with this token, wherever it comes.

    Returns:
        `Emission(tokens, path)`.

    Raises:
        ValueError: as `verify` for the node where it happens; shapes that do not fit the tree.

    Source: Miao et al. 2024 (arXiv 2305.09781), Algorithm 2. Theorem: `tree_walk_exact` (proofs/chain.v).

    >>> tree = complete_tree((2,))
    >>> rows = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> verify_tree("recursive-rejection", rows, rows, tree, [1, 0], [[0.3, 0.3, 0.3], [0.9, 0.9, 0.9]])
    Emission(tokens=(1, 1), path=(0,))
    """
    rule = get_verifier(verifier)
    kind = check_siblings(siblings, rule)
    x = check_drafted(tokens, tree)
    for name, rows in (("target_rows", target_rows), ("draft_rows", draft_rows)):
        if len(rows) != len(tree) + 1:
            raise ValueError(f"{name}: {len(rows)} rows; {len(tree) + 1} are needed, one for the root and one a node")
    u = check_noise("uniforms", uniforms, verification_noise(rule, tree))

    return walk(
        rule,
        tree.children,
        lambda children, q: x[list(children)],
        lambda node, emitted: target_rows[node + 1],
        lambda node, emitted: draft_rows[node + 1],
        u.__getitem__,
        kind,
        end,
    )


def speculate(
    verifier: str | Verifier,
    target: Model,
    draft: Model,
    tree: Tree,
    draft_uniforms: Any,
    uniforms: Any,
    *,
    siblings: Siblings | None = None,
    prefix: Tokens = (),
    end: int | None = None,
) -> Emission:
    """`draft_tree` and `verify_tree` in one walk that draws the candidates of a node when it gets there.

    Verification looks at no other node, so the same uniforms give the same tokens, without the laws of a whole tree.

    >>> from resispec_ref.sequence.toy import NGram
    >>> die, known = NGram([1 / 3, 1 / 3, 1 / 3]), NGram([1 / 2, 1 / 2, 0.0])
    >>> noise = [[0.5, 0.5], [0.5, 0.5]]
    >>> speculate("recursive-rejection", die, known, complete_tree((1,)), [0.7], noise)
    Emission(tokens=(1, 1), path=(0,))
    """
    rule = get_verifier(verifier)
    kind = check_siblings(siblings, rule)
    v = check_noise("draft_uniforms", draft_uniforms, (len(tree),))
    u = check_noise("uniforms", uniforms, verification_noise(rule, tree))
    return walk(
        rule,
        tree.children,
        lambda children, q: draw_candidates(q, v[list(children)], kind),
        lambda node, emitted: target.law(prefix + emitted),
        lambda node, emitted: draft.law(prefix + emitted),
        u.__getitem__,
        kind,
        end,
    )


def walk(
    rule: Verifier,
    children_of: Callable[[int], Sequence[int]],
    candidates: Callable[[Sequence[int], Any], np.ndarray],
    target_after: Callable[[int, Tokens], Any],
    draft_after: Callable[[int, Tokens], Any],
    uniforms: Callable[[int], Array],
    siblings: Siblings,
    end: int | None,
) -> Emission:
    """The walk itself, over nodes that may be drawn before or on the way, of a tree or of a graph.

    `candidates` gives the tokens of a node's children, `target_after` and `draft_after` the laws at a node reached with
    the tokens emitted (the draft's only where there are children), and `uniforms` the row of a depth.
    """
    node, emitted, path = ROOT, list[int](), list[int]()
    while True:
        children = children_of(node)
        p = target_after(node, tuple(emitted))
        q = draft_after(node, tuple(emitted)) if children else p
        x = candidates(children, q)
        if siblings == "deterministic":
            q = _offered(x, np.asarray(p))
        needed = uniforms_needed(rule, len(children))
        found = verify(rule, p, q, x, uniforms(len(path))[:needed])
        emitted.append(int(found.token))
        index = int(found.accepted_index)
        if index == len(children):
            return Emission(tuple(emitted), tuple(path))
        node = children[index]
        path.append(node)
        if emitted[-1] == end:
            return Emission(tuple(emitted), tuple(path))


def verification_noise(rule: Verifier, tree: Tree) -> tuple[int, int]:
    """The shape of the uniforms that verifying a tree of this shape takes."""
    return tree.depth + 1, uniforms_needed(rule, tree.branching)


def check_drafted(tokens: Any, tree: Tree) -> np.ndarray:
    """The tokens of a drafted tree: none stands below an absent one. `verify` looks at their values."""
    x = np.asarray(tokens)
    if x.shape != (len(tree),):
        raise ValueError(f"tokens: shape {x.shape}; the tree has {len(tree)} nodes")
    for node, parent in enumerate(tree.parents):
        if parent != ROOT and x[node] != ABSENT and x[parent] == ABSENT:
            raise ValueError(f"tokens, node {node}: {x[node]}, but its parent, node {parent}, is absent ({ABSENT})")
    return x


def check_noise(name: str, uniforms: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Uniforms of the shape that is needed; `verify` looks at their values."""
    u = np.asarray(uniforms)
    if u.shape != shape:
        raise ValueError(f"{name}: shape {u.shape}; {shape} is needed")
    return u


def _offered(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Target matching needs a draft law that has the candidates, and looks at it for nothing else."""
    present = x[x >= 0]
    q = p * 0
    q[present if present.size else slice(1)] = q[:1] + 1
    return q / (present.size or 1)
