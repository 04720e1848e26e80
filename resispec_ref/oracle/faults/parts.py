"""What faulty verifiers emit given their candidates: the parts of a verifier, right and wrong, over plain numbers.

Numbers of any kind, so rational in, rational out. `Steps` puts an acceptance test, a residual and a draft law together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
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


def one_hot(q: Law, x: int) -> Law:
    """The draft law of a candidate that was taken, not drawn."""
    return [v * 0 + (y == x) for y, v in enumerate(q)]


def without(q: Law, x: int) -> Law:
    rest = [v * (y != x) for y, v in enumerate(q)]
    return normalised(rest, rest)


@dataclass(frozen=True)
class Steps:
    """A verifier that tests its candidates in turn; `last`, where given, is the residual after the last candidate.

    Called, it gives the law of what it emits; `emit` runs it on given uniforms, one a candidate and the last for
    the last draw.
    """

    accept: Callable[[Law, Law, int], Any] = ratio
    reject: Callable[[Law, Law, int], Law] = residual
    following: Callable[[Law, int], Law] = same
    last: Callable[[Law, Law, int], Law] | None = None
    tested: Callable[[Law, int], Law] = same
    """The draft law that a candidate is tested with: `one_hot` where it was taken."""

    def __call__(self, p: Law, q: Law, candidates: Sequence[int]) -> Law:
        law, w = [p[0] * 0] * len(p), p[0] * 0 + 1
        for i, x in enumerate(candidates):
            a = self.accept(p, self.tested(q, x), x)
            law[x] = law[x] + w * a
            w = w * (1 - a)
            if w == 0:
                return law
            p, q = self._rejected(p, q, x, i == len(candidates) - 1), self.following(q, x)
        return [v + w * u for v, u in zip(law, p, strict=True)]

    def emit(self, p: Law, q: Law, candidates: Sequence[int], uniforms: Sequence[Any]) -> tuple[int, int]:
        """The emitted token and the accepted index (`K` if none), by the conventions of `verify`."""
        for i, x in enumerate(candidates):
            if uniforms[i] < self.accept(p, self.tested(q, x), x):
                return x, i
            p, q = self._rejected(p, q, x, i == len(candidates) - 1), self.following(q, x)
        return drawn(p, uniforms[-1]), len(candidates)

    def _rejected(self, p: Law, q: Law, x: int, final: bool) -> Law:
        return (self.last if self.last is not None and final else self.reject)(p, self.tested(q, x), x)


def drawn(law: Law, uniform: Any) -> int:
    """Inverse CDF in token order.

    >>> drawn([0.5, 0.0, 0.5], 0.5)
    2
    """
    running = law[0] * 0
    for y, mass in enumerate(law):
        running = running + mass
        if uniform < running:
            return y
    return max(y for y, mass in enumerate(law) if mass > 0)


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


@dataclass(frozen=True)
class OfSeveral(Steps):
    """Steps that are another fault, or none, where there are fewer than two candidates."""

    original: bool = False
    """Whether the last draw is from the target as it was at first."""

    def __call__(self, p: Law, q: Law, candidates: Sequence[int]) -> Law:
        return self._steps(p, candidates)(p, q, candidates)

    def emit(self, p: Law, q: Law, candidates: Sequence[int], uniforms: Sequence[Any]) -> tuple[int, int]:
        return self._steps(p, candidates).emit(p, q, candidates, uniforms)

    def _steps(self, p: Law, candidates: Sequence[int]) -> Steps:
        if len(candidates) < 2:
            raise DoesNotApply
        last = (lambda *_: p) if self.original else self.last
        return Steps(self.accept, self.reject, self.following, last, self.tested)


@dataclass(frozen=True)
class Sorted(Steps):
    """Candidates in the order of draft probability, not of their draw."""

    def __call__(self, p: Law, q: Law, candidates: Sequence[int]) -> Law:
        return super().__call__(p, q, sorted(candidates, key=lambda x: -q[x]))

    def emit(self, p: Law, q: Law, candidates: Sequence[int], uniforms: Sequence[Any]) -> tuple[int, int]:
        order = sorted(range(len(candidates)), key=lambda i: -q[candidates[i]])
        token, index = super().emit(p, q, [candidates[i] for i in order], uniforms)
        return token, order[index] if index < len(order) else index


@dataclass(frozen=True)
class UniformReused(Steps):
    """The uniform of the last test that failed draws from the residual too."""

    last: Callable[[Law, Law, int], Law] | None = same_uniform

    def emit(self, p: Law, q: Law, candidates: Sequence[int], uniforms: Sequence[Any]) -> tuple[int, int]:
        used = [*uniforms[: len(candidates)], uniforms[len(candidates) - 1]]
        return Steps(self.accept, self.reject, self.following, None, self.tested).emit(p, q, candidates, used)


def one_race(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    if len(candidates) != 1:
        raise DoesNotApply
    return Steps(last=same_race)(p, q, candidates)


@dataclass(frozen=True)
class OneUniform:
    """One uniform for all candidates: the i-th is accepted if it lies between the best so far and `a_i`."""

    following: Callable[[Law, int], Law] = same
    tested: Callable[[Law, int], Law] = same

    def __call__(self, p: Law, q: Law, candidates: Sequence[int]) -> Law:
        law, reached = [p[0] * 0] * len(p), p[0] * 0
        for x in candidates:
            tested = self.tested(q, x)
            a = ratio(p, tested, x)
            law[x] = law[x] + max(a - reached, a * 0)
            reached = max(reached, a)
            if reached == 1:
                return law
            p, q = residual(p, tested, x), self.following(q, x)
        return [v + (1 - reached) * u for v, u in zip(law, p, strict=True)]

    def emit(self, p: Law, q: Law, candidates: Sequence[int], uniforms: Sequence[Any]) -> tuple[int, int]:
        used = [uniforms[0]] * len(candidates) + [uniforms[-1]]
        return Steps(following=self.following, tested=self.tested).emit(p, q, candidates, used)


def for_draw(given: Given, draw: str) -> Given:
    """The same fault in a verifier that is right otherwise for candidates drawn so.

    Distinct candidates: the draft law is renormalised after each; candidates that were taken (`"top-k"`): one-hot laws.
    """
    if not isinstance(given, Steps | OneUniform):
        return given
    if draw == "distinct" and given.following is same:
        return replace(given, following=without)
    return replace(given, tested=one_hot) if draw == "top-k" else given


def tempered(power: int | float) -> Given:
    def given(p: Law, q: Law, candidates: Sequence[int]) -> Law:
        weights = [float(v) ** power if v > 0 else 0.0 for v in p]
        return normalised(weights, weights)

    return given


def lenient(factor: float) -> Callable[[Law, Law, int], Any]:
    return lambda p, q, x: min(1, like(factor, p[x]) * p[x] / q[x]) if q[x] > 0 else ratio(p, q, x)


def like(value: float, number: Any) -> Any:
    """`value` beside `number`: beside a rational the decimal that it prints as."""
    return Fraction(str(value)) if isinstance(number, Fraction) else value
