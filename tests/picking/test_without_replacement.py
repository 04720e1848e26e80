"""Distinct candidates: exact by both routes, near the bound, above recursive rejection; the yardstick."""

from fractions import Fraction

import numpy as np
import optimal_routes
import pytest
import routes
from hypothesis import given
from hypothesis import strategies as st
from rules import exact
from strategies import one_in, pairs, problems

import resispec_ref as rs
from resispec_ref.candidates.candidate_sets import distinct_sets
from resispec_ref.candidates.quadrature import trapezoid_step
from resispec_ref.picking import race, weights


def random_pairs(rng, count, largest, candidates):
    for _ in range(count):
        vocab, K = int(rng.integers(2, largest + 1)), int(rng.integers(1, candidates + 1))
        alpha = np.full(vocab, rng.choice([0.2, 0.5, 1, 3]))
        yield rng.dirichlet(alpha), rng.dirichlet(alpha), K


def test_within_a_thousandth_of_the_bound_by_flow(effort):
    """Up to 9 tokens and 4 candidates, rounded to rationals for the max-flow."""
    rng = np.random.default_rng(7)
    for p, q, K in random_pairs(rng, 12 * effort, 9, 4):
        p, q = (routes.normalised([Fraction(round(v * 10**6) + 1) for v in law]) for law in (p, q))
        bound = routes.optimal_by_flow(p, q, K, replacement=False)
        found = rs.emitted_law("optimal-without-replacement", np.array(p, float), np.array(q, float), candidates=K)
        assert bound - 1e-3 <= found.acceptance_rate <= bound + 1e-12


def test_within_a_thousandth_of_the_bound(effort):
    rng = np.random.default_rng(8)
    for p, q, K in random_pairs(rng, 30 * effort, 9, 4):
        bound = rs.optimal_acceptance(p, q, candidates=K, replacement=False)
        found = rs.emitted_law("optimal-without-replacement", p, q, candidates=K)
        assert bound - 1e-3 <= found.acceptance_rate <= bound + 1e-12


@given(problem=problems(max_paths=130, min_candidates=1))
def test_both_routes_agree_on_the_pick(problem):
    """The pick by enumeration of draws has the law that the step is taken against, in rationals."""
    p, q, K = problem
    state = rs.get_verifier("optimal-without-replacement").start(exact(p), exact(q), K)
    v, level, _ = state.memory
    picked = optimal_routes.picked_by_weight(q, routes.distinct(q), K, list(v), list(level))
    assert picked == list(state.proposal)
    law, rate = optimal_routes.one_step(p, list(state.proposal), picked)
    assert law == p
    assert rate == rs.emitted_law("optimal-without-replacement", p, q, candidates=K).acceptance_rate


@pytest.mark.parametrize("power", [1, 3])
@given(problem=problems(max_paths=130, min_candidates=1))
def test_both_routes_agree_on_the_pick_by_importance(power, problem):
    p, q, K = problem
    state = rs.get_verifier("importance-weighted", power=power).start(exact(p), exact(q), K)
    v = [min(max((a / b) ** power, Fraction(1, 2**10)), Fraction(2**10)) if b else 1 for a, b in zip(p, q, strict=True)]
    picked = optimal_routes.picked_by_weight(q, routes.independent(q), K, v, [False] * len(q))
    assert picked == list(state.proposal)
    assert optimal_routes.one_step(p, list(state.proposal), picked)[0] == p


def test_the_pick_by_importance_at_a_large_vocabulary():
    """Quadrature against enumeration, on the same laws."""
    from resispec_ref.verifiers.independent import importance_weighted

    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(8), 5), rng.dirichlet(np.ones(8), 5)
    v = np.clip(p / q, 2**-10, 2**10)
    for K in (1, 2, 4):
        enumerated = importance_weighted._by_multisets(q, v, K)
        np.testing.assert_allclose(importance_weighted._by_quadrature(q, v, K), enumerated, rtol=0, atol=1e-12)


@one_in(2)
@given(pair=pairs(vocab=4), K=st.integers(0, 3), extra=st.integers(0, 2))
def test_both_routes_agree_on_virtual_draws(pair, K, extra):
    p, q = pair
    T = K + extra
    u = [list(r) for r in rs.schedule(p, q, candidates=T).residuals] if T else [p]
    wanted = optimal_routes.virtual_draws(p, q, K, u if K else [p])
    if max(q) > Fraction(4, 5):  # recursive rejection there
        wanted = routes.emitted(routes.recursive_rejection, p, routes.distinct(q), K)
    rule = rs.get_verifier("resispec-without-replacement", extra=extra)
    found = rs.emitted_law(rule, p, q, candidates=K)
    assert (list(found.law), list(found.acceptance_per_candidate)) == wanted


def test_the_race_is_the_enumeration(effort):
    """The law of the pick by quadrature and by sets of candidates, for any weights and classes, to 1e-12."""
    rng = np.random.default_rng(9)
    for _ in range(6 * effort):
        vocab, K = int(rng.integers(6, 11)), int(rng.integers(1, 5))
        q = np.sort(rng.dirichlet(np.full(vocab, rng.choice([0.2, 1]))))[::-1]
        v, upper = np.exp(rng.uniform(np.log(race.LEAST_WEIGHT), 0, vocab)), rng.random(vocab) < 0.5
        wanted = np.zeros(vocab)
        for S, chance in distinct_sets(q, K).items():
            among = [x for x in S if upper[x]] or list(S)
            wanted[among] += chance * v[among] / v[among].sum()
        found = race.Race(q, np.arange(vocab), min(K + 2, vocab - 1), upper, K)
        t = found.times(0.2)
        law = race.token_law(found, race.picked_law(found, v, t, race.levels(0.2), found.sums(t.at)), t)
        np.testing.assert_allclose(law, wanted, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def recorded():
    pairs = rs.load_pairs()
    return tuple(rs.law_from_logits(x[8::32]) for x in (pairs.target_logits, pairs.draft_logits))


@pytest.mark.parametrize("K", [2, 4, 7])
def test_near_the_bound_and_accurate_at_full_width(recorded, K, monkeypatch):
    """At least 99% of the bound on average, and the same law, to 1e-10, with twice the nodes."""
    p, q = (x[:: max(1, K // 2)] for x in recorded)
    found = rs.get_verifier("optimal-without-replacement").start(p, q, K).proposal
    bound = rs.optimal_acceptance(p, q, candidates=K, replacement=False)
    assert np.minimum(p, found).sum(axis=-1).mean() >= 0.99 * bound.mean()

    def finer(rings, error):
        return trapezoid_step(rings, error) / (2 if error == weights.LAW_ERROR else 1)

    monkeypatch.setattr(weights, "trapezoid_step", finer)
    again = rs.get_verifier("optimal-without-replacement").start(p, q, K).proposal
    np.testing.assert_allclose(found, again, rtol=0, atol=1e-10)


@pytest.mark.parametrize("K", [1, 3, 5])
def test_rows_of_any_support_as_if_alone(K):
    """One token, fewer than candidates, few sets, many, all that hardly differ or differ much."""
    rng = np.random.default_rng(6)
    logits = rng.normal(scale=3, size=(2, 300))
    targets = rs.law_from_logits(logits + rng.normal(size=logits.shape))
    settings = ({"temperature": 0}, {"top_k": 2}, {"top_k": 10}, {"top_k": 40}, {"temperature": 1e-3}, {})
    p = np.concatenate([targets] * len(settings))
    q = np.concatenate([rs.law_from_logits(logits, **each) for each in settings])
    found = rs.emitted_law("optimal-without-replacement", p, q, candidates=K)
    bound = rs.optimal_acceptance(p, q, candidates=K, replacement=False)
    np.testing.assert_allclose(found.law, p, rtol=0, atol=1e-14)
    assert np.all(found.acceptance_rate <= bound + 1e-10)
    assert np.all(found.acceptance_rate >= 0.98 * bound)
    np.testing.assert_allclose(found.acceptance_rate[:2], bound[:2], rtol=0, atol=1e-15)  # of one token
    for i in range(0, len(p), 2):
        alone = rs.emitted_law("optimal-without-replacement", p[i], q[i], candidates=K)
        assert alone.acceptance_rate == found.acceptance_rate[i]


def test_the_race_down_to_the_smallest_masses():
    q = rs.law_from_logits(np.where(np.arange(100) < 21, np.arange(100) * -37.0, -np.inf))
    p = np.full(100, 0.01)
    found = rs.emitted_law("optimal-without-replacement", p, q, candidates=3)
    np.testing.assert_allclose(found.law, p, rtol=0, atol=1e-14)


def test_one_token_at_full_vocabulary():
    q = np.eye(1, 4096)[0]
    assert rs.emitted_law("optimal-without-replacement", q, q, candidates=3).law.tolist() == q.tolist()


def test_rationals_of_small_support_at_a_large_vocabulary():
    p = np.array([Fraction(1, 500)] * 500)
    q = np.array([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)] + [Fraction(0)] * 497)
    found = rs.emitted_law("optimal-without-replacement", p, q, candidates=2)
    assert found.law.tolist() == p.tolist()
    bound = rs.optimal_acceptance(p, q, candidates=2, replacement=False)
    assert found.acceptance_rate == bound == Fraction(3, 500)


@pytest.mark.parametrize("K", [2, 4, 7])
def test_a_draft_that_knows_one_token_well(K):
    """Candidates beyond the first are all but never right; they cost no more than the least weights do."""
    p, q = (np.concatenate([[1 - rest], np.full(999, rest / 999)]) for rest in (1e-9, 1e-6))
    rate = rs.emitted_law("optimal-without-replacement", p, q, candidates=K).acceptance_rate
    assert rate >= 1 - 1e-9 - K * 1e-7


def test_virtual_draws_pay_on_recorded_pairs(recorded):
    """By more than five standard errors of the sampled paths (false alarms: 3e-7)."""
    rates = {}
    for name in ("recursive-rejection-without-replacement", "resispec-without-replacement"):
        rng = np.random.default_rng(1)
        found = rs.estimated_law(name, *recorded, candidates=3, paths=16, rng=rng)
        error = np.sqrt(np.sum(found.acceptance_rate_error**2)) / len(recorded[0])
        rates[name] = found.acceptance_rate.mean(), error
    (base, one), (shaped, other) = rates.values()
    assert shaped - base > 5 * np.hypot(one, other)


def test_sequential_rules_and_their_yardstick(effort):
    """`resispec` attains it (T9); without replacement no rule exceeds it, and the bound is at least as high."""
    rng = np.random.default_rng(4)
    for p, q, K in random_pairs(rng, 8 * effort, 5, 3):
        best = rs.best_sequential_acceptance(p, q, candidates=K)
        assert rs.emitted_law("resispec", p, q, candidates=K).acceptance_rate == pytest.approx(best, abs=1e-8)
        apart = rs.best_sequential_acceptance(p, q, candidates=K, replacement=False)
        assert apart <= rs.optimal_acceptance(p, q, candidates=K, replacement=False) + 1e-8
        rate = rs.emitted_law("recursive-rejection-without-replacement", p, q, candidates=K).acceptance_rate
        assert rate <= apart + 1e-8


def test_the_yardstick_says_what_it_cannot_do():
    with pytest.raises(ValueError, match="one position"):
        rs.best_sequential_acceptance([[0.5, 0.5]], [[0.5, 0.5]], candidates=1)
    with pytest.raises(ValueError, match="too many histories"):
        rs.best_sequential_acceptance([0.05] * 20, [0.05] * 20, candidates=4)
