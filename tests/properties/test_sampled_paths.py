"""`estimated_law`: right within the standard errors that it reports, and these are right themselves."""

import numpy as np
import pytest
from rules import VARIANTS, label

import resispec_ref as rs

PATH_DEPENDENT = [rule for rule in VARIANTS if rule.path_dependent]
FIELDS = ("law", "acceptance_rate", "acceptance_per_candidate")


def pair(vocab=8):
    rng = np.random.default_rng(7)
    return rng.dirichlet(np.full(vocab, 0.6)), rng.dirichlet(np.full(vocab, 0.6))


def error(found, field):
    return np.asarray(getattr(found, f"{field}_error"))


@pytest.mark.parametrize("rule", PATH_DEPENDENT, ids=label)
def test_means_are_within_their_standard_errors(rule, effort):
    """Off by more than 6 standard errors of 4,000 paths: 2e-9 a number by the normal law, some 100 numbers."""
    p, q = pair()
    exact = rs.emitted_law(rule, p, q, candidates=3)
    found = rs.estimated_law(rule, p, q, candidates=3, paths=4000 * effort, rng=np.random.default_rng(1))
    for field in FIELDS:
        off = np.abs(getattr(found, field) - getattr(exact, field))
        assert np.all(off <= 6 * error(found, field) + 1e-12), field
    assert found.total_variation == pytest.approx(exact.total_variation, abs=4 * found.total_variation_noise + 1e-12)


@pytest.mark.parametrize("rule", PATH_DEPENDENT, ids=label)
def test_standard_errors_are_the_spread_of_the_means(rule, effort):
    """The spread over 200 repetitions has a relative error of 5%; a factor of 1.4 away is eight of these."""
    p, q = pair(vocab=5)
    rng, n = np.random.default_rng(3), 200 * effort
    found = [rs.estimated_law(rule, p, q, candidates=2, paths=100, rng=rng) for _ in range(n)]
    for field in FIELDS:
        spread = np.std([getattr(f, field) for f in found], axis=0, ddof=1)
        reported = np.mean([error(f, field) for f in found], axis=0)
        seen = reported > 1e-3
        ratio = spread[seen] / reported[seen]
        assert np.all((ratio > 1 / 1.4) & (ratio < 1.4)), (field, ratio)
    if rule.exact:  # then the mean law differs from the target by noise alone
        noise = np.mean([f.total_variation_noise for f in found])
        assert np.mean([f.total_variation for f in found]) <= 1.1 * noise + 1e-15


@pytest.mark.parametrize("rule", [rule for rule in VARIANTS if not rule.path_dependent], ids=label)
def test_rules_that_do_not_look_at_rejected_tokens_have_no_error(rule):
    p, q = pair()
    exact = rs.emitted_law(rule, p, q, candidates=3)
    found = rs.estimated_law(rule, p, q, candidates=3, paths=2, rng=np.random.default_rng(1))
    for field in FIELDS:
        np.testing.assert_allclose(getattr(found, field), getattr(exact, field), rtol=0, atol=1e-13)
        np.testing.assert_allclose(error(found, field), 0, rtol=0, atol=1e-13)


def test_batches_and_vocabularies_too_large_to_enumerate():
    rng = np.random.default_rng(5)
    p, q = rng.dirichlet(np.ones(500), 2), rng.dirichlet(np.ones(500), 2)
    name = "recursive-rejection-without-replacement"
    with pytest.raises(ValueError, match=r"500\^4 rejected paths.*use estimated_law"):
        rs.emitted_law(name, p, q, candidates=4)
    found = rs.estimated_law(name, p, q, candidates=4, paths=20, rng=rng)
    assert found.law.shape == (2, 500)
    assert found.acceptance_per_candidate.shape == (2, 4)
    assert found.acceptance_rate.shape == found.total_variation_noise.shape == (2,)
    np.testing.assert_allclose(found.law.sum(axis=-1), 1, rtol=0, atol=1e-12)


def test_without_candidates_nothing_is_sampled():
    p, q = pair()
    found = rs.estimated_law("naive", p, q, candidates=0, paths=2, rng=np.random.default_rng(0))
    np.testing.assert_allclose(found.law, p, rtol=0, atol=1e-16)
    assert found.acceptance_rate == found.acceptance_rate_error == 0
