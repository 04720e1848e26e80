"""Verification node by node of trees that do not come from the law that the rule believes.

Candidates that were pruned, or sorted by their own scores, are no draws from the draft any more; a rule that goes on
testing them against the draft's law is biased, however exact it is for draws. The bias is computed here. With the law
that the kept trees have, `verify_whole_tree` and `law_on_trees` are exact again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import State, Verifier
from resispec_ref.sequence.law import WalkLaw
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.whole_tree.random_trees import Branches, RandomTrees, as_branches, enumerate_trees
from resispec_ref.validation import check_pair


def law_if_believed(
    verifier: str | Verifier, target: Model, draft: Model, trees: RandomTrees, *, prefix: Tokens = ()
) -> WalkLaw:
    """The law of a walk node by node over trees of any law, by a rule that believes them drawn from `draft`.

    For trees that are so drawn (`DraftedTrees`) it is `walk_law`, and exact for exact rules; for others it says how
    biased the belief is. All trees are enumerated.

    Args:
        verifier: a rule that looks at one candidate after the other.
        target, draft: models; the draft's laws are those that the rule tests against.
        trees: what the verifier is really shown.
        prefix: the tokens before the tree.

    Raises:
        ValueError: a rule that looks at all candidates at once; a candidate that the draft gives probability 0.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> from resispec_ref.sequence.whole_tree.random_trees import DraftedTrees, KeptTrees
    >>> law = NGram([F(1, 2), F(1, 3), F(1, 6)])
    >>> drawn = DraftedTrees(law, complete_tree((2,)), siblings="independent")
    >>> likelier = KeptTrees(drawn, lambda tree: (min(tree),))  # of two draws, the one that the draft likes more
    >>> found = law_if_believed("recursive-rejection", law, law, likelier)
    >>> [str(sum(m for (s, _), m in found.items() if s[0] == x)) for x in range(3)]
    ['3/4', '2/9', '1/36']
    """
    rule = get_verifier(verifier)
    if not rule.sequential:
        raise ValueError(f"verifier: {rule.name} looks at all candidates at once; give a rule that takes them in turn")
    found: WalkLaw = {}

    def follow(branches: Branches, emitted: Tokens, reached: Any) -> None:
        p = target.law(prefix + emitted)
        p, q = check_pair(p, draft.law(prefix + emitted) if branches else p)
        state: State = rule.start(p, q, len(branches))
        for x, below in branches:
            if not state.proposal[x] > 0:
                raise ValueError(f"trees: the candidate {x} after {emitted} has probability 0 in the draft")
            passed = rule.accepted(state)[x] / state.proposal[x]
            if passed:
                follow(below, (*emitted, x), reached * passed)
            reached = reached * (1 - passed)
            if not reached:
                return
            state = rule.reject(state, np.asarray(x))
        for y, m in enumerate(state.target.tolist()):
            if m:
                key = ((*emitted, y), len(emitted))
                found[key] = found.get(key, 0) + reached * m

    for revealed, chance in enumerate_trees(trees).items():
        follow(as_branches(revealed), (), chance)
    return found
