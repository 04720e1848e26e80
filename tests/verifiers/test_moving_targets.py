"""Targets that move with the candidate: the laws emitted against sums in plain Python, and the papers' numbers."""

import math
from fractions import Fraction as F

import pytest
import routes
from hypothesis import given
from hypothesis import strategies as st
from strategies import pairs

import resispec_ref as rs

DIE, HALF = [F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)]


def emitted(p, q, aim):
    """T18 in plain Python: `Σ_x [min(q(x), h^(x)(x)) 1_x + (q(x) − h^(x)(x))+ R^(x)]`."""
    law = [F(0)] * len(p)
    for x, drafted in enumerate(q):
        h = aim(p, q, x)
        law[x] += min(drafted, h[x])
        rejected = max(drafted - h[x], F(0))
        residual = [max(a - b, F(0)) for a, b in zip(h, q, strict=True)]
        for y, r in enumerate(residual):
            if rejected:
                law[y] += rejected * r / sum(residual)
    return law


def raised(p, x, height):
    rest = 1 - p[x]
    return [height if y == x else (p[y] * (1 - height) / rest if rest else F(0)) for y in range(len(p))]


def cactus(delta):
    def root(v):
        n, d = math.isqrt(v.numerator), math.isqrt(v.denominator)
        return F(n, d) if n * n == v.numerator and d * d == v.denominator else F(str(math.sqrt(v)))

    return lambda p, q, x: raised(p, x, min(F(1), p[x] + root(2 * delta * p[x] * (1 - p[x]))))


def reflective(weight):
    return lambda p, q, x: [(1 - weight) * a + weight * (y == x) for y, a in enumerate(p)]


def published(p, q, x):
    """The published ResiSpec as a member: `h^(x) = q + r^(x)` off the candidate, where `r^(x)` is by hand."""
    if q[x] <= p[x]:
        return list(p)
    r = routes.get_proxy(p, q, x)
    return [p[x] if y == x else q[y] + r[y] for y in range(len(p))]


@given(pair=pairs(), delta=st.fractions(0, 1, max_denominator=16))
def test_cactus_emits_the_sum(pair, delta):
    found = rs.emitted_law(rs.get_verifier("cactus", delta=delta), *pair, candidates=1)
    assert list(found.law) == emitted(*pair, cactus(delta))


@given(pair=pairs(), weight=st.fractions(0, 1, max_denominator=16))
def test_reflective_emits_the_sum(pair, weight):
    found = rs.emitted_law(rs.get_verifier("reflective", weight=weight), *pair, candidates=1)
    assert list(found.law) == emitted(*pair, reflective(weight))


@given(pair=pairs())
def test_the_published_rule_is_a_member(pair):
    assert list(rs.emitted_law("resispec-published", *pair, candidates=1).law) == emitted(*pair, published)


@pytest.mark.parametrize("rule", [("cactus", "delta"), ("reflective", "weight")])
@given(pair=pairs())
def test_a_target_that_does_not_move_is_emitted(rule, pair):
    name, option = rule
    assert list(rs.emitted_law(rs.get_verifier(name, **{option: 0}), *pair, candidates=2).law) == pair[0]


def test_cactus_on_the_die():
    """Every `h^(x)` is within 1/16 of the target, and what is emitted is `ln 1.5` away, 6.5 times as far."""
    rule = rs.get_verifier("cactus", delta=F(1, 16))
    assert [list(raised(DIE, 0, F(1, 2)))] == [cactus(F(1, 16))(DIE, HALF, 0)] == [[F(1, 2), F(1, 4), F(1, 4)]]
    assert list(rs.emitted_law(rule, DIE, HALF, candidates=1).law) == HALF
    divergence = float(rs.kl_divergence([0.5, 0.5, 0.0], [1 / 3] * 3))
    assert divergence == pytest.approx(math.log(1.5), rel=1e-12)
    assert divergence / (1 / 16) == pytest.approx(6.49, abs=0.01)


@pytest.mark.parametrize("half", [2, 4, 8])
def test_no_constant_holds_the_divergence_of_cactus(half):
    """A die of `V` sides, half of them drafted, `δ = 1 / (2 (V − 1))`: the draft is emitted, `2 (V − 1) ln 2` δ away.

    Each `h^(x)` keeps to its budget all the same.
    """
    V, delta = 2 * half, F(1, 2 * (2 * half - 1))
    p, q = [F(1, V)] * V, [F(1, half)] * half + [F(0)] * half
    aim = cactus(delta)(p, q, 0)
    assert aim[0] == q[0]
    assert float(rs.kl_divergence([float(a) for a in aim], [1 / V] * V)) < delta
    assert list(rs.emitted_law(rs.get_verifier("cactus", delta=delta), p, q, candidates=1).law) == q


def test_what_is_emitted_is_no_target_of_any_candidate():
    law = list(rs.emitted_law(rs.get_verifier("cactus", delta=F(1, 16)), DIE, HALF, candidates=1).law)
    assert law not in ([cactus(F(1, 16))(DIE, HALF, x) for x in range(3)] + [DIE])
