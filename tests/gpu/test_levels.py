"""The mathematics of the batched layer: any knots and any `W` are exact, in rationals."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

import resispec_ref as rs
from resispec_gpu import levels, shaped
from resispec_gpu.levels import Profile
from resispec_gpu.shaped import InterpolatedResiSpec
from resispec_ref.models.pairs import load_pairs

KNOTS = st.lists(st.integers(1, 60).map(lambda n: F(n, 12)), min_size=1, max_size=6, unique=True).map(sorted)


def objects(values):
    return np.array(list(values), dtype=object)


@given(problems(), KNOTS, st.none() | st.integers(4, 20).map(lambda n: F(n, 4)))
def test_any_knots_and_any_top_are_exact(problem, knots, top):
    p, q, K = problem
    rule = InterpolatedResiSpec(objects(knots), None if top is None else objects([top]))
    found = rs.emitted_law(rule, p, q, candidates=K)
    assert list(found.law) == p
    assert found.acceptance_rate <= rs.emitted_law("resispec", p, q, candidates=K).acceptance_rate


@given(problems(min_candidates=1))
def test_knots_at_the_levels_lose_nothing(problem):
    """On the knots of the best schedule, with its `W`, the rule accepts what the best sequential rule accepts."""
    p, q, K = problem
    best = rs.schedule(p, q, candidates=K)
    W = best.W[()]
    bottoms = [W - sum(best.weights[:i]) for i in range(K)]
    rule = InterpolatedResiSpec(objects(sorted({max(t, F(0)) for t in bottoms} | {F(K)})), objects([W]))
    found = rs.emitted_law(rule, p, q, candidates=K)
    assert found.acceptance_rate == rs.emitted_law("resispec", p, q, candidates=K).acceptance_rate


@given(problems(min_candidates=1), KNOTS)
def test_the_weights_are_the_masses_of_the_residuals(problem, knots):
    """`w_i = |u_i|`, from the excess at the knots alone: what makes the acceptance tests exact."""
    p, q, K = objects(problem[0]), objects(problem[1]), problem[2]
    knots = objects(knots)
    profile = Profile(knots, objects([sum(np.maximum(p - t * q, F(0))) for t in knots]))
    schedule = shaped.shaped_schedule(profile, K)
    for i in range(K):
        top, bottom = (levels.Level(*(x[i] for x in level)) for level in (schedule.top, schedule.bottom))
        assert sum(levels.above(p, q, top) + levels.capped(p, q, bottom)) == schedule.step[i]


@pytest.mark.parametrize("candidates", [2, 4, 8])
def test_two_passes_lose_little(candidates):
    """Coarse knots and one refinement keep the acceptance rate of the best rule to 0.003 on the recorded pair."""
    pairs = load_pairs()
    p, q = (rs.law_from_logits(x[:16].astype(float)) for x in (pairs.target_logits, pairs.draft_logits))

    def excess(t):
        return np.stack([np.maximum(p - q * t[:, j, None], 0).sum(-1) for j in range(t.shape[1])], -1)

    first = np.broadcast_to(np.array(shaped.coarse_knots(candidates)), (16, shaped.COARSE_KNOTS))
    second = shaped.refined_knots(Profile(first, excess(first)), candidates)
    profile = shaped.merged(first, excess(first), second, excess(second))
    top = levels.Level(*(x[:, :1] for x in shaped.shaped_schedule(profile, candidates).top))
    accepted = levels.capped(p, q, top).sum(-1)
    best = rs.emitted_law("resispec", p, q, candidates=candidates).acceptance_rate
    assert np.all(accepted <= best + 1e-9)
    assert np.mean(best - accepted) < 0.003
