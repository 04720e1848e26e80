"""The deterministic checks: each is shown an implementation that it must report, and one that it must not."""

import itertools

import numpy as np
from mutants import positions, sound
from mutants.tools import accepts, pick, residual

from resispec_ref.oracle import PositionCase, audit, fraction_case, position_cases
from resispec_ref.oracle.cases.tables import near_uniform_chain

CASES = [*position_cases([1], real_rows=0)[:3], fraction_case(["1/2", "1/2"], ["1/4", "3/4"], 1)]
QUICK = {"kind": "verifier", "cases": CASES, "draws": 500, "budget": 600.0, "search": False, "resolution": 0.05}


def verify(target, draft, candidates, u, strict=True, fallback=None):
    """Recursive rejection of a batch, from uniforms; `strict` is how the acceptance test compares."""
    token = np.empty(len(target), dtype=int)
    for i, (p, q, row, v) in enumerate(zip(target, draft, candidates, u, strict=True)):
        token[i] = -1
        for j, x in enumerate(row):
            if v[j] * q[x] < p[x] or (not strict and v[j] * q[x] <= p[x]):
                token[i] = x
                break
            r = np.maximum(p - q, 0)
            if r.sum() == 0 and fallback is not None:
                p = fallback(p)
            elif r.sum() > 0:
                p = r / r.sum()
        if token[i] < 0:
            token[i] = pick(p, v[-1])
    return token


def findings(function, **options):
    report = audit(function, **(QUICK | options))
    return report, {(f.check, f.level) for f in report.findings}


def test_a_sound_batch_with_a_generator_answers_the_same_twice():
    report, found = findings(sound.batched, seed=3)
    assert report.verdict == "no fault found", str(report)
    assert not found


def test_one_row_of_a_batch_that_is_treated_otherwise():
    """Large batches hide it, small ones do not."""
    report, found = findings(positions.last_row_of_a_batch, draws=100_000, candidates=1, cases=None)
    assert ("rows of a batch", "fault") in found, str(report)


def test_a_wrong_index_ends_the_draws():
    def verify(target, draft, candidates, rng):
        token = rng.choice(len(target), p=target)
        return token, 0

    report, found = findings(verify, draws=1_000_000)
    assert ("accepted index", "fault") in found
    assert report.draws < 10_000


def test_dependence_that_proves_the_fault_is_named():
    """Each law is right, but a residual draw tells what the next one will be; seen by pairs of draws alone."""
    waiting = []

    def verify(target, draft, candidates, rng):
        for x in candidates:
            if accepts(target, draft, x, rng):
                return x
            target = residual(target, draft)
        if waiting:
            return pick(target, waiting.pop())
        u = rng.random()
        waiting.append(1 - u - 2**-53)
        return pick(target, u)

    report, found = findings(verify, draws=1_000_000, cases=None, checks=False, seed=0)
    assert report.verdict == "fault found"
    assert ("independent draws", "fault") in found, str(report)


def test_a_sound_verifier_passes_all():
    report, found = findings(verify, noise="uniform:K+1")
    assert not found, str(report)
    assert report.verdict == "no fault found"


def test_written_inputs_are_a_fault():
    def overwrites(target, draft, candidates, rng):
        for x in candidates:
            if accepts(target, draft, x, rng):
                return x
            target[:] = residual(target, draft)
        return pick(target, rng.random())

    report, found = findings(overwrites)
    assert ("inputs unchanged", "fault") in found
    assert report.verdict == "fault found"


def test_noise_of_its_own_is_a_fault():
    own = np.random.default_rng(3)
    _, found = findings(lambda p, q, x, u: verify(p, q, x, own.random(u.shape)), noise="uniform:K+1")
    assert ("same noise, same answer", "fault") in found


def test_a_generator_of_its_own_is_noted():
    own = np.random.default_rng(3)
    report, found = findings(lambda p, q, x, rng: pick(p, own.random()))
    assert ("same noise, same answer", "note") in found
    assert report.verdict == "no fault found"


def test_rows_that_depend_on_their_neighbours_are_a_fault():
    _, found = findings(lambda p, q, x, u: verify(p, q, x, np.roll(u, 1, axis=0)), noise="uniform:K+1")
    assert ("row alone or among others", "fault") in found


def test_a_test_that_accepts_at_zero_is_noted():
    report, found = findings(lambda p, q, x, u: verify(p, q, x, u, strict=False), noise="uniform:K+1")
    assert ("edges of the uniform", "note") in found
    assert "probability 0" in str(report)
    assert report.verdict == "no fault found"  # of measure 2⁻⁵³


def test_an_exception_at_an_edge_is_noted():
    def refuses_zero(p, q, x, u):
        if (u == 0).any():
            raise FloatingPointError("log of 0")
        return verify(p, q, x, u)

    _, found = findings(refuses_zero, noise="uniform:K+1")
    assert ("edges of the uniform", "note") in found


def test_a_uniform_draw_from_an_empty_residual_is_noted():
    def uniform(p):
        return np.full(len(p), 1 / len(p))

    _, found = findings(lambda p, q, x, u: verify(p, q, x, u, fallback=uniform), noise="uniform:K+1")
    assert ("forced zero residual", "note") in found


def test_a_fixed_token_or_an_exception_from_an_empty_residual_is_noted():
    def first_token(p):
        return np.eye(len(p))[0]

    def fails(p):
        raise ZeroDivisionError("empty residual")

    for fallback, words in ((first_token, "token 0 is emitted"), (fails, "empty residual")):
        report, found = findings(lambda p, q, x, u, f=fallback: verify(p, q, x, u, fallback=f), noise="uniform:K+1")
        assert ("forced zero residual", "note") in found
        assert words in str(report)


def test_an_index_that_is_not_the_token_s_is_a_fault():
    def wrong_index(target, draft, candidates, rng):
        return pick(target, rng.random()), 0

    report, found = findings(wrong_index)
    assert ("accepted index", "fault") in found
    assert "accepted index 0 of candidates" in str(report)


def test_a_right_index_is_none():
    def indexed(target, draft, candidates, rng):
        token = pick(target, rng.random())
        where = itertools.chain(np.flatnonzero(candidates == token), [len(candidates)])
        return token, next(where)

    report, found = findings(indexed)
    assert not found
    assert report.verdict == "no fault found"


def test_acceptance_above_the_bound_is_the_most_powerful_test():
    """Near-uniform laws and a ratio 1% too high: total variation 0.004, plain in the acceptance rate."""
    laws = near_uniform_chain(1)
    case = PositionCase("near-uniform", laws.target[0][0], laws.draft[0][0], 1)
    report = audit(positions.ratio_one_percent_high, kind="verifier", cases=[case], draws=200_000, search=False)
    assert report.verdict == "fault found"
    found, *_ = report.cases  # the others are batches of 3
    assert found.acceptance > found.acceptance_bound
    assert found.tests["acceptance"] > max(4, *(e for name, e in found.tests.items() if name != "acceptance"))
