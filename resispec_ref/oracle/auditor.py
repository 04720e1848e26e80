"""The audit: checks, rounds of draws until the budget is spent or a fault is proved, then the explanation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from resispec_ref.oracle import checks, faults, sequence_faults
from resispec_ref.oracle.calls import CallError
from resispec_ref.oracle.cases import PositionCase
from resispec_ref.oracle.confidence import round_error, smallest_tv_found, tv_observed, tv_upper
from resispec_ref.oracle.diagnosis import diagnose
from resispec_ref.oracle.evidence import Evidence, log_average, log_mixture
from resispec_ref.oracle.high_resolution import affordable, enumerable, resolve
from resispec_ref.oracle.positions import Outcome, acceptance_bound, cell_law, draw_positions, laws_seen
from resispec_ref.oracle.report import CaseResult, Counterexample, Diagnosis, Finding, HighResolution, Report
from resispec_ref.oracle.search import case_seed, smallest_chain, smallest_position
from resispec_ref.oracle.sequences import draw_sequences, seen_tables, sequence_bounds
from resispec_ref.oracle.subject import Subject, settle_batching
from resispec_ref.oracle.tables import ChainCase, TreeCase, joint_law

AnyCase = PositionCase | ChainCase | TreeCase
Progress = Callable[[float, str], None]
"""Called with the share of the budget that is spent, and what goes on."""

FIRST_ROUND = 256
MOST_AT_ONCE = 200_000
_DIAGNOSED_VOCAB = 6
_DIAGNOSIS_ROUNDS = (256, 1024, 4096)
_ENOUGH = 10_000  # draws in all, before one known fault is named


@dataclass(frozen=True)
class Plan:
    """How much an audit may spend and what it promises; see `resispec_ref.audit`."""

    budget: float = 60.0
    draws: int = 1_000_000
    false_alarm_rate: float = 1e-4
    confidence: float = 0.99
    tolerance: float = 0.0
    search: bool = True
    checks: bool = True
    resolution: float = 1e-4
    seed: int = 0


@dataclass
class Running:
    """A case while it is audited."""

    case: AnyCase
    evidence: Evidence
    bound: Any
    rounds: int = 0
    seconds: float = 0.0
    failed: Finding | None = None
    wrong: list[str] = field(default_factory=list)


def run_audit(subject: Subject, cases: Sequence[AnyCase], plan: Plan, progress: Progress) -> Report:
    """The audit of a function; the law kind has its own, `law_kind.audit_law`."""
    began = time.monotonic()
    report = Report(subject.name, subject.kind, "could not run", plan.false_alarm_rate, plan.confidence)
    report.tolerance = plan.tolerance
    try:
        subject = _settled(subject, cases, plan)
    except CallError as error:
        report.findings.append(Finding("problem", error.problem, error.message, error.given))
        report.seconds = time.monotonic() - began
        return report
    if plan.checks and isinstance(cases[0], PositionCase):
        for check in (checks.position_checks(subject, cases[0]),):
            try:
                report.findings += list(check)
            except CallError as error:
                report.findings.append(Finding("problem", error.problem, error.message, error.given))
    running = [_start(subject, case, plan) for case in cases]
    proved = draw_rounds(subject, running, plan, began, progress)
    report.findings += _sightings(running)
    if subject.noise is not None and not proved:
        report.high_resolution, proved = _resolve(subject, cases, plan, began, progress)
    needed = max((state.evidence.draws for state in running), default=FIRST_ROUND)
    fault = proved or any(f.level == "fault" for f in report.findings)
    _summarise(report, running, plan, fault)
    if fault:
        progress(0.8, "comparing with known faults")
        report.diagnosis = diagnosed(subject, running, report, plan)
        if plan.search and proved:
            progress(0.9, "searching for the smallest counterexample")
            left = max(5.0, plan.budget - (time.monotonic() - began))
            report.counterexample = counterexample(subject, running, report, plan, needed, min(left, 20.0))
            report.diagnosis = confirmed(report.diagnosis, report.counterexample)
    report.seconds = time.monotonic() - began
    progress(1.0, "done")
    return report


def draw_rounds(subject: Subject, running: list[Running], plan: Plan, began: float, progress: Progress) -> bool:
    """Rounds over all cases; True as soon as the merged evidence reaches `1 / false_alarm_rate`.

    A round doubles the draws of each case, as far as its share of the time that is left allows: a case of large
    vocabulary gets fewer draws than a small one. Sizes depend on the clock and on failures, never on what was drawn.
    """
    rngs = {id(state): np.random.default_rng([plan.seed, i]) for i, state in enumerate(running)}
    small = _enumerable(subject, [state.case for state in running])
    points = any(affordable(subject, case, 0.5 * plan.budget / len(small)) for case in small)
    share = 0.5 if points else 0.9  # of the budget: the rest is for noise as points, or for the search
    end = began + share * plan.budget
    active = list(running)
    while active:
        allotment = max(0.0, end - time.monotonic()) / len(active)
        for state in list(active):
            size = _next_size(state, plan, allotment, subject.pace.seconds_a_row)
            if size and time.monotonic() > began + 1.5 * plan.budget:
                size = 0  # a first round that comes too late
            if size == 0:
                active.remove(state)
                continue
            started = time.monotonic()
            _round(subject, state, size, rngs[id(state)])
            state.seconds += time.monotonic() - started
            if state.failed is not None:
                active.remove(state)
            if _merged(running) >= math.log(1 / plan.false_alarm_rate):
                return True
            progress((time.monotonic() - began) / plan.budget, f"{state.case.name}: {state.evidence.draws:,} draws")
    return False


def _next_size(state: Running, plan: Plan, allotment: float, seconds_a_draw: float | None) -> int:
    done = state.evidence.draws
    if done == 0:
        affordable = int(allotment / max(seconds_a_draw or 0.0, 1e-9))
        return min(FIRST_ROUND, max(FIRST_ROUND // 8, affordable), plan.draws)
    size = min(done, plan.draws - done, int(allotment * done / max(state.seconds, 1e-6)))
    return size if size >= done // 4 or size == plan.draws - done else 0


def _round(subject: Subject, state: Running, size: int, rng: np.random.Generator) -> None:
    """One round of a case; a call that fails ends this case, and the audit goes on with the others."""
    outcomes, left = [], size
    while left > 0:
        n = min(left, MOST_AT_ONCE)
        try:
            outcomes.append(_draw(subject, state, n, rng))
        except CallError as error:
            level: Any = "note" if state.case.degenerate and error.problem == "exception" else "problem"
            given = {"case": state.case.name} | error.given
            state.failed = Finding(level, error.problem, error.message, given)
            break
        left -= n
    if not outcomes:
        return
    state.rounds += 1
    rates: dict[str, tuple[float, int, int]] = {}
    for outcome in outcomes:
        state.wrong += outcome.wrong if not state.wrong else []
        for name, (bound, s, n) in outcome.rates.items():
            _, s0, n0 = rates.get(name, (bound, 0, 0))
            rates[name] = (bound, s0 + s, n0 + n)
    state.evidence.add(np.concatenate([o.cells for o in outcomes]), rates)


def _draw(subject: Subject, state: Running, n: int, rng: np.random.Generator) -> Outcome:
    if isinstance(state.case, PositionCase):
        return draw_positions(subject, state.case, n, rng, state.bound)
    return draw_sequences(subject, state.case, n, rng, state.bound)


def _start(subject: Subject, case: AnyCase, plan: Plan) -> Running:
    if isinstance(case, PositionCase):
        p, q = laws_seen(subject, case)
        return Running(
            case,
            Evidence(cell_law(subject, case), plan.tolerance),
            acceptance_bound(subject, p, q, case.candidates),
        )
    law = joint_law(seen_tables(subject, case.target))
    return Running(case, Evidence(law, plan.tolerance), sequence_bounds(subject, case))


def _settled(subject: Subject, cases: Sequence[AnyCase], plan: Plan) -> Subject:
    """Whether it takes batches, by small calls on the first case that works at all."""
    ordinary = next((case for case in cases if not case.degenerate), cases[0])

    def attempt(chosen: Subject) -> None:
        _draw(chosen, _start(chosen, ordinary, plan), 5, np.random.default_rng(plan.seed))

    return settle_batching(subject, attempt)


def _merged(running: list[Running]) -> float:
    """The average over all cases of the evidence against each; a case not drawn from yet counts 1."""
    return log_average([state.evidence.log_e() if state.evidence.draws else 0.0 for state in running])


def _sightings(running: list[Running]) -> list[Finding]:
    """What the draws showed besides their law: contradictory answers, failed calls, laws that change."""
    found = [state.failed for state in running if state.failed]
    for state in running:
        if state.wrong:
            found.append(Finding("fault", "accepted index", state.wrong[0], {"case": state.case.name}))
            break
    for state in running:
        logs = state.evidence.logs() if state.evidence.draws else {}
        law = logs.get("law", 0.0)
        if max(logs.get("pairs", 0.0), logs.get("rounds", 0.0)) > max(20.0, 2 * law):
            which = "rounds" if logs.get("rounds", 0.0) > logs.get("pairs", 0.0) else "pairs"
            message = {
                "pairs": "draws that follow one another depend on each other: noise is shared in a batch or between "
                "calls, or state is kept",
                "rounds": "the law changes between calls: it is not the same in each round of draws",
            }[which]
            found.append(Finding("fault", "independent draws", message, {"case": state.case.name}))
            break
    return found


def _enumerable(subject: Subject, cases: Sequence[AnyCase]) -> list[PositionCase | ChainCase]:
    return [case for case in cases if not isinstance(case, TreeCase) and enumerable(subject, case)]


def _resolve(
    subject: Subject, cases: Sequence[AnyCase], plan: Plan, began: float, progress: Progress
) -> tuple[list[HighResolution], bool]:
    """The high-resolution mode, over the cases whose candidates can be enumerated, sharing what time is left."""
    small = _enumerable(subject, cases)
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
    report.log10_e = _merged(running) / math.log(10)
    if report.cases:
        report.tv_upper = max(case.tv_upper for case in report.cases)
        ordinary = [case.tv_detectable for case in report.cases if case.tv_detectable < 1]
        report.tv_detectable = max(ordinary, default=1.0)
    unaudited = any(f.level == "problem" for f in report.findings) or not report.cases
    report.verdict = "fault found" if fault else "could not run" if unaudited else "no fault found"


def diagnosed(subject: Subject, running: list[Running], report: Report, plan: Plan) -> Diagnosis | None:
    """Compare what is observed with every known fault, over the cases of small vocabulary.

    The fault is proved by then, so these cases are drawn from some more, until one known fault alone is left or a tenth
    of the budget is spent.
    """
    if any(f.check == "independent draws" for f in report.findings):
        return None
    describe = sequence_faults.describe if subject.kind in ("chain", "tree") else faults.describe
    small = [state for state in running if state.case.vocab <= _DIAGNOSED_VOCAB and state.failed is None]
    laws = [fault_laws(subject, state.case) for state in small]
    rng, end, found = np.random.default_rng(plan.seed + 1), time.monotonic() + 0.1 * plan.budget, None
    for size in _DIAGNOSIS_ROUNDS:
        for state in small:
            if state.failed is None and time.monotonic() < end:
                _round(subject, state, size, rng)
        if any(state.evidence.drifts() for state in small):
            message = "the law changes between calls: it is not the same in each round of draws"
            report.findings.append(Finding("fault", "independent draws", message))
            return None
        seen = [(s.evidence.counts, s.evidence.law, f) for s, f in zip(small, laws, strict=True) if s.evidence.draws]
        found = diagnose(seen, describe)
        if (found is None or not found.also) and sum(s.evidence.draws for s in small) >= _ENOUGH:
            break
    return found


def confirmed(diagnosis: Diagnosis | None, case: Counterexample | None) -> Diagnosis | None:
    """The diagnosis, which matches only if the draws of the counterexample, made since, agree with the fault's law."""
    if diagnosis is None or not diagnosis.matches or case is None or case.fault_law is None:
        return diagnosis
    law = np.array([float(Fraction(v)) for v in case.fault_law])
    counts = np.rint(np.array(case.observed_law) * case.draws).astype(np.int64)
    ruled_out = log_mixture(counts, law / law.sum()) > math.log(1e4)
    return replace(diagnosis, matches=False, also=[]) if ruled_out else diagnosis


def fault_laws(subject: Subject, case: AnyCase) -> dict[str, np.ndarray]:
    """The laws of all known faults in a case."""
    draw = "independent" if callable(subject.draw) else subject.draw
    if isinstance(case, ChainCase):
        return sequence_faults.chain_laws(seen_tables(subject, case.target), seen_tables(subject, case.draft))
    if isinstance(case, TreeCase):
        return {}
    p, q = laws_seen(subject, case)
    return _position_laws(tuple(p.tolist()), tuple(q.tolist()), case.candidates, draw, subject.kind)


@lru_cache(maxsize=1024)
def _position_laws(
    p: tuple[float, ...], q: tuple[float, ...], candidates: int, draw: str, kind: str
) -> dict[str, np.ndarray]:
    known = faults.known_laws(list(p), list(q), candidates, draw=draw, kind=kind)
    return {name: np.array(law, dtype=float) for name, law in known.items()}


def counterexample(
    subject: Subject, running: list[Running], report: Report, plan: Plan, needed: int, seconds: float
) -> Counterexample | None:
    """The smallest case that shows the fault, by search, confirmed with draws of its own.

    `needed` draws proved the fault in the case that shows it best; a candidate gets up to eight times as many, and is
    given up earlier when an eighth of them has brought no evidence at all.
    """
    most = min(8 * needed, 400_000)

    def outcome(case: AnyCase, draws: int, seed: int) -> Evidence:
        state = _start(subject, case, plan)
        rng, size = np.random.default_rng(case_seed(str(case.inputs()), seed)), min(FIRST_ROUND, draws)
        while state.evidence.draws < draws:
            _round(subject, state, size, rng)
            if state.failed:
                break
            e = state.evidence.log_e()
            decided = e > math.log(1e5) or (e < 0 and 8 * state.evidence.draws >= draws)
            if seed == plan.seed and decided:
                break
            size = min(state.evidence.draws, draws - state.evidence.draws)
        return state.evidence

    def shows_fault(case: AnyCase) -> bool:
        evidence = outcome(case, most, plan.seed)
        return bool(evidence.draws) and evidence.log_e() > math.log(1e5)

    first = running[0].case
    ordinary = [state.case for state in running if not state.failed]
    case: AnyCase | None = None
    if isinstance(first, PositionCase):
        counts = sorted({c.candidates for c in ordinary if isinstance(c, PositionCase)})
        case = smallest_position(
            shows_fault, candidates=counts, vocab=4, distinct=subject.draw == "distinct", seconds=seconds
        )
    elif isinstance(first, ChainCase):
        lengths = sorted({c.drafted for c in ordinary if isinstance(c, ChainCase)})
        case = smallest_chain(shows_fault, drafted=lengths, vocab=3, seconds=seconds)
    if case is None:
        worst = max(running, key=lambda s: s.evidence.log_e() if s.evidence.draws else -math.inf)
        case = worst.case
    evidence = outcome(case, max(most, 4 * FIRST_ROUND), plan.seed + 1)
    if not evidence.draws or (isinstance(case, PositionCase) and case.cells is not None):
        return None
    return _described(subject, case, evidence, report.diagnosis)


def _described(subject: Subject, case: AnyCase, e: Evidence, diagnosis: Diagnosis | None) -> Counterexample:
    exact = case.exact if isinstance(case, PositionCase) and subject.format.tolerance == 0 else None
    law = None
    if diagnosis and diagnosis.matches and not isinstance(case, TreeCase):
        if exact is not None and isinstance(case, PositionCase):
            draw = "independent" if callable(subject.draw) else subject.draw
            known = faults.known_laws(
                list(exact[0]), list(exact[1]), case.candidates, draw=draw, kind=subject.kind, only=diagnosis.name
            )
        else:
            known = dict[str, Any](fault_laws(subject, case))
        law = known.get(diagnosis.name)
    return Counterexample(
        case.inputs(),
        [_number(v) for v in (exact[0] if exact else e.law)],
        (e.counts / e.draws).tolist(),
        e.draws,
        tv_observed(e.counts, e.law),
        e.log_e() / math.log(10),
        [_number(v) for v in law] if law is not None else None,
        [] if isinstance(case, PositionCase) else _sequences(case),
    )


def _sequences(case: ChainCase | TreeCase) -> list[str]:
    """The names of the cells: emitted sequences, completed."""
    V, length = case.vocab, len(case.target)
    return [" ".join(str(i // V ** (length - 1 - j) % V) for j in range(length)) for i in range(V**length)]


def _number(v: Any) -> str:
    return f"{v:.6g}" if isinstance(v, float) else str(v)
