"""The frontier: at every bias the acceptance that it promises, `==`, and no rule beyond it."""

from fractions import Fraction as F

import pytest
import routes
from hypothesis import given
from hypothesis import strategies as st
from rules import VARIANTS, label
from strategies import pairs, problems

import resispec_ref as rs
from resispec_ref.measurements.measure import takes

DIE, HALF = [F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)]
biases = st.fractions(0, 1, max_denominator=12)


def total_variation(a, b):
    return sum(abs(x - y) for x, y in zip(a, b, strict=True)) / 2


@pytest.mark.parametrize(("bias", "law", "rate"), [
    (F(0), [F(1, 3), F(1, 3), F(1, 3)], F(2, 3)),
    (F(1, 7), [F(17, 42), F(17, 42), F(4, 21)], F(17, 21)),
    (F(1, 3), HALF, F(1)),
    (F(1), HALF, F(1)),
])  # fmt: skip
def test_by_hand_on_the_die(bias, law, rate):
    """The draft knows two faces: 2/3 is the bound, a bias of `ε` buys `ε`, and at 1/3 nothing is left to buy."""
    found = rs.emitted_law(rs.get_verifier("frontier", bias=bias), DIE, HALF, candidates=1)
    assert (list(found.law), found.acceptance_rate) == (law, rate)


@given(pair=pairs(), bias=biases)
def test_one_candidate_is_on_the_frontier(pair, bias):
    """With one candidate the pick is the candidate and the bound `Σ min(p, q)`, so that all of T17 holds with `==`."""
    p, q = pair
    found = rs.emitted_law(rs.get_verifier("frontier", bias=bias), p, q, candidates=1)
    bound = sum(map(min, p, q))
    assert found.acceptance_rate == min(1, bound + bias)
    assert total_variation(found.law, p) == found.total_variation == min(bias, 1 - bound)


def test_seven_in_a_hundred_are_enough_to_accept_always():
    """With a bound of 93/100 there is little left to buy."""
    p, q = [F(57, 100), F(43, 100)], [F(1, 2), F(1, 2)]
    assert rs.optimal_acceptance(p, q, candidates=1) == F(93, 100)
    found = rs.emitted_law(rs.get_verifier("frontier", bias=F(7, 100)), p, q, candidates=1)
    assert (found.acceptance_rate, found.total_variation) == (1, F(7, 100))


@given(problem=problems(max_paths=64, max_candidates=3), bias=biases)
def test_several_candidates_pay_what_they_say(problem, bias):
    """The acceptance exceeds that of `optimal` by the bias paid, exactly; the cut loses what rounding loses."""
    p, q, K = problem
    found = rs.emitted_law(rs.get_verifier("frontier", bias=bias), p, q, candidates=K)
    optimal = rs.emitted_law("optimal", p, q, candidates=K).acceptance_rate
    paid = min(bias, 1 - optimal) if K else 0
    assert total_variation(found.law, p) == paid
    assert found.acceptance_rate == (optimal + paid if K else 0)
    assert found.acceptance_rate <= min(1, routes.optimal_by_flow(p, q, K) + bias)


@pytest.mark.parametrize("rule", VARIANTS, ids=label)
@given(problem=problems(max_paths=27, max_candidates=2))
def test_no_rule_is_beyond_the_frontier(rule, problem):
    """`acceptance ≤ B + TV`, in rationals, for every rule of the registry: exact rules within the bound among them."""
    p, q, K = problem
    if not takes(rule, K):
        return
    found = rs.emitted_law(rule, p, q, candidates=K)
    bound = rs.optimal_acceptance_for(rule, p, q, candidates=K) if K else 0
    assert found.acceptance_rate <= min(1, bound + total_variation(found.law, p))


@pytest.mark.parametrize("bias", [-0.1, 1.5, float("nan")])
def test_a_bias_is_a_total_variation(bias):
    with pytest.raises(ValueError, match=r"bias: .* is not in"):
        rs.get_verifier("frontier", bias=bias)


def test_waste_on_the_recording():
    """`measure` says what a rule of the same bias could accept more: nothing for the frontier."""
    found = rs.measure(candidates=2, positions=4, verifiers=["frontier", "lenience", "mixture", "optimal"])
    assert abs(found["frontier"].waste) < 1e-12
    assert abs(found["optimal"].waste) < 1e-12
    assert found["lenience"].waste > 0.01
    assert all(r.waste > -1e-12 for r in found.rules)
