"""Edge cases of one position: uniforms of 0 and next to 1, thresholds met, residuals of no mass, absent candidates.

All numbers are sums of few powers of two or meet no threshold, so that the answers are the same in float32, float64
and fractions, but for the uniform next to 1 that only float64 has.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from resispec_ref.conformance.positions import Record, described, law_pair
from resispec_ref.conformance.probes import Point
from resispec_ref.rule.registry import get_verifier

_NEXT_TO_1 = Fraction(1) - Fraction(1, 2**24)  # the largest float32 below 1
_NEXT_TO_1_IN_FLOAT64 = Fraction(1) - Fraction(1, 2**53)
_LEAST = Fraction(1, 2**20)
_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)


class Edge(NamedTuple):
    name: str
    target: str
    draft: str
    points: list[tuple[tuple[int, ...], tuple[Fraction | int, ...]]]
    rule: str = "recursive-rejection"
    precision: str = "any"


def _edges() -> Iterator[Edge]:
    whole = (0, _QUARTER, _HALF, _NEXT_TO_1)
    yield Edge("u = 0 and a candidate that the target lacks", "0 1", "1 0", [((0,), (0, 0)), ((0,), (_LEAST, 0))])
    yield Edge(
        "u = 0 draws the first token of the residual that has mass",
        *("0 1/2 1/2", "1 0 0"),
        [((0,), (_HALF, u)) for u in (0, _LEAST, _HALF, _NEXT_TO_1)],
    )
    yield Edge("u at an edge of the running sum", "1/4 1/4 0 1/2", "1/4 1/4 1/4 1/4", [((), (u,)) for u in whole])
    yield Edge("u next to 1 and a last token without mass", "1/2 1/4 1/4 0", "1/4 1/4 1/4 1/4", [((), (_NEXT_TO_1,))])
    yield Edge(
        "u next to 1, for float64",
        *("1/2 1/4 1/4 0", "1/4 1/4 1/4 1/4"),
        [((x,), (_NEXT_TO_1_IN_FLOAT64, _NEXT_TO_1_IN_FLOAT64)) for x in range(4)],
        precision="float64",
    )
    yield Edge(
        "u at the threshold is a rejection",
        *("1/4 3/4", "1/2 1/2"),
        [((0,), (_HALF, 0)), ((0,), (_HALF - _LEAST, 0)), ((1,), (_NEXT_TO_1, 0))],
    )
    yield Edge(
        "equal laws accept for every u, and need no residual",
        *("1/2 1/4 1/4", "1/2 1/4 1/4"),
        [((x,), (u, _NEXT_TO_1)) for x in range(3) for u in (0, _HALF, _NEXT_TO_1)],
    )
    yield Edge(
        "a draft of one token",
        *("1/2 1/4 1/4", "1 0 0"),
        [((0,), (u, v)) for u in (0, _QUARTER, _HALF) for v in (0, _HALF, _NEXT_TO_1)],
    )
    yield Edge(
        "a target of one token",
        *("0 0 1", "1/2 1/4 1/4"),
        [((x,), (u, v)) for x in range(3) for u in (0, _NEXT_TO_1) for v in (0, _NEXT_TO_1)],
    )
    yield Edge(
        "disjoint supports",
        *("0 0 1/4 3/4", "1/2 1/2 0 0"),
        [((x,), (0, v)) for x in range(2) for v in whole],
    )
    yield Edge(
        "masked tokens are never emitted",
        *("0 1/2 0 1/2", "1/4 1/4 1/4 1/4"),
        [((x,), (u, v)) for x in (0, 2) for u in (0, _NEXT_TO_1) for v in whole],
    )
    yield Edge(
        "absent candidates",
        *("1/4 1/8 1/8 1/2", "1/2 1/4 1/8 1/8"),
        [((-1, -1), (_QUARTER, _QUARTER, v)) for v in whole]
        + [((0, -1), (u, 0, v)) for u in (0, Fraction(3, 4)) for v in whole],
    )
    yield Edge(
        "the same candidate twice",
        *("1/4 1/4 1/2", "1/2 1/4 1/4"),
        [((0, 0), (u, v, _QUARTER)) for u in (0, Fraction(3, 4)) for v in (0, _NEXT_TO_1)],
    )
    yield Edge("no candidate", "1/4 1/4 1/2", "1/2 1/4 1/4", [((), (u,)) for u in whole])
    yield Edge(
        "an exhausted draft",
        *("0 0 1", "1/2 1/2 0"),
        [((x, 1 - x, -1), (0, 0, 0, v)) for x in range(2) for v in (0, _NEXT_TO_1)],
        rule="recursive-rejection-without-replacement",
    )
    yield Edge(
        "distinct candidates renormalise the draft",
        *("1/8 1/2 3/8", "1/2 1/4 1/4"),
        [((0, x), (_HALF, u, 0)) for x in (1, 2) for u in (0, Fraction(3, 4), _NEXT_TO_1)],
        rule="recursive-rejection-without-replacement",
    )


def edge_records() -> Iterator[Record]:
    """A record for each edge case.

    >>> next(edge_records())["token"]  # emits what the target has
    [1, 1]
    """
    for edge in _edges():
        rule = get_verifier(edge.rule)
        p, q = law_pair(edge.target, edge.draft)
        points = [Point(x, tuple(Fraction(u) for u in uniforms)) for x, uniforms in edge.points]
        K = len(points[0].tokens)
        yield described(rule, p, q, K, f"edge/{edge.name}", points, "edge") | {"precision": edge.precision}
