"""The report of an audit: its record as text, JSON, Markdown or HTML."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from resispec_ref.oracle.report import page
from resispec_ref.oracle.report.record import EXIT_CODES, Record
from resispec_ref.oracle.report.text import summary_lines


@dataclass
class Report(Record):
    """The outcome of `resispec_ref.audit`; `print(report)` is the text of the command line.

    `exit_code` is 0 where no fault was found, 1 where one was, 2 where the audit could not run, or not for all inputs.
    """

    @property
    def exit_code(self) -> int:
        if self.verdict in ("no fault found", "measured") and any(f.level == "problem" for f in self.findings):
            return EXIT_CODES["could not run"]
        return EXIT_CODES[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries."""
        return _plain(asdict(self) | {"exit_code": self.exit_code})

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """The report with its tables and a picture of observed against right law (an SVG inside)."""
        return page.markdown(self)

    def to_html(self) -> str:
        """The same as a page of its own."""
        return page.html(self)

    def __str__(self) -> str:
        return "\n".join(summary_lines(self))


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
