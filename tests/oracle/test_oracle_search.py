"""The smallest counterexample, the diagnosis beside it, and laws given as such."""

import dataclasses
import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from mutants import chains, lossy, positions, samplers, trees

import resispec_ref as rs
from resispec_ref.oracle import Counterexample, Diagnosis, audit, fraction_case
from resispec_ref.oracle.cases.tables import chain_cases, tree_cases
from resispec_ref.oracle.counterexamples.candidates import (
    near_position,
    near_sequence,
    small_chains,
    small_positions,
    small_trees,
)
from resispec_ref.oracle.counterexamples.explanation import confirmed
from resispec_ref.oracle.counterexamples.search import case_seed, first_that_shows

BUDGET = 600.0  # far more than is needed: draws end an audit, and not the clock


def test_smallest_case_of_the_published_rule():
    """Two tokens cannot show it: three, one candidate, small fractions, as the exact search finds too."""
    report = audit(lossy.resispec_as_published, kind="verifier", candidates=[1, 2], budget=BUDGET)
    found = report.counterexample
    assert len(found.inputs["target"]) == 3
    assert found.inputs["candidates"] == 1
    assert max(F(v).denominator for v in (*found.inputs["target"], *found.inputs["draft"])) <= 4
    assert found.right_law == found.inputs["target"]
    exact = [float(F(v)) for v in found.fault_law]
    assert np.abs(np.array(exact) - found.observed_law).max() < 5 * 0.5 / found.draws**0.5
    assert found.log10_e > 4


def test_smallest_case_of_a_fault_of_two_tokens():
    report = audit(positions.resamples_from_target, kind="verifier", budget=BUDGET)
    assert report.counterexample.inputs["candidates"] == 1
    assert len(report.counterexample.inputs["target"]) == 2


def test_smallest_chain():
    report = audit(chains.counts_all_passing_positions, kind="chain", budget=BUDGET)
    assert len(report.counterexample.inputs["draft"]) == 2  # one drafted token cannot show it
    assert len(report.counterexample.outcomes) == len(report.counterexample.right_law)


def test_a_chain_whose_fault_shows_only_where_rows_depend_on_the_prefix():
    found = audit(chains.goes_on_after_a_rejection, kind="chain", budget=BUDGET).counterexample
    assert found.shrunk
    assert len(found.inputs["draft"]) == 2
    assert len(found.right_law) == 8  # two tokens


def test_smallest_tree():
    """Testing siblings against the target itself, and drawing from it, shows with one child and two tokens."""
    found = audit(trees.siblings_without_update, kind="tree", budget=BUDGET).counterexample
    assert found.shrunk
    assert found.inputs["branching"] == [1]
    assert len(found.right_law) == 4
    assert found.log10_e > 4


def test_a_fault_that_only_recorded_rows_show_is_shown_there():
    def verify(target, draft, candidates, rng):
        if rng.random() * draft[candidates[0]] < target[candidates[0]]:
            return candidates[0]
        r = np.maximum(target - draft, 0)
        p = target if len(target) > 10 or r.sum() == 0 else r / r.sum()
        return rng.choice(len(p), p=p)

    report = audit(verify, kind="verifier", candidates=1, budget=BUDGET)
    assert report.verdict == "fault found"
    assert not report.counterexample.shrunk
    assert "the search found none smaller" in str(report)
    assert "outcomes that are furthest off" in str(report)


def test_sampler():
    report = audit(samplers.reuses_the_draft_noise, kind="sampler", candidates=1, budget=BUDGET)
    assert report.diagnosis.name == "draft-noise-reused"
    assert report.counterexample.fault_law is not None


def test_a_diagnosis_is_withdrawn_when_later_draws_disagree():
    named = Diagnosis("always-accept", "", "", matches=True, also=["other"])
    case = Counterexample({}, ["1/2", "1/2"], [0.25, 0.75], 4000, 0.25, 99.0, fault_law=["1/4", "3/4"])
    assert confirmed(named, case) == (named, case)
    off = dataclasses.replace(case, fault_law=["1/3", "2/3"])
    nearest, shown = confirmed(named, off)
    assert not nearest.matches
    assert shown.fault_law is None  # no law stands beside draws that contradict it
    assert confirmed(None, case) == (None, case)


def test_a_fault_that_emits_the_right_law_in_the_counterexample_explains_nothing():
    nearest = Diagnosis("one-uniform-for-all-candidates", "", "", matches=False)
    case = Counterexample({}, ["1/2", "1/2"], [0.25, 0.75], 4000, 0.25, 99.0, fault_law=["1/2", "1/2"])
    diagnosis, shown = confirmed(nearest, case)
    assert diagnosis is None
    assert shown.fault_law is None


def test_the_search_goes_by_size():
    """Two tokens first, then few candidates, then small denominators; no token that neither law has."""
    sizes, pairs = [], set()
    for case in small_positions([2, 1], 4, needed=True):
        p, q = case.exact
        assert all(a or b for a, b in zip(p, q, strict=True))
        assert sum(v > 0 for v in q) >= case.candidates
        denominators = [max(v.denominator for v in law) for law in (p, q)]
        sizes.append((case.vocab, case.candidates, sum(denominators)))
        pairs.add((p, q, case.candidates))
    assert sizes == sorted(sizes)
    assert len(pairs) == len(sizes)
    assert (tuple(law("1/3 1/3 1/3")), tuple(law("1/2 1/2 0")), 1) in pairs


def law(text):
    return [F(v) for v in text.split()]


def test_small_sequences_are_of_halves_and_thirds():
    for case in itertools.chain(small_chains([1, 2], 3), small_trees(3)):
        for table in (*case.target, *case.draft):
            assert np.abs(table.sum(-1) - 1).max() < 1e-15
            assert all(F(v).limit_denominator(100).denominator <= 3 for v in table.ravel())


def test_near_cases_keep_what_was_given():
    given = fraction_case(["1/10", "1/10", "2/5", "2/5"], ["2/5", "2/5", "1/10", "1/10"], 3)
    for case in near_position(given):
        assert case.candidates == 3
        assert case.vocab <= 4
    chain = chain_cases([2])[0]
    assert {case.drafted for case in near_sequence(chain)} == {1, 2}
    tree = tree_cases()[-1]
    assert {case.branching for case in near_sequence(tree)} == {tree.branching[:1], tree.branching}


def test_a_counterexample_stays_near_the_given_cases():
    given = fraction_case(["1/10", "1/5", "3/10", "2/5"], ["2/5", "3/10", "1/5", "1/10"], 2)
    report = audit(positions.resamples_from_target, kind="verifier", cases=[given], batched=False, budget=BUDGET)
    assert report.counterexample.inputs["candidates"] == 2
    assert len(report.counterexample.inputs["target"]) == 3  # two of its tokens cannot show it


def test_search():
    cases = list(small_positions([1, 2], 4, needed=False))
    assert first_that_shows(lambda case: case is cases[40], cases, 600.0) is cases[40]
    assert first_that_shows(lambda case: False, cases, 600.0) is None
    assert first_that_shows(lambda case: True, cases, -1.0) is None
    assert case_seed("a") == case_seed("a") != case_seed("b")


@pytest.mark.parametrize("name", rs.verifier_names())
def test_laws_of_the_registry(name):
    rule = rs.get_verifier(name)
    report = rs.audit(rule, kind="law", candidates=[1, 2], search=False)
    assert report.verdict == ("no fault found" if rule.exact else "fault found"), str(report)
    if rule.exact:
        assert report.tv_upper <= 1e-12


def step(residual):
    def law(target, draft):
        m = np.minimum(target, draft)
        return m, residual(target, draft)

    return law


def normalised(r):
    return r / r.sum() if r.sum() else r


def test_an_exact_step_in_rationals():
    report = rs.audit(step(lambda p, q: normalised(np.maximum(p - q, 0))), kind="law")
    assert report.verdict == "no fault found", str(report)
    assert report.tv_upper == 0


def test_a_wrong_step_and_its_smallest_counterexample():
    report = rs.audit(step(lambda p, q: p), kind="law")
    assert report.verdict == "fault found"
    assert report.counterexample.right_law == ["1/2", "1/2"]
    assert sum(F(v) for v in report.counterexample.fault_law) == 1


def test_residuals_for_each_rejected_token_and_floats():
    def by_token(target, draft):
        p, q = np.asarray(target, float), np.asarray(draft, float)
        rows = np.tile(normalised(np.maximum(p - q, 0)), (len(p), 1))
        return np.minimum(p, q), rows

    assert rs.audit(by_token, kind="law").verdict == "no fault found"


def test_what_is_no_law_is_said():
    report = rs.audit(lambda p, q: (2 * q, p), kind="law", search=False)
    assert report.verdict == "fault found"
    assert "not between 0 and the draft" in str(report)
    report = rs.audit(lambda p, q: (q * 0, p + p), kind="law", search=False)
    assert "is not a law" in str(report)
    report = rs.audit(lambda p, q: (q, p[:1]), kind="law", search=False)
    assert report.verdict == "could not run"
    assert "are needed" in str(report)
