"""Rejected paths of probability 0 are skipped for one exact pair; nobody sees it in the law."""

from fractions import Fraction as F

import numpy as np
import pytest
from rules import VARIANTS, label

import resispec_ref as rs

PATH_DEPENDENT = [rule for rule in VARIANTS if rule.path_dependent]
HOLES = [
    ([F(1, 3), F(1, 3), F(1, 3)], [F(1, 2), F(1, 2), F(0)]),
    ([F(1, 2), F(0), F(1, 2), F(0)], [F(0), F(1, 4), F(3, 4), F(0)]),
    ([F(1), F(0), F(0)], [F(0), F(0), F(1)]),
    ([F(1, 4), F(3, 4)], [F(1, 4), F(3, 4)]),
]


@pytest.mark.parametrize("rule", PATH_DEPENDENT, ids=label)
@pytest.mark.parametrize("pair", HOLES, ids=str)
def test_one_exact_pair_has_the_law_of_the_same_pair_in_a_batch(rule, pair):
    """A batch enumerates every path, whatever its probability: the route that does not skip."""
    target, draft = (np.array(x, dtype=object) for x in pair)
    alone = rs.emitted_law(rule, target, draft, candidates=2)
    batch = rs.emitted_law(rule, target[None], draft[None], candidates=2)
    for field in ("law", "acceptance_rate", "acceptance_per_candidate", "total_variation"):
        assert np.all(np.asarray(getattr(alone, field)) == np.asarray(getattr(batch, field))[0]), field
