"""What faulty verifiers emit given their candidates: the parts of a verifier, right and wrong, over plain numbers.

Numbers of any kind, so rational in, rational out. `steps` puts an acceptance test, a residual and a draft law together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Law = list[Any]
Given = Callable[[Law, Law, Sequence[int]], Law]
"""`(p, q, candidates) -> law of the emitted token`."""


class DoesNotApply(Exception):
    pass


def ratio(p: Law, q: Law, x: int) -> Any:
    """`min(1, p/q)` as the test `u q(x) < p(x)` has it, also for a candidate that the draft cannot have drawn."""
    return min(1, p[x] / q[x]) if q[x] > 0 else q[x] * 0 + (p[x] > 0)


def residual(p: Law, q: Law, x: int) -> Law:
    return normalised([max(a - b, a * 0) for a, b in zip(p, q, strict=True)], p)


def normalised(mass: Law, otherwise: Law) -> Law:
    whole = sum(mass)
    return [m / whole for m in mass] if whole > 0 else otherwise


def same(q: Law, x: int) -> Law:
    return q


def without(q: Law, x: int) -> Law:
    rest = [v * (y != x) for y, v in enumerate(q)]
    return normalised(rest, rest)


def steps(
    accept: Callable[[Law, Law, int], Any] = ratio,
    reject: Callable[[Law, Law, int], Law] = residual,
    following: Callable[[Law, int], Law] = same,
    last: Callable[[Law, Law, int], Law] | None = None,
) -> Given:
    """A verifier that tests its candidates in turn; `last`, where given, is the residual after the last candidate."""

    def given(p: Law, q: Law, candidates: Sequence[int]) -> Law:
        law, w = [p[0] * 0] * len(p), p[0] * 0 + 1
        for i, x in enumerate(candidates):
            a = accept(p, q, x)
            law[x] = law[x] + w * a
            w = w * (1 - a)
            if w == 0:
                return law
            p = (last if last and i == len(candidates) - 1 else reject)(p, q, x)
            q = following(q, x)
        return [v + w * u for v, u in zip(law, p, strict=True)]

    return given


def drafted_only(p: Law, q: Law, x: int) -> Law:
    return normalised([max(v - q[x], v * 0) if y == x else v for y, v in enumerate(p)], p)


def softmax_residual(p: Law, q: Law, x: int) -> Law:
    weights = [math.exp(max(float(a - b), 0.0)) for a, b in zip(p, q, strict=True)]
    return normalised(weights, p)


def absolute_difference(p: Law, q: Law, x: int) -> Law:
    return normalised([abs(a - b) for a, b in zip(p, q, strict=True)], p)


def reversed_residual(p: Law, q: Law, x: int) -> Law:
    return residual(q, p, x)


def leftover_on_last(p: Law, q: Law, x: int) -> Law:
    mass = [max(a - b, a * 0) for a, b in zip(p, q, strict=True)]
    return [*mass[:-1], mass[-1] + 1 - sum(mass)]


def greedy_residual(p: Law, q: Law, x: int) -> Law:
    r = residual(p, q, x)
    best = max(range(len(r)), key=lambda y: r[y])
    return [v * 0 + (y == best) for y, v in enumerate(r)]


def same_uniform(p: Law, q: Law, x: int) -> Law:
    """The residual by inverse CDF with a uniform known to lie in `[a, 1)`: it failed the acceptance test."""
    a, r, start = ratio(p, q, x), residual(p, q, x), p[0] * 0
    law = []
    for mass in r:
        end = start + mass
        law.append(max(end - max(start, a), p[0] * 0) / (1 - a))
        start = end
    return law


def same_race(p: Law, q: Law, x: int) -> Law:
    """The residual by a race of the clocks `E_y` that drew `x`, given that `x` rang first in the draft's race.

    That ring came at time `t`, exponential of rate 1; the others have `E_y = q_y t + e_y` with fresh `e_y`. In the
    residual's race clock `y` of rate `r_y` therefore starts at `t q_y / r_y`: between two starts the race is ordinary.
    """
    r = residual(p, q, x)
    zero = p[0] * 0
    starts = sorted((q[y] / r[y], y) for y in range(len(r)) if r[y] > 0)
    law, rate, rung = [zero] * len(r), zero, zero
    running: list[int] = []
    for i, (start, y) in enumerate(starts):
        running.append(y)
        rate = rate + r[y]
        if i + 1 < len(starts):
            after = rung + rate * (starts[i + 1][0] - start)
            chance = 1 / (1 + rung) - 1 / (1 + after)
        else:
            after, chance = rung, 1 / (1 + rung)
        for z in running:
            law[z] = law[z] + chance * r[z] / rate
        rung = after
    return law


def one_race(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    if len(candidates) != 1:
        raise DoesNotApply
    return steps(last=same_race)(p, q, candidates)


def no_residual(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    if len(candidates) < 2:
        raise DoesNotApply  # there it is resample-from-target
    return steps(reject=lambda p, q, x: p)(p, q, candidates)


def one_uniform(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    """One uniform for all candidates: the i-th is accepted if it lies between the best so far and `a_i`."""
    law, reached = [p[0] * 0] * len(p), p[0] * 0
    for x in candidates:
        a = ratio(p, q, x)
        law[x] = law[x] + max(a - reached, a * 0)
        reached = max(reached, a)
        if reached == 1:
            return law
        p = residual(p, q, x)
    return [v + (1 - reached) * u for v, u in zip(law, p, strict=True)]


def sorted_by_draft(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    return steps(following=without)(p, q, sorted(candidates, key=lambda x: -q[x]))


def tempered(power: int | float) -> Given:
    def given(p: Law, q: Law, candidates: Sequence[int]) -> Law:
        weights = [float(v) ** power if v > 0 else 0.0 for v in p]
        return normalised(weights, weights)

    return given


def lenient(factor: float) -> Callable[[Law, Law, int], Any]:
    return lambda p, q, x: min(1, factor * p[x] / q[x]) if q[x] > 0 else ratio(p, q, x)


def last_from_the_original_target(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    if len(candidates) < 2:
        raise DoesNotApply  # there it is resample-from-target
    return steps(last=lambda *_: p)(p, q, candidates)
