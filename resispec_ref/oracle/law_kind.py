"""Auditing a law: the user gives accepted mass and residuals, and both sides of the exactness criterion are compared.

A step with accepted mass `m` and residuals `R(x, .)` is exact iff `m + Σ_x (q(x) − m(x)) R(x, .) = p`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import is_rational
from resispec_ref.arrays.convert import objects
from resispec_ref.law import emitted_law
from resispec_ref.oracle.cases.positions import PositionCase, position_cases
from resispec_ref.oracle.counterexamples.candidates import small_positions
from resispec_ref.oracle.counterexamples.search import first_that_shows
from resispec_ref.oracle.report.record import CaseResult, Counterexample, Finding
from resispec_ref.oracle.report.report import Report
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier

_ROUNDING = 1e-12  # float64: a few roundings a token, far below any fault that a small fraction can show


def audit_law(implementation: Any, candidates: list[int], *, search: bool = True, seconds: float = 20.0) -> Report:
    """Compare laws exactly, on the built-in cases and by search. `implementation` is

    - a registry name or a `Verifier`, or
    - a function `f(target, draft) -> (m, R)`: accepted mass `(V,)` and residual `(V,)`, or `(V, V)` with a row for each
      rejected token; `f` gets object arrays of `Fraction`, or float64 where it cannot work with these.
    """
    began = time.monotonic()
    step = _as_step(implementation)
    name = getattr(implementation, "__qualname__", None) or getattr(implementation, "name", None) or str(implementation)
    report = Report(str(name), "law", "could not run", false_alarm_rate=0.0, confidence=1.0)
    counts = candidates if isinstance(step, Verifier) else [1]
    wrong: list[PositionCase] = []
    for case in position_cases(counts, real_rows=0):
        try:
            law = _law(step, case)
        except Exception as error:
            level: Any = "note" if case.degenerate else "problem"
            report.findings.append(Finding(level, "exception", f"{type(error).__name__}: {error}", case.inputs()))
            continue
        report.findings += [Finding("fault", "law", text, case.inputs()) for text in law.problems[:1]]
        tv = float(sum(abs(a - b) for a, b in zip(law.emitted, law.right, strict=True)) / 2)
        exact = bool(tv <= law.rounding) and not law.problems
        if not exact:
            wrong.append(case)
        report.cases.append(
            CaseResult(
                case.name,
                case.inputs(),
                draws=0,
                tv_observed=tv,
                tv_upper=tv,
                tv_detectable=law.rounding,
                log10_e=0.0 if exact else float("inf"),
                tests={},
                right_law=[float(v) for v in law.right],
                observed_law=[float(v) for v in law.emitted],
            )
        )
    if report.cases:
        report.tv_upper = max(case.tv_upper for case in report.cases)
        report.tv_detectable = max(case.tv_detectable for case in report.cases)
        problem = any(f.level == "problem" for f in report.findings)
        report.verdict = "fault found" if wrong else "could not run" if problem else "no fault found"
    if wrong:
        report.log10_e = float("inf")
        report.counterexample = _counterexample(step, wrong[0], counts, search, seconds)
    report.seconds = time.monotonic() - began
    return report


class _Emitted:
    """An emitted law beside the right one, and how far rounding may put them apart."""

    def __init__(self, emitted: list[Any], right: list[Any], problems: list[str]):
        self.emitted, self.right, self.problems = emitted, right, problems
        self.rounding = 0.0 if all(isinstance(v, Fraction | int) for v in emitted) else _ROUNDING


def _as_step(implementation: Any) -> Verifier | Callable[..., Any]:
    if isinstance(implementation, type) and issubclass(implementation, Verifier):
        return implementation()
    if isinstance(implementation, Verifier) or implementation in verifier_names():
        return get_verifier(implementation)
    if not callable(implementation):
        raise ValueError(f"implementation: {implementation!r} is no rule, registry name or function")
    return implementation


def _law(step: Verifier | Callable[..., Any], case: PositionCase) -> _Emitted:
    assert case.exact is not None
    p, q = (objects(list(law), (len(law),)) for law in case.exact)
    if isinstance(step, Verifier):
        return _Emitted(list(emitted_law(step, p, q, candidates=case.candidates).law), list(p), [])
    try:
        m, R = step(p.copy(), q.copy())
    except TypeError:
        p, q = case.target, case.draft
        m, R = step(p.copy(), q.copy())
    m, R = np.asarray(m), np.asarray(R)
    if m.shape != p.shape or R.shape not in (p.shape, (len(p), len(p))):
        raise ValueError(
            f"returned accepted mass of shape {m.shape} and residual of shape {R.shape}; "
            f"({len(p)},) and ({len(p)},) or ({len(p)}, {len(p)}) are needed"
        )
    rows = R if R.ndim == 2 else np.stack([R] * len(p))
    slack = 0 if is_rational(m) and is_rational(R) else _ROUNDING
    left = q - m
    problems = []
    if (m < -slack).any() or (left < -slack).any():
        problems.append(f"accepted mass {_text(m)} is not between 0 and the draft")
    for x in range(len(p)):
        if left[x] > slack and ((rows[x] < -slack).any() or abs(rows[x].sum() - 1) > slack):
            problems.append(f"the residual after rejecting token {x}, {_text(rows[x])}, is not a law")
    emitted = m + (left[:, None] * np.where((left > slack)[:, None], rows, rows * 0)).sum(0)
    return _Emitted(list(emitted), list(p), problems)


def _counterexample(
    step: Verifier | Callable[..., Any], wrong: PositionCase, counts: list[int], search: bool, seconds: float
) -> Counterexample:
    def shows_fault(case: PositionCase) -> bool:
        try:
            law = _law(step, case)
        except Exception:
            return False
        off = sum(abs(a - b) for a, b in zip(law.emitted, law.right, strict=True)) / 2
        return bool(off > law.rounding) or bool(law.problems)

    small = small_positions(counts, 4, needed=False)
    found = first_that_shows(shows_fault, small, seconds) if search else None
    case = found or wrong
    law = _law(step, case)
    assert case.exact is not None
    return Counterexample(
        case.inputs(),
        [str(v) for v in case.exact[0]],
        [float(v) for v in law.emitted],
        draws=0,
        tv_observed=float(sum(abs(a - b) for a, b in zip(law.emitted, law.right, strict=True)) / 2),
        log10_e=float("inf"),
        fault_law=[_text_of(v) for v in law.emitted],
    )


def _text(values: np.ndarray) -> str:
    return f"({', '.join(_text_of(v) for v in values)})"


def _text_of(v: Any) -> str:
    return str(v) if isinstance(v, Fraction | int) else f"{float(v):.6g}"
