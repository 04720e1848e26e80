"""How often a sound verifier is called faulty: full audits, each with its own seed.

Run at a false-alarm rate of 5% so that a wrong calibration would show. 2,000 audits under `--hypothesis-profile
thorough` (66 under `dev`). More alarms than `limit` have probability below 1e-6 if the rate is 5%.
"""

import math

from mutants import sound
from scipy.stats import binom

from resispec_ref.oracle import audit, position_cases

RATE = 0.05


def test_false_alarm_rate_of_full_audits(effort):
    audits = 2_000 if effort >= 20 else 33 * effort
    cases = [case for case in position_cases([1, 2], real_rows=0) if case.vocab <= 5][:12]
    alarms, extreme = 0, 0
    for seed in range(audits):
        report = audit(
            sound.batched,
            kind="verifier",
            cases=cases,
            draws=1_000,
            batched=True,
            checks=False,
            search=False,
            false_alarm_rate=RATE,
            seed=seed,
        )
        alarms += report.verdict != "no fault found"
        extreme += report.log10_e >= 4
    limit = binom.ppf(1 - 1e-6, audits, RATE)
    print(f"{alarms} alarms in {audits} audits at a rate of {RATE}, {extreme} at 1e-4")
    assert alarms <= limit
    assert extreme <= binom.ppf(1 - 1e-6, audits, 1e-4)
    assert not math.isnan(report.log10_e)
