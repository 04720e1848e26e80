"""`verify` on given uniforms runs the rule whose law `emitted_law` gives.

Exactly, for sequential rules: on every tuple of candidates, each decision is probed at its threshold and just below
it, and the residual draw at every step of its cumulative sum. As each decision is monotone in its uniform, this fixes
the probability of every outcome. By sampling, for every rule of the registry.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import routes
from hypothesis import given
from rules import VARIANTS, exact, label
from strategies import one_in, problems

import resispec_ref as rs
from resispec_ref.verifiers.independent.k_seq import least_rho

TINY = Fraction(1, 10**30)
NAMES = [
    "naive",
    "recursive-rejection",
    "recursive-rejection-without-replacement",
    "k-seq",
    "resispec",
    "resispec-published",
]


def probes(step, p, following, K):
    """`(tokens, uniforms, token, accepted index)`: every decision on every tuple, at both sides of its edges."""
    for xs, _ in routes.candidate_tuples(following, K):
        absent, P, rejecting = [-1] * (K - len(xs)), p, []
        padded = [*xs, *absent]
        for i, x in enumerate(xs):
            a, R = step(i, P, following(xs[:i]), x)
            later = [Fraction(1, 2)] * (K - i)
            for u in {Fraction(0), a - TINY} if a > 0 else ():
                yield padded, [*rejecting, u, *later], x, i
            if a == 1:
                break
            rejecting, P = [*rejecting, a], R
        else:
            rejecting += [Fraction(0)] * len(absent)
            ends = list(itertools.accumulate(P))
            for y, mass in enumerate(P):
                for u in (ends[y] - mass, ends[y] - TINY) if mass else ():
                    yield padded, [*rejecting, u], y, K


@pytest.mark.parametrize("name", NAMES)
@one_in(2)
@given(problem=problems(max_paths=27, max_candidates=3))
def test_every_decision_at_its_edges(name, problem):
    p, q, K = problem
    rho = least_rho(exact(p), exact(q), K)[0] if name == "k-seq" else None
    rows = list(probes(*with_target(routes.sequential(name, p, q, K, rho), p), K))
    tokens, uniforms, token, index = (list(column) for column in zip(*rows, strict=True))
    found = rs.verify(name, p, q, np.array(tokens, dtype=int).reshape(len(rows), K), uniforms)
    assert list(found.token) == token
    assert list(found.accepted_index) == index


def with_target(rule, p):
    step, following = rule
    return step, p, following


PAIRS = {
    "the-fixture": ([0.2, 0.4, 0.4], [0.6, 0.3, 0.1]),
    "zeros-and-skew": ([0.05, 0.0, 0.35, 0.2, 0.4], [0.5, 0.2, 0.0, 0.25, 0.05]),
    "two-draft-tokens": ([0.25, 0.25, 0.25, 0.25], [0.6, 0.4, 0.0, 0.0]),
}
DRAWS, FALSE_ALARM = 100_000, 1e-9


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("rule", VARIANTS, ids=label)
def test_sampled_outcomes_have_the_law(rule, pair, effort):
    """Every probability within Hoeffding's distance of its frequency.

    A correct rule fails with probability at most `1e-9` a number compared, some 500 numbers in all. A probability that
    is off by more than twice the distance, 0.021 under `dev`, is found with probability `1 − 1e-9`.
    """
    p, q = map(np.array, PAIRS[pair])
    K, n, rng = 3, DRAWS * effort, np.random.default_rng(2024)
    found = rs.verify(rule, p, q, drawn(rule, q, (n, K), rng), rng.random((n, rs.uniforms_needed(rule, K))))
    law = rs.emitted_law(rule, p, q, candidates=K)
    distance = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * n))
    for values, chances in (found.token, law.law), (found.accepted_index, law.acceptance_per_candidate):
        seen = np.bincount(values, minlength=len(chances) + (values is found.accepted_index)) / n
        np.testing.assert_allclose(seen[: len(chances)], chances, rtol=0, atol=distance)


def drawn(rule, q, shape, rng):
    """Candidates as the rule's draft draws them; without replacement as the first rings of clocks of rates `q`."""
    if (laws := rule.candidate_laws(q, shape[1])) is not None:
        return np.stack(
            [rng.choice(len(q), size=shape[0], p=law) if law.any() else np.full(shape[0], -1) for law in laws], axis=-1
        )
    if rule.replacement:
        return rng.choice(len(q), size=shape, p=q)
    with np.errstate(divide="ignore"):
        rings = rng.exponential(size=(shape[0], len(q))) / q
    order = np.argsort(rings, axis=-1)[:, : shape[1]]
    order = np.pad(order, ((0, 0), (0, shape[1] - order.shape[1])), constant_values=-1)
    present = min(np.count_nonzero(q), shape[1])
    order[:, present:] = -1  # the draft is exhausted
    if not rule.sequential:  # it does not see the order of its candidates, and its rates are for a random one
        order[:, :present] = rng.permuted(order[:, :present], axis=-1)
    return order
