"""Where an implementation is wrong: which emitted token, first or extra, and which outcomes; and a replay to paste."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import ChainCase, TreeCase
from resispec_ref.oracle.drawing.mixing import AnyCase
from resispec_ref.oracle.statistics.evidence import Evidence, log_mixture
from resispec_ref.oracle.subjects.subject import Subject

_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")


def where(case: AnyCase, evidence: Evidence) -> str:
    """The first emitted token whose law is wrong, and the outcomes that are furthest off.

    The law of the first tokens is looked at before that of the first two, and so on: what comes later is wrong wherever
    what comes before is.
    """
    counts, law, start = evidence.counts, evidence.law, ""
    if not isinstance(case, PositionCase):
        V, length = case.vocab, len(case.target)
        for tokens in range(1, length + 1):
            shape = (V**tokens, V ** (length - tokens))
            counts, law = evidence.counts.reshape(shape).sum(1), evidence.law.reshape(shape).sum(1)
            if float(log_mixture(counts, law)) > math.log(1e3):
                break
        else:
            return ""
        extra = isinstance(case, ChainCase) and tokens == length
        name = "extra" if extra else _PLACES[tokens - 1] if tokens <= len(_PLACES) else f"{tokens}th"
        level = f" (level {tokens} of the tree)" if isinstance(case, TreeCase) else ""
        start = (
            f"the {name} token{level}, the ones before it being right: " if tokens > 1 else f"the first token{level}: "
        )
    off = counts / max(counts.sum(), 1) - law
    shown = [i for i in np.argsort(-np.abs(off), kind="stable")[:2] if off[i] != 0]
    return start + "; ".join(
        f"{_outcome(case, int(i), law)} {'too often' if off[i] > 0 else 'too seldom'}" for i in shown
    )


def replay(subject: Subject, case: AnyCase, draws: int, seed: int) -> str:
    """Lines of Python that audit the implementation on this case alone, all numbers in full."""
    options: dict[str, tuple[Any, str]] = {
        "draw": (subject.draw, "independent"),
        "library": (subject.format.library, "numpy"),
    }
    options |= {"dtype": (subject.format.dtype, "float64"), "inputs": (subject.format.inputs, "probabilities")}
    given = [
        f", {name}={value!r}" for name, (value, usual) in options.items() if value != usual and not callable(value)
    ]
    if callable(subject.draw):
        given.append(", draw=...")
    if subject.noise is not None:
        given.append(f", noise={','.join(f'{kind}:{size}' for kind, size in subject.noise.parts)!r}")
    text, called = _case(case)
    return (
        f"{text}\nprint(rs.audit(..., kind={subject.kind!r}, cases=[{called}], draws={draws}, seed={seed}"
        f"{''.join(given)}, batched={subject.batched}))  # in place of ...: your function"
    )


def _case(case: AnyCase) -> tuple[str, str]:
    """The imports, and the case as an expression."""
    begin = "import resispec_ref as rs"
    if isinstance(case, PositionCase):
        if case.exact is not None:
            p, q = ([str(v) for v in law] for law in case.exact)
            return (
                f"{begin}; from resispec_ref.oracle import fraction_case",
                f"fraction_case({p}, {q}, {case.candidates})",
            )
        arrays = f"np.array({case.target.tolist()}), np.array({case.draft.tolist()})"
        begin += "; import numpy as np; from resispec_ref.oracle import PositionCase"
        return begin, f"PositionCase({case.name!r}, {arrays}, {case.candidates})"
    name = type(case).__name__
    tables = (f"({''.join(f'np.array({t.tolist()}), ' for t in side)})" for side in (case.target, case.draft))
    tail = f", {case.branching}" if isinstance(case, TreeCase) else ""
    begin += f"; import numpy as np; from resispec_ref.oracle import {name}"
    return begin, f"{name}('replay', {', '.join(tables)}{tail})"


def _outcome(case: AnyCase, number: int, law: np.ndarray) -> str:
    if isinstance(case, PositionCase):
        return f"{'token' if case.cells is None else 'cell'} {number}"
    V, digits = case.vocab, list[str]()
    for _ in range(round(math.log(len(law), V))):
        digits.insert(0, str(number % V))
        number //= V
    return " ".join(digits)
