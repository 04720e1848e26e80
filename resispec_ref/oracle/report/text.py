"""The record of an audit as a dozen lines."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from resispec_ref.oracle.report.record import CaseResult, Counterexample, Record

_MOST = 10  # entries of an argument that are printed
_TRACE = 6  # lines of a traceback, the last ones
_COLUMNS = 9  # outcomes of a counterexample that are printed


def summary_lines(report: Record) -> list[str]:
    """The report in a dozen lines."""
    lines = [f"{report.subject} ({report.kind}): {report.verdict.upper()}{_partly(report)}"]
    if report.verdict == "fault found" and report.log10_e > 0:
        lines.append(
            f"  evidence: {_power(report.log10_e)} to 1 against an exact implementation "
            f"(false-alarm rate of the audit: {report.false_alarm_rate:g})"
        )
    if report.verdict == "no fault found" and report.tv_upper is not None:
        for label, cases in groups(report.cases):
            lines.append(
                f"  total variation below {max(c.tv_upper for c in cases):.2g} in each of {len(cases)} {label} "
                f"({report.confidence:.0%} confidence in all together)"
            )
            detectable = max((c.tv_detectable for c in cases if c.tv_detectable < 1), default=1.0)
            lines.append(
                f"    a fault of total variation {detectable:.2g} in one of them is found with probability 99%"
            )
        lines.append(f"  false-alarm rate {report.false_alarm_rate:g}")
    if report.lossy is not None:
        lines += _lossy_lines(report)
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
        more += f" ({first.inputs} inputs)" if first.inputs > 1 else ""
        lines.append(f"  {first.level}: {first.check}: {first.message}{more}")
        if first.given:
            lines.append(f"    input: {given_text(first.given)}")
        lines += [f"    {line}" for line in first.trace.splitlines()[-_TRACE:]]
    resolved = report.high_resolution
    if resolved:
        worst = max(h.tv_upper for h in resolved)
        lines.append(
            f"  with noise as points: total variation below {worst:.2g} in each of {len(resolved)} cases "
            f"(approximate, {max(h.points for h in resolved)} points a case)"
        )
    lines.append(f"  {report.draws} draws in {report.seconds:.1f} s")
    return lines


def _partly(report: Record) -> str:
    """How much of it was audited, where that is not all."""
    if not report.raised or report.verdict != "no fault found":
        return ""
    inputs = "1 input" if report.raised == 1 else f"{report.raised} inputs"
    return f" in {report.cases_cleared} of {report.cases_in_all} cases; {inputs} raised"


def groups(cases: list[CaseResult]) -> list[tuple[str, list[CaseResult]]]:
    """Like cases together: small ones, those in batches of 3, rows of real models; the last two get fewer draws."""
    kinds: dict[str, list[CaseResult]] = {"cases": [], "cases in batches of 3": [], "recorded rows, tokens pooled": []}
    for c in cases:
        label = "cases in batches of 3" if c.name.endswith("batches of 3") else "cases"
        kinds["recorded rows, tokens pooled" if "pair" in c.inputs else label].append(c)
    return [(label, members) for label, members in kinds.items() if members]


def _lossy_lines(report: Record) -> list[str]:
    found = report.lossy
    assert found is not None
    lines = [
        f"  worst total variation of {len(report.cases)} cases: between {found.tv_lower:.4f} and {found.tv_upper:.4f} "
        f"({report.confidence:.0%} confidence)",
        f"    in {found.case}: {given_text(found.inputs)}",
    ]
    if found.acceptance is not None and found.exact_bound is not None and found.frontier is not None:
        lines.append(
            f"    accepts {found.acceptance:.4f} there; an exact rule at most {found.exact_bound:.4f}, one of this "
            f"bias at most {found.frontier:.4f}"
        )
    return lines


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
    if c.where:
        lines.append(f"    wrong: {c.where}")
    lines.append(f"    {c.draws} draws, total variation {c.tv_observed:.4f}, evidence {_power(c.log10_e)} to 1")
    if c.replay:
        lines += ["    replay:", *(f"      {line}" for line in c.replay.splitlines())]
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
