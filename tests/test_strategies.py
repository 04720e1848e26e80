"""The generators make laws, and the coincidences they promise."""

import numpy as np
from hypothesis import find, given, settings
from strategies import float_pairs, pairs, problems

QUICK = settings(max_examples=2000, database=None)


@given(pairs(), float_pairs())
def test_pairs_are_laws(exact, rounded):
    p, q = exact
    assert sum(p) == sum(q) == 1
    assert min(p + q) >= 0
    assert len(p) == len(q) <= 6
    p, q = rounded
    np.testing.assert_allclose([p.sum(), q.sum()], 1, rtol=1e-15, atol=0)


@given(problems(max_paths=250))
def test_problems_stay_small(problem):
    p, _, K = problem
    assert len(p) ** K <= 250


def test_every_kind_of_pair_occurs():
    find(pairs(), lambda s: s[0] == s[1] and len(s[0]) > 2 and 0 in s[0], settings=QUICK)
    find(pairs(), lambda s: len(s[0]) > 2 and not any(a and b for a, b in zip(*s, strict=True)), settings=QUICK)
    find(pairs(), lambda s: max(s[1]) == 1 and len(s[0]) > 1 and max(s[0]) < 1, settings=QUICK)
    find(pairs(), lambda s: s[0] != s[1] and len({a / b for a, b in zip(*s, strict=True) if b}) == 2, settings=QUICK)
    find(problems(), lambda s: len(s[0]) == 1 and s[2] == 4, settings=QUICK)
