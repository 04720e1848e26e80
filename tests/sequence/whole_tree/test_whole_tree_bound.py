"""The bound over whole trees: the example of two levels, one level, and what no exact rule exceeds."""

from fractions import Fraction as F

import pytest
from hypothesis import given
from strategies import pairs

import resispec_ref as rs
from resispec_ref.sequence import ToyModel, complete_tree, expected_accepted_length
from resispec_ref.sequence.whole_tree import accepted_masses, whole_tree_bound, whole_tree_law

FAIR = [F(1, 2), F(1, 2)]
TARGET = ToyModel([[F(5, 6), F(1, 6)], [[F(3, 7), F(4, 7)], [F(2, 3), F(1, 3)]], [[FAIR, FAIR]] * 2])
DRAFT = ToyModel([[F(9, 17), F(8, 17)], [[F(9, 13), F(4, 13)], [F(2, 3), F(1, 3)]], [[FAIR, FAIR]] * 2])


def test_two_levels_and_two_candidates():
    """About 1.8904; a certificate in rationals is above it by the solver's rounding; levels in turn reach 1.8652."""
    tree = complete_tree((2, 2))
    bound = whole_tree_bound(TARGET, DRAFT, tree)
    assert bound.length == pytest.approx(1.8904, abs=1e-4)
    assert isinstance(bound.certified, F)
    assert abs(float(bound.certified) - bound.length) < 1e-9
    masses = accepted_masses(whole_tree_law(TARGET, DRAFT, tree))
    reached = float(sum(masses))
    assert reached == pytest.approx(1.8652, abs=2e-3)
    assert float(expected_accepted_length("optimal", TARGET, DRAFT, tree)) < reached <= float(bound.certified)


@given(pair=pairs())
def test_one_level_is_the_bound_of_one_position(pair):
    p, q = pair
    found = whole_tree_bound(ToyModel([p]), ToyModel([q]), complete_tree((2,)))
    right = rs.optimal_acceptance(p, q, candidates=2)
    assert found.certified >= right
    assert found.length == pytest.approx(float(right), abs=1e-9)
