"""Rounds of draws: what an audit spends, and the evidence that each case has gathered so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from resispec_ref.measurements import parallel
from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import ChainCase, TreeCase, candidates_of, joint_law
from resispec_ref.oracle.drawing.high_resolution import affordable, enumerable
from resispec_ref.oracle.drawing.positions import Outcome, acceptance_bound, cell_law, draw_positions, laws_seen
from resispec_ref.oracle.drawing.sequences import draw_sequences, seen_tables, sequence_bounds
from resispec_ref.oracle.report.record import Finding
from resispec_ref.oracle.statistics.evidence import Evidence, log_average
from resispec_ref.oracle.subjects.calls import CallError
from resispec_ref.oracle.subjects.subject import Pace, Subject

AnyCase = PositionCase | ChainCase | TreeCase
Progress = Callable[[float, str], None]
"""Called with the share of the budget that is spent, and what goes on."""

FIRST_ROUND = 256
MOST_AT_ONCE = 200_000


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
    given: bool = False
    """Whether the cases are the user's own, near which a smallest counterexample is looked for."""


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
    rows: int | None = None
    """Of each batch, where it is not to grow."""
    wrote: Finding | None = None
    """That the implementation wrote to its arguments."""


@dataclass(frozen=True)
class Round:
    """A round that is asked for: what a process needs to draw it, and nothing of what was drawn before."""

    subject: Subject
    case: AnyCase
    bound: Any
    size: int
    rng: np.random.Generator


@dataclass(frozen=True)
class Drawn:
    """A round that was drawn, and the subject's pace and the generator after it."""

    outcomes: list[Outcome]
    failed: Finding | None
    seconds: float
    subject: Subject
    rng: np.random.Generator


def draw_rounds(
    subject: Subject,
    running: list[Running],
    plan: Plan,
    began: float,
    progress: Progress,
    executor: Executor | None = None,
) -> bool:
    """Rounds over all cases; True as soon as the merged evidence reaches `1 / false_alarm_rate`.

    A round doubles the draws of each case, as far as its share of the time that is left allows: a case of large
    vocabulary gets fewer draws than a small one. Sizes depend on the clock and on failures, never on what was drawn.
    Each case has its own generator and pace, and the evidence is taken in the order of the cases, so that who draws
    (`executor`) does not matter.
    """
    rngs = {id(state): np.random.default_rng([plan.seed, i]) for i, state in enumerate(running)}
    paces = [Pace(state.rows, state.rows) if state.rows else copy(subject.pace) for state in running]
    subjects = {id(state): replace(subject, pace=pace) for state, pace in zip(running, paces, strict=True)}
    small = enumerable_cases(subject, [state.case for state in running])
    points = any(affordable(subject, case, 0.5 * plan.budget / len(small)) for case in small)
    share = 0.5 if points else 0.9  # of the budget: the rest is for noise as points, or for the search
    end = began + share * plan.budget
    active, asked = in_turn(running), list[Running]()

    def rounds() -> Iterator[Round]:
        """One of each active case, its size settled when it is handed out; a case that gets none is active no more."""
        allotment = max(0.0, end - time.monotonic()) / len(active)
        for state in list(active):
            size = _next_size(state, plan, allotment, subject.pace.seconds_a_row)
            if size and time.monotonic() > end:
                size = 0  # a first round that comes too late
            if size == 0:
                active.remove(state)
                continue
            asked.append(state)
            yield Round(subjects[id(state)], state.case, state.bound, size, rngs[id(state)])

    while active:
        asked.clear()
        for i, drawn in enumerate(parallel.in_order(draw_round, rounds(), executor)):
            state = asked[i]
            subjects[id(state)], rngs[id(state)] = drawn.subject, drawn.rng
            subject.pace.seconds_a_row = min(s.pace.seconds_a_row or math.inf for s in subjects.values())
            _add(state, drawn)
            if state.failed is not None:
                active.remove(state)
            if merged(running) >= math.log(1 / plan.false_alarm_rate):
                return True
            if state.wrong:
                return False  # a contradiction is a fault without any statistics
            progress((time.monotonic() - began) / plan.budget, f"{state.case.name}: {state.evidence.draws:,} draws")
    return False


def in_turn(running: list[Running]) -> list[Running]:
    """The cases of each number of candidates in turn, so that a slow subject is drawn from with all of them."""
    seen = dict[int, int]()

    def turn(state: Running) -> int:
        K = candidates_of(state.case)
        seen[K] = seen.get(K, 0) + 1
        return seen[K]

    return [state for _, state in sorted(((turn(state), state) for state in running), key=lambda pair: pair[0])]


def _next_size(state: Running, plan: Plan, allotment: float, seconds_a_draw: float | None) -> int:
    done = state.evidence.draws
    if done == 0:
        affordable = int(allotment / max(seconds_a_draw or 0.0, 1e-9))
        return min(FIRST_ROUND, max(FIRST_ROUND // 8, affordable), plan.draws)
    pace = done / max(state.seconds, 1e-6)
    size = min(done, plan.draws - done, int(allotment * pace))
    if size == 0 or (size < done // 4 and size < plan.draws - done):
        return 0
    return max(1, min(size, int(plan.budget / 30 * pace)))  # evidence is looked at every few seconds


def one_round(subject: Subject, state: Running, size: int, rng: np.random.Generator) -> None:
    """One round of a case; a call that fails ends this case, and the audit goes on with the others."""
    _add(state, draw_round(Round(subject, state.case, state.bound, size, rng)))


def draw_round(asked: Round) -> Drawn:
    """The draws of a round, up to a call that fails."""
    outcomes, left, failed = list[Outcome](), asked.size, None
    began = time.monotonic()
    while left > 0:
        n = min(left, MOST_AT_ONCE)
        try:
            outcomes.append(draw(asked.subject, asked.case, n, asked.rng, asked.bound))
        except CallError as error:
            level: Any = "note" if asked.case.degenerate and error.problem == "exception" else "problem"
            failed = Finding(
                level, error.problem, error.message, {"case": asked.case.name} | error.given, trace=error.trace
            )
            break
        left -= n
    return Drawn(outcomes, failed, time.monotonic() - began, asked.subject, asked.rng)


def _add(state: Running, drawn: Drawn) -> None:
    state.failed = drawn.failed
    state.seconds += drawn.seconds
    if drawn.subject.pace.wrote:
        state.wrote = Finding(
            "fault", "inputs unchanged", "the implementation wrote to its arguments", drawn.subject.pace.wrote
        )
    if not drawn.outcomes:
        return
    state.rounds += 1
    rates: dict[str, tuple[float, int, int]] = {}
    for outcome in drawn.outcomes:
        state.wrong += outcome.wrong if not state.wrong else []
        for name, (bound, s, n) in outcome.rates.items():
            _, s0, n0 = rates.get(name, (bound, 0, 0))
            rates[name] = (bound, s0 + s, n0 + n)
    state.evidence.add(np.concatenate([o.cells for o in drawn.outcomes]), rates)


def draw(subject: Subject, case: AnyCase, n: int, rng: np.random.Generator, bound: Any) -> Outcome:
    if isinstance(case, PositionCase):
        return draw_positions(subject, case, n, rng, bound)
    return draw_sequences(subject, case, n, rng, bound)


def start(subject: Subject, case: AnyCase, plan: Plan) -> Running:
    if isinstance(case, PositionCase):
        p, q = laws_seen(subject, case)
        return Running(
            case,
            Evidence(cell_law(subject, case), plan.tolerance),
            acceptance_bound(subject, p, q, case.candidates),
        )
    law = joint_law(seen_tables(subject, case.target))
    return Running(case, Evidence(law, plan.tolerance), sequence_bounds(subject, case))


def in_small_batches(subject: Subject, cases: Sequence[AnyCase], plan: Plan) -> list[Running]:
    """Some cases once more in batches of 3, since a fault in the first or last row of a batch is lost in large ones."""
    if not subject.batched or subject.kind == "sampler":
        return []
    ordinary = [case for case in cases if not case.degenerate and case.vocab <= 16]
    again = [replace(case, name=f"{case.name}, batches of 3") for case in ordinary[:: max(1, len(ordinary) // 4)]]
    return [replace(start(subject, case, plan), rows=3) for case in again]


def merged(running: list[Running]) -> float:
    """The average over all cases of the evidence against each; a case not drawn from yet counts 1."""
    return log_average([state.evidence.log_e() if state.evidence.draws else 0.0 for state in running])


def enumerable_cases(subject: Subject, cases: Sequence[AnyCase]) -> list[PositionCase | ChainCase]:
    return [case for case in cases if not isinstance(case, TreeCase) and enumerable(subject, case)]
