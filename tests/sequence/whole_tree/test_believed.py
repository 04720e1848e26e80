"""Trees that do not come from the law that the rule believes: the bias, and exactness once the law is known."""

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import as_objects, model_pairs

from resispec_ref.sequence import NGram, complete_tree, completed, joint_law, walk_law
from resispec_ref.sequence.divergence import sequence_total_variation
from resispec_ref.sequence.whole_tree import DraftedTrees, KeptTrees, bound_on_trees, law_if_believed, law_on_trees

LAW = NGram(as_objects([F(1, 2), F(1, 3), F(1, 6)]))
TWO = DraftedTrees(LAW, complete_tree((2,)), siblings="independent")
LIKELIER = KeptTrees(TWO, lambda tree: (min(tree),))  # token 0 is the likeliest
SORTED = KeptTrees(TWO, lambda tree: tuple(sorted(tree)))


def first_token(law):
    return {(x,): sum(m for (s, _), m in law.items() if s[0] == x) for x in range(3)}


@pytest.mark.parametrize(
    ("rule", "siblings"),
    [("recursive-rejection", "independent"), ("resispec", "independent"), ("resispec-published", "independent"),
     ("recursive-rejection-without-replacement", "distinct")],
)  # fmt: skip
@pytest.mark.parametrize("branching", [(2,), (2, 1), (1, 2)], ids=str)
@given(models=model_pairs(3, max_vocab=2))
def test_drafted_trees_are_believed_rightly(rule, siblings, branching, models):
    target, draft = models
    tree = complete_tree(branching)
    trees = DraftedTrees(draft, tree, siblings=siblings)
    assert law_if_believed(rule, target, draft, trees) == walk_law(rule, target, draft, tree)


def test_pruned_by_its_own_scores():
    """`p = q = (1/2, 1/3, 1/6)`, two draws, the likelier kept and tested against `q`: (3/4, 2/9, 1/36), TV 1/4."""
    law = first_token(law_if_believed("recursive-rejection", LAW, LAW, LIKELIER))
    assert list(law.values()) == [F(3, 4), F(2, 9), F(1, 36)]
    assert sequence_total_variation(law, joint_law(LAW, 1)) == F(1, 4)


def test_sorting_by_its_own_scores_is_enough():
    """Both draws are still there, the likelier first: the first is no draw from `q` either."""
    law = first_token(law_if_believed("recursive-rejection", LAW, LAW, SORTED))
    assert sequence_total_variation(law, joint_law(LAW, 1)) == F(1, 4)


@pytest.mark.parametrize("trees", [LIKELIER, SORTED], ids=["pruned", "sorted"])
def test_with_the_law_of_what_was_kept_it_is_exact(trees):
    law = law_on_trees(LAW, trees)
    assert completed(law, LAW, 2) == joint_law(LAW, 2)


def test_the_bound_is_that_of_the_kept_set():
    """Pruned to one of two, at most `Σ min(p, kept)` is accepted, `1 − 1/4`; drawn alone, all of it."""
    pytest.importorskip("scipy")
    assert bound_on_trees(LAW, LIKELIER).length == pytest.approx(3 / 4, abs=1e-9)


@given(p=st.integers(1, 5))
def test_a_candidate_that_the_draft_does_not_have(p):
    sure = NGram(as_objects([F(1), F(0), F(0)]))
    with pytest.raises(ValueError, match="candidate 1 after"):
        law_if_believed("recursive-rejection", LAW, sure, KeptTrees(TWO, lambda tree: ((1, ()),)))


def test_a_rule_that_looks_at_all_is_refused():
    with pytest.raises(ValueError, match="optimal looks at all"):
        law_if_believed("optimal", LAW, LAW, TWO)
