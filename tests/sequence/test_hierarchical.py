"""Hierarchical speculative decoding is block verification, and its listing is not."""

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals import law_of
from models import accepted_length, as_objects, model_pairs, random_model, rows_of

from resispec_ref.sequence import (
    NGram,
    chain_tree,
    completed,
    draft_tree,
    hierarchical_law,
    joint_law,
    sequence_total_variation,
    traversal_law,
    verify_block,
)

ONE, OTHER = NGram(as_objects([F(1, 3), F(2, 3)])), NGram(as_objects([F(2, 3), F(1, 3)]))


@given(models=model_pairs(3, max_vocab=2), length=st.integers(1, 2))
def test_as_defined_it_is_block_verification(models, length):
    """Against the recursion from the leaves up, which knows nothing of maxima of ratios."""
    target, draft = models
    law = hierarchical_law(target, draft, length)
    assert law == traversal_law("recursive-rejection", target, draft, chain_tree(length))
    assert completed(law, target, length + 1) == joint_law(target, length + 1)


@pytest.mark.parametrize("seed", range(3))
def test_as_defined_it_is_verify_block_itself(seed, intervals):
    target, draft, tree = random_model(seed, 2, 3, least=1), random_model(seed + 9, 2, 3, least=1), chain_tree(2)

    def procedure(u):
        tokens = draft_tree(draft, tree, u[:2], siblings="independent")
        rows = rows_of(target, tree, tokens), rows_of(draft, tree, tokens)[:-1]
        found = verify_block(*rows, tokens, u[2:])
        return found.tokens, found.accepted

    assert law_of(procedure, (5,)) == hierarchical_law(target, draft, 2)


def test_as_listed_by_hand():
    """The page's numbers: law (1/9, 2/9, 1/3, 1/3) for (1/9, 2/9, 2/9, 4/9), TV 1/9, length 4/3 for 11/9."""
    right, listed = (hierarchical_law(ONE, OTHER, 2, as_listed=listed) for listed in (False, True))
    two = {s: sum(m for t, m in completed(listed, ONE, 3).items() if t[:2] == s) for s in joint_law(ONE, 2)}
    assert [two[s] for s in sorted(two)] == [F(1, 9), F(2, 9), F(1, 3), F(1, 3)]
    assert [m for _, m in sorted(joint_law(ONE, 2).items())] == [F(1, 9), F(2, 9), F(2, 9), F(4, 9)]
    assert sequence_total_variation(two, joint_law(ONE, 2)) == F(1, 9)
    assert (accepted_length(right), accepted_length(listed)) == (F(11, 9), F(4, 3))


def test_one_token_hides_it():
    """With one drafted token the product is the capped ratio."""
    assert hierarchical_law(ONE, OTHER, 1, as_listed=True) == hierarchical_law(ONE, OTHER, 1)
