"""The published rule: where it is exact, what its paper's check is worth, and why no residual helps (T4–T7)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from routes import get_proxy, normalised
from rules import VARIANTS, exact, label
from strategies import laws, pairs, problems

import resispec_ref as rs

PUBLISHED = [rule for rule in VARIANTS if rule.name == "resispec-published"]
every_reading = pytest.mark.parametrize("rule", PUBLISHED, ids=label)
weights = st.integers(0, 6).map(Fraction)


@every_reading
@given(p=laws(vocab=2), q=laws(vocab=2), K=st.integers(0, 4))
def test_two_tokens_cannot_show_the_fault(rule, p, q, K):
    """T4: a single other token takes the whole residual, whatever its shape."""
    assert list(rs.emitted_law(rule, p, q, candidates=K).law) == p


@every_reading
@given(pair=pairs(min_vocab=2), data=st.data())
def test_proxy_and_residual_are_the_paper_s(rule, pair, data):
    p, q = pair
    over = [x for x in range(len(p)) if q[x] > p[x]]
    assume(over)
    x = data.draw(st.sampled_from(over))
    options = {"spread": rule.spread, "budget": rule.budget}
    r = rs.published_residual(p, q, x, **options)
    assert list(r) == get_proxy(p, q, x, **options)
    assert all(0 <= a <= b for a, b in zip(r, p, strict=True))
    assert r[x] == 0
    if rule.budget == "rejected-mass":
        assert sum(r) == q[x] - p[x]
    k = rs.published_proxy(p, q, x, **options)
    assert list(k) == [q[y] if y == x else p[y] - r[y] for y in range(len(p))]


@given(pair=pairs(min_vocab=2), data=st.data())
def test_one_proxy_for_all_candidates_is_recursive_rejection_or_biased(pair, data):
    """T5: a `k` that equals `q` wherever a candidate can be rejected leaves one exact residual, that of `q` itself."""
    p, q = pair
    m = [min(a, b) for a, b in zip(p, q, strict=True)]
    room = [a if a >= b else Fraction(0) for a, b in zip(p, q, strict=True)]  # where k may differ from q
    r = [a * data.draw(weights) / 6 for a in room]
    assume(sum(m) < 1 and any(r))
    emitted = [a + (1 - sum(m)) * b for a, b in zip(m, normalised(r), strict=True)]
    assert (emitted == p) == (normalised(r) == normalised(rs.standard_residual(p, q)))


def telescoped(p, proxies):
    """The check of the paper's Appendix B: `Σ w_i min(k_i, R_i) + w_{K+1} R_{K+1}` along one sequence of proxies."""
    R, w, added = list(p), Fraction(1), [Fraction(0)] * len(p)
    for k in proxies:
        m = [min(a, b) for a, b in zip(k, R, strict=True)]
        added = [f + w * a for f, a in zip(added, m, strict=True)]
        w *= 1 - sum(m)
        if w == 0:
            return added
        R = normalised([a - b for a, b in zip(R, m, strict=True)])
    return [f + w * a for f, a in zip(added, R, strict=True)]


@given(p=laws(), data=st.data())
def test_the_paper_s_check_passes_on_any_proxies(p, data):
    """T6: random proxies, no two steps alike, not even of mass 1."""
    proxy = st.lists(weights.map(lambda w: w / 12), min_size=len(p), max_size=len(p))
    assert telescoped(p, data.draw(st.lists(proxy, max_size=4))) == p


@pytest.mark.parametrize("rule", [r for r in PUBLISHED if r.budget == "rejected-mass"], ids=label)
def test_the_paper_s_check_passes_on_a_biased_rule(rule):
    """T6: on the published rule's own proxies, along every sequence of rejections, while its law is not the target."""
    p, q = [Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)], [Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)]
    paths = list(rejections(rule, p, q, 3))
    assert max(map(len, paths)) == 3
    assert all(telescoped(p, proxies) == p for proxies in paths)
    assert rs.emitted_law(rule, p, q, candidates=3).total_variation > Fraction(1, 10)


def rejections(rule, p, q, K):
    """The published proxies along every sequence of up to `K` rejections."""
    level = [([], p)]
    for _ in range(K):
        level = [
            ([*proxies, rs.published_proxy(R, q, x, spread=rule.spread)], normalised(get_proxy(R, q, x, rule.spread)))
            for proxies, R in level
            for x in range(len(p))
            if q[x] > R[x]
        ]
        yield from (proxies for proxies, _ in level)


@st.composite
def couplings(draw, rows, columns):
    """A random matrix of these margins: corner rules along random orders, mixed."""
    found = np.full((len(rows), len(columns)), Fraction(0))
    count = draw(st.integers(1, 3))
    for _ in range(count):
        left, room = list(rows), list(columns)
        order = draw(st.permutations([(x, y) for x in range(len(rows)) for y in range(len(columns))]))
        for x, y in order:
            moved = min(left[x], room[y])
            found[x, y] += moved / count
            left[x], room[y] = left[x] - moved, room[y] - moved
    return found


@given(pair=pairs(min_vocab=2), data=st.data())
def test_no_free_lunch(pair, data):
    """T7: after a greedy first test no exact residuals beat recursive rejection, whatever they see of the candidate."""
    p, q = (exact(law) for law in pair)
    m = np.minimum(p, q)
    assume(sum(m) < 1)
    flow = data.draw(couplings(q - m, p - m))  # row x: mass rejected at x times R(x, ·)
    assert list(flow.sum(axis=0)) == list(p - m)  # (E)
    second = sum(sum(np.minimum(row, q * sum(row))) for row in flow)
    assert sum(m) + second <= rs.emitted_law("recursive-rejection", p, q, candidates=2).acceptance_rate


@given(problem=problems(min_candidates=2, min_vocab=3))
def test_the_published_gain_is_paid_in_bias(problem):
    """T7, the other way round: where two candidates accept more often than recursive rejection, the law is biased."""
    p, q, _ = problem
    for rule in PUBLISHED:
        found = rs.emitted_law(rule, p, q, candidates=2)
        if found.acceptance_rate > rs.emitted_law("recursive-rejection", p, q, candidates=2).acceptance_rate:
            assert found.total_variation > 0


def test_the_published_rule_accepts_more_than_any_exact_rule_can():
    p, q = [Fraction(1, 3)] * 3, [Fraction(1, 2), Fraction(1, 2), Fraction(0)]
    found = rs.emitted_law("resispec-published", p, q, candidates=2)
    assert (found.acceptance_rate, rs.optimal_acceptance(p, q, candidates=2)) == (Fraction(5, 6), Fraction(2, 3))
