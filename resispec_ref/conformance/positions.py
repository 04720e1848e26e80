"""Records of one position: laws, candidates, uniforms, what a right verifier answers, and what faulty ones do."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from resispec_ref.acceptance import uniforms_needed, verify
from resispec_ref.arrays.convert import objects
from resispec_ref.bounds import optimal_acceptance_for
from resispec_ref.conformance.controls import position_controls
from resispec_ref.conformance.numbers import digits, written
from resispec_ref.conformance.probes import Point, probes
from resispec_ref.law import emitted_law
from resispec_ref.measurements.measure import takes
from resispec_ref.oracle.cases.positions import fraction_case, position_cases
from resispec_ref.oracle.faults.positions import draws
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier

Record = dict[str, Any]
Laws = tuple[list[Fraction], list[Fraction]]

_PAIRS = {"six faults apart": (1, 2), "siblings": (1, 2, 3), "zeros on both sides": (1, 2)}
_MORE_PAIRS = _PAIRS | {"die, draft knows two faces": (1, 2), "skewed": (1,), "close laws": (2, 3)}
_WITH_MORE = ("recursive-rejection", "recursive-rejection-without-replacement", "resispec")
_SEARCHES = {1: 16, 2: 20, 3: 24}
_DIGITS = 30  # longer fractions are choices made in floats, which another machine may make otherwise


def position_records() -> Iterator[Record]:
    """A record for each rule, pair of laws and number of candidates."""
    for name in verifier_names():
        rule = get_verifier(name)
        for case in position_cases((1, 2, 3), real_rows=0):
            pair = case.name.rpartition(",")[0]
            counts = (_MORE_PAIRS if name in _WITH_MORE else _PAIRS).get(pair, ())
            if case.candidates not in counts or not takes(rule, case.candidates):
                continue
            assert case.exact is not None
            p, q = map(list, case.exact)
            found = position_record(rule, p, q, case.candidates, f"position/{name}/{pair}/{case.candidates}")
            if found is not None:
                yield found


def position_record(rule: Verifier, p: list[Fraction], q: list[Fraction], K: int, name: str) -> Record | None:
    """The record of one rule on one pair; None where the rule's own choice has no short fractions."""
    law = emitted_law(rule, p, q, candidates=K)
    if digits(law.acceptance_rate, law.total_variation, *law.law, *law.acceptance_per_candidate) > _DIGITS:
        return None
    rng, lists = random.Random(name), candidate_lists(rule, q, K)
    rng.shuffle(lists)
    points = probes(lambda some: answers(rule, p, q, some), lists, uniforms_needed(rule, K), _SEARCHES[K], rng)
    return described(rule, p, q, K, name, sorted(points), "law")


def described(
    rule: Verifier, p: list[Fraction], q: list[Fraction], K: int, name: str, points: Sequence[Point], group: str
) -> Record:
    """A record of given points, whose answers are exact."""
    law = emitted_law(rule, p, q, candidates=K)
    right = answers(rule, p, q, points, exact=True)
    options = {k: str(v) for k, v in vars(rule).items()}
    return {
        "kind": "position",
        "id": name,
        "group": group,
        "rule": rule.name,
        "options": options,
        "claims": "exact" if rule.exact else "biased",
        "drafting": rule.drafting,
        "candidates": K,
        "target": written(p),
        "draft": written(q),
        "law": [str(v) for v in law.law],
        "acceptance_rate": str(law.acceptance_rate),
        "acceptance_per_candidate": [str(v) for v in law.acceptance_per_candidate],
        "total_variation": str(law.total_variation),
        "bound": str(optimal_acceptance_for(rule, p, q, candidates=K)),
        "tokens": [list(point.tokens) for point in points],
        "uniforms": [[float(u) for u in point.uniforms] for point in points],
        "token": [token for token, _ in right],
        "accepted_index": [index for _, index in right],
        "controls": position_controls(rule, p, q, K, points, lambda some: answers(rule, p, q, some, exact=True)),
    }


def answers(
    rule: Verifier, p: list[Fraction], q: list[Fraction], points: Sequence[Point], *, exact: bool = False
) -> list[tuple[int, int]]:
    """`verify` at every point, in float64 or exactly."""
    if not points:
        return []
    x = np.array([point.tokens for point in points], dtype=np.int64).reshape(len(points), -1)
    if exact:
        u: Any = objects([v for point in points for v in point.uniforms], (len(points), len(points[0].uniforms)))
        found = verify(rule, p, q, x, u)
    else:
        u = np.array([[float(v) for v in point.uniforms] for point in points])
        found = verify(rule, [float(v) for v in p], [float(v) for v in q], x, u)
    return list(zip(map(int, found.token), map(int, found.accepted_index), strict=True))


def candidate_lists(rule: Verifier, q: list[Fraction], K: int) -> list[tuple[int, ...]]:
    """Every list of `K` candidates of positive probability, an exhausted draft's filled up with -1."""
    laws = rule.candidate_laws(objects(q, (len(q),)), K)
    if laws is None:
        lists = [x for x, _ in draws(q, K, rule.drafting)]
    else:
        choices = [[x for x, mass in enumerate(law.tolist()) if mass > 0] or [-1] for law in laws]
        lists = list(itertools.product(*choices))
    return [(*x, *([-1] * (K - len(x)))) for x in lists]


def law_pair(target: str, draft: str) -> Laws:
    """A pair from text, such as `"1/2 1/2"`."""
    case = fraction_case(target.split(), draft.split(), 0)
    assert case.exact is not None
    return list(case.exact[0]), list(case.exact[1])
