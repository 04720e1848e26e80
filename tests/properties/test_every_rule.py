"""What holds for every rule of the registry under every option, in rationals: new rules inherit these tests."""

from fractions import Fraction

import gmpy2
import numpy as np
import pytest
import routes
from hypothesis import given
from rules import EXACT, VARIANTS, exact, label, states
from strategies import one_in, pairs, problems

import resispec_ref as rs
from resispec_ref.bounds import optimal_acceptance_for
from resispec_ref.verifiers.independent.k_seq import least_rho

every_rule = pytest.mark.parametrize("rule", VARIANTS, ids=label)


def law_of(rule, problem):
    """The emitted law of a problem, once it is seen to be one."""
    p, q, K = problem
    found = rs.emitted_law(rule, p, q, candidates=K)
    assert sum(found.law) == 1
    assert min(found.law) >= 0
    assert found.acceptance_per_candidate.shape == (K,)
    assert found.acceptance_rate == sum(found.acceptance_per_candidate)
    assert all(rate >= 0 for rate in found.acceptance_per_candidate)
    assert 0 <= found.acceptance_rate <= 1
    assert found.total_variation == sum(abs(a - b) for a, b in zip(found.law, p, strict=True)) / 2
    return found


@pytest.mark.parametrize("rule", EXACT, ids=label)
@given(problem=problems())
def test_exact_rules_emit_the_target_and_accept_at_most_the_bound(rule, problem):
    found = law_of(rule, problem)
    p, q, K = problem
    assert list(found.law) == p
    assert found.acceptance_rate <= optimal_acceptance_for(rule, p, q, candidates=K)


@pytest.mark.parametrize("rule", [rule for rule in VARIANTS if not rule.exact], ids=label)
@one_in(2)
@given(problem=problems(max_paths=125))
def test_biased_rules_emit_a_law(rule, problem):
    law_of(rule, problem)


@pytest.mark.parametrize("rule", [rule for rule in EXACT if not rule.path_dependent], ids=label)
@given(pair=pairs(vocab=6))
def test_exact_at_six_tokens_and_four_candidates(rule, pair):
    p, q = pair
    assert list(rs.emitted_law(rule, p, q, candidates=4).law) == p


@every_rule
@one_in(2)
@given(problem=problems(max_paths=64))
def test_every_step_is_a_step(rule, problem):
    """`0 ≤ m ≤ q_i` and laws after it; for exact rules also T1: `m ≤ p_i` and `Σ_x (q_i − m)(x) R(x, ·) = p_i − m`."""
    p, q, K = problem
    for state, after in states(rule, p, q, K):
        m, P, Q = rule.accepted(state), state.target, state.proposal
        assert all(m >= 0)
        assert all(m <= Q)
        assert all(sum(R.target) == 1 for R in after.values())
        if rule.exact and any(Q):
            assert all(m <= P)
            assert all(sum(((Q - m)[x] * R.target for x, R in after.items()), P * 0) == P - m)


@every_rule
@one_in(2)
@given(problem=problems(max_paths=64))
def test_fraction_and_mpq_agree(rule, problem):
    p, q, K = problem
    fractions = rs.emitted_law(rule, p, q, candidates=K)
    found = rs.emitted_law(rule, [gmpy2.mpq(v) for v in p], [gmpy2.mpq(v) for v in q], candidates=K)
    assert {type(v) for v in [*found.law, *found.acceptance_per_candidate, found.total_variation]} == {gmpy2.mpq}
    assert {type(v) for v in fractions.law} == {Fraction}
    for a, b in zip(found, fractions, strict=True):
        assert np.all(a == b)


@every_rule
@one_in(2)
@given(problem=problems(max_paths=64))
def test_floats_agree_with_rationals(rule, problem):
    """A step has about `2 vocab + 10` roundings of numbers up to 1; what they change later is weighted by how often.

    Rates per candidate are left out: rounding chooses among the roots `W` of `resispec` where it has several. The `ρ`
    of `k-seq` is a rational within `(K − 1) / 2^24`, which moves each of `K` rates by at most as much.
    """
    p, q, K = problem
    wanted = rs.emitted_law(rule, p, q, candidates=K)
    found = rs.emitted_law(rule, np.array(p, dtype=float), np.array(q, dtype=float), candidates=K)
    rounding = (K + 1) * 1e-14
    np.testing.assert_allclose(found.law, np.array(wanted.law, dtype=float), rtol=0, atol=rounding)
    slack = K * K / 2**24 if rule.name == "k-seq" else 0
    assert abs(found.acceptance_rate - float(wanted.acceptance_rate)) <= rounding + slack
    assert found.acceptance_per_candidate.sum() == pytest.approx(found.acceptance_rate, abs=rounding)


SEQUENTIAL = ["naive", "recursive-rejection", "recursive-rejection-without-replacement", "resispec"]


@pytest.mark.parametrize("name", SEQUENTIAL)
@given(problem=problems())
def test_both_routes_agree(name, problem):
    p, q, K = problem
    found = rs.emitted_law(name, p, q, candidates=K)
    step, following = routes.sequential(name, p, q, K)
    assert routes.emitted(step, p, following, K) == (list(found.law), list(found.acceptance_per_candidate))


@given(problem=problems())
def test_both_routes_agree_on_target_matching_of_whole_tuples(problem):
    p, q, K = problem
    found = rs.emitted_law("naive", p, q, candidates=K)
    assert routes.target_matching(p, q, K) == (list(found.law), list(found.acceptance_per_candidate))


@given(problem=problems(min_candidates=1))
def test_both_routes_agree_on_k_seq(problem):
    """And its `ρ`, checked by the defining inequality, is the least up to the last bisection."""
    p, q, K = problem
    (rho,) = least_rho(exact(p), exact(q), K)

    def is_enough(rho):
        beta = sum(min(a / rho, b) for a, b in zip(p, q, strict=True))
        return rho * beta >= 1 - (1 - beta) ** K

    assert is_enough(rho)
    assert rho == 1 or not is_enough(max(rho - Fraction(K, 2**24), Fraction(1)))
    found = rs.emitted_law("k-seq", p, q, candidates=K)
    step, following = routes.sequential("k-seq", p, q, K, rho)
    assert routes.emitted(step, p, following, K) == (list(found.law), list(found.acceptance_per_candidate))


@pytest.mark.parametrize("rule", [r for r in VARIANTS if r.name == "resispec-published"], ids=label)
@given(problem=problems())
def test_both_routes_agree_on_the_published_rule(rule, problem):
    p, q, K = problem
    found = rs.emitted_law(rule, p, q, candidates=K)
    step = routes.published(rule.spread, rule.budget)
    assert routes.emitted(step, p, routes.independent(q), K) == (list(found.law), list(found.acceptance_per_candidate))
