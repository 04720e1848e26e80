"""Cases from practice for one position: faults met in inference engines, each with the right value and its reason."""

from fractions import Fraction as F

import numpy as np
import pytest

import resispec_ref as rs

BELOW_ONE = float(np.nextafter(1, 0))
FIXTURE = [F(1, 5), F(2, 5), F(2, 5)], [F(3, 5), F(3, 10), F(1, 10)]
SIBLINGS = [F(1, 5), F(1, 10), F(3, 10), F(2, 5)], [F(1, 2), F(3, 10), F(1, 10), F(1, 10)]
TOP_TWO = [F(1, 5), F(3, 10), F(1, 2), F(0)], [F(4, 7), F(3, 7), F(0), F(0)]
DISTINCT = "recursive-rejection-without-replacement"


@pytest.mark.parametrize(
    ("rule", "p", "q", "K", "rate"),
    [
        # tokens at different draft probabilities in the residual, which tells six wrong residuals apart
        ("recursive-rejection", *FIXTURE, 1, F(3, 5)),
        # a greedy draft is a one-hot law: accepted as often as the target has the token
        ("recursive-rejection", [F(3, 5), F(2, 5)], [F(1), F(0)], 1, F(3, 5)),
        ("recursive-rejection", [F(51, 100), F(49, 100)], [F(1), F(0)], 1, F(51, 100)),
        # candidates drawn from a top-2 draft are judged by the top-2 law: min(.2, 4/7) + min(.3, 3/7)
        ("recursive-rejection", *TOP_TWO, 1, F(1, 2)),
        # siblings: the same draft twice, or the draft renormalised after each rejection
        ("recursive-rejection", *SIBLINGS, 2, F(1, 2) + F(1, 2) * F(1, 5)),
        (DISTINCT, *SIBLINGS, 2, F(1, 2) + F(3, 10) * F(2, 5) + F(1, 5) * F(2, 7)),
        # the draft is exhausted after two rejections: stop, never 0/0
        (DISTINCT, [F(0), F(0), F(1)], [F(1, 2), F(1, 2), F(0)], 3, F(0)),
        # drawing from the target and comparing is slow where p = q, and not biased: Σ p²
        ("naive", [F(1, 2), F(3, 10), F(1, 5)], [F(1, 2), F(3, 10), F(1, 5)], 1, F(38, 100)),
    ],
)
def test_laws(rule, p, q, K, rate):
    found = rs.emitted_law(rule, p, q, candidates=K)
    assert (list(found.law), found.acceptance_rate) == (p, rate)


@pytest.mark.parametrize(
    ("rule", "p", "q", "tokens", "uniforms", "token", "index"),
    [
        # u = 0 does not accept a token that the target never emits: the comparison is strict
        ("recursive-rejection", [0, 1], [1, 0], [0], [0, 0], 1, 1),
        # .5 · .6 ≥ .2 rejects; the residual (0, 1/4, 3/4) takes a uniform of its own
        ("recursive-rejection", [0.2, 0.4, 0.4], [0.6, 0.3, 0.1], [0], [0.5, 0.1], 1, 1),
        ("recursive-rejection", [0.2, 0.4, 0.4], [0.6, 0.3, 0.1], [0], [0.5, 0.3], 2, 1),
        # p = q accepts for every uniform
        ("recursive-rejection", [0.3, 0.7], [0.3, 0.7], [1], [0, 0.5], 1, 0),
        ("recursive-rejection", [0.3, 0.7], [0.3, 0.7], [1], [BELOW_ONE, 0.5], 1, 0),
        ("resispec", [0.3, 0.7], [0.3, 0.7], [1, 0], [BELOW_ONE, BELOW_ONE, 0.5], 1, 0),
        # p a hair below q at the candidate: what is left of p − q decides, token 0 (the row sums to 1 − 1e-9)
        ("recursive-rejection", [0.3, 0.7 - 1e-9], [0.3, 0.7], [1], [1 - 1e-12, 0.9], 0, 1),
        # p below q by one rounding and nowhere above it: no residual is left, and the target itself is drawn from
        ("recursive-rejection", [0.0, 0.3, 0.7], [0.0, 0.3, np.nextafter(0.7, 1)], [2], [BELOW_ONE, 0.2], 1, 1),
        ("recursive-rejection", [0.0, 0.3, 0.7], [0.0, 0.3, np.nextafter(0.7, 1)], [2], [BELOW_ONE, 0.0], 1, 1),
        # the draft is exhausted: the third place stays empty, and the residual is drawn from
        (DISTINCT, [0, 0, 1], [0.5, 0.5, 0], [1, 0, -1], [0, 0, 0, 0.9], 2, 3),
        # -1 is an empty place, not the last token, which the target would accept here
        ("recursive-rejection", [0.5, 0.5], [0.5, 0.5], [-1], [0, 0.25], 0, 1),
        ("naive", [0.25, 0.25, 0.5], [0.5, 0.5, 0], [-1, -1], [0, 0, 0.75], 2, 2),
        # no candidates at all: one token, from the target
        ("resispec", [0.25, 0.25, 0.5], [0.5, 0.5, 0], [], [0.49], 1, 0),
        # a constant uniform 0 accepts whatever the target can emit, also where the bound Σ min(p, q) is .2
        ("recursive-rejection", [0.1, 0.9], [0.9, 0.1], [0], [0, 0], 0, 0),
    ],
)
def test_verifications(rule, p, q, tokens, uniforms, token, index):
    found = rs.verify(rule, p, q, tokens, uniforms)
    assert (int(found.token), int(found.accepted_index)) == (token, index)


FLOAT32_ROW = np.array([0.5, 0.25, 0.25 - 2.0**-24, 0], dtype=np.float32)


@pytest.mark.parametrize(
    ("mass", "uniform", "token"),
    [
        ([0, 0.5, 0.5], 0.0, 1),  # the first token has no mass
        ([0.5, 0.5], 0.5, 1),  # a running sum equal to the uniform is not above it
        ([0.33, 0.34, 0, 0.33], np.nextafter(0.67, 0), 1),
        ([0.33, 0.34, 0, 0.33], np.nextafter(0.67, 1), 3),
        (FLOAT32_ROW.astype(float), 1 - 2.0**-24, 2),  # the last token with mass, where the row falls short of 1
        (FLOAT32_ROW.astype(float), BELOW_ONE, 2),
        ([1, 0, 0], BELOW_ONE, 0),
        ([0.1] * 10, BELOW_ONE, 9),
        ([0.1, 0.2, 0.3, 0, 0.4], 0.6, 4),  # rounded running sums need not rise: still not the token without mass
    ],
)
def test_draws(mass, uniform, token):
    assert int(rs.draw(np.array(mass, dtype=float), np.array([uniform]))) == token


def test_a_token_without_mass_is_never_drawn():
    row = np.array([0.33, 0.34, 0, 0.33])
    near = [0.67]
    for _ in range(8):
        near = [np.nextafter(near[0], 0), *near, np.nextafter(near[-1], 1)]
    assert set(np.asarray(rs.draw(row, np.array(near)[:, None])).tolist()) == {1, 3}


def test_every_one_of_many_equal_tokens_is_reachable():
    """A running sum in low precision stalls long before token 131,071."""
    vocab = 131_072
    tokens = np.unique(np.geomspace(1, vocab, 40).astype(int) - 1)
    u = (tokens + 0.5) / vocab
    assert rs.draw(np.full(vocab, 1 / vocab), u[:, None]).tolist() == tokens.tolist()


def test_one_hot_siblings_accept_alike_in_either_order():
    """Zero the rejected token and renormalise: siblings 0 and 1 of (.5, .3, .2) accept .8, and the law stays."""
    p = [F(1, 2), F(3, 10), F(1, 5)]
    for order in (0, 1), (1, 0):
        P, reached, law = np.array(p), F(1), np.array([F(0)] * 3)
        for x in order:
            q = [F(int(y == x)) for y in range(3)]
            m = P - rs.standard_residual(P, q)
            assert m[x] == P[x]
            law, P, reached = law + reached * m, (P - m) / (1 - sum(m)), reached * (1 - sum(m))
        assert sum(law) == F(4, 5)
        assert list(law + reached * P) == p


@pytest.mark.parametrize(
    ("settings", "law"),
    [
        ({"temperature": 0.5}, [0.8668, 0.1173, 0.0159]),  # on target and draft alike
        ({"temperature": 1}, [0.6652, 0.2447, 0.0900]),  # left at 1 on the target: another law
        ({"temperature": 0}, [1, 0, 0]),
    ],
)
def test_settings_of_the_target(settings, law):
    p = rs.law_from_logits([2.0, 1.0, 0.0], **settings)
    np.testing.assert_allclose(p, law, rtol=0, atol=5e-5)
    q = rs.law_from_logits([1.0, 2.0, 0.0], **settings)
    np.testing.assert_allclose(rs.emitted_law("recursive-rejection", p, q, candidates=1).law, p, rtol=0, atol=1e-15)


def test_min_p_cuts_every_row():
    found = rs.law_from_logits(np.log([[0.6, 0.3, 0.1]] * 3), min_p=0.4)
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3, 0]] * 3, rtol=1e-15)


def test_a_residual_is_a_difference():
    """`p − q` of neighbours in float32 is exact; `p (1 − q/p)` keeps a handful of its digits."""
    a = np.float32(0.3)
    b = np.nextafter(a, np.float32(0))
    p, q = (np.array([v, 1 - np.float64(v)]) for v in (a, b))
    assert rs.standard_residual(p, q).tolist() == [float(a) - float(b), 0.0]


def test_masked_logits_have_no_mass_at_any_setting():
    logits = np.array([1.0, -np.inf, 0.0, -np.inf])
    for settings in {}, {"temperature": 0}, {"top_k": 3}, {"top_p": 0.99}, {"min_p": 0.0}, {"temperature": 1e-300}:
        law = rs.law_from_logits(logits, **settings)
        assert np.all(law[[1, 3]] == 0), settings
        assert law.sum() == pytest.approx(1, abs=1e-15), settings
