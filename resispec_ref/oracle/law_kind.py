"""Auditing a law: the user gives accepted mass and residuals, and both sides of the exactness criterion are compared.

A step with accepted mass `m` and residuals `R(x, .)` is exact iff `m + Σ_x (q(x) − m(x)) R(x, .) = p`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import is_rational
from resispec_ref.arrays.convert import objects
from resispec_ref.law import emitted_law
from resispec_ref.oracle.cases.positions import PositionCase, position_cases
from resispec_ref.oracle.counterexamples.candidates import small_positions
from resispec_ref.oracle.counterexamples.search import first_that_shows
from resispec_ref.oracle.report.record import CaseResult, Counterexample, Finding, gathered
from resispec_ref.oracle.report.report import Report
from resispec_ref.oracle.subjects.calls import foreign_trace
from resispec_ref.oracle.subjects.convert import Format
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier

_ROUNDING = 1e-12  # float64: a few roundings a token, far below any fault that a small fraction can show
_ROUNDOFF = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def audit_law(
    implementation: Any,
    candidates: list[int],
    *,
    form: Format | None = None,
    cases: Sequence[PositionCase] | None = None,
    tolerance: float = 0.0,
    search: bool = True,
    seconds: float = 20.0,
) -> Report:
    """Compare laws exactly, on the built-in cases and by search. `implementation` is

    - a registry name or a `Verifier`, or
    - a function `f(target, draft) -> (m, R)`: accepted mass `(V,)` and residual `(V,)`, or `(V, V)` with a row for each
      rejected token; `f` gets object arrays of `Fraction`, or float64 where it cannot work with these, or what `form`
      says.

    Answers in floating point are compared up to the rounding of their number type: four roundings a token.
    """
    began = time.monotonic()
    step = _Step(_as_step(implementation), form, tolerance)
    name = getattr(implementation, "__qualname__", None) or getattr(implementation, "name", None) or str(implementation)
    report = Report(str(name), "law", "could not run", false_alarm_rate=0.0, confidence=1.0)
    report.tolerance = tolerance
    counts = candidates if isinstance(step.function, Verifier) else [1]
    wrong: list[PositionCase] = []
    for case in cases or position_cases(counts, real_rows=0):
        try:
            law = step.law(case)
        except Exception as error:
            level: Any = "note" if case.degenerate else "problem"
            message = f"{type(error).__name__}: {error}"
            report.findings.append(Finding(level, "exception", message, case.inputs(), trace=foreign_trace(error)))
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
        report.verdict = "fault found" if wrong else "no fault found"
    if step.wrote:
        report.findings.append(
            Finding("fault", "inputs unchanged", "the implementation wrote to its arguments", step.wrote)
        )
        report.verdict = "fault found"
    report.findings = gathered(report.findings)
    if wrong:
        report.log10_e = float("inf")
        report.counterexample = _counterexample(step, wrong[0], counts, search, seconds)
    report.seconds = time.monotonic() - began
    return report


class _Emitted:
    """An emitted law beside the right one, and how far rounding may put them apart."""

    def __init__(self, emitted: list[Any], right: list[Any], problems: list[str], rounding: float):
        self.emitted, self.right, self.problems, self.rounding = emitted, right, problems, rounding


def _as_step(implementation: Any) -> Verifier | Callable[..., Any]:
    if isinstance(implementation, type) and issubclass(implementation, Verifier):
        return implementation()
    if isinstance(implementation, Verifier) or implementation in verifier_names():
        return get_verifier(implementation)
    if not callable(implementation):
        raise ValueError(f"implementation: {implementation!r} is no rule, registry name or function")
    return implementation


@dataclass
class _Step:
    """What is audited, the arrays that it takes, and what it wrote to, if it did."""

    function: Verifier | Callable[..., Any]
    form: Format | None
    tolerance: float
    wrote: dict[str, Any] = field(default_factory=dict)

    def law(self, case: PositionCase) -> _Emitted:
        exact = case.exact or (case.target.tolist(), case.draft.tolist())
        p, q = (objects(list(law), (len(law),)) for law in exact)
        if isinstance(self.function, Verifier):
            emitted = list(emitted_law(self.function, p, q, candidates=case.candidates).law)
            rounding = 0.0 if is_rational(p) else _ROUNDING
            return _Emitted(emitted, list(p), [], max(rounding, self.tolerance))
        if self.form is not None:
            m, R = (self.form.numpy(x) for x in self._call(self.form.laws(case.target), self.form.laws(case.draft)))
            p, q = self.form.seen(case.target), self.form.seen(case.draft)
            return _emitted(p, q, m, R, max(self.tolerance, _rounding(m, R, self.form.dtype)))
        try:
            m, R = map(np.asarray, self._call(p.copy(), q.copy()))
        except TypeError:
            p, q = case.target, case.draft
            m, R = map(np.asarray, self._call(p.copy(), q.copy()))
        return _emitted(p, q, m, R, max(self.tolerance, _rounding(m, R)))

    def _call(self, *given: Any) -> Any:
        form = self.form or Format()
        before = [np.array(form.numpy(x)) for x in given]
        answer = self.function(*given)  # type: ignore[operator]
        for was, x in zip(before, given, strict=True):
            if not self.wrote and not np.array_equal(form.numpy(x), was):
                self.wrote = {"before": was, "after": np.array(form.numpy(x))}
        return answer


def _rounding(m: np.ndarray, R: np.ndarray, dtype: str = "float64") -> float:
    """How far rounding may put both sides apart, by the coarsest number type met."""
    if is_rational(m) and is_rational(R):
        return 0.0
    coarse = [_ROUNDOFF[t] for t in (dtype, m.dtype.name, R.dtype.name) if t in _ROUNDOFF]
    return 8 * (m.shape[-1] + 4) * max(coarse) if coarse else _ROUNDING


def _emitted(p: np.ndarray, q: np.ndarray, m: np.ndarray, R: np.ndarray, slack: float) -> _Emitted:
    if m.shape != p.shape or R.shape not in (p.shape, (len(p), len(p))):
        raise ValueError(
            f"returned accepted mass of shape {m.shape} and residual of shape {R.shape}; "
            f"({len(p)},) and ({len(p)},) or ({len(p)}, {len(p)}) are needed"
        )
    rows = R if R.ndim == 2 else np.stack([R] * len(p))
    if m.dtype != object:
        m, rows = m.astype(np.float64), rows.astype(np.float64)
    left = q - m
    problems = []
    if (m < -slack).any() or (left < -slack).any():
        problems.append(f"accepted mass {_text(m)} is not between 0 and the draft")
    for x in range(len(p)):
        if left[x] > slack and ((rows[x] < -slack).any() or abs(rows[x].sum() - 1) > slack):
            problems.append(f"the residual after rejecting token {x}, {_text(rows[x])}, is not a law")
    emitted = m + (left[:, None] * np.where((left > slack)[:, None], rows, rows * 0)).sum(0)
    return _Emitted(list(emitted), list(p), problems, slack)


def _counterexample(
    step: _Step, wrong: PositionCase, counts: list[int], search: bool, seconds: float
) -> Counterexample:
    def shows_fault(case: PositionCase) -> bool:
        try:
            law = step.law(case)
        except Exception:
            return False
        off = sum(abs(a - b) for a, b in zip(law.emitted, law.right, strict=True)) / 2
        return bool(off > law.rounding) or bool(law.problems)

    small = small_positions(counts, 4, needed=False)
    found = first_that_shows(shows_fault, small, seconds) if search else None
    case = found or wrong
    law = step.law(case)
    return Counterexample(
        case.inputs(),
        [_text_of(v) for v in law.right],
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
