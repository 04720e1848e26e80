"""What is done with good input: taken as it is, never written to, and answered alike wherever it stands."""

from fractions import Fraction as F

import numpy as np
import pytest
from backends import make_backend, read_only
from hypothesis import given
from hypothesis import strategies as st
from rules import VARIANTS, candidates_for, label
from strategies import float_pairs, uniforms

import resispec_ref as rs

NAN, INF = float("nan"), float("inf")
P, Q = [0.2, 0.4, 0.4], [0.6, 0.3, 0.1]


def test_rows_that_are_not_laws_can_be_set_aside():
    rows = [[NAN, NAN, NAN], [0.2, 0.8, 0], [0.5, 0.4, 0], [1.5, -0.5, 0], [INF, 0, 0], [1, 0, 0]]
    assert rs.valid_rows(rows).tolist() == [False, True, False, False, False, True]
    assert rs.valid_rows([[F(1, 2), F(1, 2)], [F(1, 2), F(1, 3)]]).tolist() == [True, False]


def test_float32_rows_are_renormalised_in_float64():
    """A softmax summed in float32 is off by more than 1e-8, which is rounding; half a percent is not."""
    logits = np.random.default_rng(0).normal(size=(20, 50_000)).astype(np.float32)
    rows = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    assert np.max(np.abs(rows.astype(float).sum(axis=-1) - 1)) > 1e-8
    for converted in rows, rows.astype(float):
        law = rs.check_law(converted)
        assert law.dtype == np.float64
        np.testing.assert_allclose(law.sum(axis=-1), 1, rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match="is the sum of the row"):
        rs.check_law(rows * np.float32(1.005))


@pytest.mark.parametrize("name", rs.verifier_names())
def test_inputs_are_not_written_to_and_the_same_call_gives_the_same_answer(name):
    rng = np.random.default_rng(0)
    given = [
        np.array([P, [0.1, 0.2, 0.7]]),
        np.array([Q, [0.3, 0.3, 0.4]]),
        candidates_for(rs.get_verifier(name), np.array([Q, [0.3, 0.3, 0.4]]), np.array([[0, 1], [2, 0]])),
        rng.random((2, rs.uniforms_needed(name, 2))),
    ]
    p, q, x, u = (read_only(a) for a in given)
    lists = [[F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)]]
    for call in (
        lambda: rs.emitted_law(name, p, q, candidates=2),
        lambda: rs.verify(name, p, q, x, u),
        lambda: rs.emitted_law(name, *lists, candidates=2),
    ):
        first, second = call(), call()
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(given, (p, q, x, u), strict=True))
    assert lists == [[F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)]]


def test_answers_do_not_share_memory_with_inputs():
    p, q = np.array(P), np.array(Q)
    for answer in (
        rs.check_law(p),
        rs.emitted_law("recursive-rejection", p, q, candidates=0).law,
        rs.schedule(p, q, candidates=2).residuals,
        rs.shaped_residual(p, q, 9),
        rs.published_proxy(p, q, 0),
    ):
        assert not np.shares_memory(answer, p)
        assert not np.shares_memory(answer, q)


def random_positions(rule, n, vocab, K, seed=11):
    """Laws with zeros and ties, candidates that the draft can give, and uniforms, many of them on an edge.

    Masses are multiples of 1/16 and uniforms of 1/64 or next to them, so that acceptance thresholds and running sums
    are met exactly.
    """
    rng = np.random.default_rng(seed)
    p, q = (rng.multinomial(16, np.full(vocab, 1 / vocab), size=n) / 16 for _ in range(2))
    order = np.argsort(np.where(q > 0, rng.random(q.shape), 2), axis=-1)  # tokens of the draft first
    count = np.count_nonzero(q, axis=-1)[:, None]
    x = np.take_along_axis(order, np.arange(K) % count, axis=-1)
    if not rule.replacement:
        x = np.where(np.arange(K) < count, x, -1)
    x = candidates_for(rule, q, x)
    u = rng.integers(0, 64, size=(n, rs.uniforms_needed(rule, K))) / 64
    beside = np.nextafter(u, rng.integers(0, 2, size=u.shape))
    return p, q, x, np.where(rng.random(u.shape) < 0.5, u, np.abs(beside))


@pytest.mark.parametrize("rule", VARIANTS, ids=label)
def test_a_row_is_answered_alike_wherever_it_stands(rule):
    rows = random_positions(rule, 20, 5, 3)
    whole = rs.verify(rule, *rows)
    for i in range(len(rows[0])):
        alone = rs.verify(rule, *(a[i] for a in rows))
        fourth = rs.verify(rule, *(np.stack([*a[:3], a[i], *a[-2:]]) for a in rows))
        assert (alone.token, alone.accepted_index) == (whole.token[i], whole.accepted_index[i])
        assert (fourth.token[3], fourth.accepted_index[3]) == (whole.token[i], whole.accepted_index[i])


@pytest.mark.parametrize("library", ["array-api-strict", "jax", "torch"])
@pytest.mark.parametrize("rule", VARIANTS, ids=label)
def test_every_library_gives_the_same_token(rule, library, effort):
    xp, rows = make_backend(library), random_positions(rule, 700 * effort, 6, 2)
    wanted, found = rs.verify(rule, *rows), rs.verify(rule, *map(xp.asarray, rows))
    np.testing.assert_array_equal(xp.numpy(found.token), wanted.token)
    np.testing.assert_array_equal(xp.numpy(found.accepted_index), wanted.accepted_index)


@given(pair=float_pairs(), u=uniforms(3), data=st.data())
def test_what_is_emitted_can_be_emitted(pair, u, data):
    """At every uniform, ends included: a token of the vocabulary that the target has, or rounding left room for."""
    p, q = pair
    x = data.draw(st.lists(st.sampled_from(np.flatnonzero(q).tolist()), min_size=2, max_size=2))
    for name in ("naive", "recursive-rejection", "k-seq", "resispec"):
        found = rs.verify(name, p, q, x, u)
        assert 0 <= found.token < len(p)
        assert p[found.token] > 0
        assert found.accepted_index == 2 or found.token == x[found.accepted_index]


ROWS_P, ROWS_Q = [[0.2, 0.4, 0.4]] * 3, [[0.6, 0.3, 0.1]] * 3


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("uniforms", lambda: rs.verify("recursive-rejection", ROWS_P, ROWS_Q, [[0]] * 3, [[0.5, 0.5]])),
        ("uniforms", lambda: rs.verify("recursive-rejection", ROWS_P, ROWS_Q, [[0]] * 3, [0.5, 0.5])),
        ("tokens", lambda: rs.verify("recursive-rejection", ROWS_P, ROWS_Q, [[0]], [[0.5, 0.5]] * 3)),
        ("tokens", lambda: rs.verify("resispec", ROWS_P[0], ROWS_Q[0], [0], [[0.5, 0.5]] * 3)),
        ("tokens", lambda: rs.verify("optimal", ROWS_P, ROWS_Q[0], [0, 1], [[0.5, 0.5, 0.1, 0.2]] * 3)),
        ("tokens", lambda: rs.verify("resispec", ROWS_P[0], rs.PerCandidate([[ROWS_Q[0]]] * 3), [0], [[0.5, 0.5]])),
        ("uniforms", lambda: rs.draw(ROWS_P, [0.5])),
        ("uniforms", lambda: rs.draw(ROWS_P, [[0.5]])),
        ("uniforms", lambda: rs.accepts(ROWS_Q, ROWS_Q, [0, 0, 0], 0.5)),
        ("tokens", lambda: rs.accepts(ROWS_Q, ROWS_Q, 0, [0.5, 0.5, 0.5])),
        ("token", lambda: rs.accepts(ROWS_Q[0], ROWS_Q[0], 0, [0.5, 0.5, 0.5])),
    ],
)
def test_one_row_of_noise_is_not_spread_over_a_batch(what, call):
    """Shared noise makes positions depend on each other, which no marginal law shows."""
    with pytest.raises(ValueError, match=rf"^{what}: shape .* beside positions of shape \(3,\).* give shape \(3, "):
        call()


def test_laws_are_spread_over_rows_of_noise():
    tokens, uniforms = [[0], [0], [0]], [[0.5, 0.1], [0.1, 0.5], [0.9, 0.9]]
    alone = rs.verify("recursive-rejection", ROWS_P, ROWS_Q, tokens, uniforms)
    assert (
        rs.verify("recursive-rejection", ROWS_P[0], ROWS_Q[0], tokens, uniforms).token.tolist() == alone.token.tolist()
    )
    assert rs.draw(ROWS_P[0], [[0.1], [0.3], [0.9]]).tolist() == [0, 1, 2]
