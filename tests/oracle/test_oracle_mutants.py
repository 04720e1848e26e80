"""Every mutant is found and named; every sound verifier is cleared.

False-alarm rate of each audit: 1e-4, by Ville's inequality. The mutants' faults are of total variation 0.004 to 0.6 in
the case that shows them best. No audit comes near its budget: draws end it, and not the clock.
"""

import pytest
from subjects_list import FAULTY, SOUND

from resispec_ref.oracle import audit

FOUND = {"search": False, "budget": 600.0}
CLEARED = {"search": False, "resolution": 0.05, "budget": 600.0}
DRAWS = 600


@pytest.mark.parametrize("mutant", FAULTY, ids=lambda s: f"{s.name} {s.options or ''}".strip())
def test_mutant_is_found_and_named(mutant):
    report = audit(mutant.function, kind=mutant.kind, **FOUND, **mutant.options)
    assert report.verdict == "fault found", str(report)
    if mutant.diagnosis is not None:
        assert report.diagnosis is not None
        assert (report.diagnosis.name, report.diagnosis.matches) == (mutant.diagnosis, True), str(report)


@pytest.mark.parametrize("subject", SOUND, ids=lambda s: f"{s.name} {s.options or ''}".strip())
def test_sound_verifier_is_cleared(subject, effort):
    report = audit(subject.function, kind=subject.kind, draws=DRAWS * effort, **CLEARED, **subject.options)
    assert report.verdict == "no fault found", str(report)
    assert report.tv_upper < 1
