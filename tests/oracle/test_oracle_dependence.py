"""Draws that depend on each other, inputs that are taken for others', answers without chance: told as what they are."""

import itertools
import math

import numpy as np
import pytest
from mutants import engines, sound

from resispec_ref.oracle import audit, position_cases
from resispec_ref.oracle.cases.tables import chain_cases
from resispec_ref.oracle.drawing.mixing import mirrored, shape_of, with_companions
from resispec_ref.oracle.statistics.dependence import BINS, LAGS, Dependence, bins_of

OPTIONS = {"budget": 600.0, "draws": 4_096, "seed": 1}
CASES = position_cases([1], real_rows=0)


def checks(report):
    return [f.check for f in report.findings if f.level == "fault"]


def test_rows_of_another_request():
    report = audit(engines.draft_rows_of_another_request, kind="verifier", candidates=1, cases=CASES, **OPTIONS)
    assert checks(report) == ["rows of another request"], str(report)
    assert report.diagnosis is None
    assert len(report.counterexample.right_law) == 2
    assert "in turn with" in report.counterexample.inputs


def test_the_draft_law_of_the_step_before():
    report = audit(engines.LastStepsDraft(), kind="verifier", cases=CASES, **OPTIONS)
    assert checks(report) == ["rows of another request"], str(report)
    assert "kept from the call before" in str(report)
    assert len(report.counterexample.right_law) == 2


@pytest.mark.parametrize("distance", [1, 2, 5, 32])
def test_streams_shared_at_a_distance(distance):
    def verify(target, draft, candidates, rng):
        return engines.streams_shared_at_a_distance(target, draft, candidates, rng, distance)

    report = audit(verify, kind="verifier", batched=True, cases=CASES, **OPTIONS)
    assert checks(report) == ["independent draws"], str(report)
    assert f"rows i and i + {distance} of a batch" in str(report) or distance == 1
    assert "of a batch use the same numbers" in str(report)
    assert report.diagnosis is None
    assert report.counterexample is None


def test_the_last_uniform_of_a_step_is_the_first_of_the_next():
    verify = engines.LastUniformIsTheNextFirst()
    report = audit(verify, kind="chain", cases=chain_cases([1])[:3], **(OPTIONS | {"draws": 20_000}))
    assert checks(report) == ["independent draws"], str(report)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (engines.replays_its_numbers, "verifier"),
        (engines.noise_keyed_by_the_input, "verifier"),
        (engines.chain_that_replays, "chain"),
    ],
)
def test_a_generator_that_is_ignored(function, kind):
    report = audit(function, kind=kind, candidates=1, **OPTIONS)
    assert checks(report) == ["ignores the generator"], str(report)
    assert "for one input there is one answer" in str(report)
    assert report.diagnosis is None
    assert report.counterexample is None


def test_one_answer_for_one_input_without_a_generator_and_with_noise():
    def without(target, draft, candidates):
        return engines.replays_its_numbers(target, draft, candidates, None)

    def noise(target, draft, candidates, u):
        return engines.replays_its_numbers(target, draft, candidates, None)

    assert checks(audit(without, kind="verifier", candidates=1, **OPTIONS)) == ["deterministic for one input"]
    report = audit(noise, kind="verifier", candidates=1, noise="uniform:2", **OPTIONS)
    assert checks(report) == ["ignores the noise"], str(report)


def test_sound_batches_and_calls_are_mixed():
    seen, before = set(), []

    def verify(target, draft, candidates, rng):
        seen.add(len(np.unique(draft, axis=0)))
        return sound.batched(target, draft, candidates, rng)

    assert audit(verify, kind="verifier", cases=CASES[:4], **(OPTIONS | {"draws": 512})).verdict == "no fault found"
    assert max(seen) == 3

    def single(target, draft, candidates, rng):
        before.append(draft.tolist())
        return sound.target_match(target, draft, candidates, rng)

    audit(single, kind="verifier", batched=False, cases=CASES[:1], **(OPTIONS | {"draws": 512}))
    assert sum(a != b for a, b in itertools.pairwise(before)) > len(before) / 4


def test_companions():
    assert len(with_companions(CASES[:1])) == 2
    assert len(with_companions(CASES[:1] * 2)) == 2
    for case in (*chain_cases([2]), *CASES):
        image = mirrored(mirrored(case))
        assert shape_of(image) == shape_of(case)
        tables = (case.target, image.target)
        assert all(np.array_equal(a, b) for a, b in zip(*tables, strict=True))


def test_bins_of_any_law_are_uniform():
    """Chi-square over 8 bins of 80,000 draws: above 40 with probability 1e-6."""
    rng, law = np.random.default_rng(0), np.array([0.05, 0.0, 0.6, 0.35])
    bins = bins_of(rng.choice(4, size=80_000, p=law), law, rng)
    counts = np.bincount(bins, minlength=BINS)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 40


def test_the_test_of_dependence_has_mean_one():
    """200 runs of 300 independent draws: a merged E above 100 in more than 12 has probability below 1e-5."""
    rng, above = np.random.default_rng(3), 0
    for _ in range(200):
        dependence = Dependence()
        for _ in range(3):
            dependence.add(rng.integers(BINS, size=100), rng.integers(3, size=100))
        above += dependence.log_e() > math.log(100)
    assert above <= 12


@pytest.mark.parametrize("lag", [1, 7, 48, 256])
def test_the_distance_is_told(lag):
    rng, dependence = np.random.default_rng(0), Dependence()
    bins = rng.integers(BINS, size=4_000)
    for i in range(lag, len(bins)):
        if rng.random() < 0.3:
            bins[i] = bins[i - lag]
    dependence.add(bins, None)
    assert dependence.worst() == (lag, False)
    assert lag in LAGS
    assert dependence.shows()
    assert dependence.log_e() > math.log(1e4)
