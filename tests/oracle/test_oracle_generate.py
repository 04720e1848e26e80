"""Samplers of whole sequences under audit: exact ones are cleared, samplers in the limit and wrong ones are found."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import resispec_ref as rs
from resispec_ref.oracle import assert_exact
from resispec_ref.sequence import NGram, ToyModel, power, tilted

FAIR = [F(1, 2), F(1, 2)]
MODEL = ToyModel([FAIR, [FAIR, [F(0), F(1)]]])
POWER = power(MODEL, 2, 2)
DRAWS = {"draws": 20_000, "budget": 120.0}  # the draws are what limits, so that the clock does not matter


def pick(masses, rng):
    running = np.cumsum(masses)
    return int((rng.random() * running[-1] >= running).sum())


def future(law, s, length):
    """`ζ(s)` for `α = 2`."""
    return 1.0 if len(s) == length else sum(m**2 * future(law, (*s, x), length) for x, m in enumerate(law(s)) if m)


def exact(law, length, rng):
    s = ()
    while len(s) < length:
        s = (*s, pick([m**2 * future(law, (*s, x), length) if m else 0 for x, m in enumerate(law(s))], rng))
    return s


def at_a_temperature(law, length, rng):
    s = ()
    while len(s) < length:
        s = (*s, pick(law(s) ** 2, rng))
    return s


def importance(draws):
    def importance(law, length, rng):
        drawn, weights = [], []
        for _ in range(draws):
            s, weight = (), 1.0
            while len(s) < length:
                x = pick(law(s), rng)
                s, weight = (*s, x), weight * law(s)[x]
            drawn.append(s)
            weights.append(weight)
        return drawn[pick(weights, rng)]

    return importance


def audit(f, target=POWER, **options):
    return rs.audit(f, kind="generate", target=target, **(DRAWS | options))


def test_an_exact_sampler_is_cleared():
    """A false alarm has probability 1e-4 at most, and the seed is fixed."""
    report = audit(exact)
    assert report.verdict == "no fault found", report
    assert report.draws == 20_000
    assert report.tv_upper < 0.03
    assert report.tv_detectable < 0.05
    assert report.cases[0].right_law == pytest.approx([1 / 6, 1 / 6, 2 / 3, 0])
    assert "whole sequences" in report.to_json()


@pytest.mark.parametrize("f", [at_a_temperature, importance(2)], ids=["token temperature", "importance resampling"])
def test_samplers_that_are_not_exact_are_found(f):
    """1/6 and 1/12 away: seen by a few thousand draws."""
    report = audit(f)
    assert report.verdict == "fault found"
    assert report.log10_e >= 4
    assert report.counterexample.outcomes == ["0 0", "0 1", "1 1", "any other"]
    assert report.exit_code == 1


def test_token_temperature_is_exact_for_a_law_without_memory():
    fair = power(NGram([F(2, 3), F(1, 3)]), 2, 2)
    assert audit(at_a_temperature, fair).verdict == "no fault found"


def test_tilted_targets_that_end_early():
    """Token 1 ends, and sequences that end at once are worth twice as much."""
    target = tilted(NGram([F(1, 2), F(1, 2)]), lambda s: 3 - len(s), 2, end=1)

    def right(law, length, rng):
        return [(1,), (1,), (0, 0), (0, 1)][pick([0.25] * 2 + [0.125] * 2, rng)]

    def wrong(law, length, rng):
        return [(1,), (0, 0), (0, 1)][pick([0.5, 0.25, 0.25], rng)]

    assert audit(right, target).verdict == "no fault found"
    assert audit(wrong, target).verdict == "fault found"


def test_a_sequence_that_cannot_be_is_a_proof():
    report = audit(lambda law, length, rng: (1, 0), draws=256)
    assert report.verdict == "fault found"
    assert math.isinf(report.log10_e)
    assert report.counterexample.observed_law[-1] == 1


def test_draws_that_depend_on_each_other_are_found():
    kept = []

    def twice(law, length, rng):
        if not kept:
            kept.append(exact(law, length, rng))
            return kept[0]
        return kept.pop()

    assert audit(twice).verdict == "fault found"


def test_a_tolerance_is_taken():
    assert audit(importance(2), tolerance=0.2).verdict == "no fault found"


@pytest.mark.parametrize(
    ("f", "problem"),
    [
        (lambda law, length, rng: 1 / 0, "exception"),
        (lambda law, length, rng: (0,), "shape"),
        (lambda law, length, rng: (0, 0, 0), "shape"),
        (lambda law, length, rng: (0, 2), "token out of range"),
        (lambda law, length, rng: "no", "dtype"),
    ],
)
def test_what_fails_is_reported(f, problem):
    report = audit(f, draws=300)
    assert (report.verdict, report.findings[0].check, report.exit_code) == ("could not run", problem, 2)


def test_bad_options():
    for options, message in (
        ({"target": None}, "target: kind 'generate' needs"),
        ({"candidates": 2}, "candidates: kind 'generate' does not take it"),
        ({"library": "torch"}, "library: kind 'generate' does not take it"),
        ({"budget": 0}, "budget: 0"),
    ):
        with pytest.raises(ValueError, match=message):
            audit(exact, **options)
    with pytest.raises(ValueError, match="target: kind 'verifier' has targets of its own"):
        rs.audit(lambda *given: 0, kind="verifier", target=POWER)
    assert assert_exact(exact, kind="generate", target=POWER, draws=500).verdict == "no fault found"
