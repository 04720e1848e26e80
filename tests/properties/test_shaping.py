"""Residual shaping: every level is exact (T8), the schedule solves (P) and is the best sequential rule (T9)."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
import routes
from hypothesis import example, given
from hypothesis import strategies as st
from rules import exact
from scipy.optimize import linprog
from strategies import float_pairs, laws, one_in, pairs, problems

import resispec_ref as rs
from resispec_ref.arrays.arithmetic import normalise, total
from resispec_ref.residual import shaped
from resispec_ref.verifiers.independent.resispec import ResiSpec

levels = st.fractions(0, 3, max_denominator=6)


@dataclass(frozen=True)
class ShapedAt(rs.Verifier):
    """Shaping at given levels, one a step."""

    levels: tuple[Fraction, ...]
    name, source, exact = "shaped-at", "equation (S)", True

    def start(self, p, q, candidates):
        return rs.State(p, q, tuple(total(p) * level for level in self.levels))

    def accepted(self, state):
        return state.target - shaped(state.target, state.proposal, state.memory[0])

    def reject(self, state, token):
        r = shaped(state.target, state.proposal, state.memory[0])
        return rs.State(normalise(r, otherwise=state.target), state.proposal, state.memory[1:])


@dataclass(frozen=True)
class WithW(ResiSpec):
    """`resispec` run with another `W` than the root."""

    W: Fraction = Fraction(1)

    def start(self, p, q, candidates):
        state = super().start(p, q, candidates)
        _, w, S = state.memory
        return state._replace(memory=(w * 0 + self.W, w, S))


@given(pair=pairs(), level=levels)
def test_shaped_residuals_lie_between_floor_and_ceiling(pair, level):
    """T8: `(p − q)+ ≤ r ≤ p`, and at the draft's shape wherever neither binds."""
    p, q = (exact(law) for law in pair)
    r = rs.shaped_residual(p, q, level)
    assert all(r >= rs.standard_residual(p, q))
    assert all(r <= p)
    inside = (r > rs.standard_residual(p, q)) & (r < p)
    assert all((r == level * q)[inside])
    assert list(rs.shaped_residual(p, q, 0)) == list(rs.standard_residual(p, q))


@given(pair=pairs(), levels=st.lists(levels, min_size=1, max_size=4))
def test_any_levels_are_exact(pair, levels):
    """T8 over whole rules: the levels may change from step to step in any way."""
    p, q = pair
    rule = ShapedAt(tuple(levels))
    assert list(rs.emitted_law(rule, p, q, candidates=len(levels)).law) == p


@given(problem=problems(min_candidates=1), W=st.fractions(0, 6, max_denominator=12))
def test_any_W_is_exact_and_none_accepts_more(problem, W):
    p, q, K = problem
    found = rs.emitted_law(WithW(W), p, q, candidates=K)
    assert list(found.law) == p
    assert found.acceptance_rate <= rs.emitted_law("resispec", p, q, candidates=K).acceptance_rate
    law, rates = routes.emitted(routes.resispec(p, q, K, W), p, routes.independent(q), K)
    assert (law, rates) == (p, list(found.acceptance_per_candidate))


@given(pair=pairs(), K=st.integers(1, 4))
def test_the_schedule_satisfies_its_equation(pair, K):
    """(P) by plain evaluation, the root by another search, and `Σ min(p, W q)` as the acceptance rate."""
    p, q = pair
    found = rs.schedule(p, q, candidates=K)
    assert 1 <= found.W <= K
    assert routes.least_root(p, q, K) == found.W
    assert [list(u) for u in found.residuals] == routes.shaped_residuals(p, q, K, found.W)
    assert list(found.weights) == [sum(u) for u in found.residuals[:-1]]
    assert sum(found.weights) == found.W
    rate = sum(min(a, found.W * b) for a, b in zip(p, q, strict=True))
    assert rate == rs.emitted_law("resispec", p, q, candidates=K).acceptance_rate
    assert rate == 1 - sum(found.residuals[-1])


@given(pair=pairs(), K=st.integers(1, 4))
@example(pair=([Fraction(1, 3)] * 3, [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]), K=2)  # all of [4/3, 5/3]
@example(pair=([Fraction(1, 7)] * 7, [Fraction(1, 7)] * 7), K=4)
def test_floats_take_the_same_root(pair, K):
    """The least one, so that the same candidates accept. Rounding of 1e-13 in `S_K` moves it by that over a slope."""
    exact, found = (rs.schedule(*laws, candidates=K) for laws in (pair, [np.array(x, dtype=float) for x in pair]))
    np.testing.assert_allclose(found.weights, np.array(exact.weights, dtype=float), rtol=0, atol=1e-9)


@given(pair=pairs(), K=st.integers(1, 4))
def test_resispec_is_the_best_sequential_rule(pair, K):
    """T9: the linear program over all memoryless exact verifiers has the same value."""
    rate = rs.emitted_law("resispec", *pair, candidates=K).acceptance_rate
    assert float(rate) == pytest.approx(best_sequential(*(np.array(law, dtype=float) for law in pair), K), abs=1e-9)


@given(pair=float_pairs(lowest=-12), K=st.integers(1, 4))
def test_resispec_is_the_best_sequential_rule_on_skewed_floats(pair, K):
    """Masses down to 1e-6: the solver takes coefficients below 1e-9 for zeros."""
    rate = rs.emitted_law("resispec", *pair, candidates=K).acceptance_rate
    assert float(rate) == pytest.approx(best_sequential(*pair, K), abs=1e-9)


def best_sequential(p, q, K):
    """`max Σ |m_i|` where `m_i ≥ 0`, `Σ m_i ≤ p` and `m_i ≤ q w_i` with `w_i = 1 − Σ_{j<i} |m_j|`."""
    V = len(p)
    rows, limits = [], []
    for x in range(V):
        rows.append(np.kron(np.ones(K), np.eye(V)[x]))
        limits.append(p[x])
        for i in range(K):
            earlier = np.kron(np.arange(K) < i, np.ones(V))
            rows.append(np.kron(np.arange(K) == i, np.eye(V)[x]) + q[x] * earlier)
            limits.append(q[x])
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(-np.ones(K * V), A_ub=np.array(rows), b_ub=np.array(limits), method="highs", options=tight)
    assert found.success, found.message
    return -found.fun


@given(data=st.data(), vocab=st.integers(1, 4), K=st.integers(1, 3), iterations=st.integers(0, 3))
def test_future_capacities_of_different_laws_are_exact(data, vocab, K, iterations):
    """Used stepwise, `r = clip(C_i / w_i, (p_i − q_i)+, p_i)`, by enumeration of candidates drawn each from its law."""
    p, drafts = data.draw(laws(vocab)), [data.draw(laws(vocab)) for _ in range(K)]
    C = rs.future_capacity(p, drafts, iterations=iterations)
    assert list(C[-1]) == [0] * vocab
    reached, targets, masses = Fraction(1), [exact(p)], []
    for q, capacity in zip(map(exact, drafts), C, strict=True):
        P = targets[-1]
        r = np.maximum(rs.standard_residual(P, q), np.minimum(P, capacity / reached if reached else capacity))
        masses.append(P - r)
        targets.append(r / sum(r) if any(r) else P)
        reached *= sum(r)
    law, _ = routes.emitted(
        lambda i, P, Q, x: (masses[i][x] / Q[x], list(targets[i + 1])), p, lambda xs: drafts[len(xs)], K
    )
    assert law == p
    assert all(0 <= m <= v for mass, q in zip(masses, drafts, strict=True) for m, v in zip(mass, q, strict=True))


@one_in(3)
@given(pair=pairs(), K=st.integers(1, 4))
def test_future_capacity_of_equal_laws_approaches_the_schedule(pair, K):
    """A root of the schedule's equation, not always the least one, up to the last change of the iteration."""
    p, q = (np.array(law, dtype=float) for law in pair)
    C, following = (rs.future_capacity(p, [q] * K, iterations=n) for n in (200, 201))
    change = abs(C - following).sum()
    u, S, W = p, 0.0, (C[0] + q).sum()  # C_1 = q (W − 1)
    for capacity in C:
        S += u.sum()
        np.testing.assert_allclose(capacity, q * max(W - S, 0), rtol=0, atol=2**K * change + 1e-13)
        u = np.maximum(p - q * S, np.minimum(p, capacity))
    if change < 1e-15:
        rate = rs.emitted_law("resispec", p, q, candidates=K).acceptance_rate
        assert np.minimum(p, W * q).sum() == pytest.approx(rate, abs=1e-12)


def test_future_capacity_of_equal_laws_reaches_the_schedule():
    p, q = np.array([0.2, 0.4, 0.4]), np.array([0.6, 0.3, 0.1])
    for K in (1, 2, 3, 4):
        W, w, _ = rs.schedule(p, q, candidates=K)
        expected = q * (W - np.cumsum(w))[:, None]
        np.testing.assert_allclose(rs.future_capacity(p, [q] * K), expected, rtol=0, atol=1e-14)
