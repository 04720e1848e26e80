"""The smallest counterexample: Hypothesis draws cases of small fractions and shrinks those that show the fault."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase, fraction_case
from resispec_ref.oracle.cases.tables import ChainCase, Tables, TreeCase

Case = TypeVar("Case", PositionCase, ChainCase, TreeCase)


def smallest_position(
    shows_fault: Callable[[PositionCase], bool],
    *,
    candidates: list[int],
    vocab: int,
    distinct: bool,
    seconds: float,
) -> PositionCase | None:
    """The smallest position found with `shows_fault`: few tokens, few candidates, small denominators, in this order.

    `shows_fault` must give the same answer to the same case (`case_seed` seeds it).

    Raises:
        ValueError: Hypothesis is not installed.
    """
    st = _hypothesis_strategies()

    @st.composite
    def cases(draw) -> PositionCase | None:  # type: ignore[no-untyped-def]
        V = draw(st.integers(2, vocab))
        K = draw(st.sampled_from(sorted(candidates)))
        p, q = (_law(draw, st, V) for _ in range(2))
        if distinct and sum(v > 0 for v in q) < K:
            return None
        return fraction_case([f"{w}/{sum(p)}" for w in p], [f"{w}/{sum(q)}" for w in q], K)

    return _find(cases(), shows_fault, seconds)


def smallest_chain(
    shows_fault: Callable[[ChainCase], bool], *, drafted: list[int], vocab: int, seconds: float
) -> ChainCase | None:
    """The smallest chain found with `shows_fault`; rows that do not depend on the prefix count as smaller."""
    st = _hypothesis_strategies()

    @st.composite
    def cases(draw) -> ChainCase:  # type: ignore[no-untyped-def]
        K = draw(st.sampled_from(sorted(drafted)))
        return ChainCase(*_models(draw, st, K + 1, K, vocab))

    return _find(cases(), shows_fault, seconds)


def smallest_tree(shows_fault: Callable[[TreeCase], bool], *, vocab: int, seconds: float) -> TreeCase | None:
    """The smallest tree found with `shows_fault`, of one or two levels and one or two children a node."""
    st = _hypothesis_strategies()

    @st.composite
    def cases(draw) -> TreeCase:  # type: ignore[no-untyped-def]
        branching = draw(st.sampled_from([(1,), (2,), (1, 1), (2, 1), (1, 2), (2, 2)]))
        return TreeCase(*_models(draw, st, len(branching) + 1, len(branching) + 1, vocab), branching)

    return _find(cases(), shows_fault, seconds)


def _models(draw, st, targets: int, drafts: int, vocab: int) -> tuple[str, Tables, Tables]:  # type: ignore[no-untyped-def]
    """A text that names them, and so many tables of a target and of a draft, of small fractions."""
    V, by_prefix = draw(st.integers(2, vocab)), draw(st.booleans())
    rows = [_law(draw, st, V) for n in (targets, drafts) for i in range(n) for _ in range(V**i if by_prefix else 1)]
    laws = iter([[w / sum(row) for w in row] for row in rows])
    target, draft = (
        tuple(np.array([next(laws) for _ in range(V**i)] if by_prefix else [next(laws)] * V**i) for i in range(n))
        for n in (targets, drafts)
    )
    return "; ".join(" ".join(f"{w}/{sum(row)}" for w in row) for row in rows), target, draft


def case_seed(text: str, seed: int = 0) -> int:
    """A seed that depends on the case alone, so that a search meets the same draws when it comes back to it."""
    return zlib.crc32(text.encode()) ^ (seed << 32)


def _law(draw, st, vocab: int) -> list[int]:  # type: ignore[no-untyped-def]
    """Weights of a law; small sums first, so that shrinking prefers small denominators."""
    whole = draw(st.integers(1, 12))
    weights = list[int]()
    for _ in range(vocab - 1):
        weights.append(draw(st.integers(0, whole - sum(weights))))
    return [*weights, whole - sum(weights)]


def _find(cases, shows_fault: Callable[[Case], bool], seconds: float) -> Case | None:  # type: ignore[no-untyped-def]
    from hypothesis import HealthCheck, Phase, Verbosity, find, settings
    from hypothesis.errors import NoSuchExample

    end, best = time.monotonic() + seconds, list[Case]()

    def condition(case: Case | None) -> bool:
        if case is None or time.monotonic() > end or not shows_fault(case):
            return False
        best.append(case)
        return True

    try:
        find(
            cases,
            condition,
            settings=settings(
                max_examples=400,
                deadline=None,
                database=None,
                derandomize=True,
                verbosity=Verbosity.quiet,
                phases=[Phase.generate, Phase.shrink],
                suppress_health_check=list(HealthCheck),
            ),
        )
    except NoSuchExample:
        return best[-1] if best else None
    except Exception:
        # the time ran out while Hypothesis replayed its answer: what was found so far stands
        if not best:
            raise
    return min(best, key=_size)


def _size(case: PositionCase | ChainCase | TreeCase) -> tuple:
    if not isinstance(case, PositionCase):
        nodes = case.drafted if isinstance(case, ChainCase) else len(case.parents)
        return (case.vocab, nodes, len(case.name))
    assert case.exact is not None
    p, q = case.exact
    denominators = [max(v.denominator for v in law) for law in case.exact]
    return (case.vocab, case.candidates, sum(denominators), sum(len(str(v)) for v in (*p, *q)))


def _hypothesis_strategies():  # type: ignore[no-untyped-def]
    try:
        from hypothesis import strategies
    except ImportError:
        raise ValueError(
            "the search for the smallest counterexample needs Hypothesis: pip install 'resispec-ref[oracle]', "
            "or audit with search=False"
        ) from None
    return strategies
