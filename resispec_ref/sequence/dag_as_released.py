"""Candidate graphs verified as published code does it: every edge by itself, the longest path kept. Not exact.

Each child of a node that was reached passes alone with probability `min(1, p/q)`, whatever its siblings did; of all
paths that pass the longest is kept, the first of them in the order of the children; the token after it is drawn from
the target's law there, not from a residual. What is biased, each by itself:

- *no residual*: with one candidate, `p = (1/3, 2/3)`, `q = (2/3, 1/3)`, the emitted law is (4/9, 5/9), and TV 1/9;
- *the longest of several*: which path is kept depends on what passes below it, so a token after which drafts pass
  easily is emitted too often;
- a sibling that was rejected says something about what is left of the target, and the next is tested as if not.

For deterministic candidates (the release's own default when it does not sample: the most probable tokens) `q` is no law
that they come from, and the same test is biased again. `verify_graph` is the exact rule for the same graphs.

Source: Gong et al. 2024 (arXiv 2407.16207), the test as in its published code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from resispec_ref.arrays.draw import draw
from resispec_ref.sequence.dag import Below, Graph, grown
from resispec_ref.sequence.law import WalkLaw
from resispec_ref.sequence.node import Siblings
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import ROOT, Emission, check_noise
from resispec_ref.sequence.whole_tree.children import children_law
from resispec_ref.validation import check_law, check_pair

Path = tuple[int, ...]


def verify_graph_as_released(
    target: Model, draft: Model, graph: Graph, uniforms: Any, *, prefix: Tokens = ()
) -> Emission:
    """Test each edge by itself, keep the longest path that passes, and draw the next token from the target.

    Args:
        target, draft: models.
        graph: of `draft_graph`.
        uniforms: `(edges + 1,)` in `[0, 1)`, one for each entry of `graph.candidates` in order, and the last for the
            token after the path.
        prefix: the tokens before the graph.

    Raises:
        ValueError: another number of uniforms.

    >>> from resispec_ref.sequence.dag import draft_graph
    >>> from resispec_ref.sequence.toy import NGram
    >>> p, q = NGram([1 / 3, 2 / 3]), NGram([2 / 3, 1 / 3])
    >>> graph = draft_graph(q, (1, 1), [0.1, 0.9], siblings="independent")
    >>> verify_graph_as_released(p, q, graph, [0.4, 0.5, 0.0])
    Emission(tokens=(0, 1, 0), path=(0, 1))
    """
    firsts = np.cumsum([0, *map(len, graph.candidates)]).tolist()
    u = check_noise("uniforms", uniforms, (firsts[-1] + 1,))

    def passes(node: int, i: int, p: Any, q: Any) -> bool:
        return bool(u[firsts[node + 1] + i] * q < p)

    kept = next(longest_paths(target, draft, graph, prefix, lambda *edge: [(passes(*edge), 1)]))[0]
    tokens = tuple(graph.tokens[node] for node in kept)
    extra = int(draw(check_law(target.law(prefix + tokens), name="target"), u[-1:]))
    return Emission((*tokens, extra), kept)


def released_graph_law(
    target: Model, draft: Model, branching: Sequence[int], *, siblings: Siblings = "independent", prefix: Tokens = ()
) -> WalkLaw:
    """The exact law of `verify_graph_as_released` on a freshly drafted graph: `(tokens, accepted length)`.

    All graphs and all outcomes of their edges are enumerated, for small vocabularies. `completed` makes it a law of
    sequences, whose distance from `joint_law` is the bias.

    Args:
        target, draft: models.
        branching: candidates of every node of each depth.
        siblings: how they are drawn.
        prefix: the tokens before the graph.

    Raises:
        ValueError: laws that are no laws, or not of one vocabulary.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.toy import NGram
    >>> p, q = NGram([F(1, 3), F(2, 3)]), NGram([F(2, 3), F(1, 3)])
    >>> law = released_graph_law(p, q, (1,))
    >>> [str(sum(m for (tokens, _), m in law.items() if tokens[0] == x)) for x in (0, 1)]
    ['4/9', '5/9']
    """
    found: WalkLaw = {}

    def either(node: int, i: int, p: Any, q: Any) -> list[tuple[bool, Any]]:
        chance = min(p / q, 1 + p * 0)
        return [(passed, m) for passed, m in ((True, chance), (False, 1 - chance)) if m]

    for graph, drawn in _drafted_graphs(draft, branching, siblings, prefix).items():
        for kept, chance in longest_paths(target, draft, graph, prefix, either):
            tokens = tuple(graph.tokens[node] for node in kept)
            for y, m in enumerate(check_law(target.law(prefix + tokens), name="target").tolist()):
                if m:
                    key = ((*tokens, y), len(kept))
                    found[key] = found.get(key, 0) + drawn * chance * m
    return found


Outcomes = Callable[[int, int, Any, Any], list[tuple[bool, Any]]]


def longest_paths(
    target: Model, draft: Model, graph: Graph, prefix: Tokens, outcomes: Outcomes
) -> Iterator[tuple[Path, Any]]:
    """Depth first over the edges that pass: the longest path kept, and its chance, for every way that edges come out.

    `outcomes(node, i, p, q)` says whether the `i`-th candidate of `node` passes, where target and draft give it `p` and
    `q`: one answer, or both with their chances.
    """

    def follow(stack: tuple[Path, ...], visited: frozenset[int], kept: Path, chance: Any) -> Iterator[tuple[Path, Any]]:
        if not stack:
            yield kept, chance
            return
        path, rest = stack[-1], stack[:-1]
        node = path[-1] if path else ROOT
        if node in visited:
            yield from follow(rest, visited, kept, chance)
            return
        kept = path if len(path) > len(kept) else kept
        children = graph.children(node)
        tokens = tuple(graph.tokens[j] for j in path)
        ways: list[tuple[tuple[int, ...], Any]] = [((), chance)]
        if children:
            p, q = check_pair(target.law(prefix + tokens), draft.law(prefix + tokens))
            for i, child in enumerate(children):
                x = graph.tokens[child]
                ways = [
                    ((*passed, child) if passes else passed, reached * m)
                    for passed, reached in ways
                    for passes, m in outcomes(node, i, p[x], q[x])
                ]
        for passed, reached in ways:
            below = tuple((*path, child) for child in reversed(passed))
            yield from follow(rest + below, visited | {node}, kept, reached)

    yield from follow(((),), frozenset(), (), 1)


def _drafted_graphs(draft: Model, branching: Sequence[int], siblings: Siblings, prefix: Tokens) -> dict[Graph, Any]:
    """The probability of every graph of `draft_graph`."""
    level: dict[tuple[Graph, tuple[tuple[int, Tokens], ...]], Any] = {(Graph((), ((),)), ((ROOT, ()),)): 1}
    for K in branching:
        following: dict[tuple[Graph, tuple[tuple[int, Tokens], ...]], Any] = {}
        for (graph, nodes), chance in level.items():
            ways: list[tuple[Graph, Below, Any]] = [(graph, {}, chance)]
            for node, path in nodes:
                law = children_law(check_law(draft.law(prefix + path), name="draft"), K, siblings)
                ways = [
                    (*grown(draft, prefix, so_far, below, node, path, drawn), reached * m)
                    for so_far, below, reached in ways
                    for drawn, m in law.items()
                ]
            for whole, below, reached in ways:
                key = whole, tuple(below.values())
                following[key] = following.get(key, 0) + reached
        level = following
    found: dict[Graph, Any] = {}
    for (graph, _), chance in level.items():
        found[graph] = found.get(graph, 0) + chance
    return found
