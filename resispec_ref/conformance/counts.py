"""Statistical vectors: how often a right verifier can emit each token, as integers, for engines that draw themselves.

After `n` draws a count of a cell of probability `p` is compared with the region where the e-process of the oracle
(`log_mixture`, of the cell against all others) is below `1/δ`. By Ville's inequality a right verifier ever leaves it
with probability at most `δ`, so that one may look after every number of draws listed, and stop at any. The false-alarm
rate of a record is divided among its cells and the acceptance.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import resispec_ref
from resispec_ref.bounds import optimal_acceptance
from resispec_ref.conformance.numbers import written
from resispec_ref.conformance.positions import Record
from resispec_ref.conformance.sequences import flat_table, random_table
from resispec_ref.oracle.cases.positions import position_cases
from resispec_ref.oracle.faults.positions import known_laws
from resispec_ref.oracle.faults.sequences import chain_laws
from resispec_ref.oracle.statistics.evidence import log_excess, log_mixture

FALSE_ALARM_RATE = Fraction(1, 10**6)
"""Of one record, whenever one looks."""
DRAWS = (1_000, 4_000, 16_000, 64_000)
POWER = 0.999  # with which a known fault is outside of the region at the number of draws said

_INDEPENDENT = {
    "six faults apart": (1, 2, 3),
    "siblings": (1, 2, 3),
    "close laws": (1, 2),
    "skewed": (1, 2),
    "zeros on both sides": (1, 2),
    "block rows": (1,),
}
_DISTINCT = {"siblings": (2, 3), "six faults apart": (2,), "skewed": (2, 3)}


def count_records() -> list[Record]:
    """All records, the header first; computed anew, which needs SciPy (the extra `oracle`)."""
    records = [*_positions("independent", _INDEPENDENT), *_positions("distinct", _DISTINCT), *_sequences()]
    head = {
        "kind": "header",
        "format": 1,
        "library": f"resispec-ref {resispec_ref.__version__}",
        "schema": "vectors.schema.json",
        "false_alarm_rate": str(FALSE_ALARM_RATE * len(records)),
        "power": str(Fraction(str(POWER))),
        "records": {kind: sum(r["kind"] == kind for r in records) for kind in ("counts", "joint-counts")},
    }
    return [head, *records]


def _positions(drafting: str, wanted: dict[str, tuple[int, ...]]) -> Iterator[Record]:
    for case in position_cases((1, 2, 3), real_rows=0):
        pair, K = case.name.rpartition(",")[0], case.candidates
        if K not in wanted.get(pair, ()):
            continue
        assert case.exact is not None
        p, q = map(list, case.exact)
        bound = optimal_acceptance(p, q, candidates=K, replacement=drafting == "independent")
        faults = known_laws(p, q, K, draw=drafting, kind="sampler")
        yield {
            "kind": "counts",
            "id": f"counts/{pair}/{K} {drafting}",
            "drafting": drafting,
            "candidates": K,
            "target": written(p),
            "draft": written(q),
            "bound": str(bound),
        } | region(p, bound, faults)


def _sequences() -> Iterator[Record]:
    """Two tokens of a model with rows of its own for every prefix: the joint law, whatever chain or tree is drafted."""
    for vocab in (2, 3):
        rng = random.Random(f"joint counts {vocab}")
        target, draft = ([random_table(rng, vocab, d) for d in range(2)] for _ in range(2))
        joint = [a * b for a, row in zip(target[0], target[1], strict=True) for b in row]
        yield {
            "kind": "joint-counts",
            "id": f"joint counts/vocabulary {vocab}",
            "vocab": vocab,
            "target": written([flat_table(table, d) for d, table in enumerate(target)]),
            "draft": written([flat_table(table, d) for d, table in enumerate(draft)]),
        } | region(joint, None, _walk_faults(target, draft))


def _walk_faults(target: Sequence[Any], draft: Sequence[Any]) -> dict[str, list[Any]]:
    """The joint law of two tokens under faults of a chain that show in it."""

    def arrays(tables: Sequence[Any]) -> tuple[np.ndarray, ...]:
        return tuple(np.array(flat_table(table, d), dtype=float) for d, table in enumerate(tables))

    return {name: law.tolist() for name, law in chain_laws(arrays(target), arrays(draft[:1])).items()}


def region(law: Sequence[Fraction], bound: Any, faults: dict[str, list[Any]]) -> Record:
    """The counts that are no evidence, after each number of `DRAWS`, and from which on each fault leaves them.

    A fault that emits the right law here is left out.

    >>> found = region([Fraction(1, 2), Fraction(1, 2)], Fraction(1, 2), {"always-0": [1, 0]})
    >>> found["low"][0], found["high"][0], found["accepted_high"][0], found["controls"]["always-0"]["found_at"]
    ([404, 404], [596, 596], 597, 1000)
    """
    share = FALSE_ALARM_RATE / (len(law) + (bound is not None))
    low, high = [], []
    for n in DRAWS:
        edges = [cell_region(p, n, share) for p in law]
        low.append([a for a, _ in edges])
        high.append([b for _, b in edges])
    found: Record = {
        "probability": [str(p) for p in law],
        "false_alarm_rate": str(FALSE_ALARM_RATE),
        "draws": list(DRAWS),
        "low": low,
        "high": high,
    }
    if bound is not None:
        found["accepted_high"] = [accepted_region(bound, n, share) for n in DRAWS]
    found["controls"] = {
        name: {"law": [float(v) for v in fault], "found_at": _found_at([float(v) for v in fault], low, high)}
        for name, fault in faults.items()
        if max(abs(float(a - b)) for a, b in zip(fault, map(type(fault[0]), law), strict=True)) > 1e-12
    }
    return found


def cell_region(p: Fraction, draws: int, share: Fraction) -> tuple[int, int]:
    """The least and the largest count of a cell of probability `p` that is no evidence at the false-alarm rate `share`.

    The e-process is log-convex in the count, and least near `n p`: its edges are found by halving.

    >>> cell_region(Fraction(0), 1000, Fraction(1, 100)), cell_region(Fraction(1, 2), 100, Fraction(1, 100))
    ((0, 0), (31, 69))
    """
    if p in (0, 1):
        return (0, 0) if p == 0 else (draws, draws)
    cells = np.array([float(p), float(1 - p)])
    threshold = -math.log(share)

    def inside(count: int) -> bool:
        return bool(log_mixture(np.array([count, draws - count]), cells) < threshold)

    middle = round(draws * p)
    return -_furthest(lambda c: inside(-c), -middle, 0), _furthest(inside, middle, draws)


def accepted_region(bound: Any, draws: int, share: Fraction) -> int:
    """The largest number of accepted candidates that is no evidence of more than the bound."""
    return _furthest(lambda c: log_excess(c, draws, float(bound)) < -math.log(share), int(draws * bound), draws)


def _furthest(inside: Callable[[int], bool], start: int, last: int) -> int:
    """The largest integer from `start` to `last` up to which all are inside."""
    good, bad = start, last + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if inside(middle) else (good, middle)
    return good


def _found_at(law: Sequence[float], low: Sequence[Sequence[int]], high: Sequence[Sequence[int]]) -> int | None:
    """The first number of draws after which one cell alone is outside with the probability `POWER`; None if none is."""
    from scipy.stats import binom  # slow to import

    for n, least, most in zip(DRAWS, low, high, strict=True):
        outside = binom.cdf(np.array(least) - 1, n, law) + binom.sf(np.array(most), n, law)
        if float(np.max(outside)) >= POWER:
            return n
    return None
