"""The golden file: exact values of every rule on fixed pairs, `==` in rationals and to 1e-12 in floats.

`RESISPEC_GOLDEN` may name a second file of the same format.
"""

import json
import os
from collections import Counter
from fractions import Fraction
from pathlib import Path

import gmpy2
import numpy as np
import pytest
from backends import make_backend
from routes import shaped_residuals
from rules import exact

import resispec_ref as rs

FILES = [Path(__file__).parents[1] / "data" / "golden_rules.json"]
if "RESISPEC_GOLDEN" in os.environ:
    FILES.append(Path(os.environ["RESISPEC_GOLDEN"]))
CASES = [case for file in FILES for case in json.loads(file.read_text())["cases"]]
BATCH = max(Counter(case["candidates"] for case in CASES).values())
VOCAB = max(len(case["target"]) for case in CASES)
TINY = Fraction(1, 2**60)


def fractions(x):
    return [fractions(v) for v in x] if isinstance(x, list) else Fraction(x)


def padded(rates, K):
    """A list of rates may stop where the residual is exhausted: later candidates are accepted with probability 0."""
    return fractions(rates) + [Fraction(0)] * (K - len(rates))


def is_root(p, q, K, W):
    return sum(map(sum, shaped_residuals(p, q, K, W)[:K])) == W


def is_unique(p, q, K, W):
    return not any(is_root(p, q, K, V) for V in (W - TINY, W + TINY) if V >= 1)


def expected_rates(case):
    """`(rule, acceptance rate)` of every rule that a case speaks of."""
    yield rs.get_verifier("recursive-rejection"), case["recursive_rejection"]["acceptance_rate"]
    yield rs.get_verifier("resispec"), case["resispec"]["acceptance_rate"]
    if "recursive_rejection_without_replacement" in case:
        rate = case["recursive_rejection_without_replacement"]["acceptance_rate"]
        yield rs.get_verifier("recursive-rejection-without-replacement"), rate
    for spread, found in case.get("resispec_published", {}).items():
        yield rs.get_verifier("resispec-published", spread=spread), found["acceptance_rate"]


@pytest.mark.parametrize("number", [Fraction, gmpy2.mpq])
@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_rationals(case, number):
    p, q = ([number(v) for v in case[name]] for name in ("target", "draft"))
    K = case["candidates"]
    for rule, rate in expected_rates(case):
        found = rs.emitted_law(rule, p, q, candidates=K)
        assert found.acceptance_rate == number(rate), rule
        assert {type(v) for v in found.law} == {number}
        if rule.exact:
            assert list(found.law) == p
        if rule.name == "recursive-rejection":
            rates = padded(case["recursive_rejection"]["acceptance_per_candidate"], K)
            assert list(found.acceptance_per_candidate) == rates
        if rule.name == "resispec-published":
            expected = case["resispec_published"][rule.spread]
            assert list(found.law) == fractions(expected["law"])
            assert found.total_variation == Fraction(expected["total_variation"])
    assert rs.optimal_acceptance(p, q, candidates=K) == Fraction(case["optimal_acceptance"])


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_schedule_in_rationals(case):
    p, q, K = fractions(case["target"]), fractions(case["draft"]), case["candidates"]
    found, W = rs.schedule(p, q, candidates=K), Fraction(case["resispec"]["W"])
    assert is_root(p, q, K, found.W)
    assert is_root(p, q, K, W)
    if is_unique(p, q, K, W):
        assert found.W == W
        assert list(found.weights) == fractions(case["resispec"]["weights"])
        assert [list(u) for u in found.residuals] == fractions(case["resispec"]["unnormalised_residuals"])
    else:  # the least root: nothing just below it is one
        assert W >= found.W
        assert found.W == 1 or not is_root(p, q, K, found.W - TINY)


@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("K", sorted({case["candidates"] for case in CASES}))
def test_floats(library, K):
    """All cases of `K` candidates at once, in arrays of one shape for all `K`, which spares JAX compilations.

    Tokens without mass fill up the vocabulary, and the last case is repeated to fill up the batch.
    """
    xp, cases = make_backend(library), [case for case in CASES if case["candidates"] == K]
    cases += cases[-1:] * (BATCH - len(cases))
    expected = [dict(expected_rates(case)) for case in cases]

    def floats(rows):
        rows = [exact(fractions(row)) for row in rows]
        return np.array([[*row.astype(float), *[0.0] * (VOCAB - len(row))] for row in rows])

    def close(found, wanted):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)

    p, q = (xp.asarray(floats([case[name] for case in cases])) for name in ("target", "draft"))
    for rule in dict.fromkeys(rule for rates in expected for rule in rates):
        found = rs.EmittedLaw(*map(xp.numpy, rs.emitted_law(rule, p, q, candidates=K)))
        rows = [i for i, rates in enumerate(expected) if rule in rates]
        close(found.acceptance_rate[rows], [float(Fraction(expected[i][rule])) for i in rows])
        if rule.exact:
            close(found.law, xp.numpy(p))
            close(found.total_variation, 0)
        if rule.name == "recursive-rejection":
            rates = [padded(case["recursive_rejection"]["acceptance_per_candidate"], K) for case in cases]
            close(found.acceptance_per_candidate, np.array(rates, dtype=float))
        if rule.name == "resispec-published":
            close(found.law[rows], floats([cases[i]["resispec_published"][rule.spread]["law"] for i in rows]))
    bound = [float(Fraction(case["optimal_acceptance"])) for case in cases]
    close(xp.numpy(rs.optimal_acceptance(p, q, candidates=K)), bound)
    schedule = rs.Schedule(*map(xp.numpy, rs.schedule(p, q, candidates=K)))
    for i, case in enumerate(cases):
        W = Fraction(case["resispec"]["W"])
        if is_unique(fractions(case["target"]), fractions(case["draft"]), K, W):
            close(schedule.W[i], float(W))
            close(schedule.weights[i], [float(w) for w in fractions(case["resispec"]["weights"])])
            close(schedule.residuals[i], floats(case["resispec"]["unnormalised_residuals"]))
