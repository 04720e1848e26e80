"""The gain of whole trees: paired on drafted trees, right in the mean, and against the exact lengths of toy models."""

import pytest

from resispec_ref.measurements.whole_tree_gain import whole_tree_gain
from resispec_ref.sequence import expected_accepted_length, whole_tree_law
from resispec_ref.sequence.decoding import WHOLE_TREE
from resispec_ref.sequence.toy import NGram
from resispec_ref.sequence.tree import complete_tree
from resispec_ref.sequence.whole_tree import accepted_masses

TARGET = NGram([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.1, 0.1, 0.8]])
DRAFT = NGram([[0.4, 0.4, 0.2], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]])


def test_lengths_are_those_of_the_exact_laws(effort):
    """Within 5 standard errors of 600 trees, twice: 1e-6 by the normal law; these are 0.02 to 0.03 of a token."""
    n = 600 * effort
    found = whole_tree_gain(["recursive-rejection"], (TARGET, DRAFT), [(0,)] * n, (2, 2), seed=3)
    tree = complete_tree((2, 2))
    exact = {
        WHOLE_TREE: float(sum(accepted_masses(whole_tree_law(TARGET, DRAFT, tree, prefix=(0,))))),
        "recursive-rejection": float(expected_accepted_length("recursive-rejection", TARGET, DRAFT, tree, prefix=(0,))),
    }
    assert [row.rule for row in found] == list(exact)
    for row in found:
        assert abs(row.accepted_length - exact[row.rule]) <= 5 / 1.96 * row.half_width
    assert found[0].gain == 1
    assert found[0].gain_half_width == pytest.approx(0, abs=1e-12)
    assert found[1].gain == pytest.approx(found[0].accepted_length / found[1].accepted_length)


def test_what_cannot_be_compared():
    with pytest.raises(ValueError, match="2 or more"):
        whole_tree_gain(["resispec"], (TARGET, DRAFT), [(0,)], (2,))
    with pytest.raises(ValueError, match="candidates of its own kind"):
        whole_tree_gain(["spechub"], (TARGET, DRAFT), [(0,)] * 2, (2,))


def test_progress_counts_prefixes():
    seen = []
    whole_tree_gain([], (TARGET, DRAFT), [(0,), (1,)], (2,), progress=lambda done, wanted: seen.append((done, wanted)))
    assert seen == [(1, 2), (2, 2)]
