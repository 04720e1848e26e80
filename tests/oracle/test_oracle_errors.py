"""What goes wrong in an implementation is reported with the input that caused it, and the audit goes on."""

import sys
import threading
import time

import numpy as np
import pytest

import resispec_ref as rs
from resispec_ref.oracle import assert_exact, auditor, fraction_case, position_cases
from resispec_ref.oracle.counterexamples import explanation
from resispec_ref.oracle.drawing import rounds
from resispec_ref.oracle.subjects import subject
from resispec_ref.oracle.subjects.calls import CallError, guarded

QUICK = {"draws": 300, "search": False, "candidates": 1}
CASES = position_cases([1], real_rows=0)[:4]


def problems(function, kind="verifier", **options):
    report = rs.audit(function, kind=kind, **(QUICK | {"cases": CASES} | options))
    return report, {f.check: f for f in report.findings}


def test_wrong_shape_is_named():
    report, found = problems(lambda target, draft, candidates, rng: np.zeros((2, 2), dtype=int))
    assert report.verdict == "could not run"
    assert report.exit_code == 2
    message = found["shape"].message
    assert "f(target, draft, candidates, rng)" in message
    assert "(2, 2)" in message


def test_floats_are_no_token_ids():
    report, found = problems(lambda target, draft, candidates, rng: 0.5)
    assert report.verdict == "could not run"
    assert "float64" in found["dtype"].message
    assert "integers" in found["dtype"].message


def test_nothing_returned():
    report, found = problems(lambda target, draft, candidates, rng: None)
    assert report.verdict == "could not run"
    assert "None" in found["dtype"].message


@pytest.mark.parametrize("token", [-1, 99])
def test_token_out_of_range(token):
    report, found = problems(lambda target, draft, candidates, rng: token)
    assert report.verdict == "could not run"
    assert f"token {token}" in found["token out of range"].message
    assert "vocabulary of 3" in found["token out of range"].message


def test_an_exit_is_no_verdict():
    report, found = problems(lambda target, draft, candidates, rng: sys.exit(0))
    assert report.exit_code == 2
    assert "SystemExit: 0" in found["exception"].message


class Clock:
    """A clock that a verifier moves on: by so many seconds a call, whatever the machine does."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        for module in (auditor, rounds, explanation, subject):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self):
        return self.now

    perf_counter = monotonic


def test_a_slow_implementation_is_tried_with_every_number_of_candidates_and_what_was_left_out_is_said(monkeypatch):
    clock = Clock(monkeypatch)

    def slow(target, draft, candidates, rng):
        clock.now += 0.01
        return rng.choice(len(target), p=target)

    report = rs.audit(slow, kind="verifier", search=False, budget=6.0)
    assert report.seconds <= 6
    assert {case.inputs["candidates"] for case in report.cases} == {1, 2, 3}
    assert "cases were not drawn from" in {f.check: f for f in report.findings}["budget"].message


def test_a_ratio_five_percent_too_high_is_found_at_a_millisecond_a_call(monkeypatch):
    """60 s of calls that take a millisecond: the hardest pairs come first, and get enough draws."""
    clock = Clock(monkeypatch)

    def slow(p, q, candidates, rng):
        clock.now += 0.001
        for x in candidates:
            if rng.random() * q[x] < 1.05 * p[x]:
                return x
            r = np.maximum(p - q, 0)
            p = r / r.sum() if r.sum() > 0 else p
        return rng.choice(len(p), p=p)

    report = rs.audit(slow, kind="verifier", search=False, checks=False, budget=60.0, seed=1)
    assert report.verdict == "fault found"
    assert clock.now < 60


def test_naming_and_shrinking_stay_inside_the_budget_and_a_proof_is_soon_reported(monkeypatch):
    """At 10 ms a call: the whole audit within its budget, and the report within 10 s of the proof."""
    clock, proved = Clock(monkeypatch), []

    def slow(target, draft, candidates, rng):
        clock.now += 0.01
        return candidates[0]

    def progress(share, what):
        if what == "comparing with known faults":
            proved.append(clock.now)

    for budget in (8.0, 60.0):
        report = rs.audit(slow, kind="verifier", candidates=1, budget=budget, progress=progress)
        assert report.verdict == "fault found"
        assert report.counterexample is not None
        assert report.seconds <= budget
        assert clock.now - proved[-1] <= 10


def test_exception_in_one_case_does_not_end_the_audit():
    def fails_on_four_tokens(target, draft, candidates, rng):
        if len(target) == 4:
            raise RuntimeError("four tokens")
        return rng.choice(len(target), p=target)

    report, found = problems(fails_on_four_tokens)
    assert found["exception"].message == "RuntimeError: four tokens"
    assert len(found["exception"].given["target"]) == 4
    assert "fails_on_four_tokens" in found["exception"].trace
    assert [f.check for f in report.findings] == ["exception"]
    assert (report.cases_cleared, report.cases_in_all) == (3, 5)  # those of four tokens: one, and its mirror image
    assert report.verdict == "no fault found"
    assert report.exit_code == 2
    assert "NO FAULT FOUND in 3 of 5 cases; 2 inputs raised" in str(report)
    assert 'raise RuntimeError("four tokens")' in str(report)
    with pytest.raises(AssertionError, match="RuntimeError"):
        assert_exact(fails_on_four_tokens, kind="verifier", cases=CASES, **QUICK)


def test_an_audit_begins_with_an_input_that_works():
    def fails_on_three_tokens(target, draft, candidates, rng):
        if len(target) == 3:
            raise RuntimeError("three tokens")
        return rng.choice(len(target), p=target)

    report, found = problems(fails_on_three_tokens)
    assert report.verdict == "no fault found"
    assert found["exception"].inputs == 3


def test_exception_in_a_degenerate_case_is_a_note():
    def fails_where_laws_are_equal(target, draft, candidates, rng):
        if (target == draft).all():
            raise ZeroDivisionError("no residual")
        return rng.choice(len(target), p=target)

    cases = [*CASES, fraction_case(["1/2", "1/2"], ["1/2", "1/2"], 1, name="equal", degenerate=True)]
    report, found = problems(fails_where_laws_are_equal, cases=cases)
    assert found["exception"].level == "note"
    assert report.verdict == "no fault found"


def test_a_hanging_call_is_stopped():
    def hangs(target, draft, candidates, rng):
        while True:
            pass

    threads = threading.active_count()
    report, found = problems(hangs, call_limit=0.3)
    assert report.verdict == "could not run"
    assert "0.3 s" in found["time limit"].message
    assert "target" in found["time limit"].given
    for _ in range(6000):  # the loop is interrupted as soon as its thread runs
        if threading.active_count() <= threads:
            return
        time.sleep(0.01)
    pytest.fail("the thread is still there")


def test_a_slow_loop_of_fast_calls_is_no_hang():
    def job(clock):
        for _ in range(10):
            clock.start({})
            time.sleep(0.05)
        return "done"

    assert guarded(job, limit=0.3) == "done"


def test_an_error_keeps_its_kind():
    with pytest.raises(CallError, match="gone"):
        guarded(lambda clock: (_ for _ in ()).throw(CallError("exception", "gone")), limit=1)


def test_a_law_that_is_never_the_same_is_a_fault_without_a_name():
    state = {"calls": 0}

    def drifts(target, draft, candidates, rng):
        state["calls"] += 1
        tilt = np.where(np.arange(len(target)) == 0, 1 + np.sin(state["calls"] / 500), 1)
        p = target * tilt / (target * tilt).sum()
        return rng.choice(len(p), p=p)

    report, found = problems(drifts, draws=20_000, cases=CASES[:1])
    assert report.verdict == "fault found"
    assert report.diagnosis is None
    assert "the law changes between calls" in found["independent draws"].message


def test_the_same_token_for_ever_is_found():
    report, _ = problems(lambda target, draft, candidates, rng: 0)
    assert report.verdict == "fault found"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "engine"}, "kind: 'engine' is not one of sampler, verifier"),
        ({"kind": "verifier", "budget": 0}, "budget: 0 is out of range"),
        ({"kind": "verifier", "false_alarm_rate": 1}, "false_alarm_rate: 1 is out of range"),
        ({"kind": "verifier", "candidates": 0}, "candidates: .0.; 1 or more"),
        ({"kind": "verifier", "noise": "normal:3"}, "noise: 'normal:3' is not understood"),
        ({"kind": "verifier", "noise": "uniform:Q"}, "kind:size"),
        ({"kind": "verifier", "draw": "sorted"}, "draw: 'sorted' is not one of"),
        ({"kind": "verifier", "library": "cupy"}, "library: 'cupy' is not one of"),
        ({"kind": "verifier", "dtype": "int8"}, "dtype: 'int8' is not one of"),
        ({"kind": "verifier", "cases": []}, "cases: there is none"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        rs.audit(lambda target, draft, candidates, rng: 0, **options)


def test_not_a_function():
    with pytest.raises(ValueError, match="implementation: 3 is not a function"):
        rs.audit(3, kind="verifier")


def test_a_users_own_draw_is_checked():
    with pytest.raises(ValueError, match=r"draw: returned .* \(300, 1\) are needed|draw: returned"):
        rs.audit(lambda t, d, c, rng: 0, kind="verifier", draw=lambda q, k, rng, n: np.zeros((n, k + 1), int), **QUICK)
