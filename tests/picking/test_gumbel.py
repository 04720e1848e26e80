"""Gumbel list coupling: the emitted token given the candidates, against formulas, simulation and its own float form."""

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given
from rules import exact
from strategies import one_in, pairs, problems

import resispec_ref as rs
from resispec_ref.picking.race_coupling import ExactCoupling, FloatCoupling


@given(pair=pairs())
def test_one_candidate_by_the_formula(pair):
    """`P(y = x) = Σ_x 1 / Σ_i max(p_i / p_x, q_i / q_x)`: the clock of `x` is first in both races."""
    p, q = pair
    both = [x for x in range(len(p)) if p[x] and q[x]]
    rate = sum((1 / sum(max(a / p[x], b / q[x]) for a, b in zip(p, q, strict=True)) for x in both), Fraction(0))
    assert rs.emitted_law("gumbel-list-coupling", p, q, candidates=1).acceptance_rate == rate


@one_in(2)
@given(problem=problems(max_paths=64, min_candidates=1))
def test_floats_are_the_rationals(problem):
    p, q, K = problem
    sums, floats = ExactCoupling(exact(p), exact(q), K), FloatCoupling(np.array(p, float), np.array(q, float), K)
    for looked in itertools.product([x for x in range(len(q)) if q[x]], repeat=K):
        law = sums.law(looked)
        assert sum(law) == 1
        np.testing.assert_allclose(floats.law(looked), law.astype(float), rtol=0, atol=1e-12)


def test_the_races_themselves():
    """Simulated clocks: joint frequencies of candidates and token; false alarms: 1e-9 a number, of 27."""
    rng, n = np.random.default_rng(6), 200_000
    p, q, K = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.3, 0.1]), 2
    clocks = rng.exponential(size=(n, K, 3))
    x, y = np.argmin(clocks / q, axis=-1), np.argmin(clocks.min(axis=1) / p, axis=-1)
    coupling, distance = FloatCoupling(p, q, K), np.sqrt(np.log(2 / 1e-9) / (2 * n))
    for looked in itertools.product(range(3), repeat=K):
        seen = np.bincount(y[np.all(x == looked, axis=-1)], minlength=3) / n
        np.testing.assert_allclose(seen, np.prod(q[list(looked)]) * coupling.law(looked), rtol=0, atol=distance)
