"""A rule that is lossy by design is measured: its worst total variation in an interval, beside the frontier."""

import numpy as np
import pytest
from mutants import lossy, positions, sound

from resispec_ref.commands.cli import main
from resispec_ref.oracle import audit, fraction_case
from resispec_ref.oracle.statistics.lossy import tv_lower

CASE = fraction_case(["1/5", "2/5", "2/5"], ["3/5", "3/10", "1/10"], 1, name="six faults apart")
OPTIONS = {"kind": "verifier", "cases": [CASE], "draws": 20_000, "budget": 600.0, "lossy": True, "batched": False}


def test_the_interval_holds_the_exact_total_variation():
    """Always accept: TV(q, p) = 2/5, and acceptance 1, which is the frontier min(1, 3/5 + 2/5)."""
    report = audit(positions.accepts_always, **OPTIONS)
    assert report.verdict == "measured"
    assert report.exit_code == 0
    found = report.lossy
    assert found.tv_lower < 0.4 < found.tv_upper
    assert found.tv_upper - found.tv_lower < 0.06
    assert found.acceptance == 1
    assert found.exact_bound == pytest.approx(0.6)
    assert found.frontier == pytest.approx(1, abs=0.02)
    assert "always-accept" in (report.diagnosis.name, *report.diagnosis.also)  # others have the same law here
    assert "MEASURED" in str(report)
    assert "worst total variation" in str(report)


def test_acceptance_stays_below_the_frontier():
    for rule in (lossy.frontier, lossy.cactus, lossy.high_ratio):
        found = audit(rule, **OPTIONS).lossy
        assert found.tv_lower > 0
        assert found.acceptance <= found.frontier + 0.02  # five standard errors of 20,000 draws


def test_an_exact_rule_has_no_bias_that_is_proved():
    report = audit(sound.accepts_late, **OPTIONS)
    assert report.lossy.tv_lower == 0
    assert report.lossy.tv_upper < 0.03


def test_the_lower_bound_fails_no_more_often_than_stated(effort):
    """1,000 experiments at error 5%; more than 8% failures have probability below 1e-4."""
    rng, p, f = np.random.default_rng(2), np.array([0.2, 0.3, 0.5]), np.array([0.22, 0.29, 0.49])
    true, fails = np.abs(f - p).sum() / 2, 0
    for _ in range(1_000 * min(effort, 5)):
        rounds = [rng.multinomial(n, f) for n in (200, 200, 400)]
        fails += tv_lower(rounds, p, 0.05) > true
    assert fails <= 80 * min(effort, 5)


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine.py").write_text("def verify(target, draft, candidates, rng):\n    return candidates[0]\n")
    line = ["audit", "engine.py:verify", "--lossy", "--draws", "1000", "--budget", "600", "--candidates", "1"]
    assert main(line) == 0
    assert "one of this bias at most" in capsys.readouterr().out
    assert main([*line[:3], "--kind", "law"]) == 2
    assert "lossy: the total variation of a law is computed" in capsys.readouterr().err
