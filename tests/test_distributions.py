"""Laws from logits as inference engines make them, against plain Python, and distances between laws."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from backends import BACKENDS, make_backend
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import pairs

import resispec_ref as rs


def plain_law(logits, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Softmax, top-k, top-p, min-p, renormalised after each cut; also how near to a cut the nearest decision was."""
    weights = [math.exp((x - max(logits)) / temperature) for x in logits]
    law, margin = [w / math.fsum(weights) for w in weights], 1.0
    if top_k is not None:
        law = renormalised([v if v >= sorted(law)[-min(top_k, len(law))] else 0.0 for v in law])
    if top_p is not None:
        kept, mass = set(), 0.0
        for x in sorted(range(len(law)), key=lambda x: (-law[x], x)):
            margin = min(margin, abs(mass - top_p))
            if mass >= top_p:
                break
            kept.add(x)
            mass += law[x]
        law = renormalised([v if x in kept else 0.0 for x, v in enumerate(law)])
    if min_p is not None:
        margin = min(margin, *(abs(v - min_p * max(law)) for v in law if v))
        law = renormalised([v if v >= min_p * max(law) else 0.0 for v in law])
    return law, margin


def renormalised(law):
    return [v / math.fsum(law) for v in law]


@given(
    logits=st.lists(st.integers(-6, 6).map(lambda n: n / 2), min_size=1, max_size=8),
    temperature=st.sampled_from((0.3, 1.0, 2.5)),
    top_k=st.none() | st.integers(1, 9),
    top_p=st.none() | st.floats(0.05, 1),
    min_p=st.none() | st.floats(0, 1),
)
def test_cuts_in_their_order(logits, temperature, top_k, top_p, min_p):
    """Away from decisions on the last digit, where two ways of rounding may differ."""
    wanted, margin = plain_law(logits, temperature, top_k, top_p, min_p)
    assume(margin > 1e-12)
    found = rs.law_from_logits(logits, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)
    assert (found == 0).tolist() == [v == 0 for v in wanted]


EIGHTHS = np.log([4.0, 2.0, 1.0, 1.0])  # the law (1/2, 1/4, 1/8, 1/8)


@pytest.mark.parametrize(
    ("settings", "law"),
    [
        ({}, [1 / 2, 1 / 4, 1 / 8, 1 / 8]),
        ({"top_k": 1}, [1, 0, 0, 0]),
        ({"top_k": 3}, [1 / 2, 1 / 4, 1 / 8, 1 / 8]),  # a tie with the last that is kept is kept
        ({"top_k": 99}, [1 / 2, 1 / 4, 1 / 8, 1 / 8]),
        ({"top_p": 0.4}, [1, 0, 0, 0]),  # the smallest set that reaches it
        ({"top_p": 0.6}, [2 / 3, 1 / 3, 0, 0]),
        ({"top_p": 0.8}, [4 / 7, 2 / 7, 1 / 7, 0]),  # of equal tokens the lower id first
        ({"top_p": 1.0}, [1 / 2, 1 / 4, 1 / 8, 1 / 8]),
        ({"top_p": 1e-9}, [1, 0, 0, 0]),  # never no token at all
        ({"min_p": 0.3}, [2 / 3, 1 / 3, 0, 0]),
        ({"min_p": 0.2}, [1 / 2, 1 / 4, 1 / 8, 1 / 8]),
        ({"min_p": 1.0}, [1, 0, 0, 0]),
        ({"top_k": 2, "top_p": 0.6}, [1, 0, 0, 0]),  # top-p of what top-k left: 2/3 reaches .6
        ({"top_p": 0.6, "min_p": 0.6}, [1, 0, 0, 0]),
        ({"temperature": 0.5}, [16 / 22, 4 / 22, 1 / 22, 1 / 22]),  # the temperature comes first
        ({"temperature": 0.5, "top_p": 0.7}, [1, 0, 0, 0]),
        ({"temperature": 0, "top_k": 3}, [1, 0, 0, 0]),
    ],
)
def test_settings(settings, law):
    np.testing.assert_allclose(rs.law_from_logits(EIGHTHS, **settings), law, rtol=1e-14)


def test_extremes_of_logits():
    assert rs.law_from_logits([1.0, 3.0, 3.0], temperature=0).tolist() == [0, 1, 0]  # the first maximum
    assert rs.law_from_logits([3e38, -3e38, 3e38]).tolist() == [0.5, 0, 0.5]
    assert rs.law_from_logits([0.0, 1.0], temperature=1e-300).tolist() == [0, 1]
    np.testing.assert_allclose(rs.law_from_logits([0.0, 5.0], temperature=1e300), [0.5, 0.5])
    assert rs.law_from_logits(np.array([-500.0, 0.0], dtype=np.float16)).dtype == np.float64


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(
    ("logits", "temperature", "weights"),
    [
        ([1.0, 0.0, -1e10], 1e-300, [1, 0, 0]),
        ([1e308, -1e308, 0.0], 1.0, [1, 0, 0]),
        ([1e308, -1e308, -math.inf], 1e308, [1, math.exp(-2), 0]),
        ([1.0, 1.0, 0.0], 2.3e-308, [1, 1, 0]),
        ([0.0, -700.0, -800.0], 1.0, [1, math.exp(-700), 0]),
    ],
)
def test_no_overflow_of_logits(name, logits, temperature, weights):
    """A warning is an error here, as in every test."""
    backend = make_backend(name)
    law = backend.run(lambda x: rs.law_from_logits(x, temperature=temperature), backend.asarray(logits))
    np.testing.assert_allclose(backend.numpy(law), np.array(weights) / sum(weights), rtol=1e-13)


def test_temperatures_that_jax_takes_for_0():
    with pytest.raises(ValueError, match="temperature: 5e-324 is below the least normal float; give 0"):
        rs.law_from_logits([1.0, 1.0, 0.0], temperature=5e-324)


@given(pair=pairs())
def test_distances(pair):
    p, q = pair
    tv = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert rs.total_variation(p, q) == rs.total_variation(q, p) == tv
    assert rs.overlap(p, q) == sum(min(a, b) for a, b in zip(p, q, strict=True)) == 1 - tv
    kl = float(rs.kl_divergence(*(np.array(law, dtype=float) for law in pair)))
    if any(a and not b for a, b in zip(p, q, strict=True)):
        assert kl == math.inf
    else:
        nats = sum(float(a) * math.log(a / b) for a, b in zip(p, q, strict=True) if a)
        assert kl == pytest.approx(nats, abs=1e-14)
        assert kl >= 2 * float(tv) ** 2 - 1e-14  # Pinsker


def test_laws_of_small_numbers_are_exact():
    assert rs.total_variation([1, 0], [0, 1]) == 1
    assert rs.total_variation([F(1, 3)] * 3, [F(1, 2), F(1, 2), 0]) == F(1, 3)


@given(
    weights=st.lists(st.integers(1, 1000), min_size=1, max_size=6),
    ratio=st.fractions(1, 50, max_denominator=100),
    data=st.data(),
)
def test_an_error_of_the_logits_moves_the_law_by_a_bounded_amount(weights, ratio, data):
    """`e^{z/T}` off by up to `r = e^{ε/T}`, either way: at most `(r - 1)/(r + 1) = tanh(ε/2T)`, in rationals."""
    factors = [data.draw(st.sampled_from((1 / ratio, F(1), ratio)) | st.fractions(1 / ratio, ratio)) for _ in weights]
    other = [w * f for w, f in zip(weights, factors, strict=True)]
    p, e = ([F(w) / sum(law) for w in law] for law in (weights, other))
    assert rs.total_variation(p, e) <= (ratio - 1) / (ratio + 1)


@given(ratio=st.fractions(1, 50, max_denominator=100))
def test_the_bound_on_an_error_of_the_logits_is_attained(ratio):
    p, other = [1 / (1 + ratio), ratio / (1 + ratio)], [ratio / (1 + ratio), 1 / (1 + ratio)]
    assert p[0] * ratio / (p[1] / ratio) == other[0] / other[1]  # the first weight up, the second down
    assert rs.total_variation(p, other) == (ratio - 1) / (ratio + 1)


@pytest.mark.parametrize("temperature", [0.1, 0.6, 1.0])
@pytest.mark.parametrize("error", [1e-6, 0.0625, 1.0])
def test_the_bound_on_an_error_of_the_logits_in_floats(temperature, error):
    """Random errors keep it, and the two tokens of odds `e^{-ε/T}` attain it, up to rounding."""
    rng = np.random.default_rng(0)
    z = 5 * rng.normal(size=(200, 30))
    moved = z + rng.choice([-error, error], size=z.shape)
    bound = math.tanh(error / (2 * temperature))
    p, e = (rs.law_from_logits(x, temperature=temperature) for x in (z, moved))
    assert np.max(rs.total_variation(p, e)) <= bound + 1e-14
    p, e = (rs.law_from_logits(x, temperature=temperature) for x in ([0.0, error], [error, 0.0]))
    assert rs.total_variation(p, e) == pytest.approx(bound, rel=1e-8)
