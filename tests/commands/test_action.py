"""The GitHub action, its steps run as plain shell as a runner runs them; and the badge."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from resispec_ref.commands.cli import main

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
ENGINES = ROOT / "docs" / "engines_to_audit"
RIGHT, WRONG = str(ENGINES / "recursive.py:verify"), str(ENGINES / "skips_the_residual.py:verify")
QUICK = "--candidates 2 --draws 4000 --no-search --budget 240"
EXPRESSION = re.compile(r"\$\{\{ (\S+) \}\}")


def run_action(folder, **given):
    """Run the steps whose condition holds: their exit codes, what they print, and the job's summary."""
    inputs = {name: spec["default"] for name, spec in ACTION["inputs"].items()} | given
    assert inputs.keys() == ACTION["inputs"].keys()
    values = {f"inputs.{name}": value for name, value in inputs.items()} | {"github.action_path": str(ROOT)}
    summary = folder / "summary.md"
    summary.touch()
    codes, said = {}, ""
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        condition = re.fullmatch(r"\$\{\{ !cancelled\(\) && (inputs\.\w+) != '' \}\}", step.get("if", ""))
        if "if" in step and values[condition[1]] == "":
            continue
        assert not EXPRESSION.search(step["run"]), "inputs go through the environment, so that none is run as a script"
        env = {key: values[EXPRESSION.fullmatch(value)[1]] for key, value in step["env"].items()}
        here = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env=os.environ | here | env | {"GITHUB_STEP_SUMMARY": str(summary)},
            capture_output=True,
            text=True,
            check=False,
        )
        codes[step["name"]], said = done.returncode, said + done.stdout + done.stderr
    return codes, said, summary.read_text()


def badge(folder, name):
    found = json.loads((folder / "badges" / f"{name}.json").read_text())
    assert (found["schemaVersion"], found["label"]) == (1, "speculative sampling")
    return found["message"], found["color"]


def test_an_audit_that_finds_nothing(tmp_path):
    codes, said, summary = run_action(tmp_path, implementation=RIGHT, options=QUICK)
    assert codes == {"Install": 0, "Audit": 0}, said
    message, colour = badge(tmp_path, "audit")
    upper = re.fullmatch(r"no fault found, total variation < (0\.\d+)", message)[1]
    assert colour == "brightgreen"
    assert f"total variation ruled out: {upper} or more in each of" in summary
    assert "NO FAULT FOUND" in said


def test_an_audit_that_finds_a_fault(tmp_path):
    codes, said, summary = run_action(tmp_path, implementation=WRONG, options=QUICK)
    assert codes == {"Install": 0, "Audit": 1}, said
    assert badge(tmp_path, "audit") == ("fault found: no-residual", "red")
    assert "after the last rejection the token is drawn from it" in summary


def test_an_audit_that_cannot_run(tmp_path):
    codes, said, summary = run_action(tmp_path, implementation="none.py:verify")
    assert codes["Audit"] == 2
    assert "none.py" in said
    assert summary == ""


@pytest.mark.parametrize(
    ("change", "code", "message"), [(None, 0, "all answers right"), (("if x < 0:", "if False:"), 1, "answers differ")]
)
def test_vectors(tmp_path, change, code, message):
    """The test for pytest that is written with the vectors, as it is or with a fault planted into it."""
    assert main(["vectors", str(tmp_path / "conformance")]) == 0
    test = tmp_path / "conformance" / "test_vectors.py"
    if change:
        test.write_text(test.read_text().replace(*change))
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:resispec --rootdir . conformance"
    codes, said, summary = run_action(tmp_path, vectors=command)
    assert codes == {"Install": 0, "Vectors": code}, said
    assert badge(tmp_path, "vectors") == (f"vectors: {message}", "red" if code else "brightgreen")
    assert f"vectors: {message}" in summary
    assert re.search(r"\d+ passed", summary)


def test_vectors_whose_command_is_not_there(tmp_path):
    codes, _, _ = run_action(tmp_path, vectors="./none")
    assert codes["Vectors"] == 127
    assert badge(tmp_path, "vectors") == ("vectors: could not run", "lightgrey")


@pytest.mark.parametrize(
    ("settings", "engine", "code", "expected"),
    [
        ('{"method": "eagle3"}', "vllm", 0, ("lossless", "brightgreen")),
        ('{"engine": "transformers", "assistant_ensemble_weight": 0.8}', "", 1, ("lossy, bias up to 1/5", "red")),
        ('{"decoding_type": "Medusa"}', "tensorrt-llm", 3, ("unknown", "lightgrey")),
    ],
)
def test_settings(tmp_path, settings, engine, code, expected):
    codes, said, summary = run_action(tmp_path, settings=settings, engine=engine)
    assert codes == {"Install": 0, "Settings": code}, said
    assert badge(tmp_path, "settings") == expected
    assert "Importance ratios: the" in summary


def test_settings_that_are_none(tmp_path):
    codes, said, summary = run_action(tmp_path, settings="none.json", engine="vllm")
    assert codes["Settings"] == 2
    assert "none.json: No such file" in said
    assert summary == ""


def test_an_input_is_no_script(tmp_path):
    run_action(tmp_path, settings='"; touch made; "', engine="vllm", implementation="$(touch made)")
    assert not (tmp_path / "made").exists()


def test_a_badge_of_something_else(tmp_path, capsys):
    for text, words in (("{}", "has no verdict"), ("no", "is no JSON")):
        (tmp_path / "report.json").write_text(text)
        assert main(["badge", str(tmp_path / "report.json")]) == 2
        assert words in capsys.readouterr().err


def test_a_badge_of_an_exact_comparison(tmp_path, capsys):
    """Of kind "law" nothing is drawn, and no bound on the total variation is said."""
    file = tmp_path / "law.json"
    (tmp_path / "law.py").write_text("def law(p, q):\n    return q * 0, p\n")
    assert main(["audit", f"{tmp_path}/law.py:law", "--kind", "law", "--report", str(file)]) == 0
    capsys.readouterr()
    assert main(["badge", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["message"] == "no fault found"


def test_a_summary_shows_the_counterexample(tmp_path, capsys):
    found = {
        "subject": "e.py:verify",
        "verdict": "fault found",
        "diagnosis": {"name": "x", "description": "d", "remedy": "r", "matches": False},
        "counterexample": {
            "inputs": {"target": ["1/2", "1/2"], "candidates": 1},
            "right_law": ["1/2", "1/2"],
            "observed_law": [0.25, 0.75],
        },
    }
    (tmp_path / "report.json").write_text(json.dumps(found))
    assert main(["badge", str(tmp_path / "report.json"), "--summary"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("### Speculative sampling: fault found\n")
    assert "- nearest known fault: d\n- r\n" in out
    assert "target: 1/2, 1/2\ncandidates: 1\nright law: 1/2, 1/2\nobserved: 0.2500, 0.7500\n" in out
