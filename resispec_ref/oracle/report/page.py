"""The report as Markdown or HTML, with a picture of the observed law beside the right one."""

from __future__ import annotations

from html import escape

from resispec_ref.oracle.report.record import CaseResult, Counterexample, Record
from resispec_ref.oracle.report.text import summary_lines

_RIGHT, _OBSERVED, _FAULT = "#9db4c0", "#c8553d", "#444444"
_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
color: #222 }
h1 { font-size: 1.4rem } .verdict { font-weight: 600 } table { border-collapse: collapse; font-size: 0.85rem }
td, th { padding: 0.15rem 0.7rem; text-align: right; border-bottom: 1px solid #ddd } td:first-child, th:first-child
{ text-align: left } pre { background: #f6f6f4; padding: 0.8rem; white-space: pre-wrap }
svg { max-width: 100%; height: auto } .wide { overflow-x: auto }"""
_MOST_BARS = 40


def html(report: Record) -> str:
    """A page of its own: summary, picture, tables."""
    picture = _picture(report)
    table = case_table(report.cases)
    head = "".join(f"<th>{escape(c)}</th>" for c in table[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(v)}</td>" for v in row) + "</tr>" for row in table[1:])
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(report.subject)}: {report.verdict}</title><style>{_STYLE}</style></head><body>
<h1>{escape(report.subject)} ({report.kind}): <span class="verdict">{report.verdict}</span></h1>
<pre>{escape(chr(10).join(summary_lines(report)[1:]))}</pre>
{picture}
<h2>Cases</h2><div class="wide"><table><tr>{head}</tr>{body}</table></div>
</body></html>"""


def markdown(report: Record) -> str:
    """Summary, picture (SVG as part of the text) and tables."""
    table = case_table(report.cases)
    lines = [
        f"# {report.subject} ({report.kind}): {report.verdict}",
        "",
        "```text",
        *summary_lines(report)[1:],
        "```",
        "",
        _picture(report),
        "",
        "| " + " | ".join(table[0]) + " |",
        "|" + "---|" * len(table[0]),
    ]
    lines += ["| " + " | ".join(row) + " |" for row in table[1:]]
    return "\n".join(lines)


def bars(
    right: list[float], observed: list[float], names: list[str], title: str, fault: list[float] | None = None
) -> str:
    """An SVG: for each token a bar of the right law and one of the observed law, and a tick at the fault's."""
    n = min(len(right), _MOST_BARS)
    top = max([*right[:n], *observed[:n], *(fault or [])[:n], 1e-9]) * 1.1
    width, height, left, base = max(520, 46 * n + 70), 240, 50, 190
    step = (width - left - 20) / n
    bar = min(22.0, step * 0.36)

    def y(v: float) -> float:
        return base - v / top * 150

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="11"><title>{escape(title)}</title>',
        f'<text x="{left}" y="16" font-size="12">{escape(title)}</text>',
    ]
    legend = [("right law", _RIGHT), ("observed", _OBSERVED), *([("the fault's law", _FAULT)] if fault else [])]
    for i, (label, colour) in enumerate(legend):
        parts.append(f'<rect x="{left + 110 * i}" y="24" width="9" height="9" fill="{colour}"/>')
        parts.append(f'<text x="{left + 110 * i + 13}" y="32">{escape(label)}</text>')
    for k in range(5):
        value = top * k / 4
        parts.append(
            f'<line x1="{left}" x2="{width - 12}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
            f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2g}</text>'
        )
    for i in range(n):
        centre = left + step * (i + 0.5)
        for offset, value, colour in ((-bar, right[i], _RIGHT), (0.0, observed[i], _OBSERVED)):
            parts.append(
                f'<rect x="{centre + offset:.1f}" y="{y(value):.1f}" width="{bar - 1:.1f}" '
                f'height="{base - y(value):.1f}" fill="{colour}"/>'
            )
        if fault:
            level = f'y1="{y(fault[i]):.1f}" y2="{y(fault[i]):.1f}" stroke="{_FAULT}" stroke-width="2"'
            parts.append(f'<line x1="{centre - 1:.1f}" x2="{centre + bar + 2:.1f}" {level}/>')
        turned = f' transform="rotate(-60 {centre:.1f} {base + 12})"' if n > 12 else ""
        anchor = "end" if n > 12 else "middle"
        parts.append(f'<text x="{centre:.1f}" y="{base + 14}" text-anchor="{anchor}"{turned}>{escape(names[i])}</text>')
    parts.append(f'<text x="{(left + width) / 2}" y="{height - 6}" text-anchor="middle">emitted</text></svg>')
    return "".join(parts)


def _picture(report: Record) -> str:
    if report.counterexample is not None:
        return _of_counterexample(report.counterexample)
    shown = [case for case in report.cases if case.right_law]
    if not shown:
        return ""
    worst = max(shown, key=lambda case: case.log10_e)
    names = [str(i) for i in range(len(worst.right_law))]
    title = f"{worst.name}: {worst.draws:,} draws, the case of most evidence"
    return bars(worst.right_law, worst.observed_law, names, title)


def _of_counterexample(c: Counterexample) -> str:
    names = c.outcomes or [str(i) for i in range(len(c.right_law))]
    fault = [_float(v) for v in c.fault_law] if c.fault_law else None
    title = f"smallest counterexample, {c.draws:,} draws: total variation {c.tv_observed:.4f}"
    return bars([_float(v) for v in c.right_law], c.observed_law, names, title, fault)


def _float(text: str) -> float:
    numerator, _, denominator = text.partition("/")
    return float(numerator) / float(denominator or 1)


def case_table(cases: list[CaseResult]) -> list[list[str]]:
    """The audited cases, a header first."""
    return [
        ["case", "draws", "TV observed", "TV below", "TV found with 99%", "evidence 10^", "acceptance", "bound"]
    ] + [
        [
            case.name,
            f"{case.draws:,}",
            f"{case.tv_observed:.4f}",
            f"{case.tv_upper:.4f}",
            f"{case.tv_detectable:.4f}" if case.tv_detectable < 1 else "-",
            f"{case.log10_e:.1f}",
            "-" if case.acceptance is None else f"{case.acceptance:.4f}",
            "-" if case.acceptance_bound is None else f"{case.acceptance_bound:.4f}",
        ]
        for case in cases
    ]
