"""Importance resampling: whole sequences from the model, and one of them in proportion to its weight."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

from resispec_ref.sequence.targets import SequenceTarget
from resispec_ref.sequence.toy import Model, Tokens


class SampledLaw(NamedTuple):
    """What a sampler emits, exactly."""

    law: dict[Tokens, Any]
    """The probability of every complete sequence."""
    normaliser: Any
    """The mean of the sampler's estimate `Ẑ` of the target's normalising constant `Z = target.value(())`."""


def complete_sequences(model: Model, target: SequenceTarget, prefix: Tokens = ()) -> dict[Tokens, Any]:
    """The law of complete sequences that `model` writes, complete in the sense of `target`."""
    if target.done(prefix):
        return {prefix: 1}
    found: dict[Tokens, Any] = {}
    for x, mass in enumerate(model.law(prefix).tolist()):
        if mass:
            for s, chance in complete_sequences(model, target, (*prefix, x)).items():
                found[s] = mass * chance
    return found


def weight_of(target: SequenceTarget, proposal: Model, start: int, s: Tokens) -> Any:
    """`Π P(x|s)^α / proposal(x|s)` over the tokens of `s` from `start` on, without the reward."""
    weight: Any = 1
    for i in range(start, len(s)):
        weight = weight * target.factors(s[:i])[s[i]] / proposal.law(s[:i]).tolist()[s[i]]
    return weight


def importance_law(target: SequenceTarget, draws: int, *, proposal: Model | None = None) -> SampledLaw:
    """The exact law of one of `draws` sequences from a proposal, picked in proportion to `w = P^α R / proposal`.

    By enumeration of the multisets of draws. Where all weights are 0 the first draw is emitted. `Ẑ` is the mean weight,
    and `E[Ẑ] = Z` where the proposal has every sequence of the target.

    Args:
        target: of `power` or `tilted`.
        draws: `N ≥ 1`; the enumeration has as many terms as there are multisets.
        proposal: a model; by default the target's own `P`.

    Raises:
        ValueError: no draws.

    Source: section 9 of the mathematics.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.targets import power
    >>> from resispec_ref.sequence.toy import ToyModel
    >>> found = importance_law(power(ToyModel([[F(2, 3), F(1, 3)]]), 2, 1), 2)
    >>> [str(found.law[s]) for s in ((0,), (1,))], str(found.normaliser)
    (['20/27', '7/27'], '5/9')
    """
    if draws < 1:
        raise ValueError(f"draws: {draws}; give 1 or more")
    model = proposal or target.model
    drawn = complete_sequences(model, target)
    weights = {s: weight_of(target, model, 0, s) * target.value(s) for s in drawn}
    law: dict[Tokens, Any] = {}
    normaliser: Any = 0
    for chosen in combinations_with_replacement(drawn, draws):
        counts = Counter(chosen)
        orders = math.factorial(draws) // math.prod(map(math.factorial, counts.values()))
        chance = orders * math.prod(drawn[s] for s in chosen)
        whole = sum(weights[s] for s in chosen)
        normaliser = normaliser + chance * whole / draws
        for s, n in counts.items():
            share = n * weights[s] / whole if whole else chance * 0 + n / chance.__class__(draws)
            if share:
                law[s] = law.get(s, 0) + chance * share
    return SampledLaw(law, normaliser)
