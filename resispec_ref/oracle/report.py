"""The record of an audit: verdict, what was ruled out, the counterexample, the diagnosis; as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Literal

Verdict = Literal["no fault found", "fault found", "could not run"]
EXIT_CODES: dict[str, int] = {"no fault found": 0, "fault found": 1, "could not run": 2}


_MOST = 10  # entries of an argument that are printed
_COLUMNS = 9  # outcomes of a counterexample that are printed


@dataclass(frozen=True)
class Finding:
    """Something that a check saw, with the input that shows it.

    `fault` findings prove a fault and decide the verdict; `note` findings are deviations at single points or in
    degenerate cases; a `problem` is a call that failed, so that a case could not be audited.
    """

    level: Literal["fault", "note", "problem"]
    check: str
    message: str
    given: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CaseResult:
    """What the draws of one case showed."""

    name: str
    inputs: dict[str, Any]
    draws: int
    tv_observed: float
    """Distance of the frequencies from the right law; sampling noise alone makes it positive."""
    tv_upper: float
    """The total variation of the implementation is below this, in all cases together with the report's confidence."""
    tv_detectable: float
    """A fault of this total variation would have been found with probability 0.99."""
    log10_e: float
    """Evidence against the case, as a power of ten: a sound implementation exceeds `x` with probability `10^-x`."""
    tests: dict[str, float]
    """The same for each test: law, pairs, rounds, acceptance."""
    acceptance: float | None = None
    acceptance_bound: float | None = None
    right_law: list[float] = field(default_factory=list)
    observed_law: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class HighResolution:
    """The law of one case by randomised quasi-Monte Carlo over the noise, with all candidates enumerated."""

    name: str
    inputs: dict[str, Any]
    points: int
    tv: float
    tv_upper: float
    """`tv` plus the half-widths of all cells (Student's t over independent scramblings: approximate)."""
    right_law: list[float]
    observed_law: list[float]
    fault: bool


@dataclass(frozen=True)
class Counterexample:
    """The smallest case found in which the implementation is wrong."""

    inputs: dict[str, Any]
    right_law: list[str]
    """What an exact implementation emits: for one position the target itself."""
    observed_law: list[float]
    draws: int
    tv_observed: float
    log10_e: float
    """Evidence from draws made after the case was chosen."""
    fault_law: list[str] | None = None
    """What the diagnosed fault would emit here, exactly."""
    outcomes: list[str] = field(default_factory=list)
    """The names of the entries of the laws: tokens, sequences of tokens, or cells of pooled tokens."""
    shrunk: bool = True
    """Whether the search found it; else it is the built-in case that showed the fault best."""


@dataclass(frozen=True)
class Diagnosis:
    """The known fault that explains what was observed best."""

    name: str
    description: str
    remedy: str
    matches: bool
    """Whether all that was observed is consistent with the fault's exact law."""
    also: list[str] = field(default_factory=list)
    """Other known faults that are consistent too."""


@dataclass
class Report:
    """The outcome of `resispec_ref.audit`; `print(report)` is the text of the command line.

    `exit_code` is 0 where no fault was found, 1 where one was, 2 where the audit could not run.
    """

    subject: str
    kind: str
    verdict: Verdict
    false_alarm_rate: float
    """A sound implementation is called faulty with at most this probability, however long the audit."""
    confidence: float
    """All `tv_upper` hold together with this probability."""
    log10_e: float = 0.0
    """Evidence of all tests and cases together: a fault is found at `-log10(false_alarm_rate)`."""
    tv_upper: float | None = None
    """The largest `tv_upper` of the audited cases: what a pass rules out."""
    tv_detectable: float | None = None
    """The largest `tv_detectable` of the audited cases."""
    tolerance: float = 0.0
    counterexample: Counterexample | None = None
    diagnosis: Diagnosis | None = None
    findings: list[Finding] = field(default_factory=list)
    cases: list[CaseResult] = field(default_factory=list)
    high_resolution: list[HighResolution] = field(default_factory=list)
    draws: int = 0
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries."""
        return _plain(asdict(self) | {"exit_code": self.exit_code})

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """The report with its tables and a picture of observed against right law (an SVG inside)."""
        from resispec_ref.oracle.page import markdown

        return markdown(self)

    def to_html(self) -> str:
        """The same as a page of its own."""
        from resispec_ref.oracle.page import html

        return html(self)

    def __str__(self) -> str:
        return "\n".join(summary_lines(self))


def summary_lines(report: Report) -> list[str]:
    """The report in a dozen lines."""
    lines = [f"{report.subject} ({report.kind}): {report.verdict.upper()}"]
    if report.verdict == "fault found" and report.log10_e > 0:
        lines.append(
            f"  evidence: {_power(report.log10_e)} to 1 against an exact implementation "
            f"(false-alarm rate of the audit: {report.false_alarm_rate:g})"
        )
    if report.verdict == "no fault found" and report.tv_upper is not None:
        for label, cases in _groups(report.cases):
            lines.append(
                f"  total variation below {max(c.tv_upper for c in cases):.2g} in each of {len(cases)} {label} "
                f"({report.confidence:.0%} confidence in all together)"
            )
            detectable = max((c.tv_detectable for c in cases if c.tv_detectable < 1), default=1.0)
            lines.append(
                f"    a fault of total variation {detectable:.2g} in one of them is found with probability 99%"
            )
        lines.append(f"  false-alarm rate {report.false_alarm_rate:g}")
    if report.tolerance:
        lines.append(f"  tolerated total variation: {report.tolerance:g}")
    if report.diagnosis:
        d = report.diagnosis
        lines.append(
            f"  {'matches' if d.matches else 'nearest known fault (does not match)'}: {d.description} [{d.name}]"
        )
        if d.matches:
            lines.append(f"  remedy: {d.remedy}")
        if d.also:
            lines.append(f"  also consistent: {', '.join(d.also)}")
    if report.counterexample:
        lines += counterexample_lines(report.counterexample)
    checks = [(f.level, f.check) for f in report.findings]
    for kind in dict.fromkeys(checks):
        first = report.findings[checks.index(kind)]
        more = f" (and {checks.count(kind) - 1} more of the kind)" if checks.count(kind) > 1 else ""
        lines.append(f"  {first.level}: {first.check}: {first.message}{more}")
        if first.given:
            lines.append(f"    input: {given_text(first.given)}")
    resolved = report.high_resolution
    if resolved:
        worst = max(h.tv_upper for h in resolved)
        lines.append(
            f"  with noise as points: total variation below {worst:.2g} in each of {len(resolved)} cases "
            f"(approximate, {max(h.points for h in resolved)} points a case)"
        )
    lines.append(f"  {report.draws} draws in {report.seconds:.1f} s")
    return lines


def _groups(cases: list[CaseResult]) -> list[tuple[str, list[CaseResult]]]:
    """Small cases, and rows of real models, which get fewer draws."""
    real = [c for c in cases if "pair" in c.inputs]
    small = [c for c in cases if "pair" not in c.inputs]
    groups = [("cases", small), ("recorded rows, tokens pooled", real)]
    return [(label, members) for label, members in groups if members]


def counterexample_lines(c: Counterexample) -> list[str]:
    lines = ["  smallest counterexample:" if c.shrunk else "  a counterexample (the search found none smaller):"]
    lines += [f"    {name}: {_value(value, most=2**16 if c.shrunk else _MOST)}" for name, value in c.inputs.items()]
    rows = [("right law", c.right_law), ("observed", [f"{v:.4f}" for v in c.observed_law])]
    if c.fault_law:
        rows.append(("the fault's law", c.fault_law))
    if c.outcomes:
        rows.insert(0, ("emitted", c.outcomes))
    off = [abs(float(Fraction(v)) - o) for v, o in zip(c.right_law, c.observed_law, strict=True)]
    shown = sorted(sorted(range(len(off)), key=lambda i: -off[i])[:_COLUMNS])
    widths = {i: max(len(values[i]) for _, values in rows) for i in shown}
    for name, values in rows:
        lines.append(f"    {name:16}" + "  ".join(values[i].rjust(widths[i]) for i in shown))
    if len(shown) < len(off):
        lines.append(f"    the {len(shown)} of {len(off)} outcomes that are furthest off; a report (--report) has all")
    lines.append(f"    {c.draws} draws, total variation {c.tv_observed:.4f}, evidence {_power(c.log10_e)} to 1")
    return lines


def given_text(given: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {_value(value)}" for name, value in given.items())


def _power(log10: float) -> str:
    return "infinite" if log10 == float("inf") else f"10^{log10:.1f}"


def _value(value: Any, most: int = _MOST) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, str):
        items = [_value(v, most) for v in value]
        if items and "(" in items[0]:
            most = -(-most // 3)  # a batch is told by its first rows
        return f"({', '.join(items if len(items) <= most else [*items[:most], '...'])})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and value == float("inf"):
        return "inf"
    return value if isinstance(value, str | int | float | bool | None) else str(value)
