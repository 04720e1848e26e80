"""What verifying trees as a whole gains over rules node by node, on the same drafted trees of a pair of models.

At some place in a text that the target wrote, a tree is drafted. Given its tokens the mean accepted length of a whole
tree is a sum over the paths that it may accept; that of a rule node by node is the mean over walks. Texts are
independent, and every tree is used by all, so that the ratios vary much less than the lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from resispec_ref.measurements.accepted_length import mean_over_texts, ratio_over_texts
from resispec_ref.measurements.parallel import Progress
from resispec_ref.measurements.tree_tables import at_full_vocabulary
from resispec_ref.rule.registry import get_verifier
from resispec_ref.sequence.decoding import WHOLE_TREE
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import complete_tree, draft_tree, verification_noise, verify_tree
from resispec_ref.sequence.whole_tree import path_law
from resispec_ref.sequence.whole_tree.speculate import Asked, Rows, after_nodes

WALKS = 16
"""Of a rule node by node, on each tree."""


@dataclass(frozen=True)
class Gain:
    """Whole trees, or a rule node by node, on all drafted trees."""

    rule: str
    exact: bool
    accepted_length: float
    half_width: float
    """Of the 95% interval over texts."""
    gain: float
    """Of whole trees over this: the ratio of the accepted lengths."""
    gain_half_width: float
    """Of its 95% interval, the texts and trees being the same."""


def whole_tree_gain(
    rules: Sequence[str],
    models: tuple[Model, Model],
    prefixes: Sequence[Tokens],
    branching: Sequence[int],
    *,
    seed: int = 0,
    end: int | None = None,
    progress: Progress = lambda done, wanted: None,
) -> list[Gain]:
    """`WHOLE_TREE`, then each of `rules` for independent candidates, at the end of every prefix.

    Args:
        rules: by name.
        models: target and draft.
        prefixes: two or more, independent of each other.
        branching: children by depth of the trees.
        seed: of the drafts and of the walks.
        end: a text ends with this token.
        progress: called with the number of prefixes done and wanted.

    Raises:
        ValueError: fewer than two prefixes; a rule of other candidates.
    """
    if len(prefixes) < 2:
        raise ValueError(f"prefixes: {len(prefixes)}; an interval needs 2 or more")
    for name in rules:
        if get_verifier(name).drafting != "independent":
            raise ValueError(
                f"rules: {name} is for candidates of its own kind; whole trees are compared on independent"
            )
    lengths: dict[str, list[float]] = {name: [] for name in (WHOLE_TREE, *rules)}
    for i, prefix in enumerate(prefixes):
        for name, length in zip(lengths, _lengths(rules, models, prefix, branching, seed, i, end), strict=True):
            lengths[name].append(length)
        progress(i + 1, len(prefixes))
    found = []
    for name, values in lengths.items():
        mean, half = mean_over_texts([np.array([v]) for v in values])
        gain, gain_half = ratio_over_texts(lengths[WHOLE_TREE], values)
        found.append(Gain(name, name == WHOLE_TREE or get_verifier(name).exact, mean, half, gain, gain_half))
    return found


def _lengths(
    rules: Sequence[str],
    models: tuple[Model, Model],
    prefix: Tokens,
    branching: Sequence[int],
    seed: int,
    place: int,
    end: int | None,
) -> Iterator[float]:
    """Mean accepted lengths on one drafted tree."""
    tree, rng = complete_tree(branching), np.random.default_rng([seed, place])
    target, draft = (Asked(model, prefix) for model in models)
    x = draft_tree(draft, tree, rng.random(len(tree)), siblings="independent", end=end)
    p, q = (Rows(model, after_nodes(x, tree)) for model in (target, draft))
    yield float(sum(chance * len(path) for path, chance in path_law(p, q, tree, x, end=end).items()))
    for name in rules:
        rule = at_full_vocabulary(name)
        walks = [
            verify_tree(rule, p, q, tree, x, rng.random(verification_noise(rule, tree)), end=end) for _ in range(WALKS)
        ]
        yield float(np.mean([walk.accepted for walk in walks]))
