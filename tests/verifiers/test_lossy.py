"""Lossy rules: their exact bias by both routes, and what limits it."""

from fractions import Fraction

import optimal_routes
import pytest
import routes
from hypothesis import given
from strategies import laws, pairs, problems

import resispec_ref as rs

STEPS = {
    "ears": lambda p: optimal_routes.ears(p, Fraction(1, 10)),
    "lenience": lambda p: optimal_routes.lenience(p, Fraction(1, 2)),
    "constant-threshold": lambda p: optimal_routes.constant_threshold(p, Fraction(31, 100)),
    "typical-acceptance": lambda p: optimal_routes.typical_acceptance(p, 0.09, 0.3),
    "target-match-top-k": lambda p: optimal_routes.target_match_top_k(p, 2),
}


@pytest.mark.parametrize("name", STEPS)
@given(problem=problems())
def test_both_routes_agree(name, problem):
    p, q, K = problem
    found = rs.emitted_law(name, p, q, candidates=K)
    assert routes.emitted(STEPS[name](p), p, routes.independent(q), K) == (
        list(found.law),
        list(found.acceptance_per_candidate),
    )


@given(problem=problems(min_candidates=1))
def test_a_mixture_is_emitted_as_declared(problem):
    p, q, K = problem
    found = rs.emitted_law(rs.get_verifier("mixture", weight=Fraction(1, 3)), p, q, candidates=K)
    assert list(found.law) == [(2 * a + b) / 3 for a, b in zip(p, q, strict=True)]
    assert found.total_variation == rs.total_variation(p, q) / 3


@given(pair=pairs())
def test_without_their_licence_they_are_recursive_rejection(pair):
    """Tolerance 0, lenience 1, and weight 0 of the draft with one candidate."""
    wanted = rs.emitted_law("recursive-rejection", *pair, candidates=2)
    for rule in rs.get_verifier("ears", tolerance=0), rs.get_verifier("lenience", lenience=1):
        found = rs.emitted_law(rule, *pair, candidates=2)
        assert list(found.law) == list(wanted.law)
        assert found.acceptance_rate == wanted.acceptance_rate


@given(pair=pairs())
def test_lenience_emits_no_token_too_often(pair):
    """At most `p / l` with one candidate, as its authors say."""
    p, q = pair
    law = rs.emitted_law(rs.get_verifier("lenience", lenience=Fraction(1, 3)), p, q, candidates=1).law
    assert all(v <= 3 * a for v, a in zip(law, p, strict=True))


@pytest.mark.parametrize("name", ["ears", "lenience", "constant-threshold"])
@given(p=laws())
def test_a_perfect_draft_leaves_no_bias(name, p):
    assert rs.emitted_law(name, p, p, candidates=1).total_variation == 0


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("ears", {"tolerance": 2}, "tolerance: 2 is not in"),
        ("lenience", {"lenience": 0}, "lenience: 0 is not in"),
        ("mixture", {"weight": -0.1}, "weight: -0.1 is not in"),
        ("constant-threshold", {"threshold": float("nan")}, "threshold: nan is not in"),
        ("typical-acceptance", {"delta": 3}, "delta: 3 is not in"),
        ("target-match-top-k", {"top_k": 0}, "top_k: 0 is no number of tokens"),
        ("importance-weighted", {"power": -1}, "power: -1"),
        ("resispec-without-replacement", {"extra": -1}, "extra: -1"),
    ],
)
def test_options_out_of_range_are_named(name, options, words):
    with pytest.raises(ValueError, match=words):
        rs.get_verifier(name, **options)
