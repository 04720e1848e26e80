"""Selective regeneration: drafts are ranked; the best stay, the middle is rewritten after a cut, the rest replaced."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from resispec_ref.sequence.divergence import expected_reward
from resispec_ref.sequence.samplers.importance import complete_sequences
from resispec_ref.sequence.targets import SequenceTarget
from resispec_ref.sequence.toy import Tokens

Drafts = tuple[Tokens, ...]
"""A multiset, sorted."""


class Regenerated(NamedTuple):
    """What a search for reward returns, exactly, and what it costs."""

    law: dict[Tokens, Any]
    """The probability of every complete sequence."""
    reward: Any
    """The expected reward."""
    tokens: Any
    """The expected number of tokens that the model writes."""


def selective_regeneration_law(
    target: SequenceTarget, draws: int, *, keep: int, refine: int, cut: int, rounds: int = 1
) -> Regenerated:
    """The exact law of the best of `draws` sequences, after `rounds` of keeping, refining and discarding by rank.

    Every round ranks the drafts by reward. The first `keep` stay as they are; each of the next `refine` keeps its first
    `cut` tokens and is written anew from there; the others are discarded and drawn anew. At the end the best is
    returned. Equal rewards are ranked by their tokens, the smaller first.

    It is a search for reward: in general what it returns has neither the model's law nor that of the tilted target. As
    the tiers go by rank, every model has the same number of drafts replaced, however good they were.

    Args:
        target: of `tilted`, whose reward ranks and whose model writes.
        draws: `N ≥ 1`; the enumeration is over multisets of `N` sequences, so both have to be small.
        keep, refine: sizes of the first two tiers, together at most `draws`.
        cut: tokens of a refined draft that stay; 0 discards it.
        rounds: 0 or more; 0 is best-of-n.

    Raises:
        ValueError: a target without a reward, no draws, tiers larger than the drafts, a negative number.

    Source: after selective regeneration (SRD, arXiv 2608.24338, Equations 2 to 5). Its text was not at hand: the tiers
        keep, refine and discard by rank are from a summary; the cut, the ties and the sizes of tiers as arguments are
        this project's.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.targets import tilted
    >>> from resispec_ref.sequence.toy import NGram
    >>> target = tilted(NGram([F(1, 2), F(1, 2)]), sum, 2)
    >>> found = selective_regeneration_law(target, 2, keep=1, refine=1, cut=1)
    >>> str(found.reward), str(found.tokens), str(best_of(target, 2).reward)
    ('3/2', '5', '11/8')
    """
    for name, value, least in (
        *(("draws", draws, 1), ("keep", keep, 0), ("refine", refine, 0)),
        *(("cut", cut, 0), ("rounds", rounds, 0)),
    ):
        if value < least:
            raise ValueError(f"{name}: {value}; give {least} or more")
    if keep + refine > draws:
        raise ValueError(f"keep: {keep} kept and {refine} refined are more than {draws} drafts")
    _check_reward(target)
    fresh = complete_sequences(target.model, target)
    level: dict[Drafts, Any] = {(): 1}
    for _ in range(draws):
        level = _with_one_more(level, fresh)
    tokens = draws * _mean_length(fresh)
    for _ in range(rounds):
        following: dict[Drafts, Any] = {}
        for held, chance in level.items():
            ranked = sorted(held, key=lambda s: _rank(target, s))
            grown: dict[Drafts, Any] = {tuple(sorted(ranked[:keep])): chance}
            for i, s in enumerate(ranked[keep:]):
                stays = s[:cut] if i < refine else ()
                written = complete_sequences(target.model, target, stays)
                tokens = tokens + chance * (_mean_length(written) - len(stays))
                grown = _with_one_more(grown, written)
            for drafts, reached in grown.items():
                following[drafts] = following.get(drafts, 0) + reached
        level = following
    law: dict[Tokens, Any] = {}
    for held, chance in level.items():
        best = min(held, key=lambda s: _rank(target, s))
        law[best] = law.get(best, 0) + chance
    return Regenerated(law, expected_reward(law, target.value), tokens)


def best_of(target: SequenceTarget, draws: int) -> Regenerated:
    """The exact law of the best of `draws` sequences of the model; equal rewards as in `selective_regeneration_law`.

        P(s) = C(s)^N − C(s−)^N,

    where `C` adds up the model's probabilities from the worst sequence to `s`, and `s−` is the one before it.

    Raises:
        ValueError: a target without a reward; no draws.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.targets import tilted
    >>> from resispec_ref.sequence.toy import NGram
    >>> found = best_of(tilted(NGram([F(1, 2), F(1, 2)]), sum, 1), 2)
    >>> {s: str(chance) for s, chance in found.law.items()}, str(found.tokens)
    ({(0,): '1/4', (1,): '3/4'}, '2')
    """
    if draws < 1:
        raise ValueError(f"draws: {draws}; give 1 or more")
    _check_reward(target)
    drawn = complete_sequences(target.model, target)
    law: dict[Tokens, Any] = {}
    so_far: Any = 0
    for s in sorted(drawn, key=lambda s: _rank(target, s), reverse=True):
        law[s] = (so_far + drawn[s]) ** draws - so_far**draws
        so_far = so_far + drawn[s]
    return Regenerated(law, expected_reward(law, target.value), draws * _mean_length(drawn))


def best_of_at_cost(target: SequenceTarget, tokens: Any) -> Regenerated:
    """Best-of-n that writes `tokens` on average: the two whole numbers of draws next to it, mixed.

    Raises:
        ValueError: fewer tokens than one sequence has on average.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.targets import tilted
    >>> from resispec_ref.sequence.toy import NGram
    >>> found = best_of_at_cost(tilted(NGram([F(1, 2), F(1, 2)]), sum, 1), F(3, 2))
    >>> str(found.reward), str(found.tokens)
    ('5/8', '3/2')
    """
    one = _mean_length(complete_sequences(target.model, target))
    if tokens < one:
        raise ValueError(f"tokens: {tokens}; one sequence has {one} on average")
    fewer = int(tokens // one)
    share = tokens / one - fewer
    low, high = best_of(target, fewer), best_of(target, fewer + 1)
    law = {s: (1 - share) * chance + share * high.law[s] for s, chance in low.law.items()}
    return Regenerated(law, (1 - share) * low.reward + share * high.reward, tokens)


def draws_needed(success: Any, failure: Any) -> int:
    """The fewest independent draws of which one succeeds but for a probability of `failure`: `(1 − p)^n ≤ δ`.

    That is `⌈ln(1/δ) / −ln(1 − p)⌉`. As `−ln(1 − p) ≥ p`, so many as `ln(1/δ) / p` are always enough, and never the
    fewest but by rounding.

    Args:
        success: `p` of one draw, in `(0, 1]`.
        failure: `δ` in `(0, 1]`.

    Raises:
        ValueError: a probability out of range.

    >>> from fractions import Fraction as F
    >>> draws_needed(F(1, 2), F(1, 4)), round(math.log(4) / (1 / 2), 2)
    (2, 2.77)
    """
    for name, value in (("success", success), ("failure", failure)):
        if not 0 < value <= 1:
            raise ValueError(f"{name}: {value} is not in (0, 1]")
    if success == 1 or failure == 1:
        return int(failure < 1)
    n = round(math.log(failure) / math.log1p(-success))
    while (1 - success) ** n > failure:
        n += 1
    while (1 - success) ** (n - 1) <= failure:
        n -= 1
    return n


def _rank(target: SequenceTarget, s: Tokens) -> tuple[Any, Tokens]:
    return -target.value(s), s


def _with_one_more(level: dict[Drafts, Any], drawn: dict[Tokens, Any]) -> dict[Drafts, Any]:
    found: dict[Drafts, Any] = {}
    for held, chance in level.items():
        for s, mass in drawn.items():
            key = tuple(sorted((*held, s)))
            found[key] = found.get(key, 0) + chance * mass
    return found


def _mean_length(law: dict[Tokens, Any]) -> Any:
    return sum(chance * len(s) for s, chance in law.items())


def _check_reward(target: SequenceTarget) -> None:
    if target.reward is None:
        raise ValueError("target: it has no reward to rank by; make it by tilted")
