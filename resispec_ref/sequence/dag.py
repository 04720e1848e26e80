"""Candidate graphs: nodes at which the draft model is in the same state are merged, whatever path led there.

A node may then be reached from several parents, and twice from one parent whose draws coincided. What stays exact:

- a parent lists its candidates as they were drawn, repetitions included. Dropping a repetition changes the law of
  the candidates, and a rule for independent ones is no longer exact;
- the children of a merged node are fresh draws, made once, from the draft law that all paths to it share. The walk
  takes one of the paths, so for it they are what they would be in a tree: the law of the walk is that of the tree, and
  `walk_law` and `expected_accepted_length` give it;
- the target law is that of the path walked. A target that remembers more than the draft has another law on every path
  to the node; reading it once for all of them is biased.

So merging saves laws of the draft, and of the target as far as the target forgets the same things.

The published code verifies such graphs by another test, which is biased (`verify_graph_as_released`).

Source: Gong et al. 2024 (arXiv 2407.16207), graph-structured speculative decoding.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from resispec_ref.acceptance import uniforms_needed
from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import Verifier
from resispec_ref.sequence.node import ABSENT, Siblings, check_siblings, draw_candidates
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import ROOT, Emission, check_noise, complete_tree, walk


class Graph(NamedTuple):
    """A candidate graph, level by level."""

    tokens: tuple[int, ...]
    """The token of each node."""
    candidates: tuple[tuple[int, ...], ...]
    """The nodes that the root (entry 0) and each node `j` (entry `j + 1`) were drawn as candidates, in that order."""

    def children(self, node: int) -> tuple[int, ...]:
        return self.candidates[node + 1]


def draft_graph(
    draft: Model,
    branching: Sequence[int],
    uniforms: Any,
    *,
    siblings: Siblings,
    prefix: Tokens = (),
    end: int | None = None,
) -> Graph:
    """Draw `branching[d]` candidates for every node of depth `d`; equal tokens in equal states of `draft` are one node.

    `uniforms` has the length of the complete tree of this branching and is used from its front.

    >>> from resispec_ref.sequence.toy import NGram
    >>> draft_graph(NGram([0.5, 0.5]), (2, 1), [0.1, 0.2, 0.9, 0.5], siblings="independent")
    Graph(tokens=(0, 1), candidates=((0, 0), (1,), ()))
    """
    u = check_noise("uniforms", uniforms, (len(complete_tree(branching)),))
    graph = Graph((), ((),))
    level: list[tuple[int, Tokens]] = [(ROOT, ())]
    used = 0
    for K in branching:
        below: Below = {}
        for node, path in level:
            if path and path[-1] == end:
                continue
            drawn = draw_candidates(draft.law(prefix + path), u[used : used + K], siblings)
            used += K
            graph, below = grown(draft, prefix, graph, below, node, path, drawn[drawn != ABSENT].tolist())
        level = list(below.values())
    return graph


Below = dict[Hashable, tuple[int, Tokens]]
"""The nodes of the next level so far, by what makes two of them one, with a path to each."""


def grown(
    draft: Model, prefix: Tokens, graph: Graph, below: Below, node: int, path: Tokens, drawn: Sequence[int]
) -> tuple[Graph, Below]:
    """The graph with the candidates of one node, merged with those of their level that are in the same state."""
    tokens, candidates, below, names = list(graph.tokens), list(graph.candidates), dict(below), []
    for x in drawn:
        key = (x, draft.state((*prefix, *path, x)))
        if key not in below:
            below[key] = (len(tokens), (*path, x))
            tokens.append(x)
            candidates.append(())
        names.append(below[key][0])
    candidates[node + 1] = tuple(names)
    return Graph(tuple(tokens), tuple(candidates)), below


def verify_graph(
    verifier: str | Verifier,
    target: Model,
    draft: Model,
    graph: Graph,
    uniforms: Any,
    *,
    siblings: Siblings | None = None,
    prefix: Tokens = (),
    end: int | None = None,
) -> Emission:
    """Walk down a drafted graph as down a tree, with the target's law after the tokens of the path walked.

    `uniforms` has a row for each depth and one more, as for `verify_tree`.

    Raises:
        ValueError: as `verify_tree`.

    >>> from resispec_ref.sequence.toy import NGram
    >>> fair = NGram([0.5, 0.5])
    >>> graph = draft_graph(fair, (2,), [0.1, 0.9], siblings="independent")
    >>> verify_graph("recursive-rejection", fair, fair, graph, [[0.5, 0.5, 0.5], [0.9, 0.9, 0.9]])
    Emission(tokens=(0, 1), path=(0,))
    """
    rule = get_verifier(verifier)
    kind = check_siblings(siblings, rule)
    rows = np.asarray(uniforms)
    needed = uniforms_needed(rule, max(map(len, graph.candidates)))
    if rows.ndim != 2 or rows.shape[1] < needed:
        raise ValueError(f"uniforms: shape {rows.shape}; (depth + 1, {needed}) is needed")
    tokens = np.array(graph.tokens, dtype=np.int64)
    return walk(
        rule,
        graph.children,
        lambda children, q: tokens[list(children)],
        lambda node, emitted: target.law(prefix + emitted),
        lambda node, emitted: draft.law(prefix + emitted),
        rows.__getitem__,
        kind,
        end,
    )
