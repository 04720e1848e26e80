"""Uniforms on both sides of the places where an answer changes, found by halving; the rule is run and not looked into.

Uniforms are odd multiples of 1/20000: short decimals that lie in the middle between multiples of 1/10000. Where an
answer changes between two of them both are kept, if the answer stays the same when a uniform is moved by `MARGIN`:
whoever computes in float32 gets the same one, and a threshold that is off by more than about 1e-4 shows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple

CELLS = 10_000
MARGIN = Fraction(1, 50_000)
_COARSE = [round(k * (CELLS - 1) / 8) for k in range(9)]  # where a line is looked at before halving


class Point(NamedTuple):
    """What a verification is given besides the laws."""

    tokens: tuple[int, ...]
    uniforms: tuple[Fraction, ...]


class _Line(NamedTuple):
    tokens: tuple[int, ...]
    base: tuple[Fraction, ...]
    along: int

    def at(self, cell: int) -> Point:
        u = Fraction(2 * cell + 1, 2 * CELLS)
        return Point(self.tokens, (*self.base[: self.along], u, *self.base[self.along + 1 :]))


Run = Callable[[Sequence[Point]], Sequence[Hashable]]
"""The answers at some points."""


def probes(run: Run, tokens: Sequence[tuple[int, ...]], width: int, searches: int, rng: random.Random) -> list[Point]:
    """Points beside changes of the answer, and where none is met along a line a point of that line.

    Args:
        run: what is asked.
        tokens: the lists of candidates to choose from, in turn.
        width: how many uniforms there are; lines go along each in turn.
        searches: how many lines are searched; each gives up to two points.
        rng: chooses the lines; `random.Random` draws the same numbers everywhere.

    >>> found = probes(lambda points: [u < (Fraction(1, 3),) for _, u in points], [()], 1, 1, random.Random(0))
    >>> [float(u) for _, (u,) in found]
    [0.33325, 0.33345]
    """
    lines = [
        _Line(
            tokens[i % len(tokens)],
            tuple(Fraction(2 * rng.randrange(CELLS) + 1, 2 * CELLS) for _ in range(width)),
            (i // len(tokens) + i) % width,
        )
        for i in range(searches)
    ]
    answers = run([line.at(cell) for line in lines for cell in _COARSE])
    sides = list[list[Point]]()  # of each side of each change, the points to choose from, nearest first
    brackets = list[tuple[_Line, int, int, Hashable]]()
    for i, line in enumerate(lines):
        here = answers[i * len(_COARSE) : (i + 1) * len(_COARSE)]
        changes = [k for k in range(len(here) - 1) if here[k] != here[k + 1]]
        if changes:
            k = rng.choice(changes)
            brackets.append((line, _COARSE[k], _COARSE[k + 1], here[k]))
        else:
            sides.append([Point(line.tokens, line.base)])
    while any(high - low > 1 for _, low, high, _ in brackets):
        middles = [(low + high) // 2 for _, low, high, _ in brackets]
        answers = run([line.at(cell) for (line, *_), cell in zip(brackets, middles, strict=True)])
        brackets = [
            (line, cell, high, lower) if answer == lower else (line, low, max(cell, low + 1), lower)
            for (line, low, high, lower), cell, answer in zip(brackets, middles, answers, strict=True)
        ]
    for line, low, high, _ in brackets:
        sides += [[line.at(cell) for cell in (low, low - 1) if cell >= 0]]
        sides += [[line.at(cell) for cell in (high, high + 1) if cell < CELLS]]
    steady = _steady(run, [point for side in sides for point in side])
    chosen = [next((point for point in side if point in steady), None) for side in sides]
    return list(dict.fromkeys(point for point in chosen if point is not None))


def _steady(run: Run, points: Sequence[Point]) -> set[Point]:
    """The points at which no uniform matters to within `MARGIN`."""
    near = [
        (point, Point(point.tokens, (*u[:i], v, *u[i + 1 :])))
        for point in points
        for u in [point.uniforms]
        for i in range(len(u))
        for v in (u[i] - MARGIN, u[i] + MARGIN)
    ]
    answer = dict(zip(points, run(points), strict=True))
    moved = run([other for _, other in near])
    return set(points) - {point for (point, _), other in zip(near, moved, strict=True) if other != answer[point]}
