"""Single faults are named whatever way candidates are drawn, and none is called by another's name."""

import pytest
from mutants.ways_of_drawing import FAULTS, verifier

from resispec_ref.oracle import audit

OPTIONS = {"candidates": [2, 3], "batched": False, "search": False, "budget": 600.0, "draws": 8_192}


@pytest.mark.parametrize("draw", ["independent", "distinct", "top-k"])
@pytest.mark.parametrize("fault", FAULTS)
def test_single_faults_are_named(fault, draw):
    report = audit(verifier(draw, **FAULTS[fault]), kind="verifier", draw=draw, **OPTIONS)
    assert report.verdict == "fault found"
    assert report.diagnosis is not None, str(report)
    assert report.diagnosis.matches, str(report)
    assert fault in (report.diagnosis.name, *report.diagnosis.also), str(report)


@pytest.mark.parametrize("draw", ["independent", "distinct", "top-k"])
def test_without_a_fault_each_is_right(draw):
    report = audit(verifier(draw), kind="verifier", draw=draw, **(OPTIONS | {"draws": 512}))
    assert report.verdict == "no fault found", str(report)
