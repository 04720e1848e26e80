"""A particle sampler: sequences grow in blocks, and after each block those of more weight are kept more often."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

from resispec_ref.sequence.samplers.importance import SampledLaw, weight_of
from resispec_ref.sequence.targets import SequenceTarget
from resispec_ref.sequence.toy import Model, Tokens

Particles = tuple[Tokens, ...]
"""A multiset, sorted."""


def particle_law(
    target: SequenceTarget, particles: int, *, block: int = 1, horizon: int = 0, proposal: Model | None = None
) -> SampledLaw:
    """The exact law of a blockwise particle sampler: extend by a block, weigh, resample; at the end pick one by weight.

        w(s → s') = Π P^α / proposal · ψ(s') / ψ(s),    Ẑ = ψ(∅) Π_blocks mean(w),

    where `ψ` is the future value that is looked ahead: `ζ` of the next `horizon` tokens, 1 for `horizon = 0`, and at a
    complete sequence the reward. `E[Ẑ] = Z` for every number of particles, block and horizon; the law of what is
    emitted is the target's only in the limit of many particles, or for a horizon of the whole length and the target's
    own conditional laws as proposal. Resampling is multinomial, after every block. Where all weights are 0 the
    particles stay as they are.

    Args:
        target: of `power` or `tilted`.
        particles: `N ≥ 1`; the enumeration is over multisets of `N` prefixes, so both have to be small.
        block: tokens that are added between two weighings.
        horizon: tokens that the future value looks ahead, exactly (rollouts would estimate it).
        proposal: a model; by default the target's own `P`.

    Raises:
        ValueError: no particles, an empty block, a negative horizon.

    Source: after blockwise particle sampling of power targets (arXiv 2605.02427, 2601.21590).

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.targets import power
    >>> from resispec_ref.sequence.toy import NGram
    >>> target = power(NGram([F(2, 3), F(1, 3)]), 2, 2)
    >>> particle_law(target, 2).normaliser == target.value(()) == F(25, 81)
    True
    """
    for name, value, least in (("particles", particles, 1), ("block", block, 1), ("horizon", horizon, 0)):
        if value < least:
            raise ValueError(f"{name}: {value}; give {least} or more")
    model = proposal or target.model
    # each multiset with its probability, and with the mean of `Ẑ` so far times that probability
    level: dict[Particles, tuple[Any, Any]] = {((),) * particles: (1, target.value((), horizon))}
    while not all(target.done(s) for held in level for s in held):
        following: dict[Particles, tuple[Any, Any]] = {}
        for held, (chance, estimate) in level.items():
            for grown, grows in _extended(held, model, target, block):
                weights = [_weight(target, model, s, parent, horizon) for s, parent in grown]
                mean = sum(weights) / particles
                for kept, keeps in _resampled([s for s, _ in grown], weights, particles):
                    before = following.get(kept, (0, 0))
                    step = grows * keeps
                    following[kept] = before[0] + chance * step, before[1] + estimate * step * mean
        level = following
    law: dict[Tokens, Any] = {}
    for held, (chance, _) in level.items():  # resampled after the last block: all of equal weight
        for s, n in Counter(held).items():
            law[s] = law.get(s, 0) + chance * n / particles
    return SampledLaw(law, sum(estimate for _, estimate in level.values()))


def _weight(target: SequenceTarget, model: Model, s: Tokens, parent: Tokens, horizon: int) -> Any:
    before = target.value(parent, horizon)
    return weight_of(target, model, len(parent), s) * target.value(s, horizon) / before if before else before


def _extended(
    held: Particles, model: Model, target: SequenceTarget, block: int
) -> Iterator[tuple[list[tuple[Tokens, Tokens]], Any]]:
    """All ways that the particles grow, each as `(sequence, parent)`, with probabilities."""
    ways: list[tuple[list[tuple[Tokens, Tokens]], Any]] = [([], 1)]
    for parent in held:
        grown = _blocks(parent, model, target, block)
        ways = [([*so_far, (s, parent)], chance * mass) for so_far, chance in ways for s, mass in grown.items()]
    return iter(ways)


def _blocks(prefix: Tokens, model: Model, target: SequenceTarget, block: int) -> dict[Tokens, Any]:
    level: dict[Tokens, Any] = {prefix: 1}
    for _ in range(block):
        following: dict[Tokens, Any] = {}
        for s, chance in level.items():
            masses = enumerate(model.law(s).tolist()) if not target.done(s) else None
            for t, mass in [(s, 1)] if masses is None else [((*s, x), m) for x, m in masses if m]:
                following[t] = following.get(t, 0) + chance * mass
        level = following
    return level


def _resampled(grown: list[Tokens], weights: list[Any], particles: int) -> Iterator[tuple[Particles, Any]]:
    """All outcomes of `particles` independent picks in proportion to the weights."""
    whole = sum(weights)
    if not whole:
        yield tuple(sorted(grown)), 1
        return
    shares: dict[Tokens, Any] = {}
    for s, weight in zip(grown, weights, strict=True):
        if weight:
            shares[s] = shares.get(s, 0) + weight / whole
    for kept in combinations_with_replacement(sorted(shares), particles):
        orders = math.factorial(particles) // math.prod(map(math.factorial, Counter(kept).values()))
        yield kept, orders * math.prod(shares[s] for s in kept)
