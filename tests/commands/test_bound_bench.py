"""`resispec bench --bound`: what it prints and when it fails. The numbers are its own business: it takes minutes."""

import json

import pytest

from resispec_ref.commands.cli import main
from resispec_ref.measurements import bound_speed as bound_bench


@pytest.mark.parametrize(("kept", "code"), [(True, 0), (False, 1)])
def test_a_limit_that_is_not_kept_is_an_error(kept, code, monkeypatch, capsys):
    found = [bound_bench._at_most("a gap", 0.5), bound_bench._at_most("another gap", 0.5, 1 if kept else 0.1)]
    monkeypatch.setattr("resispec_ref.commands.bench.findings", lambda: iter(found))
    assert main(["bench", "--bound"]) == code
    rows = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if "gap" in line]
    assert [row[-1].strip() for row in rows] == ["yes", "yes" if kept else "NO"]
    assert main(["bench", "--bound", "--json"]) == code
    assert json.loads(capsys.readouterr().out)["findings"][1]["kept"] is kept


def test_the_yardsticks_are_above_the_sequential_rules():
    found = list(bound_bench._yardsticks())
    assert all(f.kept and f.found >= -1e-8 for f in found)
    assert len(found) == 12
