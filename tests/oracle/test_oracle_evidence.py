"""The statistics: e-processes have mean at most 1, bounds hold, power is what is stated."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from resispec_ref.oracle.faults.diagnosis import diagnose
from resispec_ref.oracle.statistics.confidence import smallest_tv_found, tv_observed, tv_upper
from resispec_ref.oracle.statistics.evidence import CONCENTRATIONS, Evidence, log_average, log_excess, log_mixture

# log Γ(c) is about 2.6e8 at the largest concentration: four of these are added, each rounded to half its spacing
ROUNDING = 4 * math.lgamma(CONCENTRATIONS[-1]) * 2.0**-53


def multinomial(counts, law):
    n = sum(counts)
    ways = math.factorial(n) / math.prod(math.factorial(k) for k in counts)
    return ways * math.prod(p**k for p, k in zip(law, counts, strict=True))


@pytest.mark.parametrize("law", [[0.5, 0.5], [0.2, 0.3, 0.5], [0.0, 0.25, 0.75]])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_mixture_has_mean_one_by_enumeration(law, n):
    law = np.array(law)
    counts = [k for k in product(range(n + 1), repeat=len(law)) if sum(k) == n]
    possible = [k for k in counts if all(p > 0 or c == 0 for p, c in zip(law, k, strict=True))]
    mean = sum(multinomial(k, law) * math.exp(log_mixture(np.array(k), law)) for k in possible)
    assert mean == pytest.approx(1, abs=ROUNDING)


def test_mixture_is_a_martingale_one_draw_ahead():
    law, counts = np.array([0.2, 0.3, 0.5]), np.array([3, 1, 6])
    now = math.exp(log_mixture(counts, law))
    ahead = sum(p * math.exp(log_mixture(counts + np.eye(3, dtype=int)[x], law)) for x, p in enumerate(law))
    assert ahead == pytest.approx(now, rel=ROUNDING)


def test_a_token_of_probability_zero_is_proof():
    assert log_mixture(np.array([1, 0]), np.array([0.0, 1.0])) == math.inf


@pytest.mark.parametrize("bound", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("share", [1.0, 0.7])
def test_excess_has_mean_at_most_one(bound, share):
    n, rate = 12, bound * share
    mean = sum(binom.pmf(k, n, rate) * math.exp(log_excess(k, n, bound)) for k in range(n + 1))
    assert mean == pytest.approx(1, abs=1e-9) if share == 1 else mean < 1


def test_average_of_e_processes():
    assert log_average([0.0, math.log(3)]) == pytest.approx(math.log(2))
    assert log_average([-math.inf, 0.0]) == pytest.approx(math.log(0.5))
    assert log_average([]) == 0


def test_tolerance_forgives_small_deviations_and_sees_larger_ones():
    rng, law = np.random.default_rng(0), np.array([0.5, 0.3, 0.2])
    for shift, found in ((0.01, False), (0.05, True)):
        evidence = Evidence(law, tolerance=0.02)
        for _ in range(40):
            evidence.add(rng.choice(3, size=2_000, p=law + np.array([shift, -shift, 0])), {})
        assert (evidence.log_e() > math.log(1e4)) == found


def test_pairs_see_dependence_that_the_law_hides():
    evidence = Evidence(np.array([0.5, 0.5]))
    evidence.add(np.tile([0, 1], 500), {})
    logs = evidence.logs()
    assert logs["law"] < 0 < 50 < logs["pairs"]


def test_rounds_see_a_law_that_changes_around_the_right_one():
    evidence, rng = Evidence(np.array([0.5, 0.5])), np.random.default_rng(1)
    for i in range(10):
        evidence.add(rng.permutation(np.repeat([0, 1], [600, 400] if i % 2 else [400, 600])), {})
    logs = evidence.logs()
    assert logs["law"] < 0 < 100 < logs["rounds"]


def test_upper_bound_fails_no_more_often_than_stated(effort):
    """2,000 experiments at error 5% (more under `thorough`); more than 7% failures have probability below 1e-4."""
    rng, p, f = np.random.default_rng(2), np.array([0.2, 0.3, 0.5]), np.array([0.25, 0.27, 0.48])
    counts = rng.multinomial(400, f, size=2_000 * effort)
    true = np.abs(f - p).sum() / 2
    failures = np.mean([tv_upper(c, p, 0.05) < true for c in counts])
    assert failures <= 0.07


def test_observed_distance():
    assert tv_observed(np.array([30, 70]), np.array([0.5, 0.5])) == 0.2


def test_stated_power_is_what_fresh_draws_show():
    """At the stated total variation 99% of tests reach the threshold: under 96.5% of 1,000 has probability 1e-9."""
    law, n, threshold = np.array([0.1, 0.2, 0.3, 0.4]), 5_000, math.log(1e5)
    tv = smallest_tv_found(law, n, threshold)
    half = np.array([1, 0, 0, 1])  # the largest tokens that fit into one half
    f = law * np.where(half, 1 + tv / 0.5, 1 - tv / 0.5)
    logs = log_mixture(np.random.default_rng(99).multinomial(n, f, size=1_000), law)
    assert np.mean(logs >= threshold) >= 0.965
    assert tv < 4 * math.sqrt(threshold / (2 * n))


def test_nothing_is_found_without_draws():
    assert smallest_tv_found(np.array([0.5, 0.5]), 0, 9.2) == 1
    assert smallest_tv_found(np.array([0.0, 1.0]), 1000, 9.2) == 1


def test_a_fault_that_explains_little_is_not_named():
    """Observed (0.3, 0.7), right (0.5, 0.5): 0.49 goes the right way and explains a tenth, 0.32 nearly all."""
    counts, right = np.array([30_000, 70_000]), np.array([0.5, 0.5])

    def named(p):
        return diagnose([(counts, right, {"fault": np.array([p, 1 - p])})], lambda name: ("", ""))

    assert named(0.49) is None
    assert (named(0.32).name, named(0.32).matches) == ("fault", False)
    assert named(0.3).matches
