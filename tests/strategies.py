"""Random inputs for Hypothesis: exact laws and pairs with the coincidences that hide faults, and their float versions.

Laws are lists of `Fraction` with small denominators, so that zeros, ties, equal ratios and point masses are common.
"""

from fractions import Fraction

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

MAX_VOCAB, MAX_CANDIDATES = 6, 4


@st.composite
def laws(draw, vocab=None, largest_weight=6):
    """A law over `vocab` tokens (1 to 6 if not given), proportional to integers up to `largest_weight`, with zeros."""
    vocab = draw(st.integers(1, MAX_VOCAB)) if vocab is None else vocab
    weights = draw(st.lists(st.integers(0, largest_weight), min_size=vocab, max_size=vocab))
    if not any(weights):
        weights[draw(st.integers(0, vocab - 1))] = 1  # a point mass
    return normalised(weights)


@st.composite
def pairs(draw, vocab=None, min_vocab=1):
    """`(target, draft)`: unrelated laws, equal laws, point masses, disjoint supports, tokens of tied ratio."""
    vocab = draw(st.integers(min_vocab, MAX_VOCAB)) if vocab is None else vocab
    p = draw(laws(vocab))
    kind = draw(st.sampled_from(("unrelated", "unrelated", "unrelated", "equal", "point", "disjoint", "tied")))
    if kind == "equal":
        return p, list(p)
    if kind == "point":
        x = draw(st.integers(0, vocab - 1))
        point = [Fraction(int(y == x)) for y in range(vocab)]
        return draw(st.sampled_from(((p, point), (point, p), (point, point))))
    if kind == "disjoint" and vocab > 1:
        cut = draw(st.integers(1, vocab - 1))
        p, q = draw(laws(cut)) + [Fraction(0)] * (vocab - cut), [Fraction(0)] * cut + draw(laws(vocab - cut))
        order = draw(st.permutations(range(vocab)))
        return [p[x] for x in order], [q[x] for x in order]
    if kind == "tied":  # at most two ratios among the tokens
        scale = [draw(st.sampled_from((1, 3))) for _ in range(vocab)]
        return p, normalised([a * s for a, s in zip(p, scale, strict=True)])
    return p, draw(laws(vocab))


@st.composite
def problems(draw, max_paths=250, max_candidates=MAX_CANDIDATES, min_candidates=0, min_vocab=1):
    """`(target, draft, candidates)` with at most `max_paths` tuples of candidates, for rules that enumerate them."""
    K = draw(st.integers(min_candidates, max_candidates))
    largest = max(V for V in range(1, MAX_VOCAB + 1) if V == 1 or max_paths >= V**K)
    p, q = draw(pairs(draw(st.integers(min(min_vocab, largest), largest))))
    return p, q, K


def float_laws(vocab=None):
    """A law as float64: small rationals, or masses over many orders of magnitude."""
    return st.one_of(laws(vocab).map(as_floats), _wide_laws(vocab))


@st.composite
def float_pairs(draw, min_vocab=1, lowest=-40):
    """`(target, draft)` as float64 arrays: rational pairs rounded, skewed laws, and laws that differ by rounding.

    Skewed laws have masses in proportion to `e^0` down to `e^lowest`.
    """
    kind = draw(st.sampled_from(("rational", "wide", "close")))
    if kind == "rational":
        p, q = draw(pairs(min_vocab=min_vocab))
        return as_floats(p), as_floats(q)
    p = draw(_wide_laws(draw(st.integers(min_vocab, MAX_VOCAB)), lowest))
    if kind == "wide":
        return p, draw(_wide_laws(len(p), lowest))
    q = p * (1 + np.array(draw(st.lists(st.sampled_from((-2e-16, 0, 2e-16)), min_size=len(p), max_size=len(p)))))
    return p, q / q.sum()


@st.composite
def _wide_laws(draw, vocab=None, lowest=-40):
    vocab = draw(st.integers(1, MAX_VOCAB)) if vocab is None else vocab
    exponents = draw(st.lists(st.integers(lowest, 0), min_size=vocab, max_size=vocab))
    weights = np.exp(np.array(exponents, dtype=float))
    return weights / weights.sum()


def uniforms(count):
    """`count` floats in `[0, 1)`, with both ends common."""
    edges = st.sampled_from((0.0, 0.5, float(np.nextafter(1, 0))))
    return st.lists(st.one_of(edges, st.floats(0, 1, exclude_max=True)), min_size=count, max_size=count)


def one_in(share):
    """Settings for slower tests: one in `share` of the examples that the profile asks for."""
    return settings(max_examples=max(1, settings.default.max_examples // share))


def normalised(weights):
    """Weights as a law of `Fraction`."""
    return [Fraction(w) / sum(weights) for w in weights]


def as_floats(law):
    """A law of `Fraction` as a float64 array."""
    return np.array([float(v) for v in law])
