"""The bound (T10) by both routes, and the order of the rules below it."""

import math
from fractions import Fraction

import numpy as np
import pytest
import routes
from hypothesis import given
from hypothesis import strategies as st
from rules import EXACT, label
from strategies import laws, one_in, pairs, problems

import resispec_ref as rs

with_and_without_replacement = pytest.mark.parametrize("replacement", [True, False])


@with_and_without_replacement
@given(problem=problems())
def test_the_bound_is_the_maximum_flow(replacement, problem):
    p, q, K = problem
    found = rs.optimal_acceptance(p, q, candidates=K, replacement=replacement)
    assert found == routes.optimal_by_flow(p, q, K, replacement)


@with_and_without_replacement
@one_in(2)
@given(pair=pairs(), K=st.integers(0, 4))
def test_the_bound_in_floats(replacement, pair, K):
    """Without replacement floats take another way, a quadrature."""
    exact = rs.optimal_acceptance(*pair, candidates=K, replacement=replacement)
    found = rs.optimal_acceptance(*(np.array(law, dtype=float) for law in pair), candidates=K, replacement=replacement)
    assert found == pytest.approx(float(exact), rel=0, abs=1e-12)


def test_the_quadrature_with_many_candidates_and_tokens():
    """Equal masses, `q = 1/V`: the candidates are any `K` tokens alike, so `Q(H)` is a ratio of binomials."""
    for V, K in (50, 4), (400, 2), (400, 8), (60, 19), (20, 19), (3000, 19):
        p = (np.arange(1.0, V + 1) / V) ** (8 * K)
        p /= p.sum()
        inside = [math.comb(n, K) / math.comb(V, K) for n in range(V + 1)]
        gap = np.array(inside) - np.concatenate([[0], np.cumsum(p)])
        assert gap.max() > 0.01
        found = rs.optimal_acceptance(p, np.full(V, 1 / V), candidates=K, replacement=False)
        assert found == pytest.approx(1 - gap.max(), rel=0, abs=1e-12)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_the_quadrature_with_skewed_drafts(K):
    """Where the clock of one token is certain to have rung long before that of another is likely to."""
    p = [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10)]
    for exponents in (0, 3, 6, 9), (0, 0, 4, 12), (7, 3, 0, 1), (0, 15, 15, 15), (0, 60, 300, 320), (310, 0, 50, 323):
        q = routes.normalised([Fraction(1, 10**e) for e in exponents])
        exact = routes.optimal_by_flow(p, q, K, replacement=False)
        found = rs.optimal_acceptance(*(np.array(law, dtype=float) for law in (p, q)), candidates=K, replacement=False)
        assert found == pytest.approx(float(exact), rel=0, abs=1e-12)


@given(pair=pairs(), K=st.integers(0, 4))
def test_the_rules_for_independent_candidates_are_ordered(pair, K):
    """`recursive rejection ≤ resispec ≤ bound` and `k-seq ≤ resispec`, and more candidates never hurt the last two."""

    def rate(name, K=K):
        return rs.emitted_law(name, *pair, candidates=K).acceptance_rate

    bound = rs.optimal_acceptance(*pair, candidates=K)
    assert rate("recursive-rejection") <= rate("resispec") <= bound
    assert rate("k-seq") <= rate("resispec")
    assert rate("resispec") <= rate("resispec", K + 1)
    assert bound <= rs.optimal_acceptance(*pair, candidates=K + 1)


@given(problem=problems())
def test_distinct_candidates_are_worth_at_least_as_much(problem):
    """The bound without replacement is the higher one: repeats are wasted."""
    p, q, K = problem
    apart = rs.optimal_acceptance(p, q, candidates=K, replacement=False)
    assert rs.optimal_acceptance(p, q, candidates=K) <= apart


@given(pair=pairs())
def test_with_one_candidate_all_is_the_overlap(pair):
    overlap = rs.overlap(*pair)
    assert overlap == sum(min(a, b) for a, b in zip(*pair, strict=True))
    assert overlap == 1 - rs.total_variation(*pair)
    assert rs.optimal_acceptance(*pair, candidates=1) == overlap
    assert rs.optimal_acceptance(*pair, candidates=1, replacement=False) == overlap
    for name in ("recursive-rejection", "recursive-rejection-without-replacement", "k-seq", "resispec"):
        assert rs.emitted_law(name, *pair, candidates=1).acceptance_rate == overlap


@pytest.mark.parametrize("rule", EXACT, ids=label)
@given(pair=pairs())
def test_without_candidates_the_target_is_emitted(rule, pair):
    found = rs.emitted_law(rule, *pair, candidates=0)
    assert (list(found.law), found.acceptance_rate) == (pair[0], 0)
    assert rs.optimal_acceptance(*pair, candidates=0) == 0


PERFECT = [
    "recursive-rejection",
    "recursive-rejection-without-replacement",
    "k-seq",
    "resispec",
    "resispec-published",
]


@pytest.mark.parametrize("name", PERFECT)
@given(p=laws(), K=st.integers(1, 3))
def test_a_perfect_draft_is_always_accepted(name, p, K):
    """`p = q`: these accept with probability 1; target matching accepts `Σ p (1 − (1 − p)^K)`."""
    assert rs.emitted_law(name, p, p, candidates=K).acceptance_rate == 1
    assert rs.emitted_law("naive", p, p, candidates=K).acceptance_rate == sum(a * (1 - (1 - a) ** K) for a in p)
