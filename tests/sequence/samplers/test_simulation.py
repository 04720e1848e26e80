"""Every sampler's exact law agrees with the sampler run: an e-process that a true law exceeds once in a million."""

import math
from fractions import Fraction as F

import numpy as np
import plain_samplers as plain
import pytest

from resispec_ref.oracle.statistics.evidence import log_mixture
from resispec_ref.sequence import (
    ToyModel,
    importance_law,
    joint_law,
    particle_law,
    policy_law,
    power,
    selective_regeneration_law,
    tilted,
)

DELTA = 1e-6
"""Ville's inequality: the evidence against a law that is right exceeds 1/δ with probability δ at most, each test."""
RUNS, LENGTH, ALPHA = 4000, 2, 4
MODEL = ToyModel([[F(1, 2), F(1, 2)], [[F(3, 5), F(2, 5)], [F(1, 10), F(9, 10)]]])
LONGER = ToyModel([*MODEL.tables, [[[F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]], [[F(1, 3), F(2, 3)], [F(0), F(1)]]]])


def reward(s):
    return 1 + 3 * s[0] * s[1]


POWER, TILTED = power(MODEL, ALPHA, LENGTH), tilted(MODEL, reward, LENGTH)
TIERS = {"keep": 1, "refine": 1, "cut": 1, "rounds": 1}
SAMPLERS = {
    "importance": (
        lambda rng: plain.importance(MODEL, ALPHA, 3, LENGTH, rng),
        importance_law(POWER, 3).law,
        importance_law(POWER, 2).law,
    ),
    "particles": (
        lambda rng: plain.particles(MODEL, ALPHA, 3, LENGTH, rng),
        particle_law(POWER, 3).law,
        particle_law(POWER, 2).law,
    ),
    "particles that look ahead": (
        lambda rng: plain.looking_particles(LONGER, ALPHA, 2, 1, 1, 3, rng),
        particle_law(power(LONGER, ALPHA, 3), 2, horizon=1, rollouts=1).law,
        particle_law(power(LONGER, ALPHA, 3), 2).law,
    ),
    "policy": (
        lambda rng: plain.written(TILTED, rng, LENGTH),
        policy_law(TILTED, TILTED),
        joint_law(MODEL, LENGTH),
    ),
    "selective regeneration": (
        lambda rng: plain.regeneration(MODEL, reward, 3, **TIERS, length=LENGTH, rng=rng)[0],
        selective_regeneration_law(TILTED, 3, **TIERS).law,
        selective_regeneration_law(TILTED, 3, keep=1, refine=0, cut=0).law,
    ),
}
"""The sampler, its exact law, and a near one that it does not have."""


def evidence(sampler, law):
    """`log E` against the law, of `RUNS` draws with a fixed seed."""
    rng = np.random.default_rng(15)
    cells = sorted(law)
    drawn = [cells.index(sampler(rng)) for _ in range(RUNS)]
    return float(log_mixture(np.bincount(drawn, minlength=len(cells)), np.array([float(law[s]) for s in cells])))


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_law_agrees_with_the_sampler(name):
    sampler, law, _ = SAMPLERS[name]
    assert evidence(sampler, law) < math.log(1 / DELTA)


@pytest.mark.parametrize("name", SAMPLERS)
def test_another_law_is_seen(name):
    """One draw or particle fewer, no look ahead, the model itself, nothing refined: so the test above can fail."""
    sampler, _, other = SAMPLERS[name]
    assert evidence(sampler, other) > math.log(1 / DELTA)


def test_the_tokens_written():
    """A mean of 4000 numbers in [6, 12] errs by more than 0.28 with probability below 1e-6 (Hoeffding)."""
    rng = np.random.default_rng(16)
    written = [plain.regeneration(MODEL, reward, 3, **TIERS, length=LENGTH, rng=rng)[1] for _ in range(RUNS)]
    expected = float(selective_regeneration_law(TILTED, 3, **TIERS).tokens)
    assert abs(np.mean(written) - expected) < 0.28
