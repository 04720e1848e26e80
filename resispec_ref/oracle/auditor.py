"""The audit: checks, rounds of draws until the budget is spent or a fault is proved, then the explanation."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.counterexamples.cause import beside_others, pair_beside, without_chance
from resispec_ref.oracle.counterexamples.explanation import confirmed, counterexample, diagnosed
from resispec_ref.oracle.drawing import checks
from resispec_ref.oracle.drawing.high_resolution import resolve
from resispec_ref.oracle.drawing.mixing import draw_mixed, with_companions
from resispec_ref.oracle.drawing.rounds import (
    FIRST_ROUND,
    AnyCase,
    Plan,
    Progress,
    Running,
    draw_rounds,
    enumerable_cases,
    in_small_batches,
    merged,
    start,
)
from resispec_ref.oracle.report.record import CaseResult, Finding, HighResolution, Lossy, gathered
from resispec_ref.oracle.report.report import Report
from resispec_ref.oracle.report.text import groups
from resispec_ref.oracle.statistics.confidence import round_error, smallest_tv_found, tv_observed, tv_upper
from resispec_ref.oracle.statistics.lossy import frontier, tv_lower
from resispec_ref.oracle.subjects.calls import CallError
from resispec_ref.oracle.subjects.subject import Subject, settle_batching

_TRIED = 5  # cases, to find out how it is called
_EXPLAINING = 10.0  # seconds for a name and a counterexample, or a sixth of the budget; never beyond the budget


def run_audit(
    subject: Subject, cases: Sequence[AnyCase], plan: Plan, progress: Progress, executor: Executor | None = None
) -> Report:
    """The audit of a function; the law kind has its own, `law_kind.audit_law`."""
    began = time.monotonic()
    report = Report(subject.name, subject.kind, "could not run", plan.false_alarm_rate, plan.confidence)
    report.tolerance = plan.tolerance
    try:
        subject = _settled(subject, cases, plan)
    except CallError as error:
        report.findings.append(_problem(error))
        report.seconds = time.monotonic() - began
        return report
    if plan.checks and isinstance(cases[0], PositionCase):
        try:
            report.findings += list(checks.position_checks(subject, cases[0]))
        except CallError as error:
            report.findings.append(_problem(error))
    running = [start(subject, case, plan) for case in with_companions(cases)] + in_small_batches(subject, cases, plan)
    proved = draw_rounds(subject, running, plan, began, progress, executor)
    if any(state.failed for state in running):  # which says more than a failed check
        report.findings = [f for f in report.findings if f.level != "problem"]
    report.findings += _sightings(subject, running, proved)
    if not any(f.check == "inputs unchanged" for f in report.findings):
        report.findings += [wrote for state in running if (wrote := state.wrote) is not None][:1]
    report.findings += _left_out(subject, running, proved)
    if subject.noise is not None and not proved and not plan.lossy:
        report.high_resolution, proved = _resolve(subject, cases, plan, began, progress)
    needed = max((state.evidence.draws for state in running), default=FIRST_ROUND)
    fault = proved or any(f.level == "fault" for f in report.findings)
    _summarise(report, running, plan, fault)
    if proved or any(state.wrong for state in running):
        end = min(began + plan.budget, time.monotonic() + max(_EXPLAINING, plan.budget / 6))
        _explain(subject, running, report, plan, needed, end, progress)
        report.findings = gathered(report.findings)
    if plan.lossy and report.verdict == "no fault found":
        report.verdict, report.lossy = "measured", _measured(running, report, plan)
        if merged(running) >= math.log(1 / plan.false_alarm_rate):
            report.diagnosis = diagnosed(subject, running, report, plan, began + plan.budget)
    report.seconds = time.monotonic() - began
    progress(1.0, "done")
    return report


def _measured(running: list[Running], report: Report, plan: Plan) -> Lossy | None:
    """The worst total variation with its interval, and the acceptance there beside the frontier."""
    drawn = [state for state in running if state.evidence.draws]
    if not drawn:
        return None
    found = []
    for state in drawn:
        error = round_error(1 - plan.confidence, 2 * len(running), state.rounds)
        low = tv_lower(state.evidence.rounds, state.evidence.law, error)
        found.append((low, tv_upper(state.evidence.counts, state.evidence.law, error), state))
    low, _, worst = max(found, key=lambda one: one[0])
    bound, successes, n = worst.evidence.rates.get("acceptance", (None, 0, 0))
    bias = tv_observed(worst.evidence.counts, worst.evidence.law)
    return Lossy(
        low,
        max(high for _, high, _ in found),
        worst.case.name,
        worst.case.inputs(),
        successes / n if n else None,
        bound,
        None if bound is None else frontier(bound, bias),
    )


def _explain(
    subject: Subject,
    running: list[Running],
    report: Report,
    plan: Plan,
    needed: int,
    end: float,
    progress: Progress,
) -> None:
    """What a proof is a proof of: dependence, rows of others, one answer for one input, or a law with its name."""
    progress(0.8, "comparing with known faults")
    if any(f.check == "independent draws" for f in report.findings):
        return
    proved = not any(state.wrong for state in running)
    if proved and (found := beside_others(subject, running, plan, (time.monotonic() + end) / 2)) is not None:
        report.findings.append(found)
        report.counterexample = pair_beside(subject, running, plan, end) if plan.search else None
        return
    report.diagnosis = diagnosed(subject, running, report, plan, end)
    named = report.diagnosis is not None and report.diagnosis.matches
    if proved and not named and (constant := without_chance(subject, running, plan, end)) is not None:
        report.findings.append(constant)
        report.diagnosis = None
        return
    if plan.search and proved:
        progress(0.9, "searching for the smallest counterexample")
        example = counterexample(subject, running, report, plan, needed, end)
        report.diagnosis, report.counterexample = confirmed(report.diagnosis, example)


def _settled(subject: Subject, cases: Sequence[AnyCase], plan: Plan) -> Subject:
    """Whether it takes batches, by small calls on the first case that works at all."""
    ordinary = [case for case in cases if not case.degenerate] or list(cases)
    tried = ordinary[:: -(-len(ordinary) // _TRIED)]
    for case in tried:

        def attempt(chosen: Subject, case: AnyCase = case) -> None:
            draw_mixed(chosen, [case], [5], np.random.default_rng(plan.seed), [start(chosen, case, plan).bound])

        try:
            return settle_batching(subject, attempt)
        except CallError as error:
            if case is tried[-1] or error.problem == "time limit":
                raise
    raise AssertionError("there is a case")


def _problem(error: CallError) -> Finding:
    return Finding("problem", error.problem, error.message, error.given, trace=error.trace)


def _sightings(subject: Subject, running: list[Running], proved: bool) -> list[Finding]:
    """What the draws showed besides their law: contradictory answers, failed calls, laws that change."""
    worst = max(running, key=lambda state: state.evidence.log_e() if state.evidence.draws else -math.inf)
    found = [state.failed for state in running if state.failed]
    for state in running:
        if state.wrong:
            found.append(Finding("fault", "accepted index", state.wrong[0], {"case": state.case.name}))
            break
    large = [state.evidence.log_e() for state in running if not state.rows and state.evidence.draws]
    if proved and worst.rows and _law_logs(worst) >= math.log(1e3) > max(large, default=0.0):
        message = f"wrong in batches of {worst.rows} rows, not in larger ones: some row of a batch is treated otherwise"
        found.append(Finding("fault", "rows of a batch", message, {"case": worst.case.name}))
    for state in running:
        logs = state.evidence.logs() if state.evidence.draws else {}
        law = logs.get("law", 0.0)
        notable = math.log(1e3) if proved and state is worst else 20.0  # what proved a fault gives it its name
        if logs.get("rounds", 0.0) > max(notable, 2 * law):
            message = "the law changes between calls: it is not the same in each round of draws"
            found.append(Finding("fault", "independent draws", message, {"case": state.case.name}))
            break
    by_law = max(_law_logs(state) for state in running)
    return found + _dependent(subject, running, proved, alone=by_law < math.log(1e3))[:1]


def _law_logs(state: Running) -> float:
    """The most evidence of a test of the law, which draws that are dependent but right would not bring."""
    logs = state.evidence.logs() if state.evidence.draws else {}
    return max((e for name, e in logs.items() if name != "pairs"), default=0.0)


def _dependent(subject: Subject, running: list[Running], proved: bool, *, alone: bool) -> list[Finding]:
    """Draws that tell what others will be, and at what distance; `alone` says that no law was found wrong."""
    found = list[Finding]()
    for state in running:
        test = state.dependence
        if test is None or test.log_e() < (math.log(1e3) if proved else 20.0):
            continue
        if not (proved and alone) and not test.shows():
            continue
        lag, ends = test.worst()
        message = f"a draw tells what {'the next' if lag == 1 else f'the one {lag} after it'} will be: "
        if ends:
            message = (
                f"what a step ends with tells what {'the next' if lag == 1 else f'the one {lag} after it'} emits: "
            )
        shared = f"rows i and i + {lag} of a batch use the same numbers, or " if subject.batched else ""
        message += f"{shared}noise is used again, or state is kept between calls"
        found.append(Finding("fault", "independent draws", message, {"case": state.case.name, "distance": lag}))
    if proved and alone and not found:
        of = "rows of a batch use the same numbers, or " if subject.batched else ""
        message = (
            f"a draw tells what the next of its case will be: {of}noise is used again, or state is kept between calls"
        )
        best = max(running, key=lambda state: state.evidence.logs().get("pairs", 0.0) if state.evidence.draws else 0.0)
        found.append(Finding("fault", "independent draws", message, {"case": best.case.name}))
    return found


def _left_out(subject: Subject, running: list[Running], proved: bool) -> list[Finding]:
    """Cases that the budget did not reach, unless a fault ended the draws."""
    undrawn = sum(not state.evidence.draws and state.failed is None for state in running)
    if not undrawn or proved or any(state.wrong for state in running):
        return []
    pace = f"{subject.pace.seconds_a_row or 0.0:.2g} s a draw"
    return [Finding("note", "budget", f"{undrawn} of {len(running)} cases were not drawn from, at {pace}; give more")]


def _resolve(
    subject: Subject, cases: Sequence[AnyCase], plan: Plan, began: float, progress: Progress
) -> tuple[list[HighResolution], bool]:
    """The high-resolution mode, over the cases whose candidates can be enumerated, sharing what time is left."""
    small = enumerable_cases(subject, cases)
    found = list[HighResolution]()
    for i, case in enumerate(small):
        left = plan.budget - (time.monotonic() - began)
        if left <= 0:
            break
        progress(1 - left / plan.budget, f"noise as points: {case.name}")
        error = plan.false_alarm_rate / len(small)
        try:
            seconds = left / (len(small) - i)
            law = resolve(subject, case, resolution=plan.resolution / 2, seconds=seconds, error=error, seed=plan.seed)
            found += [law] if law is not None else []
        except CallError:
            continue  # reported by the rounds of draws
    return found, any(h.fault and h.tv > plan.tolerance for h in found)


def _summarise(report: Report, running: list[Running], plan: Plan, fault: bool) -> None:
    threshold = math.log(1 / plan.false_alarm_rate) + math.log(len(running))
    for state in running:
        e, law = state.evidence, state.evidence.law
        if not e.draws:
            continue
        logs = e.logs()
        error = round_error(1 - plan.confidence, len(running), state.rounds)
        share = threshold + math.log(len(logs))
        bound, successes, n = e.rates.get("acceptance", (None, 0, 0))
        small = len(law) <= 32
        report.cases.append(
            CaseResult(
                state.case.name,
                state.case.inputs(),
                e.draws,
                tv_observed(e.counts, law),
                tv_upper(e.counts, law, error),
                smallest_tv_found(law, e.draws, share) if not fault else 1.0,
                e.log_e() / math.log(10),
                {name: value / math.log(10) for name, value in logs.items()},
                successes / n if n else None,
                bound,
                law.tolist() if small else [],
                (e.counts / e.draws).tolist() if small else [],
            )
        )
    report.draws = sum(case.draws for case in report.cases)
    report.log10_e = merged(running) / math.log(10)
    if report.cases:
        alike = groups(report.cases)[0][1]
        report.tv_upper = max(case.tv_upper for case in alike)
        ordinary = [case.tv_detectable for case in alike if case.tv_detectable < 1]
        report.tv_detectable = max(ordinary, default=1.0)
    report.findings = gathered(report.findings)
    report.cases_in_all = len(running)
    report.cases_cleared = sum(state.evidence.draws > 0 and state.failed is None for state in running)
    report.verdict = "fault found" if fault else "no fault found" if report.cases_cleared else "could not run"
