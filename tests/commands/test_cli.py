"""The command line: what it prints, its exit codes, and that errors say what to do."""

import doctest
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import resispec_ref as rs
from resispec_ref.commands.cli import COMMANDS, main
from resispec_ref.commands.display import tables
from resispec_ref.commands.law import MAX_CANDIDATES
from resispec_ref.models.pairs import Pairs, save_pairs

README = Path(__file__).parents[2] / "README.md"
DIE = ["--target", "1/3,1/3,1/3", "--draft", "1/2,1/2,0"]


def law(capsys, *arguments):
    assert main(["law", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def error(capsys, *arguments):
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("resispec: error: ")
    return err


def test_a_missing_file_is_named(capsys):
    assert error(capsys, "measure", "no.npz") == "resispec: error: no.npz: No such file or directory\n"


def test_the_fair_die_under_the_published_rule(capsys):
    assert law(capsys, "--verifier", "resispec-published", *DIE) == {
        "verifier": "resispec-published",
        "candidates": 1,
        "law": ["19/42", "19/42", "2/21"],
        "acceptance_rate": "2/3",
        "acceptance_per_candidate": ["2/3"],
        "total_variation": "5/21",
        "optimal_acceptance": "2/3",
        "exact": False,
    }


def test_as_many_candidates_as_the_command_takes(capsys):
    found = law(capsys, "--verifier", "recursive-rejection", *DIE, "--candidates", str(MAX_CANDIDATES))
    assert found["law"] == ["1/3"] * 3


def test_two_candidates_are_accepted_more_often_than_any_exact_rule_can(capsys):
    found = law(capsys, "--verifier", "resispec-published", *DIE, "--candidates", "2")
    assert (found["acceptance_rate"], found["optimal_acceptance"], found["law"][0]) == ("5/6", "2/3", "61/126")


def test_options_of_a_rule(capsys):
    found = law(capsys, "--verifier", "resispec-published", "--option", "spread=water-filling", *DIE)
    assert (found["law"], found["total_variation"]) == (["1/2", "1/2", "0"], "1/3")


def test_decimals_are_rationals(capsys):
    found = law(
        capsys, "--verifier", "resispec", "--target", ".5, .3, .2", "--draft", "6e-1,0.35,.05", "--candidates", "2"
    )
    assert found["law"] == ["1/2", "3/10", "1/5"]
    assert found["acceptance_rate"] == found["optimal_acceptance"] == "359/400"
    assert found["exact"] is True


def test_distinct_candidates_have_the_bound_of_distinct_candidates(capsys):
    name = "recursive-rejection-without-replacement"
    found = law(capsys, "--verifier", name, "--target", "1/2,3/10,1/5", "--draft", "3/5,7/20,1/20", "--candidates", "2")
    p, q = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [Fraction(3, 5), Fraction(7, 20), Fraction(1, 20)]
    assert found["optimal_acceptance"] == str(rs.optimal_acceptance(p, q, candidates=2, replacement=False))


def test_floats_on_request(capsys):
    found = law(capsys, "--verifier", "resispec-published", "--float", *DIE)
    assert found["law"] == pytest.approx([19 / 42, 19 / 42, 2 / 21], abs=1e-15)
    assert found["exact"] is False
    assert law(capsys, "--verifier", "k-seq", "--float", *DIE, "--candidates", "3")["exact"] is True


def test_a_table_for_reading(capsys):
    assert main(["law", "--verifier", "resispec-published", *DIE]) == 0
    out = capsys.readouterr().out
    assert "|     2 | 1/3    | 0     | 2/21    | -5/21            |" in out
    assert "total variation from the target: 5/21 (0.238095)" in out


MISTAKES = {
    "rule": (["--verifier", "resispek", *DIE], "'resispek' is not one of naive, recursive-rejection, "),
    "number": (
        ["--verifier", "naive", "--target", "1/2,1/z", "--draft", "1,0"],
        "target, entry 1: '1/z' is not a fraction or a decimal; write 1/2,3/10,1/5",
    ),
    "zero": (["--verifier", "naive", "--target", "1", "--draft", "1/0"], "draft, entry 0: '1/0' is not a fraction"),
    "sum": (["--verifier", "naive", "--target", ".3,.3,.3", "--draft", "1,0,0"], "target, row 0: 9/10 "),
    "lengths": (
        ["--verifier", "naive", "--target", "1", "--draft", "1,0"],
        "vocabulary of 1 tokens and draft one of 2",
    ),
    "candidates": (["--verifier", "naive", *DIE, "--candidates", "-2"], "candidates: -2 is not a number of candidates"),
    "too many": (["--verifier", "resispec", *DIE, "--candidates", "100000"], "candidates: 100000; this command takes"),
    "option": (["--verifier", "naive", "--option", "a=1", *DIE], "naive: unknown option among a; it has: none"),
    "value": (
        ["--verifier", "resispec-published", "--option", "spread=even", *DIE],
        "spread: 'even' is not one of 'proportional', 'water-filling'",
    ),
    "no value": (["--verifier", "naive", "--option", "spread", *DIE], "option: 'spread' is not NAME=VALUE"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named(capsys, arguments, message):
    assert message in error(capsys, "law", *arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_a_description_and_examples(capsys, name):
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0
    assert f"resispec {name}" in out.split("examples:\n")[1]


@pytest.mark.parametrize("arguments", [[], ["autid"], ["law"], ["measure", "--candidates", "three"]])
def test_wrong_usage_ends_with_2(capsys, arguments):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: resispec" in capsys.readouterr().err


@pytest.fixture
def pairs_file(tmp_path):
    rng = np.random.default_rng(0)
    f_p, f_q = rng.normal(size=(2, 6, 4))
    path = tmp_path / "pairs.npz"
    save_pairs(path, Pairs(f_p, f_q, np.tile(np.arange(4), (6, 1))))
    return str(path)


def test_measure_prints_a_table_and_no_progress_in_a_pipe(capsys, pairs_file):
    assert main(["measure", pairs_file, "--candidates", "2", "--temperature", "0.5"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = [line.split("|")[1].strip() for line in out.splitlines() if line.startswith("| ")]
    assert sorted(rows[2:]) == sorted(rs.verifier_names())
    assert "6 positions, 4 tokens a row, 2 candidates, temperature 0.5" in out


def test_measure_as_json_is_what_python_gets(capsys, pairs_file):
    assert main(["measure", pairs_file, "--verifier", "resispec", "--positions", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    direct = rs.measure(pairs_file, candidates=3, verifiers=["resispec"], positions=4)
    assert found["positions"] == direct.positions == 4
    assert found["rules"][1]["acceptance_rate"] == direct["resispec"].acceptance_rate


def test_a_missing_file_and_a_bad_one(capsys, tmp_path):
    assert "nowhere.npz" in error(capsys, "measure", str(tmp_path / "nowhere.npz"))
    (tmp_path / "bad.npz").write_text("no archive")
    assert "bad.npz: not a readable .npz file" in error(capsys, "measure", str(tmp_path / "bad.npz"))


def test_on_a_terminal_there_is_a_bar_and_a_table_without_markdown(capsys, pairs_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(["measure", pairs_file, "--verifier", "resispec"]) == 0
    out, err = capsys.readouterr()
    assert "resispec" in out
    assert "| resispec" not in out
    assert "measuring" in err


def test_tables_pad_and_align(capsys):
    tables.print_table(["rule", "rate"], [["a", "1"], ["bcdef", "22"]], right=["rate"])
    assert capsys.readouterr().out.splitlines() == [
        "| rule  | rate |",
        "| ----- | ---: |",
        "| a     |    1 |",
        "| bcdef |   22 |",
    ]


@pytest.mark.parametrize("width", [40, 200])
def test_rows_of_a_growing_table_appear_as_they_come_on_a_terminal(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with tables.growing_table(["rule", "law"], [["recursive-rejection", "p = (1/2, 1/2), q = (1, 0)"]]) as show:
        capsys.readouterr()
        for name in ("naive", "ears"):
            show([name, "a law longer than any that was announced, by a few words"])
            shown = capsys.readouterr().out
            assert name in shown
            assert "words" in shown
    assert capsys.readouterr().out == ""


def test_a_growing_table_is_markdown_elsewhere(capsys):
    with tables.growing_table(["rule", "rate"], [["wide enough", "0.25"]]) as show:
        show(["a", "1"])
        assert capsys.readouterr().out == ""
    assert capsys.readouterr().out.splitlines() == ["| rule | rate |", "| ---- | ---- |", "| a    | 1    |"]


def test_the_audit_shows_a_rule_before_the_next_is_looked_at(capsys, monkeypatch):
    from resispec_ref.measurements import rule_audit

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    audit_rule, shown = rule_audit.audit_rule, list[str]()

    def watched(*args, **options):
        shown.append(capsys.readouterr().out)
        return audit_rule(*args, **options | {"cases": 10})

    monkeypatch.setattr(rule_audit, "audit_rule", watched)
    main(["audit", "--verifier", "naive", "--verifier", "resispec"])
    assert "naive" not in shown[0]
    assert "naive" in shown[1]
    assert "resispec" not in shown[1]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_table_on_a_narrow_terminal_loses_no_word(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    columns = ["rule", "smallest counterexample", "rate"]
    rows = [["recursive-rejection-without-replacement", "none", "0.25"], ["resispec", "p = (1/2, 1/2, 0), K = 1", "1"]]
    tables.print_table(columns, rows, right=["rate"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= max(width, 81)
    words = out.replace("-", " ").split()
    for cell in (columns[1], columns[2], *rows[0], *rows[1]):
        assert all(word in words for word in cell.replace("-", " ").split())


def test_bench_reports_ratios_and_its_machine(capsys, monkeypatch):
    monkeypatch.setattr("resispec_ref.measurements.speed.VOCAB", 64)
    monkeypatch.setattr(
        "resispec_ref.measurements.speed._seconds", lambda work, runs: 0.25 if "_import" not in repr(work) else 0.0
    )
    assert main(["bench", "--json"]) == 1  # a quarter of a second for one law is above the limit of 0.1
    found = json.loads(capsys.readouterr().out)
    assert "NumPy" in found["machine"]
    by_name = {t["what"]: t for t in found["timings"]}
    assert by_name["emitted_law resispec"]["ratio"] == 1
    assert by_name["emitted_law resispec"]["share_of_limit"] == 2.5
    assert by_name["import resispec_ref"]["share_of_limit"] == 0


def test_bench_runs_what_it_times(capsys, monkeypatch):
    monkeypatch.setattr("resispec_ref.measurements.speed.VOCAB", 64)
    monkeypatch.setattr("resispec_ref.measurements.speed.CANDIDATES", 2)
    assert main(["bench"]) in (0, 1)
    assert "| emitted_law resispec" in capsys.readouterr().out


def test_the_module_is_the_command_and_its_help_loads_no_subcommand():
    code = (
        "import runpy, sys; sys.argv = ['resispec', '--help']\n"
        "try: runpy.run_module('resispec_ref', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "heavy = ['matplotlib', 'rich', 'torch', 'jax', 'scipy', 'transformers', 'hypothesis']\n"
        "ours = ['resispec_ref.measurements.rule_audit', 'resispec_ref.models.recording']\n"
        "print([m for m in heavy + ours if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "usage: resispec" in done.stdout
    assert all(f"\n    {name} " in done.stdout for name in COMMANDS)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_stops_early_gets_no_traceback():
    command = f"{sys.executable} -m resispec_ref law --verifier naive --target 1 --draft 1 | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_the_readme_runs_and_its_two_commands_stand_alone():
    text = README.read_text(encoding="utf-8")
    assert "\npython -m pip install -e . && resispec audit\n" in text
    assert '\npython -m pip install -c constraints.txt -e ".[test]" && python -m pytest\n' in text
    assert doctest.testfile(str(README), module_relative=False).failed == 0
    for command in (line for line in text.splitlines() if line.startswith("resispec law ")):
        assert main(command.split()[1:]) == 0


def test_an_error_of_any_kind_is_one_sentence_and_debug_shows_the_traceback(monkeypatch, capsys):
    """What a user's model or implementation raises from inside is no traceback, and says where it was raised."""

    def breaks(args):
        raise KeyError("no such layer")

    monkeypatch.setattr("resispec_ref.commands.law.run", breaks)
    assert main(["law", "--verifier", "resispec", *DIE]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("resispec: error: KeyError: 'no such layer' (raised at ")
    assert "test_cli.py:" in line
    assert "--debug" in line
    assert main(["law", "--verifier", "resispec", "--debug", *DIE]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert shown.splitlines()[-1] == line
