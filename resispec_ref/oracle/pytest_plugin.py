"""The pytest plugin: audits of an engine's verifier in its own test suite.

    def test_my_verifier(assert_exact):
        assert_exact(my_engine.verify, kind="verifier", candidates=[1, 2])

Options: `--resispec-budget`, `--resispec-draws`, `--resispec-seed`, `--resispec-report DIR`. The mark
`@pytest.mark.resispec(library="torch", dtype="float32")` sets options for all audits of a test, class or module. The
terminal summary has a section with every audit, those that passed included: what they ruled out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from resispec_ref.oracle.report.report import Report

_AUDITS = pytest.StashKey[list[tuple[str, str]]]()
_DEFAULT_BUDGET = 20.0


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("resispec", "audits of speculative samplers")
    group.addoption("--resispec-budget", type=float, metavar="SECONDS", help="of each audit (default: 20)")
    group.addoption("--resispec-draws", type=int, metavar="N", help="at most, for each case of an audit")
    group.addoption("--resispec-seed", type=int, metavar="N", help="seed of all draws (default: 0)")
    group.addoption("--resispec-report", type=Path, metavar="DIR", help="write a page for each audit into this folder")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "resispec(**options): options of assert_exact for the tests marked")
    config.stash[_AUDITS] = []


@pytest.fixture
def assert_exact(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`assert_exact(implementation, kind=..., **options)`: `resispec_ref.audit`, failing with the report on a fault.

    Options are those of `resispec_ref.audit`; those given here come before the mark's, and these before the command
    line's. Audits of the same implementation with the same options and seed draw the same numbers.
    """
    config = request.config
    options: dict[str, Any] = {"budget": _DEFAULT_BUDGET}
    for name in ("budget", "draws", "seed"):
        value = config.getoption(f"--resispec-{name}")
        if value is not None:
            options[name] = value
    for mark in reversed(list(request.node.iter_markers("resispec"))):
        options |= mark.kwargs

    def check(implementation: Any, *, kind: str | None = None, **given: Any) -> Report:
        import resispec_ref

        chosen = options | given | ({"kind": kind} if kind is not None else {})
        if "kind" not in chosen:
            raise ValueError("assert_exact: kind is missing (sampler, verifier, chain, tree, law)")
        report = resispec_ref.audit(implementation, **chosen)
        config.stash[_AUDITS].append((request.node.nodeid, _line(report)))
        folder = config.getoption("--resispec-report")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            number = len(config.stash[_AUDITS])
            name = re.sub(r"[^\w.-]+", "-", request.node.nodeid).strip("-")
            (folder / f"{number:03}-{name}.html").write_text(report.to_html(), encoding="utf-8")
        if report.exit_code:
            pytest.fail(str(report), pytrace=False)
        return report

    return check


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    audits = config.stash.get(_AUDITS, [])
    if not audits:
        return
    terminalreporter.section("resispec audits")
    for test, line in audits:
        terminalreporter.line(f"{test}: {line}")


def _line(report: Report) -> str:
    if report.verdict == "no fault found" and report.tv_upper is not None:
        return (
            f"no fault found; total variation below {report.tv_upper:.2g} in {len(report.cases)} cases "
            f"({report.draws:,} draws, false-alarm rate {report.false_alarm_rate:g})"
        )
    named = f"; matches {report.diagnosis.name}" if report.diagnosis and report.diagnosis.matches else ""
    return f"{report.verdict}{named} ({report.draws:,} draws)"
