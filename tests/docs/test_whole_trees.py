"""The numbers on whole trees in the README and on the front page are what `docs/whole_trees.py` prints."""

import sys
from fractions import Fraction as F

import pytest
from sphinx_and_chromium import DOCS, ROOT

sys.path.insert(0, str(DOCS))
import whole_trees

import resispec_ref as rs
from resispec_ref.sequence import expected_accepted_length, whole_tree_law
from resispec_ref.sequence.whole_tree import accepted_masses, target_weights

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_the_readme():
    """If this fails: put what `python docs/whole_trees.py` prints in the place of the table in README.md."""
    assert README.split("<!-- python docs/whole_trees.py -->")[1].strip() == whole_trees.table()


def test_the_headline():
    pair = whole_trees.PAIRS["three tokens"]
    found = whole_trees.lengths(*pair)
    best, whole, bound = (f"{float(x):.3f}" for x in found[1:])
    assert whole == bound
    assert f"{whole} candidates a pass instead of {best}" in README
    front = " ".join((DOCS / "index.md").read_text(encoding="utf-8").split())
    assert f"the best of these accepts {best} candidates a pass" in front
    assert f"(tutorial/whole-tree.md) {whole}, and no exact verifier more" in front


@pytest.mark.parametrize("name", whole_trees.PAIRS)
def test_lengths(name):
    """In the order of the inequalities; the bound at every node by a walk with the rule that attains it, in floats."""
    pair = whole_trees.PAIRS[name]
    found = whole_trees.lengths(*pair)
    assert found.recursive <= found.node_by_node
    assert found.whole_tree <= found.bound
    assert float(expected_accepted_length("optimal", *pair, whole_trees.TREE)) == pytest.approx(
        float(found.node_by_node), abs=1e-9
    )


def test_the_lengths_by_hand():
    """31/16 with the weights of the explanation; the default's rounded ones keep no more, and hardly less."""
    pair = whole_trees.PAIRS["the second repeats the first"]
    repeats = whole_trees.lengths(*pair)
    assert repeats.node_by_node == F(7, 4)
    by_hand = sum(accepted_masses(whole_tree_law(*pair, whole_trees.TREE, weights=target_weights)))
    assert by_hand == F(31, 16)
    assert by_hand - F(1, 10**6) < repeats.whole_tree <= repeats.bound
    three = whole_trees.lengths(*whole_trees.PAIRS["three tokens"])
    node = rs.optimal_acceptance(whole_trees.P, whole_trees.Q, candidates=2)
    assert three.node_by_node == node + node**2 == F(272481, 160000)
