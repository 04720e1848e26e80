"""Bad input raises: a `ValueError` that names the argument, the row and the value, and says what to do."""

import math
from decimal import Decimal
from fractions import Fraction as F

import gmpy2
import numpy as np
import pytest
from backends import make_backend

import resispec_ref as rs

NAN, INF = math.nan, math.inf
P, Q = [0.2, 0.4, 0.4], [0.6, 0.3, 0.1]


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ([0.5, -0.25, 0.75], "law, row 0, entry 1: -0.25 is negative"),
        ([[0.2, 0.8], [NAN, 0.5]], "law, row 1, entry 0: nan is not a probability"),
        ([[NAN, NAN, NAN], [0.2, 0.8, 0]], "law, row 0, entry 0: nan is not"),
        ([INF, 0.0], "law, row 0, entry 0: inf is infinite"),
        ([[0.5, 0.5], [0.5, 0.4]], "law, row 1: 0.9 is the sum of the row; a law sums to 1"),
        ([[[0.5, 0.5]], [[0.5, 0.4]]], r"law, row \(1, 0\): 0.9 is the sum"),
        ([0.0, 0.0], "law, row 0: 0.0 is the sum"),
        ([F(1, 2), F(1, 3)], "law, row 0: 5/6 is the sum"),
        ([F(3, 2), F(-1, 2)], "law, row 0, entry 1: -1/2 is negative"),
        ([], r"law: shape \(0,\) has no tokens"),
        (0.5, r"law: shape \(\) has no tokens"),
        (np.ones((2, 0)), r"law: shape \(2, 0\) has no tokens"),
        ([[0.5, 0.5], [1.0]], "law: not a rectangular array of numbers"),
        (["a", "b"], "law: numbers are needed, not <U1"),
        ([1j, 0], "law: numbers are needed, not complex128"),
        (np.array([True, False]), "law: probabilities are real numbers, not bool"),
        ([F(1, 2), gmpy2.mpq(1, 2)], "law: .* use one rational type"),
        ([F(1, 2), 0.5], "law: .* use one rational type"),
        ([Decimal("0.5"), Decimal("0.5")], "law: .* use one rational type"),
    ],
)
def test_laws_that_are_not_laws(law, message):
    with pytest.raises(ValueError, match=message):
        rs.check_law(law)


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.5], [0.5, 0.25, 0.25], "target has a vocabulary of 2 tokens and draft one of 3"),
        ([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 3, r"do not broadcast: target \(2,\), draft \(3,\)"),
        ([0.5, 0.4], [0.5, 0.5], "target, row 0: 0.9 is the sum"),
        ([0.5, 0.5], [[0.5, 0.5], [2.0, -1.0]], "draft, row 1, entry 1: -1.0 is negative"),
        ([F(1, 2), F(1, 2)], [0.5, 0.5], "target is exact but draft holds floats"),
        ([0.5, 0.5], [F(1, 2), F(1, 2)], "draft is exact but target holds floats"),
    ],
)
def test_pairs_that_do_not_go_together(p, q, message):
    for call in (
        lambda: rs.emitted_law("resispec", p, q, candidates=2),
        lambda: rs.optimal_acceptance(p, q, candidates=2),
        lambda: rs.schedule(p, q, candidates=2),
        lambda: rs.standard_residual(p, q),
        lambda: rs.verify("resispec", p, q, [0], [0.5, 0.5]),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(
    ("rule", "q", "tokens", "message"),
    [
        ("resispec", Q, [3], "tokens, row 0: 3 is not a token id of a vocabulary of 3"),
        ("resispec", Q, [[0, 1], [0, -2]], "tokens, row 1, entry 1: -2 is not a token id"),
        ("resispec", [0.5, 0.5, 0], [[0, 1], [1, 2]], "tokens, row 1, entry 1: 2 has draft probability 0"),
        ("resispec", Q, [-1, 1], "tokens, row 0, entry 1: 1 comes after an absent candidate"),
        ("resispec", Q, [0.0, 1.0], "tokens: token ids are integers, not float64"),
        ("resispec", Q, np.array([0.0]), "tokens: token ids are integers, not float64"),
        (
            "resispec",
            Q,
            np.array([2**64 - 1], dtype=np.uint64),
            "tokens, row 0: 18446744073709551615 is not a token id",
        ),
        ("resispec", Q, [[0, 1], [0]], "tokens: not a rectangular array"),
        ("resispec", Q, 0, r"tokens: shape \(\) has no axis of candidates"),
        ("recursive-rejection-without-replacement", Q, [1, 1], "tokens, row 0, entry 1: 1 was drawn before"),
        ("best-rule", Q, [0], "verifier: 'best-rule' is not one of naive, "),
    ],
)
def test_candidates_that_cannot_have_been_drawn(rule, q, tokens, message):
    count = np.shape(tokens)[-1] if isinstance(tokens, np.ndarray) else len(np.ravel(tokens[-1:])) if tokens else 0
    with pytest.raises(ValueError, match=message):
        rs.verify(rule, P, q, tokens, [0.5] * (count + 1))


@pytest.mark.parametrize(
    ("p", "uniforms", "message"),
    [
        (P, [1.0, 0.5], r"uniforms, row 0, entry 0: 1.0 is not in \[0, 1\)"),
        (P, [[0.5, 0.5], [0.5, -0.1]], r"uniforms, row 1, entry 1: -0.1 is not in \[0, 1\)"),
        (P, [NAN, 0.5], r"uniforms, row 0, entry 0: nan is not in"),
        (P, [0.5], r"uniforms: shape \(1,\); the last axis must hold 2"),
        (P, [0.5, 0.5, 0.5], r"uniforms: shape \(3,\); the last axis must hold 2"),
        (P, 0.5, r"uniforms: shape \(\); the last axis must hold 2"),
        ([P, P], [[0.5, 0.5]] * 3, "do not broadcast"),
        (P, ["a", "b"], "uniforms: numbers are needed"),
    ],
)
def test_uniforms_that_are_not(p, uniforms, message):
    with pytest.raises(ValueError, match=message):
        rs.verify("resispec", p, Q, [0], uniforms)


def test_exact_uniforms_that_are_not():
    with pytest.raises(ValueError, match=r"uniforms: numbers in \[0, 1\) are needed, not None"):
        rs.verify("naive", [F(1, 2)] * 2, [F(1, 2)] * 2, [0], [F(1, 2), None])
    with pytest.raises(ValueError, match=r"uniforms, row 0, entry 1: 1 is not in \[0, 1\)"):
        rs.verify("naive", [F(1, 2)] * 2, [F(1, 2)] * 2, [0], [F(1, 2), F(1)])


LOGITS = [2.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.emitted_law("best-rule", P, Q, candidates=1), "verifier: 'best-rule' is not one of naive, "),
        (lambda: rs.get_verifier("naive", spread="even"), "naive: unknown option among spread; it has: none"),
        (lambda: rs.get_verifier("resispec-published", spread="even"), "spread: 'even' is not one of 'proportional', "),
        (lambda: rs.get_verifier("resispec-published", budget="x"), "budget: 'x' is not one of 'rejected-mass', "),
        (
            lambda: rs.get_verifier("resispec-published", colour=1),
            "unknown option among colour; it has: spread, budget",
        ),
        (lambda: rs.emitted_law("naive", P, Q, candidates=-1), "candidates: -1 is not a number of candidates"),
        (lambda: rs.emitted_law("naive", P, Q, candidates=1.5), "candidates: 1.5 is not a number of candidates"),
        (lambda: rs.uniforms_needed("naive", True), "candidates: True is not a number of candidates"),
        (lambda: rs.schedule(P, Q, candidates=0), "candidates: a schedule needs 1 candidate or more"),
        (lambda: rs.optimal_acceptance(P, Q, candidates=20, replacement=False), "candidates: 20 distinct candidates"),
        (lambda: rs.optimal_acceptance([F(1, 60)] * 60, [F(1, 60)] * 60, candidates=4, replacement=False), "draft: 60"),
        (lambda: rs.estimated_law("naive", P, Q, candidates=1, paths=1, rng=None), "paths: 1 sampled paths"),
        (lambda: rs.estimated_law("naive", [F(1)], [F(1)], candidates=1, paths=9, rng=None), "rational laws exactly"),
        (lambda: rs.emitted_law("naive", [1 / 99] * 99, [1 / 99] * 99, candidates=4), "use estimated_law"),
        (lambda: rs.shaped_residual(P, Q, -0.5), "level: -0.5 is not a finite number, 0 or more"),
        (lambda: rs.shaped_residual(P, Q, NAN), "level: nan is not a finite number, 0 or more"),
        (lambda: rs.published_residual(P, Q, 0, spread="even"), "spread: 'even' is not one of"),
        (lambda: rs.published_residual(P, Q, 7), "tokens, row 0: 7 is not a token id"),
        (lambda: rs.future_capacity(P, Q), r"drafts: shape \(3,\); \(\.\.\., K, 3\) is needed"),
        (lambda: rs.draw([0.5, NAN], [0.5]), "mass, row 0, entry 1: nan is not a probability"),
        (lambda: rs.draw([[0.5, 0.5], [0.0, 0.0]], [[0.5], [0.5]]), "mass, row 1: 0.0 is the sum of the row"),
        (lambda: rs.draw([0.5, 0.5], [1.0]), r"uniforms, row 0: 1.0 is not in \[0, 1\)"),
        (lambda: rs.accepts(Q, Q, 3, 0.5), "tokens, row 0: 3 is not a token id"),
        (lambda: rs.accepts(Q, Q, -1, 0.5), "tokens, row 0: -1 is not a token id of a vocabulary of 3$"),
        (lambda: rs.accepts(Q, Q, 0, NAN), "uniforms, row 0: nan is not in"),
        (lambda: rs.accepts(Q, [0.5, -0.1, 0.6], 0, 0.5), "accepted, row 0, entry 1: -0.1 is negative"),
        (lambda: rs.accepts(Q, [0.5, 0.5], 2, 0.5), "accepted: 2 tokens beside 3 of proposal"),
        (lambda: rs.accepts([0.5, 0.5], [0.2, 0.6], 0, 0.5), "accepted, row 0, entry 1: 0.6 is more than the proposal"),
        (lambda: rs.kl_divergence([F(1)], [F(1)]), "logarithm of a rational"),
        (lambda: rs.law_from_logits([[0.0, 1.0], [NAN, 1.0]]), "logits, row 1, entry 0: nan is not a logit"),
        (lambda: rs.law_from_logits([INF, 1.0]), "logits, row 0, entry 0: inf is not a logit"),
        (lambda: rs.law_from_logits([[0.0, 1.0], [-INF, -INF]]), "logits, row 1.*: every token is masked"),
        (lambda: rs.law_from_logits([]), r"logits: shape \(0,\) has no tokens"),
        (lambda: rs.law_from_logits(LOGITS, temperature=-1), "temperature: -1 is not a finite number, 0 or more"),
        (lambda: rs.law_from_logits(LOGITS, temperature=NAN), "temperature: nan"),
        (lambda: rs.law_from_logits(LOGITS, top_k=0), "top_k: 0 is not a number of tokens"),
        (lambda: rs.law_from_logits(LOGITS, top_k=1.5), "top_k: 1.5 is not a number of tokens"),
        (lambda: rs.law_from_logits(LOGITS, top_p=0), r"top_p: 0 is not in \(0, 1\]"),
        (lambda: rs.law_from_logits(LOGITS, min_p=1.5), r"min_p: 1.5 is not in \[0, 1\]"),
    ],
)
def test_other_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_exact_laws_beside_an_array_of_another_library():
    with pytest.raises(ValueError, match=r"target: Fraction\(1, 2\) beside an array of array_api_strict"):
        rs.overlap([F(1, 2)] * 2, make_backend("array-api-strict").asarray([0.5, 0.5]))


def test_arrays_whose_type_numpy_does_not_know():
    import ml_dtypes

    with pytest.raises(ValueError, match="law: probabilities are real numbers, not bfloat16; convert them to float32"):
        rs.check_law(np.array([0.5, 0.5], dtype=ml_dtypes.bfloat16))


def test_arrays_of_two_libraries():
    strict = make_backend("array-api-strict").asarray
    with pytest.raises(ValueError, match="an array of array_api_strict beside one of torch"):
        rs.total_variation(make_backend("torch").asarray(P), strict(Q))


@pytest.mark.parametrize("name", ["numpy", "array-api-strict", "jax", "torch"])
def test_errors_are_the_same_on_every_library(name):
    array = make_backend(name).asarray
    with pytest.raises(ValueError, match=r"target, row 1: 0\.75 is the sum"):
        rs.emitted_law("resispec", array([[0.5, 0.5], [0.5, 0.25]]), array([0.5, 0.5]), candidates=1)
    with pytest.raises(ValueError, match="tokens, row 0: 1 has draft probability 0"):
        rs.verify("resispec", array([0.5, 0.5]), array([1.0, 0.0]), array([1]), array([0.5, 0.5]))
