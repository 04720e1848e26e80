"""Command line, report in its forms, pytest plugin."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from mutants import positions, sound

import resispec_ref as rs
from resispec_ref.commands.audit_engine import load
from resispec_ref.commands.cli import main
from resispec_ref.commands.comparison import main as comparison
from resispec_ref.oracle import assert_exact, audit
from resispec_ref.oracle.comparison import compare
from resispec_ref.oracle.subjects.examples import EXAMPLES

pytest_plugins = ["pytester"]
QUICK = ["--draws", "300", "--budget", "10"]

FAULTY = """
def verify(target, draft, candidates, rng):
    return candidates[0]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "right.py").write_text(EXAMPLES["verifier"])
    (tmp_path / "faulty.py").write_text(FAULTY)
    return tmp_path


def test_what_is_right_passes(folder, capsys):
    assert main(["audit", "right.py:verify", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "right.py:verify (verifier): NO FAULT FOUND" in out
    assert "total variation below" in out


def test_fault_is_named_on_the_command_line(folder, capsys):
    assert main(["audit", "faulty.py:verify", *QUICK]) == 1
    out = capsys.readouterr().out
    assert "FAULT FOUND" in out
    assert "matches: the first candidate is emitted" in out
    assert "right law" in out
    assert "observed" in out


def test_json(folder, capsys):
    assert main(["audit", "faulty.py:verify", "--json", "--candidates", "1", *QUICK]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["exit_code"]) == ("fault found", 1)
    assert found["diagnosis"]["name"] == "always-accept"
    assert found["counterexample"]["right_law"]


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_report_files(folder, suffix, capsys):
    main(["audit", "faulty.py:verify", "--report", f"r.{suffix}", "--cases", "--candidates", "1", *QUICK])
    assert "| case" in capsys.readouterr().out
    text = (folder / f"r.{suffix}").read_text(encoding="utf-8")
    assert "fault found" in text
    if suffix != "json":
        picture = re.search(r"<svg.*?</svg>", text, re.S).group()
        assert ET.fromstring(picture).tag.endswith("svg")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("missing.py:verify", "no file missing.py"),
        ("right.py:other", "has no 'other'; it has verify"),
        ("right.py", "FILE.py:FUNCTION"),
        ("broken.py:verify", "importing broken.py failed: SyntaxError"),
        ("no.such.module:verify", "importing no.such.module failed"),
    ],
)
def test_what_cannot_be_loaded(folder, capsys, place, message):
    (folder / "broken.py").write_text("def verify(:\n")
    assert main(["audit", place]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "message"),
    [("r.pdf", "report: r.pdf; the suffix says"), ("no/where/r.html", "report: there is no folder no/where; make it")],
)
def test_where_the_report_goes_is_checked_before_the_audit(folder, capsys, file, message):
    (folder / "never.py").write_text("raise SystemExit('loaded')")
    assert main(["audit", "never.py:verify", "--report", file]) == 2
    assert message in capsys.readouterr().err


def test_a_subject_that_cannot_run_exits_with_2(folder, capsys):
    (folder / "odd.py").write_text("def verify(target, draft, candidates, rng):\n    return 1.5\n")
    assert main(["audit", "odd.py:verify", *QUICK]) == 2
    assert "COULD NOT RUN" in capsys.readouterr().out


def test_modules_and_nested_names():
    assert load("resispec_ref.oracle.comparison:chain")(1.0) is not None
    assert load("resispec", kind="law") == "resispec"


def test_report_fields():
    report = audit(sound.target_match, kind="verifier", candidates=1, draws=300)
    assert report.exit_code == 0
    assert 0 < report.tv_detectable < 1
    assert 0 < report.tv_upper < 1
    assert report.cases[0].draws == 300
    assert json.loads(report.to_json())["verdict"] == "no fault found"
    assert "<svg" in report.to_html()
    again = audit(sound.target_match, kind="verifier", candidates=1, draws=300)
    assert [c.observed_law for c in again.cases] == [c.observed_law for c in report.cases]


def test_assert_exact_raises_with_the_report():
    with pytest.raises(AssertionError, match="FAULT FOUND"):
        assert_exact(positions.accepts_always, kind="verifier", candidates=1, search=False)


def test_public_audit_is_a_function_whatever_is_imported():
    import resispec_ref.measurements.rule_audit

    assert callable(rs.audit)
    assert resispec_ref.measurements.rule_audit is not rs.audit


def test_import_is_light():
    code = "import sys, resispec_ref; sys.exit(any(m in sys.modules for m in ('scipy', 'hypothesis', 'rich')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


ENGINE = """
import numpy as np, pytest

def right(target, draft, candidates, rng):
    return rng.choice(len(target), p=target)

def faulty(target, draft, candidates, rng):
    return candidates[0]

def test_right(assert_exact):
    report = assert_exact(right, kind="verifier", candidates=1, draws=300)
    assert report.verdict == "no fault found"

def test_faulty(assert_exact):
    assert_exact(faulty, kind="verifier", candidates=1, search=False)

@pytest.mark.resispec(kind="sampler", draws=200)
class TestSampler:
    def test_options_of_the_mark(self, assert_exact):
        report = assert_exact(lambda target, draft, k, rng, n: rng.choice(len(target), size=n, p=target))
        assert report.cases[0].draws == 200

def test_kind_is_needed(assert_exact):
    assert_exact(right)
"""
PLUGIN = ("-p", "no:resispec", "-p", "resispec_ref.oracle.pytest_plugin", "-p", "no:cacheprovider")


def test_pytest_plugin(pytester):
    pytester.makepyfile(ENGINE)
    result = pytester.runpytest_subprocess(*PLUGIN, "--resispec-report", "pages", "--strict-markers")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*FAULT FOUND*",
            "*kind is missing*",
            "*resispec audits*",
            "*test_right: no fault found; total variation below*",
            "*test_faulty: fault found; matches always-accept*",
            "*test_options_of_the_mark: no fault found*",
        ]
    )
    assert len(list((pytester.path / "pages").glob("*.html"))) == 3


def test_plugin_is_silent_where_it_is_not_used(pytester):
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest_subprocess(
        *PLUGIN, "--resispec-budget", "5", "--resispec-draws", "9", "--resispec-seed", "1"
    )
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*resispec audits*")


def test_comparison_prints_both_tests(capsys):
    assert comparison(["--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "oracle" in lines[3]


def test_oracle_finds_one_percent_in_every_run(effort):
    """At the rate measured, above 0.99, all of 5 runs find it with probability 0.95 or more; here it is 5 of 5."""
    runs = 5 * effort
    _, oracle = compare(runs)
    assert oracle["fails a correct one"] <= max(1, runs // 100)
    assert oracle["finds the faulty one"] >= 0.97 * runs
