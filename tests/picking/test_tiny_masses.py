"""Draft masses next to the smallest float: no warning, no bias, nothing above the bound."""

import numpy as np
import pytest
from rules import VARIANTS, label

import resispec_ref as rs
from resispec_ref.bounds import optimal_acceptance_for

TINY = (5e-324, 1e-310, 1e-200)


def problems():
    """Targets and drafts as two batches."""
    rows = [([0.5, 0.5, 0.0], [1.0, a, 0.0]) for a in TINY]
    for a in TINY:
        for b in TINY:
            rows += [
                ([0.5, 0.25, 0.25], [1.0, a, b]),
                ([1.0, a, b], [0.5, 0.25, 0.25]),
                ([0.5, a, 0.5], [0.5, 0.5, b]),
                ([a, 0.5, 0.5], [b, 1.0, 0.0]),
            ]
    return map(np.array, zip(*rows, strict=True))


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("rule", VARIANTS, ids=label)
def test_every_rule(rule, K):
    """A warning is an error here, as in every test."""
    p, q = problems()
    found = rs.emitted_law(rule, p, q, candidates=K)
    np.testing.assert_allclose(np.sum(found.law, axis=-1), 1, rtol=0, atol=1e-14)
    if rule.exact:
        np.testing.assert_allclose(found.law, p, rtol=0, atol=1e-14)
        assert np.all(found.acceptance_rate <= optimal_acceptance_for(rule, p, q, candidates=K) + 1e-12)
