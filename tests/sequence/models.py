"""Random toy models for Hypothesis, and what the tests of chains, trees and graphs share."""

import inspect
import textwrap
from fractions import Fraction

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from strategies import laws

from resispec_ref.measurements.measure import takes
from resispec_ref.sequence import ToyModel
from resispec_ref.verifiers import get_verifier, verifier_names

RULES = tuple(name for name in verifier_names() if get_verifier(name).exact)
FEWER = settings(max_examples=settings.default.max_examples // 2)
"""For tests over all rules, whose examples are whole trees."""
COUNTS = {name: tuple(k for k in (1, 2, 3) if takes(get_verifier(name), k)) for name in RULES}
"""How many candidates a rule may be given: some are for two only."""
SEQUENTIAL = tuple(name for name in RULES if get_verifier(name).sequential)


@st.composite
def models(draw, vocab, depth, end=None):
    """Tables of small fractions, with zeros, ties and point masses."""

    def table(levels):
        return draw(laws(vocab, 3)) if levels == 0 else [table(levels - 1) for _ in range(vocab)]

    return ToyModel([as_objects(table(d)) for d in range(depth)], end=end)


@st.composite
def model_pairs(draw, depth, min_vocab=2, max_vocab=3, ends=False):
    """`(target, draft)` over one vocabulary; the draft is sometimes the target; with `ends`, the last token ends."""
    vocab = draw(st.integers(min_vocab, max_vocab))
    end = vocab - 1 if ends and draw(st.booleans()) else None
    target = draw(models(vocab, depth, end))
    if draw(st.integers(0, 7)) == 0:
        return target, target
    return target, draw(models(vocab, depth, end))


def random_model(seed, vocab, depth, end=None, least=0):
    """A toy model of small fractions, the same for the same seed; `least` 1 gives every token some probability."""
    rng = np.random.default_rng(seed)

    def table(levels):
        if levels:
            return [table(levels - 1) for _ in range(vocab)]
        weights = [Fraction(int(w)) for w in rng.integers(least, 5, vocab)]
        weights[0] += not any(weights)
        return [w / sum(weights) for w in weights]

    return ToyModel([as_objects(table(d)) for d in range(depth)], end=end)


def as_objects(table):
    x = np.empty(np.shape(table), dtype=object)
    x[...] = table
    return x


def rows_of(model, tree, tokens, prefix=()):
    """The laws at the root and after every node, as an engine holds them; a row of zeros where a node is absent."""
    paths, rows = [prefix], [model.law(prefix)]
    for node, parent in enumerate(tree.parents):
        known = paths[parent + 1] is not None and tokens[node] >= 0
        paths.append((*paths[parent + 1], int(tokens[node])) if known else None)
        inside = known and len(paths[-1]) < getattr(model, "depth", len(paths[-1]) + 1)
        rows.append(model.law(paths[-1]) if inside else rows[0] * Fraction(0))
    return np.stack(rows)


def accepted_length(law):
    """The expected accepted length of a law of `(tokens, accepted length)`."""
    return sum(accepted * chance for (_, accepted), chance in law.items())


def mutated(function, old, new):
    """`function` with one piece of its source replaced: a planted fault."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} is found {source.count(old)} times"
    scope = dict(function.__globals__)
    exec("from __future__ import annotations\n" + source.replace(old, new), scope)
    return scope[function.__name__]
