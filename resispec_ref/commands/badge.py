"""`resispec badge`: what an audit or the guard found, as a badge or as a page's summary."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from resispec_ref.commands.display.terminal import describe

_LABEL = "speculative sampling"
_GOOD, _BAD, _NEITHER = "brightgreen", "red", "lightgrey"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec badge`."""
    describe(
        parser,
        "From the JSON of an audit or of `resispec lossless`: a badge, in the JSON that badge services read\n"
        "(schemaVersion, label, message, color), or a summary in Markdown for the page of a CI job, with the total\n"
        "variation ruled out.",
        [
            "resispec audit my_engine.py:verify --report audit.json; resispec badge audit.json > badge.json",
            'resispec badge audit.json --summary >> "$GITHUB_STEP_SUMMARY"',
            "resispec lossless server.toml --json > settings.json; resispec badge settings.json",
        ],
    )
    parser.add_argument("report", type=Path, metavar="REPORT", help="a file of JSON")
    parser.add_argument("--summary", action="store_true", help="print Markdown instead of the badge")


def run(args: argparse.Namespace) -> int:
    """`resispec badge`."""
    try:
        found = json.loads(args.report.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"report: {args.report} is no JSON ({error}); write it with --report or --json") from None
    if not isinstance(found, dict) or "verdict" not in found:
        raise ValueError(f"report: {args.report} has no verdict; it is to be the JSON of an audit or of lossless")
    message, colour = outcome(found)
    if args.summary:
        print(summary(found, message))
    else:
        print(json.dumps({"schemaVersion": 1, "label": _LABEL, "message": message, "color": colour}))
    return 0


def outcome(found: dict[str, Any]) -> tuple[str, str]:
    """The message of a badge, and its colour.

    >>> outcome({"verdict": "no fault found", "tv_upper": 0.0123})
    ('no fault found, total variation < 0.012', 'brightgreen')
    >>> outcome({"verdict": "lossy", "worst_bias": "1/5"})
    ('lossy, bias up to 1/5', 'red')
    """
    verdict = found["verdict"]
    if verdict == "no fault found":
        upper = found.get("tv_upper")  # 0 or none where laws were compared, not draws
        return f"{verdict}, total variation < {upper:.2g}" if upper else verdict, _GOOD
    if verdict == "fault found":
        diagnosis = found.get("diagnosis")
        return f"{verdict}: {diagnosis['name']}" if diagnosis and diagnosis["matches"] else verdict, _BAD
    if verdict == "lossy":
        return f"lossy, bias up to {found['worst_bias']}", _BAD
    return verdict, _GOOD if verdict == "lossless" else _NEITHER


def summary(found: dict[str, Any], message: str) -> str:
    """The summary in Markdown."""
    what = found.get("subject") or found.get("engine", "")
    lines = [f"### {_LABEL.capitalize()}: {message}", "", f"`{what}`", ""]
    if "findings" in found and "engine" in found:
        lines += [f"- `{f['setting']}`: {f['judgement']}" for f in found["findings"]]
        return "\n".join([*lines, "", f"Importance ratios: {found['importance_ratio']}"])
    if found["verdict"] == "no fault found" and found["tv_upper"]:
        lines += [
            f"- total variation ruled out: {found['tv_upper']:.2g} or more in each of {len(found['cases'])} cases "
            f"({found['confidence']:.0%} confidence in all together)",
            f"- false-alarm rate {found['false_alarm_rate']:g}, {found['draws']:,} draws",
        ]
    if found.get("diagnosis"):
        d = found["diagnosis"]
        lines += [f"- {'matches' if d['matches'] else 'nearest known fault'}: {d['description']}", f"- {d['remedy']}"]
    if found.get("counterexample"):
        c = found["counterexample"]
        rows = {**c["inputs"], "right law": c["right_law"], "observed": [f"{v:.4f}" for v in c["observed_law"]]}
        lines += ["", "```text", *(f"{k}: {_row(v)}" for k, v in rows.items()), "```"]
    return "\n".join(lines)


def _row(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
