"""What a proof is a proof of, where it is not the law of one input: rows of another request, an answer without chance.

A verifier that is right alone and wrong beside other inputs takes something from them; one that gives one answer for
one input uses no chance. Neither is a wrong law, and no known fault of a law is named then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase, fraction_case
from resispec_ref.oracle.cases.tables import memoryless
from resispec_ref.oracle.counterexamples.candidates import near_sequence
from resispec_ref.oracle.drawing.mixing import AnyCase, draw_mixed, mirrored
from resispec_ref.oracle.drawing.positions import draw_candidates, laws_seen, verify_many
from resispec_ref.oracle.drawing.rounds import FIRST_ROUND, Plan, Running, one_round, start
from resispec_ref.oracle.drawing.sequences import draw_drafted, emit_many
from resispec_ref.oracle.report.record import Counterexample, Finding
from resispec_ref.oracle.statistics.confidence import tv_observed
from resispec_ref.oracle.subjects.calls import CallError
from resispec_ref.oracle.subjects.subject import Pace, Subject

_INPUTS, _COPIES = 24, 12  # how many inputs are given, and how often each, to see whether an answer ever changes


def beside_others(subject: Subject, running: list[Running], plan: Plan, end: float) -> Finding | None:
    """Whether the case that shows the fault best is right when it is drawn alone, with as many draws."""
    large = [state for state in running if state.rows is None and state.evidence.draws]
    worst = max(large, key=lambda state: state.evidence.log_e(), default=None)
    if worst is None or worst.evidence.log_e() < math.log(1e4) or subject.kind == "sampler":
        return None
    alone, rng = start(subject, worst.case, plan), np.random.default_rng(plan.seed + 2)
    wanted, size = 2 * worst.evidence.draws, FIRST_ROUND
    while alone.evidence.draws < wanted:
        if time.monotonic() + size * worst.seconds / worst.evidence.draws > end:
            return None  # no time to tell
        one_round(subject, alone, size, rng)
        if alone.failed or alone.evidence.log_e() > math.log(1e2):
            return None
        size = min(alone.evidence.draws, wanted - alone.evidence.draws)
    message = (
        "right in batches of one pair of laws, wrong in batches that mix pairs: a row is verified with laws of another"
        if subject.batched
        else "right when calls repeat one pair of laws, wrong when they alternate pairs: something is kept from "
        "the call before"
    )
    return Finding("fault", "rows of another request", message, {"case": worst.case.name})


def pair_beside(subject: Subject, running: list[Running], plan: Plan, end: float) -> Counterexample | None:
    """The smallest case, drawn in turn with its mirror image, that shows what `beside_others` found."""
    worst = max(running, key=lambda state: state.evidence.log_e() if state.evidence.draws else -math.inf)
    for case in [*_small(worst.case), worst.case]:
        states = [start(subject, c, plan) for c in (case, mirrored(case))]
        rng, size = np.random.default_rng(plan.seed + 3), FIRST_ROUND
        while states[0].evidence.draws < 4096 and time.monotonic() < end:
            try:
                drawn = draw_mixed(subject, [s.case for s in states], [size, size], rng, [s.bound for s in states])
            except CallError:
                break
            for state, outcome in zip(states, drawn.outcomes, strict=True):
                state.evidence.add(outcome.cells, outcome.rates)
            size = states[0].evidence.draws
        best = max(states, key=lambda state: state.evidence.log_e() if state.evidence.draws else -math.inf)
        e = best.evidence
        if e.draws and e.log_e() > math.log(1 / plan.false_alarm_rate):
            other = next(state for state in states if state is not best)
            return Counterexample(
                best.case.inputs() | {"in turn with": other.case.inputs()},
                [f"{v:.6g}" for v in e.law],
                (e.counts / e.draws).tolist(),
                e.draws,
                tv_observed(e.counts, e.law),
                e.log_e() / math.log(10),
                shrunk=case is not worst.case,
            )
    return None


def without_chance(subject: Subject, running: list[Running], plan: Plan, end: float) -> Finding | None:
    """Whether the case that shows the fault best has one answer for each input, whatever the source of chance."""
    worst = max(running, key=lambda state: state.evidence.log_e() if state.evidence.draws else -math.inf)
    case, rng, pairs = worst.case, np.random.default_rng(plan.seed + 4), list[tuple[np.ndarray, np.ndarray]]()
    seconds = _INPUTS * _COPIES * worst.seconds / max(worst.evidence.draws, 1)
    if subject.kind == "sampler" or worst.rows is not None or time.monotonic() + seconds > end:
        return None
    if isinstance(case, PositionCase):
        inputs = draw_candidates(subject, laws_seen(subject, case)[1], case.candidates, rng, _INPUTS)
    else:
        inputs = draw_drafted(subject, case, rng, _INPUTS)
    fresh = replace(subject, pace=Pace(_INPUTS, _INPUTS))  # a generator of its own for each batch
    for _ in range(_COPIES):
        u = subject.uniforms(rng, (_INPUTS,), inputs.shape[1], case.vocab)
        try:
            if isinstance(case, PositionCase):
                answers = fresh.guarded(partial(verify_many, fresh, [case], inputs, u, rng))[0]
            else:
                answers = fresh.guarded(partial(emit_many, fresh, case, inputs, u, rng))[0]
        except CallError:
            return None
        pairs.append((inputs, answers))
    first = pairs[0][1]
    if any(not np.array_equal(first, answers) for _, answers in pairs):
        return None
    source = "noise" if subject.noise is not None else "generator"
    check = f"ignores the {source}" if subject.noise is not None or subject.takes_rng else "deterministic for one input"
    message = (
        f"for one input there is one answer, whatever the {source}: it is not used, its numbers are replayed at every "
        "step, or they are made from the input"
    )
    return Finding("fault", check, message, case.inputs() | {"given": inputs[0], "answer": first[0], "calls": _COPIES})


def _small(case: AnyCase) -> Iterator[AnyCase]:
    if isinstance(case, PositionCase):
        yield fraction_case(["1/2", "1/2"], ["3/4", "1/4"], case.candidates, name="two tokens")
        yield fraction_case(["1/5", "2/5", "2/5"], ["3/5", "3/10", "1/10"], case.candidates, name="three tokens")
        return
    if not hasattr(case, "branching"):
        yield memoryless("two tokens", [[0.5, 0.5]] * 2, [[0.75, 0.25]])
    yield from near_sequence(case)
