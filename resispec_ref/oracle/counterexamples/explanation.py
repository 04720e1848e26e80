"""What a proved fault looks like: the nearest known fault, and the smallest case that shows it."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import ChainCase, TreeCase
from resispec_ref.oracle.counterexamples.candidates import (
    near_position,
    near_sequence,
    small_chains,
    small_positions,
    small_trees,
)
from resispec_ref.oracle.counterexamples.search import case_seed, first_that_shows
from resispec_ref.oracle.counterexamples.where import replay, where
from resispec_ref.oracle.drawing.positions import laws_seen
from resispec_ref.oracle.drawing.rounds import FIRST_ROUND, AnyCase, Plan, Running, one_round, start
from resispec_ref.oracle.drawing.sequences import seen_tables
from resispec_ref.oracle.faults import chains as chain_faults
from resispec_ref.oracle.faults import positions as faults
from resispec_ref.oracle.faults import trees as tree_faults
from resispec_ref.oracle.faults.diagnosis import diagnose
from resispec_ref.oracle.report.record import Counterexample, Diagnosis, Finding
from resispec_ref.oracle.report.report import Report
from resispec_ref.oracle.statistics.confidence import tv_observed
from resispec_ref.oracle.statistics.evidence import Evidence, log_mixture
from resispec_ref.oracle.subjects.subject import Subject

_DIAGNOSED_VOCAB = 6
_DIAGNOSED_NODES = 5
_DIAGNOSIS_ROUNDS = (256, 1024, 4096)
_SEARCHED = 200_000  # draws in all, and more for a fault that takes many, before the search is given up
_ENOUGH = 10_000  # draws in all, before one known fault is named


def diagnosed(subject: Subject, running: list[Running], report: Report, plan: Plan, end: float) -> Diagnosis | None:
    """Compare what is observed with every known fault, over the cases of small vocabulary.

    The fault is proved by then, so these cases are drawn from some more, until one known fault alone is left or half of
    the time until `end` is spent.
    """
    if any(f.check == "independent draws" for f in report.findings):
        return None
    describe = {"chain": chain_faults.describe, "tree": tree_faults.describe}.get(subject.kind, faults.describe)
    small = [state for state in running if _is_small(state.case) and state.failed is None]
    laws = [fault_laws(subject, state.case) for state in small]
    rng, found = np.random.default_rng(plan.seed + 1), None
    end = (time.monotonic() + end) / 2
    for size in _DIAGNOSIS_ROUNDS if any(laws) else ():
        for state in small:
            if state.failed is None:
                _round_within(subject, state, size, rng, end)
        if any(state.evidence.drifts() for state in small):
            message = "the law changes between calls: it is not the same in each round of draws"
            report.findings.append(Finding("fault", "independent draws", message))
            return None
        seen = [(s.evidence.counts, s.evidence.law, f) for s, f in zip(small, laws, strict=True) if s.evidence.draws]
        found = diagnose(seen, describe)
        if (found is None or found.matches) and sum(s.evidence.draws for s in small) >= _ENOUGH:
            break
    return found


def _is_small(case: AnyCase) -> bool:
    """Whether the laws of all known faults are computed in no time."""
    if isinstance(case, TreeCase) and len(case.parents) > _DIAGNOSED_NODES:
        return False
    return case.vocab <= _DIAGNOSED_VOCAB


def confirmed(
    diagnosis: Diagnosis | None, example: Counterexample | None
) -> tuple[Diagnosis | None, Counterexample | None]:
    """Both, in the light of each other.

    The diagnosis matches only if the draws of the counterexample, made since, agree with the fault's law; a fault that
    emits the right law there explains nothing; and a law is shown beside the draws only if it matches.
    """
    if diagnosis is None or example is None or example.fault_law is None:
        return diagnosis, example
    law, right = (np.array([float(Fraction(v)) for v in x]) for x in (example.fault_law, example.right_law))
    counts = np.rint(np.array(example.observed_law) * example.draws).astype(np.int64)
    if diagnosis.matches and log_mixture(counts, law / law.sum()) <= math.log(100):
        return diagnosis, example
    example = replace(example, fault_law=None)
    explains_nothing = bool(np.abs(law - right).sum() <= 1e-5)  # both may be printed to six digits
    return None if explains_nothing else replace(diagnosis, matches=False, also=[]), example


def fault_laws(subject: Subject, case: AnyCase) -> dict[str, np.ndarray]:
    """The laws of all known faults in a case."""
    draw = "independent" if callable(subject.draw) else subject.draw
    if isinstance(case, ChainCase):
        return chain_faults.all_chain_laws(seen_tables(subject, case.target), seen_tables(subject, case.draft), draw)
    if isinstance(case, TreeCase):
        seen = replace(case, target=seen_tables(subject, case.target), draft=seen_tables(subject, case.draft))
        return tree_faults.tree_laws(seen, draw)
    p, q = laws_seen(subject, case)
    return _position_laws(tuple(p.tolist()), tuple(q.tolist()), case.candidates, draw, subject.kind)


@lru_cache(maxsize=1024)
def _position_laws(
    p: tuple[float, ...], q: tuple[float, ...], candidates: int, draw: str, kind: str
) -> dict[str, np.ndarray]:
    known = faults.known_laws(list(p), list(q), candidates, draw=draw, kind=kind)
    return {name: np.array(law, dtype=float) for name, law in known.items()}


def counterexample(
    subject: Subject, running: list[Running], report: Report, plan: Plan, needed: int, end: float
) -> Counterexample | None:
    """The smallest case that shows the fault, by search, confirmed with draws of its own.

    `needed` draws proved the fault in the case that shows it best; a candidate gets up to eight times as many, and is
    given up earlier when an eighth of them has brought no evidence at all. Where the time until `end` is too short for
    that, the case that showed the fault is taken as it is.
    """
    most, spent = min(8 * needed, 400_000), 0
    seconds = 0.7 * (end - time.monotonic())

    def outcome(case: AnyCase, draws: int, seed: int) -> Evidence:
        state = start(subject, case, plan)
        rng, size = np.random.default_rng(case_seed(str(case.inputs()), seed)), min(FIRST_ROUND, draws)
        while state.evidence.draws < draws:
            if not _round_within(subject, state, size, rng, end) or state.failed:
                break
            e = state.evidence.log_e()
            decided = e > math.log(1e5) or (e < 0 and 8 * state.evidence.draws >= draws)
            if seed == plan.seed and decided:
                break
            size = min(state.evidence.draws, draws - state.evidence.draws)
        return state.evidence

    def shows_fault(case: AnyCase) -> bool:
        nonlocal spent
        evidence = outcome(case, most, plan.seed)
        spent += evidence.draws
        return bool(evidence.draws) and evidence.log_e() > math.log(1e5)

    worst = max(running, key=lambda s: s.evidence.log_e() if s.evidence.draws else -math.inf)
    small = itertools.takewhile(
        lambda _: spent < _SEARCHED + 8 * most, _small_cases(subject, running, worst.case, plan)
    )
    found = first_that_shows(shows_fault, small, seconds)
    case, shrunk = found or worst.case, found is not None
    enough, threshold = max(most, 4 * FIRST_ROUND), math.log(1 / plan.false_alarm_rate)
    evidence = outcome(case, enough, plan.seed + 1)
    if evidence.draws < enough and evidence.log_e() < threshold:  # no time to confirm it
        case, evidence, shrunk = worst.case, worst.evidence, False
    if evidence.log_e() < threshold:
        return None  # shown to be right when drawn from again: the fault is not in this law
    found_here = _described(subject, case, evidence, report.diagnosis)
    again = replay(subject, case, evidence.draws, plan.seed) if case.vocab <= 16 else ""
    return replace(found_here, shrunk=shrunk, where=where(case, evidence), replay=again)


def _small_cases(subject: Subject, running: list[Running], worst: AnyCase, plan: Plan) -> Iterable[AnyCase]:
    """Where a smallest counterexample is looked for: near the case at fault if the cases were given."""
    needed = subject.draw in ("distinct", "top-k")
    ordinary = [state.case for state in running if not state.failed]
    if isinstance(worst, PositionCase):
        counts = sorted({c.candidates for c in ordinary if isinstance(c, PositionCase)})
        return near_position(worst) if plan.given else small_positions(counts, 4, needed=needed)
    if plan.given:
        return near_sequence(worst)
    if isinstance(worst, ChainCase):
        return small_chains(sorted({c.drafted for c in ordinary if isinstance(c, ChainCase)}), 3)
    return small_trees(3, needed=needed)


def _round_within(subject: Subject, state: Running, size: int, rng: np.random.Generator, end: float) -> bool:
    """A round, if there is the time for it."""
    seconds = state.seconds / state.evidence.draws if state.evidence.draws else subject.pace.seconds_a_row or 0.0
    if time.monotonic() + size * seconds > end:
        return False
    one_round(subject, state, size, rng)
    return True


def _described(subject: Subject, case: AnyCase, e: Evidence, diagnosis: Diagnosis | None) -> Counterexample:
    exact = case.exact if isinstance(case, PositionCase) and subject.format.tolerance == 0 else None
    law = None
    if diagnosis:
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
        _outcomes(case),
    )


def _outcomes(case: AnyCase) -> list[str]:
    """The names of the entries of a law: nothing for tokens, cells of pooled tokens, or sequences, completed."""
    if isinstance(case, PositionCase):
        return [] if case.cells is None else [f"cell {i}" for i in range(int(case.cells.max()) + 1)]
    V, length = case.vocab, len(case.target)
    return [" ".join(str(i // V ** (length - 1 - j) % V) for j in range(length)) for i in range(V**length)]


def _number(v: Any) -> str:
    if isinstance(v, float):
        small = Fraction(v).limit_denominator(1000)
        return str(small) if abs(small - v) < 1e-12 else f"{v:.6g}"
    return str(v)
