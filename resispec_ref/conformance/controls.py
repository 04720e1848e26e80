"""Negative controls: what a faulty verifier emits on the inputs of a record, so that a check can be seen to fail.

For recursive rejection the known faults of the oracle; for every other rule a few that need nothing but the rule
itself, run on spoiled uniforms or not asked at all. What a control answers may be right at some inputs; a control that
is right at all inputs of a record is left out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from resispec_ref.conformance.probes import Point
from resispec_ref.oracle.faults.parts import DoesNotApply, Law, Steps, drawn, same, without
from resispec_ref.oracle.faults.positions import FAULTS, fault_law
from resispec_ref.rule.verifier import Verifier

Answer = tuple[int, int]
"""Token and accepted index."""
_RECURSIVE = ("recursive-rejection", "recursive-rejection-without-replacement")


@dataclass(frozen=True)
class AtEquality(Steps):
    """Compares by `≤` where `<` is right: at a uniform of 0 it emits what the target lacks."""

    def emit(self, p: Law, q: Law, candidates: Sequence[int], uniforms: Sequence[Any]) -> Answer:
        for i, x in enumerate(candidates):
            if uniforms[i] <= self.accept(p, q, x):
                return x, i
            p, q = self.reject(p, q, x), self.following(q, x)
        reached = [uniforms[-1] <= sum(p[: y + 1]) for y in range(len(p))]
        return reached.index(True), len(candidates)


class FallsOffTheEnd(Steps):
    """A running sum that rounding leaves short of 1: a uniform next to 1 finds no token, and the last one is taken."""

    def emit(self, p: Law, q: Law, candidates: Sequence[int], uniforms: Sequence[Any]) -> Answer:
        token, index = super().emit(p, q, candidates, uniforms)
        short = index == len(candidates) and uniforms[-1] >= 1 - Fraction(1, 2**22)
        return (len(p) - 1 if short else token), index


def position_controls(
    rule: Verifier,
    p: list[Fraction],
    q: list[Fraction],
    candidates: int,
    points: Sequence[Point],
    ask: Callable[[Sequence[Point]], list[Answer]],
) -> dict[str, dict[str, Any]]:
    """What each control answers at the points of a record, with its law where that is known.

    Args:
        ask: the right answers at some points.
    """
    right, found = ask(points), dict[str, dict[str, Any]]()
    known = _known_faults(rule, p, q, points) if rule.name in _RECURSIVE else _without_looking_inside(p, points, ask)
    for name, answers in known.items():
        if answers == right:
            continue
        found[name] = {"token": [token for token, _ in answers], "accepted_index": [index for _, index in answers]}
        law = name in FAULTS and fault_law(FAULTS[name], p, q, candidates, draw=rule.drafting)
        if rule.name in _RECURSIVE and law:
            exact = all(isinstance(v, Fraction) for v in law)
            found[name]["law"] = [str(v) if exact else float(v) for v in law]
    return found


def _known_faults(
    rule: Verifier, p: list[Fraction], q: list[Fraction], points: Sequence[Point]
) -> dict[str, list[Answer]]:
    emits = {
        name: fault.given.emit
        for name, fault in FAULTS.items()
        if hasattr(fault.given, "emit") and fault.draw in (None, rule.drafting)
    }
    following = same if rule.replacement else without
    emits["accepts-at-equality"] = AtEquality(following=following).emit
    emits["falls-off-the-end"] = FallsOffTheEnd(following=following).emit
    found = {}
    for name, emit in emits.items():
        try:
            found[name] = [_among_those_there(emit, p, q, point) for point in points]
        except DoesNotApply:
            continue
    return found


def _among_those_there(emit: Callable[..., Answer], p: list[Fraction], q: list[Fraction], point: Point) -> Answer:
    """The accepted index of none is that of the whole list, absent candidates included."""
    there = [x for x in point.tokens if x >= 0]
    token, index = emit(p, q, there, [*point.uniforms[: len(there)], point.uniforms[-1]])
    return token, len(point.tokens) if index == len(there) else index


def _without_looking_inside(
    p: list[Fraction], points: Sequence[Point], ask: Callable[[Sequence[Point]], list[Answer]]
) -> dict[str, list[Answer]]:
    right = ask(points)
    return {
        "always-accept": [
            (x[0], 0) if x and x[0] >= 0 else answer for (x, _), answer in zip(points, right, strict=True)
        ],
        "candidates-ignored": [(drawn(p, u[-1]), len(x)) for x, u in points],
        "resample-from-target": [
            (drawn(p, u[-1]), index) if index == len(x) else (token, index)
            for (x, u), (token, index) in zip(points, right, strict=True)
        ],
        "acceptance-uniform-reused": ask([Point(x, (*u[:-1], u[-2]) if len(u) > 1 else u) for x, u in points]),
        "one-uniform-for-all-candidates": ask([Point(x, (u[0],) * (len(u) - 1) + u[-1:]) for x, u in points]),
    }
