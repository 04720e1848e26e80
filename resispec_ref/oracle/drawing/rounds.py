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
from resispec_ref.oracle.drawing.mixing import AnyCase, Mixed, draw_mixed, shape_of
from resispec_ref.oracle.drawing.positions import acceptance_bound, cell_law, laws_seen
from resispec_ref.oracle.drawing.sequences import seen_tables, sequence_bounds
from resispec_ref.oracle.report.record import Finding
from resispec_ref.oracle.statistics.dependence import MOST, Dependence, bins_of
from resispec_ref.oracle.statistics.evidence import Evidence, log_average
from resispec_ref.oracle.subjects.calls import CallError
from resispec_ref.oracle.subjects.subject import Pace, Subject

Progress = Callable[[float, str], None]
"""Called with the share of the budget that is spent, and what goes on."""

FIRST_ROUND = 256
_WANTED = 2_048  # draws of each case, where calls are so slow that not all cases get so many
_HARD = ("close laws", "six faults apart", "near-uniform", "siblings", "next to 1", "skewed")  # where most faults show
_FOLLOWED = 3  # cases of most evidence that get the rest of the budget then
MOST_AT_ONCE = 200_000
_ALONE = 64  # draws of a case, to find out whether its calls fail


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
    lossy: bool = False
    """Whether a rule is measured that is lossy by design: a proof that it is not exact ends nothing."""


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
    dependence: Dependence | None = None
    """Of the group of cases that it is drawn with, in the first of them."""
    wrote: Finding | None = None
    """That the implementation wrote to its arguments."""


@dataclass(frozen=True)
class Round:
    """A round that is asked for: what a process needs to draw it, and nothing of what was drawn before.

    Its cases are of one shape, and mixed.
    """

    subject: Subject
    cases: list[AnyCase]
    bounds: list[Any]
    sizes: list[int]
    rng: np.random.Generator


@dataclass(frozen=True)
class Drawn:
    """A round that was drawn, and the subject's pace and the generator after it."""

    mixed: list[Mixed]
    failed: dict[int, Finding]
    """Case -> what its calls failed with."""
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
    vocabulary gets fewer draws than a small one. Sizes depend on the clock and on failures, not on what was drawn; but
    where calls are slow, the second half of the budget goes to the cases of most evidence, as an e-process allows.
    Cases of one shape are drawn together (`mixing`); each such group has its own generator and pace, and the evidence
    is taken in the order of the groups, so that who draws (`executor`) does not matter.
    """
    affordable_now = affordable_cases(running, plan, subject.pace.seconds_a_row)
    groups, few = grouped(affordable_now), len(affordable_now) < len(running)
    for members in groups:
        members[0].dependence = None if plan.tolerance else Dependence()
    rngs = [np.random.default_rng([plan.seed, i]) for i in range(len(groups))]
    paces = [Pace(m[0].rows, m[0].rows) if m[0].rows else copy(subject.pace) for m in groups]
    subjects = [replace(subject, pace=pace) for pace in paces]
    small = enumerable_cases(subject, [state.case for state in running])
    points = any(affordable(subject, case, 0.5 * plan.budget / len(small)) for case in small)
    share = 0.5 if points else 0.9  # of the budget: the rest is for noise as points, or for the search
    end = began + share * plan.budget
    active = {id(state) for members in groups for state in members}
    asked = list[tuple[int, list[Running]]]()

    def rounds() -> Iterator[Round]:
        """One of each group of active cases, its sizes settled when it is handed out.

        A case that gets none is active no more.
        """
        if few and all(state.evidence.draws >= _WANTED for state in affordable_now if id(state) in active):
            best = sorted((s for s in affordable_now if id(s) in active), key=lambda s: -s.evidence.log_e())
            active.intersection_update(id(state) for state in best[:_FOLLOWED])
        allotment = max(0.0, end - time.monotonic()) / len(active)
        for number, members in enumerate(groups):
            chosen, sizes, planned = list[Running](), list[int](), time.monotonic()
            for state in members:
                if id(state) not in active:
                    continue
                size = _next_size(state, plan, allotment, subject.pace.seconds_a_row)
                planned += size * (subject.pace.seconds_a_row or 0.0)
                if size == 0 or planned > end:  # also of a first round
                    active.discard(id(state))
                    continue
                chosen.append(state)
                sizes.append(size)
            if chosen:
                asked.append((number, chosen))
                cases, bounds = [state.case for state in chosen], [state.bound for state in chosen]
                yield Round(subjects[number], cases, bounds, sizes, rngs[number])

    while active:
        asked.clear()
        for i, drawn in enumerate(parallel.in_order(draw_round, rounds(), executor)):
            number, chosen = asked[i]
            subjects[number], rngs[number] = drawn.subject, drawn.rng
            subject.pace.seconds_a_row = min(s.pace.seconds_a_row or math.inf for s in subjects)
            _add(chosen, drawn, groups[number][0].dependence)
            active -= {id(state) for state in chosen if state.failed is not None}
            if not plan.lossy and merged(running) >= math.log(1 / plan.false_alarm_rate):
                return True
            if any(state.wrong for state in chosen):
                return False  # a contradiction is a fault without any statistics
            done = f"{chosen[0].case.name}: {chosen[0].evidence.draws:,} draws"
            progress((time.monotonic() - began) / plan.budget, done)
    return False


def grouped(running: list[Running]) -> list[list[Running]]:
    """Cases of one shape together, those of each number of candidates in turn."""
    found = dict[Any, list[Running]]()
    for state in in_turn(running):
        found.setdefault((state.rows, *shape_of(state.case)), []).append(state)
    return list(found.values())


def affordable_cases(running: list[Running], plan: Plan, seconds_a_draw: float | None) -> list[Running]:
    """Fewer cases for a slow subject, so that half the budget gives each some thousand draws: the hardest ones.

    A few always are drawn from, and the order of the cases stays.
    """
    possible = int(0.45 * plan.budget / max(seconds_a_draw or 0.0, 1e-9))
    fewest = 3 * len({candidates_of(state.case) for state in running})
    most = max(fewest, possible // min(_WANTED, plan.draws))
    if most >= len(running):
        return running

    def rank(state: Running) -> int:
        return next((i for i, name in enumerate(_HARD) if name in state.case.name), len(_HARD))

    ranked = sorted(running, key=rank)
    chosen = {id(state) for state in in_turn(ranked)[:most]}
    return [state for state in running if id(state) in chosen]


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
    """One round of a case alone; a call that fails ends this case, and the audit goes on with the others."""
    _add([state], draw_round(Round(subject, [state.case], [state.bound], [size], rng)))


def draw_round(asked: Round) -> Drawn:
    """The draws of a round, up to a call that fails."""
    found, left, failed = list[Mixed](), list(asked.sizes), dict[int, Finding]()
    began = time.monotonic()
    while sum(left) > 0 and not failed:
        share = min(1.0, MOST_AT_ONCE / sum(left))
        sizes = [math.ceil(n * share) for n in left]
        try:
            found.append(draw_mixed(asked.subject, asked.cases, sizes, asked.rng, asked.bounds))
        except CallError as error:
            failed = _culprits(asked, error)
        left = [n - done for n, done in zip(left, sizes, strict=True)]
    return Drawn(found, failed, time.monotonic() - began, asked.subject, asked.rng)


def _culprits(asked: Round, error: CallError) -> dict[int, Finding]:
    """Which of the cases fail alone, where it was a call with several of them; all of them if none does."""
    if error.case is not None or len(asked.cases) == 1:
        number = error.case or 0
        return {number: _failure(asked.cases[number], error)}
    found = dict[int, Finding]()
    for number, (case, bound, size) in enumerate(zip(asked.cases, asked.bounds, asked.sizes, strict=True)):
        try:
            draw_mixed(asked.subject, [case], [min(size, _ALONE)], asked.rng, [bound])
        except CallError as alone:
            found[number] = _failure(case, alone)
    return found or {number: _failure(case, error) for number, case in enumerate(asked.cases)}


def _failure(case: AnyCase, error: CallError) -> Finding:
    level: Any = "note" if case.degenerate and error.problem == "exception" else "problem"
    return Finding(level, error.problem, error.message, {"case": case.name} | error.given, trace=error.trace)


def _add(states: list[Running], drawn: Drawn, dependence: Dependence | None = None) -> None:
    """What a round brought, to its cases, and its order to the test of dependence."""
    draws = sum(len(mixed.which) for mixed in drawn.mixed)
    for number, state in enumerate(states):
        state.failed = drawn.failed.get(number)
        if drawn.subject.pace.wrote:
            message = "the implementation wrote to its arguments"
            state.wrote = Finding("fault", "inputs unchanged", message, drawn.subject.pace.wrote)
        outcomes = [mixed.outcomes[number] for mixed in drawn.mixed]
        own = sum(len(outcome.cells) for outcome in outcomes)
        state.seconds += drawn.seconds * own / draws if draws else 0.0
        if not own:
            continue
        state.rounds += 1
        rates: dict[str, tuple[float, int, int]] = {}
        for outcome in outcomes:
            state.wrong += outcome.wrong if not state.wrong else []
            for name, (bound, s, n) in outcome.rates.items():
                _, s0, n0 = rates.get(name, (bound, 0, 0))
                rates[name] = (bound, s0 + s, n0 + n)
        state.evidence.add(np.concatenate([o.cells for o in outcomes]), rates)
    if dependence is None or dependence.draws >= MOST:
        return
    if drawn.subject.kind == "sampler":  # whose cases follow one another, so wrong laws would look like dependence
        for mixed in drawn.mixed:
            dependence.add(bins_of(mixed.outcomes[0].cells, states[0].evidence.law, drawn.rng), None)
        return
    for mixed in drawn.mixed:
        bins = np.empty(len(mixed.which), dtype=np.int64)
        for number, state in enumerate(states):
            here = mixed.which == number
            bins[here] = bins_of(mixed.cells[here], state.evidence.law, drawn.rng)
        dependence.add(bins, mixed.ends)


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
    """Some cases once more in mixed batches of 3: a fault in the first or last row of a batch is lost in large ones."""
    if not subject.batched or subject.kind == "sampler":
        return []
    ordinary = [case for case in cases if not case.degenerate and case.vocab <= 16]
    again = [replace(case, name=f"{case.name}, batches of 3") for case in ordinary[:: max(1, len(ordinary) // 4)]]
    return [replace(start(subject, case, plan), rows=3) for case in again]


def merged(running: list[Running]) -> float:
    """The average of the evidence against each case, and against independence in each group of cases.

    A case not drawn from yet counts 1.
    """
    tests = [state.evidence.log_e() if state.evidence.draws else 0.0 for state in running]
    return log_average(tests + [state.dependence.log_e() for state in running if state.dependence is not None])


def enumerable_cases(subject: Subject, cases: Sequence[AnyCase]) -> list[PositionCase | ChainCase]:
    return [case for case in cases if not isinstance(case, TreeCase) and enumerable(subject, case)]
