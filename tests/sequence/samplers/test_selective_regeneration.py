"""Selective regeneration: by hand, against best-of-n at equal cost, and what its theorem says of numbers of draws."""

import itertools
import math
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_samplers import FAIR, SURE, models

from resispec_ref.sequence import (
    NGram,
    ToyModel,
    best_of,
    best_of_at_cost,
    draws_needed,
    expected_reward,
    power,
    selective_regeneration_law,
    sequence_total_variation,
    tilted,
)

FIRST_DECIDES = ToyModel([FAIR, [[F(1), F(0)], SURE]])
SECOND_DECIDES = ToyModel([FAIR, [FAIR, FAIR]])


def last(s):
    return s[-1]


def by_sequences(model, reward, draws, keep, refine, cut):
    """One round in plain Python, over all sequences of drafts in order, and then over all that replace them."""
    whole = {(x, y): model.law(())[x] * model.law((x,))[y] for x, y in itertools.product(range(2), repeat=2)}
    law, tokens = {}, F(0)
    for drafts in itertools.product(whole, repeat=draws):
        chance = math.prod(whole[s] for s in drafts)
        ranked = sorted(drafts, key=lambda s: (-reward(s), s))
        stays = [s if i < keep else s[:cut] if i < keep + refine else () for i, s in enumerate(ranked)]
        tokens += chance * (2 * draws + sum(2 - len(s) for s in stays))
        for grown in itertools.product(whole, repeat=draws):
            conditional = F(1)
            for s, stay in zip(grown, stays, strict=True):
                begun = sum(whole[t] for t in whole if t[: len(stay)] == stay)
                conditional *= whole[s] / begun if s[: len(stay)] == stay and begun else 0
            best = min(grown, key=lambda s: (-reward(s), s))
            law[best] = law.get(best, 0) + chance * conditional
    return {s: m for s, m in law.items() if m}, tokens


@given(model=models(), rewards=st.tuples(*[st.integers(1, 3)] * 4), data=st.data())
def test_by_sequences(model, rewards, data):
    def reward(s):
        return rewards[2 * s[0] + s[1]]

    draws = data.draw(st.integers(1, 2))
    keep = data.draw(st.integers(0, draws))
    refine, cut = data.draw(st.integers(0, draws - keep)), data.draw(st.integers(0, 2))
    found = selective_regeneration_law(tilted(model, reward, 2), draws, keep=keep, refine=refine, cut=cut)
    assert ({s: m for s, m in found.law.items() if m}, found.tokens) == by_sequences(
        model, reward, draws, keep, refine, cut
    )
    assert found.reward == expected_reward(found.law, reward)


@given(model=models(), draws=st.integers(1, 3))
def test_no_rounds_and_no_refining_are_best_of_n(model, draws):
    """Nothing kept but the best is best-of-n with more draws, and costs the same."""
    target = tilted(model, lambda s: 1 + sum(s), 2)
    none = selective_regeneration_law(target, draws, keep=0, refine=0, cut=0, rounds=0)
    one = selective_regeneration_law(target, draws, keep=1, refine=0, cut=0)
    for found, right in ((none, best_of(target, draws)), (one, best_of(target, 2 * draws - 1))):
        assert found.law == {s: m for s, m in right.law.items() if m}
        assert (found.reward, found.tokens) == (right.reward, right.tokens)


@pytest.mark.parametrize(
    ("model", "found", "beside"),
    [(SECOND_DECIDES, F(7, 8), F(13, 16)), (FIRST_DECIDES, F(3, 4), F(13, 16))],
    ids=["what is rewritten decides", "what stays decides"],
)
def test_beside_best_of_n_at_equal_cost(model, found, beside):
    """Two drafts, the worse one rewritten after its first token: better or worse than best-of-n, as the model goes."""
    target = tilted(model, last, 2)
    refined = selective_regeneration_law(target, 2, keep=1, refine=1, cut=1)
    other = best_of_at_cost(target, refined.tokens)
    assert (refined.reward, refined.tokens) == (found, 5)
    assert (other.reward, other.tokens) == (beside, 5)


@given(model=models(), other=models(), data=st.data())
def test_ranks_fix_the_share_kept_for_every_model(model, other, data):
    """With sequences of one length the cost is the same number, whatever the model and however good its drafts."""
    draws = data.draw(st.integers(1, 3))
    keep = data.draw(st.integers(0, draws))
    refine = data.draw(st.integers(0, draws - keep))
    costs = {
        selective_regeneration_law(tilted(m, r, 2), draws, keep=keep, refine=refine, cut=1).tokens
        for m in (model, other)
        for r in (lambda s: 1, lambda s: 1 + sum(s))
    }
    assert costs == {2 * draws + refine + 2 * (draws - keep - refine)}


def test_it_has_neither_the_models_law_nor_the_tilted_one():
    target = tilted(NGram(FAIR_OBJECTS), lambda s: 1 + sum(s), 1)
    law = selective_regeneration_law(target, 2, keep=1, refine=0, cut=0).law
    assert law == {(0,): F(1, 8), (1,): F(7, 8)}
    assert sequence_total_variation(law, {(0,): F(1, 3), (1,): F(2, 3)}) == F(5, 24)


FAIR_OBJECTS = ToyModel([FAIR]).law(())


@given(p=st.fractions(F(1, 100), 1, max_denominator=100), delta=st.fractions(F(1, 1000), 1, max_denominator=1000))
def test_the_fewest_draws(p, delta):
    """`ln(1/δ) / p` draws are enough, and are not what is needed."""
    n = draws_needed(p, delta)
    assert (1 - p) ** n <= delta
    assert n == 0 or (1 - p) ** (n - 1) > delta
    assert n <= math.ceil(math.log(1 / delta) / p)


def test_two_draws_where_the_theorem_says_2_77():
    assert draws_needed(F(1, 2), F(1, 4)) == 2
    assert round(math.log(4) / 0.5, 2) == 2.77
    assert (1 - F(1, 2)) ** 2 == F(1, 4)


def test_bad_arguments():
    target = tilted(ToyModel([FAIR]), lambda s: 1 + sum(s), 1)
    for call, message in (
        (lambda: selective_regeneration_law(target, 0, keep=0, refine=0, cut=0), "draws: 0"),
        (lambda: selective_regeneration_law(target, 1, keep=-1, refine=0, cut=0), "keep: -1"),
        (lambda: selective_regeneration_law(target, 1, keep=1, refine=1, cut=0), "keep: 1 kept and 1 refined"),
        (lambda: selective_regeneration_law(power(target.model, 2, 1), 1, keep=0, refine=0, cut=0), "no reward"),
        (lambda: best_of(target, 0), "draws: 0"),
        (lambda: best_of_at_cost(target, F(1, 2)), "tokens: 1/2"),
        (lambda: draws_needed(0, F(1, 2)), "success: 0"),
        (lambda: draws_needed(F(1, 2), 2), "failure: 2"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
