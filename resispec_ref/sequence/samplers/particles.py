"""A particle sampler: sequences grow in blocks, and after each block those of more weight are kept more often."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import Any

from resispec_ref.sequence.samplers.importance import SampledLaw, weight_of
from resispec_ref.sequence.targets import SequenceTarget
from resispec_ref.sequence.toy import Model, Tokens

Particle = tuple[Tokens, Any]
"""A prefix, and the future value that it was kept for."""
Particles = tuple[Particle, ...]
"""A multiset, sorted."""
Weighed = tuple[tuple[Particle, Any], ...]
"""Particles with their weights, sorted."""
Look = Callable[[Tokens], dict[Any, Any]]
"""The law of the future value of a prefix, as it is known or estimated."""


def particle_law(
    target: SequenceTarget,
    particles: int,
    *,
    block: int = 1,
    horizon: int = 0,
    rollouts: int | None = None,
    proposal: Model | None = None,
) -> SampledLaw:
    """The exact law of a blockwise particle sampler: extend by a block, weigh, resample; at the end pick one by weight.

        w(s → s') = Π P^α / proposal · ψ(s') / ψ(s),    Ẑ = Π_blocks mean(w),    ψ(∅) = 1,

    where `ψ` is the future value that is looked ahead: `ζ` of the next `horizon` tokens, 1 for `horizon = 0`, and at a
    complete sequence the reward. With `rollouts` it is the mean weight of so many continuations from the proposal, and
    a particle keeps the estimate that it was picked for, so that it is taken back when the next one is made.

    `E[Ẑ] = Z` for every number of particles and rollouts, block and horizon; the law of what is emitted is the
    target's only in the limit of many particles, or for a horizon of the whole length, known, and the target's own
    conditional laws as proposal. Resampling is multinomial, after every block. Where all weights are 0 the particles
    stay as they are.

    Args:
        target: of `power` or `tilted`; for rollouts a reward has to be positive, since an estimate of 0 is final.
        particles: `N ≥ 1`; the enumeration is over multisets of `N` prefixes, so both have to be small.
        block: tokens that are added between two weighings.
        horizon: tokens that the future value looks ahead.
        rollouts: continuations that estimate it; by default it is known.
        proposal: a model; by default the target's own `P`.

    Raises:
        ValueError: no particles, an empty block, a negative horizon, no rollouts.

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
    if rollouts is not None and rollouts < 1:
        raise ValueError(f"rollouts: {rollouts}; give 1 or more, or None for the value itself")
    model = proposal or target.model
    look = _remembered(_known(target, horizon) if rollouts is None else _estimated(target, model, horizon, rollouts))
    # each multiset with its probability, and with the mean of `Ẑ` so far times that probability
    level: dict[Particles, tuple[Any, Any]] = {(((), 1),) * particles: (1, 1)}
    while not all(target.done(s) for held in level for s, _ in held):
        following: dict[Particles, tuple[Any, Any]] = {}
        for held, (chance, estimate) in level.items():
            for weighed, grows in _extended(held, model, target, block, look).items():
                mean = sum(weight for _, weight in weighed) / particles
                for kept, keeps in _resampled(weighed, particles):
                    before = following.get(kept, (0, 0))
                    step = grows * keeps
                    following[kept] = before[0] + chance * step, before[1] + estimate * step * mean
        level = following
    law: dict[Tokens, Any] = {}
    for held, (chance, _) in level.items():  # resampled after the last block: all of equal weight
        for s, n in Counter(s for s, _ in held).items():
            law[s] = law.get(s, 0) + chance * n / particles
    return SampledLaw(law, sum(estimate for _, estimate in level.values()))


def _known(target: SequenceTarget, horizon: int) -> Look:
    return lambda s: {target.value(s, horizon): 1}


def _estimated(target: SequenceTarget, model: Model, horizon: int, rollouts: int) -> Look:
    def look(s: Tokens) -> dict[Any, Any]:
        if target.done(s):
            return {target.value(s): 1}
        one: dict[Any, Any] = {}
        for t, mass in _blocks(s, model, target, horizon).items():
            value = weight_of(target, model, len(s), t) * (target.value(t) if target.done(t) else 1)
            one[value] = one.get(value, 0) + mass
        total: dict[Any, Any] = {0: 1}
        for _ in range(rollouts):
            longer: dict[Any, Any] = {}
            for so_far, chance in total.items():
                for value, mass in one.items():
                    longer[so_far + value] = longer.get(so_far + value, 0) + chance * mass
            total = longer
        return {value / rollouts: chance for value, chance in total.items()}

    return look


def _remembered(look: Look) -> Look:
    found: dict[Tokens, dict[Any, Any]] = {}

    def remembered(s: Tokens) -> dict[Any, Any]:
        if s not in found:
            found[s] = look(s)
        return found[s]

    return remembered


def _extended(held: Particles, model: Model, target: SequenceTarget, block: int, look: Look) -> dict[Weighed, Any]:
    """All ways that the particles grow and are weighed, with probabilities."""
    ways: dict[Weighed, Any] = {(): 1}
    for parent, before in held:
        grown: dict[tuple[Particle, Any], Any] = {}
        for s, mass in _blocks(parent, model, target, block).items():
            step = weight_of(target, model, len(parent), s)
            for value, m in look(s).items():
                weighed = (s, value), step * value / before if before else before
                grown[weighed] = grown.get(weighed, 0) + mass * m
        longer: dict[Weighed, Any] = {}
        for so_far, chance in ways.items():
            for weighed, mass in grown.items():
                key = tuple(sorted((*so_far, weighed)))
                longer[key] = longer.get(key, 0) + chance * mass
        ways = longer
    return ways


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


def _resampled(weighed: Weighed, particles: int) -> Iterator[tuple[Particles, Any]]:
    """All outcomes of `particles` independent picks in proportion to the weights."""
    whole = sum(weight for _, weight in weighed)
    if not whole:
        yield tuple(sorted(particle for particle, _ in weighed)), 1
        return
    shares: dict[Particle, Any] = {}
    for particle, weight in weighed:
        if weight:
            shares[particle] = shares.get(particle, 0) + weight / whole
    for kept in combinations_with_replacement(sorted(shares), particles):
        orders = math.factorial(particles) // math.prod(map(math.factorial, Counter(kept).values()))
        yield kept, orders * math.prod(shares[particle] for particle in kept)
