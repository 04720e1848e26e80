"""Candidates with laws of their own: exact, below a bound that is the maximum flow; SpecHub as its paper has it."""

import numpy as np
import optimal_routes
import pytest
import routes
from hypothesis import given
from hypothesis import strategies as st
from strategies import as_floats, laws, pairs

import resispec_ref as rs
from resispec_ref.candidates.several_drafts import hub_laws

RULES = ["naive", "recursive-rejection", "resispec", "optimal"]


@st.composite
def drafted(draw, largest=3):
    """A target, and laws of one to three candidates, some of them deterministic."""
    vocab = draw(st.integers(1, 5))
    p = draw(laws(vocab))
    one_hot = st.integers(0, vocab - 1).map(lambda x: [int(y == x) for y in range(vocab)])
    return p, draw(st.lists(st.one_of(laws(vocab), one_hot), min_size=1, max_size=largest))


@given(problem=drafted())
def test_the_bound_is_the_maximum_flow(problem):
    p, drafts = problem
    found = rs.optimal_acceptance(p, rs.PerCandidate(drafts), candidates=len(drafts))
    assert found == optimal_routes.bound_by_flow(p, drafts)


@pytest.mark.parametrize("name", RULES)
@given(problem=drafted())
def test_exact_and_below_the_bound(name, problem):
    p, drafts = problem
    K = len(drafts)
    found = rs.emitted_law(name, p, rs.PerCandidate(drafts), candidates=K)
    assert list(found.law) == p
    bound = rs.optimal_acceptance(p, rs.PerCandidate(drafts), candidates=K)
    assert found.acceptance_rate <= bound
    if name == "optimal":
        assert found.acceptance_rate >= bound - 1e-3


@given(problem=drafted())
def test_recursive_rejection_by_both_routes(problem):
    p, drafts = problem
    found = rs.emitted_law("recursive-rejection", p, rs.PerCandidate(drafts), candidates=len(drafts))
    wanted = routes.emitted(
        routes.recursive_rejection, p, lambda xs: drafts[min(len(xs), len(drafts) - 1)], len(drafts)
    )
    assert (list(found.law), list(found.acceptance_per_candidate)) == wanted


@pytest.mark.parametrize("name", ["naive", "recursive-rejection", "resispec"])
@given(pair=pairs(), K=st.integers(1, 3))
def test_one_law_for_all_is_no_other_case(name, pair, K):
    """`resispec` has its fixed point in floats here, so its rate is met to rounding."""
    p, q = pair
    wanted = rs.emitted_law(name, p, q, candidates=K).acceptance_rate
    found = rs.emitted_law(name, p, rs.PerCandidate([q] * K), candidates=K).acceptance_rate
    assert float(found) == pytest.approx(float(wanted), abs=1e-9)


@given(pair=pairs())
def test_spechub_is_the_published_procedure(pair):
    p, q = pair
    found = rs.emitted_law("spechub", p, q, candidates=2)
    if sum(v > 0 for v in q) > 1:  # a draft of one token has no pair
        law, rate = optimal_routes.spechub_as_published(p, q)
        assert (list(found.law), found.acceptance_rate) == (law, rate)
    assert found.acceptance_rate == rs.optimal_acceptance_for(rs.get_verifier("spechub"), p, q, candidates=2)


@given(q=laws(), K=st.integers(1, 4))
def test_hub_laws(q, K):
    """Each is a law or empty, and no two share a token."""
    drafts = [list(law) for law in hub_laws(np.array(q, dtype=object), K)]
    assert all(sum(law) in (0, 1) for law in drafts)
    assert all(sum(v > 0 for v in column) <= 1 for column in zip(*drafts, strict=True))
    assert all(v == 0 or q[x] > 0 for law in drafts for x, v in enumerate(law))


def test_verification_has_the_law():
    """Frequencies within Hoeffding's distance; a false alarm has probability 1e-9 a number, 24 numbers in all."""
    rng, n = np.random.default_rng(2), 100_000
    p, drafts = [0.2, 0.3, 0.5], [[0.6, 0.3, 0.1], [0.0, 0.0, 1.0], [0.2, 0.7, 0.1]]
    x = np.stack([rng.choice(3, size=n, p=law) for law in drafts], axis=-1)
    distance = np.sqrt(np.log(2 / 1e-9) / (2 * n))
    for name in RULES:
        found = rs.verify(name, p, rs.PerCandidate(drafts), x, rng.random((n, rs.uniforms_needed(name, 3))))
        np.testing.assert_allclose(np.bincount(found.token, minlength=3) / n, p, rtol=0, atol=distance)
        if name != "optimal":  # whose rates are for candidates in random order
            rates = rs.emitted_law(name, p, rs.PerCandidate(drafts), candidates=3).acceptance_per_candidate
            seen = np.bincount(found.accepted_index, minlength=4)[:3] / n
            np.testing.assert_allclose(seen, rates, rtol=0, atol=distance)


def test_arguments_are_refused_in_words():
    p, drafts = as_floats([1, 0]), rs.PerCandidate([[0.5, 0.5], [0.0, 1.0]])
    with pytest.raises(ValueError, match="k-seq takes one law for all candidates"):
        rs.emitted_law("k-seq", p, drafts, candidates=2)
    with pytest.raises(ValueError, match="laws for 2 candidates, but there are 3"):
        rs.emitted_law("naive", p, drafts, candidates=3)
    with pytest.raises(ValueError, match="tokens, row 0, entry 1: 0 has draft probability 0"):
        rs.verify("naive", p, drafts, [0, 0], [0.5] * 3)
    with pytest.raises(ValueError, match="tokens: 1 candidates beside 2 laws"):
        rs.verify("naive", p, drafts, [0], [0.5] * 2)
    with pytest.raises(ValueError, match="too many subsets"):
        rs.optimal_acceptance([0.05] * 20, rs.PerCandidate([[0.05] * 20, [0.1] * 10 + [0.0] * 10]), candidates=2)
