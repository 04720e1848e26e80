"""What `resispec audit --example` prints is right code of the kind asked for, and `--help` says how it is called."""

import inspect
from typing import get_args

import pytest

from resispec_ref.commands.audit_engine import PROTOCOLS, load
from resispec_ref.commands.cli import main
from resispec_ref.oracle import audit
from resispec_ref.oracle.subjects.examples import EXAMPLES, TORCH
from resispec_ref.oracle.subjects.subject import Kind

COUNTS = {"verifier": [1, 3], "chain": [1, 2]}  # of candidates; the others are quick with all


def printed(capsys, *options):
    assert main(["audit", "--example", *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_example_passes_its_audit(capsys, tmp_path, kind):
    text = printed(capsys, "--kind", kind)
    assert text == EXAMPLES[kind]
    assert len(text.splitlines()) <= 21
    (tmp_path / f"example_{kind}.py").write_text(text)
    verify = load(f"{tmp_path}/example_{kind}.py:verify")
    report = audit(verify, kind=kind, candidates=COUNTS.get(kind), draws=2_000, search=False)
    assert report.verdict == "no fault found", str(report)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_example_is_called_as_the_help_says(capsys, kind):
    assert f"  {kind:9} f({', '.join(parameters(EXAMPLES[kind]))}) -> " in PROTOCOLS
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    assert PROTOCOLS.splitlines()[3] in capsys.readouterr().out


def parameters(text):
    there = {}
    exec(text, there)
    return inspect.signature(there["verify"]).parameters


def test_an_audit_sees_an_example_with_a_fault():
    broken = EXAMPLES["tree"].replace("np.maximum(p - q, 0)", "p")
    there = {}
    exec(broken, there)
    assert audit(there["verify"], kind="tree", draws=2_000, search=False).verdict == "fault found"


def test_other_libraries(capsys, tmp_path):
    assert printed(capsys) == EXAMPLES["verifier"]
    assert printed(capsys, "--library", "torch") == TORCH
    (tmp_path / "example_torch.py").write_text(TORCH)
    verify = load(f"{tmp_path}/example_torch.py:verify")
    report = audit(verify, kind="verifier", library="torch", candidates=2, draws=500, search=False)
    assert report.verdict == "no fault found", str(report)
    assert main(["audit", "--example", "--kind", "tree", "--library", "jax"]) == 2
    assert "there is none of kind tree for jax" in capsys.readouterr().err
