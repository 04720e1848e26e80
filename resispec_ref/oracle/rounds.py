"""Rounds of draws: what an audit spends, and the evidence that each case has gathered so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from resispec_ref.oracle.calls import CallError
from resispec_ref.oracle.cases import PositionCase
from resispec_ref.oracle.evidence import Evidence, log_average
from resispec_ref.oracle.high_resolution import affordable, enumerable
from resispec_ref.oracle.positions import Outcome, acceptance_bound, cell_law, draw_positions, laws_seen
from resispec_ref.oracle.report import Finding
from resispec_ref.oracle.sequences import draw_sequences, seen_tables, sequence_bounds
from resispec_ref.oracle.subject import Subject
from resispec_ref.oracle.tables import ChainCase, TreeCase, joint_law

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


def draw_rounds(subject: Subject, running: list[Running], plan: Plan, began: float, progress: Progress) -> bool:
    """Rounds over all cases; True as soon as the merged evidence reaches `1 / false_alarm_rate`.

    A round doubles the draws of each case, as far as its share of the time that is left allows: a case of large
    vocabulary gets fewer draws than a small one. Sizes depend on the clock and on failures, never on what was drawn.
    """
    rngs = {id(state): np.random.default_rng([plan.seed, i]) for i, state in enumerate(running)}
    small = enumerable_cases(subject, [state.case for state in running])
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
            one_round(subject, state, size, rngs[id(state)])
            state.seconds += time.monotonic() - started
            if state.failed is not None:
                active.remove(state)
            if merged(running) >= math.log(1 / plan.false_alarm_rate):
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


def one_round(subject: Subject, state: Running, size: int, rng: np.random.Generator) -> None:
    """One round of a case; a call that fails ends this case, and the audit goes on with the others."""
    outcomes, left = [], size
    while left > 0:
        n = min(left, MOST_AT_ONCE)
        try:
            outcomes.append(draw(subject, state, n, rng))
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


def draw(subject: Subject, state: Running, n: int, rng: np.random.Generator) -> Outcome:
    if isinstance(state.case, PositionCase):
        return draw_positions(subject, state.case, n, rng, state.bound)
    return draw_sequences(subject, state.case, n, rng, state.bound)


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


def merged(running: list[Running]) -> float:
    """The average over all cases of the evidence against each; a case not drawn from yet counts 1."""
    return log_average([state.evidence.log_e() if state.evidence.draws else 0.0 for state in running])


def enumerable_cases(subject: Subject, cases: Sequence[AnyCase]) -> list[PositionCase | ChainCase]:
    return [case for case in cases if not isinstance(case, TreeCase) and enumerable(subject, case)]
