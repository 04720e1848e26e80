"""Drafting and verifying a whole tree in one step: the same as verifying the drafted tree, with fewer rows read."""

from fractions import Fraction as F

import numpy as np
import pytest

from resispec_ref.sequence.decoding import WHOLE_TREE, decode
from resispec_ref.sequence.toy import NGram
from resispec_ref.sequence.tree import complete_tree, draft_tree
from resispec_ref.sequence.whole_tree import speculate_whole_tree, verify_whole_tree

TARGET = NGram([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.1, 0.1, 0.8]])
DRAFT = NGram([[0.4, 0.4, 0.2], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]])
TREE = complete_tree((2, 2))


class Counted:
    """A model that remembers what it was asked."""

    def __init__(self, model):
        self.model, self.asked = model, []

    def law(self, prefix):
        self.asked.append(prefix)
        return self.model.law(prefix)

    def state(self, prefix):
        return self.model.state(prefix)


@pytest.mark.parametrize("end", [None, 1])
@pytest.mark.parametrize("siblings", ["independent", "distinct"])
def test_it_is_the_verification_of_the_drafted_tree(end, siblings):
    rng = np.random.default_rng(0)
    for _ in range(40):
        v, u = rng.random(len(TREE)), rng.random(2)
        tokens = draft_tree(DRAFT, TREE, v, siblings=siblings, prefix=(0,), end=end)
        after = [(0,)]
        for token, parent in zip(tokens.tolist(), TREE.parents, strict=True):
            after.append((*after[parent + 1], token))
        rows = [[model.law(path[-1:]) for path in after] for model in (TARGET, DRAFT)]
        expected = verify_whole_tree(*rows, TREE, tokens, u, siblings=siblings, end=end)
        found = speculate_whole_tree(TARGET, DRAFT, TREE, v, u, siblings=siblings, prefix=(0,), end=end)
        assert found == expected


def test_no_law_is_asked_for_twice_and_none_below_a_node_of_no_share():
    certain = NGram([[0.0, 0.0, 1.0]] * 3)
    target, draft = Counted(certain), Counted(DRAFT)
    rng = np.random.default_rng(1)
    for _ in range(20):
        speculate_whole_tree(target, draft, TREE, rng.random(len(TREE)), rng.random(2), prefix=(0,))
        assert len(set(target.asked)) == len(target.asked)
        assert len(set(draft.asked)) == len(draft.asked)
        assert all(set(path[1:]) <= {2} for path in target.asked)
        target.asked.clear()
        draft.asked.clear()


def test_decoding_whole_trees_ends_with_the_end():
    certain = NGram([[F(0), F(1)], [F(0), F(1)]])
    steps = list(decode(WHOLE_TREE, certain, certain, TREE, (0,), np.random.default_rng(0), end=1))
    assert [step.tokens for step in steps] == [(1,)]
