"""Drafting and verifying a whole tree in one step, with rows that are asked for when they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from resispec_ref.residual import check_option
from resispec_ref.sequence.node import Siblings
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import Emission, Tree, draft_tree
from resispec_ref.sequence.whole_tree.level import Weights
from resispec_ref.sequence.whole_tree.verify import verify_whole_tree
from resispec_ref.sequence.whole_tree.weights import best_weights


def speculate_whole_tree(
    target: Model,
    draft: Model,
    tree: Tree,
    draft_uniforms: Any,
    uniforms: Any,
    *,
    siblings: Siblings = "independent",
    weights: Weights = best_weights,
    prefix: Tokens = (),
    end: int | None = None,
) -> Emission:
    """`draft_tree`, then `verify_whole_tree` with the models' own laws after `prefix`.

    The target is asked at nodes that the accepted path may go through, and nowhere else; the draft at every node that
    has children.

    Args:
        target, draft: models.
        tree: the shape.
        draft_uniforms: `(nodes,)` in `[0, 1)`, one a candidate.
        uniforms: `(2,)` in `[0, 1)`, as for `verify_whole_tree`.
        siblings: how the candidates of a node are drawn.
        weights: how the weights of a level are chosen.
        prefix: the tokens before the tree.
        end: the output ends with this token, wherever it comes.

    Returns:
        `Emission(tokens, path)`.

    Raises:
        ValueError: as `draft_tree` and `verify_whole_tree`.

    Source: section 8 of the mathematics, T15.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> coin = NGram([0.5, 0.5])
    >>> speculate_whole_tree(coin, coin, complete_tree((2, 1)), [0.1, 0.9, 0.9, 0.1], [0.3, 0.9])
    Emission(tokens=(0, 1, 1), path=(0, 2))
    """
    check_option("siblings", siblings, Siblings)
    asked = Asked(draft, prefix)
    x = draft_tree(asked, tree, draft_uniforms, siblings=siblings, end=end)
    p, q = (Rows(model, after_nodes(x, tree)) for model in (Asked(target, prefix), asked))
    return verify_whole_tree(p, q, tree, x, uniforms, siblings=siblings, weights=weights, end=end)


def after_nodes(tokens: np.ndarray, tree: Tree) -> list[Tokens]:
    """What stands before the row of the root, and of every node."""
    found: list[Tokens] = [()]
    for token, parent in zip(tokens.tolist(), tree.parents, strict=True):
        found.append((*found[parent + 1], token))
    return found


class Asked:
    """A model after a prefix, asked once for each law."""

    def __init__(self, model: Model, prefix: Tokens):
        self._model, self._prefix, self._laws = model, prefix, dict[Tokens, Any]()

    def law(self, path: Tokens) -> Any:
        if path not in self._laws:
            self._laws[path] = self._model.law(self._prefix + path)
        return self._laws[path]

    def state(self, path: Tokens) -> Any:
        return self._model.state(self._prefix + path)


class Rows:
    """The laws at the root and at every node of a tree, each computed when it is looked at."""

    def __init__(self, model: Asked, after: list[Tokens]):
        self._model, self._after = model, after

    def __len__(self) -> int:
        return len(self._after)

    def __getitem__(self, row: int) -> Any:
        return self._model.law(self._after[row])
