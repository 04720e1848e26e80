"""Deterministic checks beside the statistics: same answer twice, untouched inputs, edges, forced residuals.

Each check is a function of the subject that returns findings. What proves a wrong law is a `fault`; what happens at a
single point of the noise, or in a case that cannot arise by exact arithmetic, is a `note`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.positions import PositionCase, fraction_case
from resispec_ref.oracle.drawing.positions import draw_candidates, laws_seen, verify_many
from resispec_ref.oracle.report.record import Finding
from resispec_ref.oracle.subjects.calls import CallError, Clock
from resispec_ref.oracle.subjects.convert import Format
from resispec_ref.oracle.subjects.subject import Pace, Subject

_EDGE_PAIRS = (
    ("0 1", "1 0"),
    ("0 1/2 1/2", "1 0 0"),
    ("1/2 1/2", "1/2 1/2"),
    ("33/100 17/50 0 33/100", "1/4 1/4 1/4 1/4"),
    ("1/5 2/5 2/5", "3/5 3/10 1/10"),
    ("1/2 1/4 1/4 0", "0 0 1/2 1/2"),
)
_MAX_EDGES = 729


def position_checks(subject: Subject, case: PositionCase) -> Iterator[Finding]:
    """All checks of a sampler or verifier; `case` is an ordinary one."""
    yield from inputs_unchanged(subject, case)
    if subject.kind == "verifier":
        yield from same_answer(subject, case)
        if subject.noise is not None:
            if subject.batched:
                yield from rows_alone(subject, case)
            yield from edges(subject, case.candidates)
            yield from forced_residual(subject, case.candidates)


def inputs_unchanged(subject: Subject, case: PositionCase) -> Iterator[Finding]:
    """The arrays handed over are bit for bit what they were: else a caller's next step uses wrong laws."""
    kept: list[Any] = []
    watching = replace(subject, format=_Watching(**vars(subject.format), kept=kept))
    rng = np.random.default_rng(0)
    for _ in range(20):
        kept.clear()
        _emit(watching, case, rng, rows=4)
        for given, before in kept:
            after = subject.format.numpy(given)
            if not np.array_equal(after, before, equal_nan=True):
                yield Finding(
                    "fault",
                    "inputs unchanged",
                    "the implementation wrote to its arguments",
                    {"before": before.reshape(-1)[:16], "after": after.reshape(-1)[:16]},
                )
                return


def same_answer(subject: Subject, case: PositionCase) -> Iterator[Finding]:
    """The same candidates and noise, or generator in the same state, give the same tokens."""
    # in batches of one size: a generator is made for each call
    first, second = (_emit(replace(subject, pace=Pace()), case, np.random.default_rng(5), rows=16) for _ in range(2))
    if not np.array_equal(first, second):
        what = "noise" if subject.noise is not None else "generator in the same state"
        i = int(np.flatnonzero(first != second)[0])
        yield Finding(
            "fault" if subject.noise is not None else "note",
            "same noise, same answer",
            f"the same {what} gave token {first[i]} once and {second[i]} then: results cannot be reproduced",
            case.inputs(),
        )


def rows_alone(subject: Subject, case: PositionCase) -> Iterator[Finding]:
    """A row alone, first in a batch, or fourth beside others: the same token for the same noise."""
    rng = np.random.default_rng(6)
    x, u = _inputs(subject, case, rng, 32)
    together = _verify(subject, case, x, u, rng)
    for label, order in (("alone", None), ("in another order", rng.permutation(len(x)))):
        if order is None:
            again = np.array([_verify(subject, case, x[i : i + 1], u[i : i + 1], rng)[0] for i in range(len(x))])
        else:
            again = np.empty_like(together)
            again[order] = _verify(subject, case, x[order], u[order], rng)
        if not np.array_equal(together, again):
            i = int(np.flatnonzero(together != again)[0])
            yield Finding(
                "fault",
                "row alone or among others",
                f"row {i} gives token {together[i]} in a batch and {again[i]} {label}, with the same noise",
                case.inputs() | {"candidates drawn": x[i], "uniforms": u[i]},
            )


def edges(subject: Subject, K: int) -> Iterator[Finding]:
    """At the ends of the noise no token of probability 0 is emitted, and nothing is out of range."""
    eps = 2.0**-53 if subject.format.dtype == "float64" else 2.0**-24
    seen = set[tuple[str, str]]()
    for target, draft in _EDGE_PAIRS:
        case = fraction_case(target.split(), draft.split(), K)
        p, q = laws_seen(subject, case)
        if subject.draw == "distinct" and np.count_nonzero(q) < K:
            continue
        assert subject.noise is not None
        d = subject.noise.dimension(K, case.vocab)
        values = (0.0, 0.5, 1 - eps)
        grid = itertools.islice(itertools.product(values, repeat=d), _MAX_EDGES)
        u = np.array(list(grid))
        rng = np.random.default_rng(8)
        drawn = draw_candidates(subject, q, K, rng, 8)
        for x in np.unique(drawn, axis=0):
            try:
                tokens = _verify(subject, case, np.tile(x, (len(u), 1)), u, rng)
            except CallError as error:
                message = f"at an edge of the noise: {error.message}"
                if (error.problem, target) not in seen:
                    seen.add((error.problem, target))
                    yield Finding("note", "edges of the uniform", message, case.inputs() | {"candidates drawn": x})
                continue
            bad = np.flatnonzero(p[tokens] == 0)
            if len(bad) and ("zero", target) not in seen:
                seen.add(("zero", target))
                i = bad[0]
                yield Finding(
                    "note",
                    "edges of the uniform",
                    f"token {tokens[i]} of probability 0 is emitted (compare uniforms with <, not <=)",
                    case.inputs() | {"candidates drawn": x, "uniforms": u[i]},
                )


def forced_residual(subject: Subject, K: int) -> Iterator[Finding]:
    """What happens when rounding leaves a residual without mass: an exception, one token, the uniform law.

    The target is the draft but for a rounding error at the candidate, and the acceptance test is given the largest
    uniform: it fails, and nothing is left to draw from. Accepting, or drawing from the target, is harmless.
    """
    assert subject.noise is not None
    if subject.draw != "independent":
        return
    q = np.array([0.1, 0.2, 0.3, 0.4])
    p = q * np.array([1, 1, 1, 1 - 1e-6])
    case = PositionCase("forced zero residual", p, q, K)
    d = subject.noise.dimension(K, len(p))
    x, rng = np.full((512, K), 3), np.random.default_rng(9)
    u = rng.random((512, d))
    u[:, : min(K, d)] = 1 - (2.0**-53 if subject.format.dtype == "float64" else 2.0**-24)
    given = {"target": p, "draft": q, "candidates drawn": x[0], "uniforms": u[0]}
    try:
        tokens = _verify(subject, case, x, u, rng)
    except CallError as error:
        message = f"a residual without mass: {error.problem}: {error.message}"
        yield Finding("note", "forced zero residual", message, given)
        return
    emitted = Counter(tokens.tolist())
    if len(emitted) == 1 and 3 not in emitted:
        message = f"a residual without mass: token {tokens[0]} is emitted, whatever the noise"
        yield Finding("note", "forced zero residual", message, given)
    elif (
        len(emitted) == 4 and emitted[0] > 90
    ):  # uniform: 128 expected; from the target: 51; 90 is 4 deviations off both
        message = "a residual without mass is drawn from uniformly over the vocabulary"
        yield Finding("note", "forced zero residual", message, given)


class _Watching(Format):
    """A format that keeps each array that it makes, and a copy of what was in it."""

    def __init__(self, kept: list[Any], **options: Any):
        super().__init__(**options)
        object.__setattr__(self, "kept", kept)

    def laws(self, p: np.ndarray) -> Any:
        return self._keep(super().laws(p))

    def integers(self, x: np.ndarray) -> Any:
        return self._keep(super().integers(x))

    def _keep(self, given: Any) -> Any:
        self.kept.append((given, np.array(self.numpy(given))))  # type: ignore[attr-defined]
        return given


def _inputs(subject: Subject, case: PositionCase, rng: np.random.Generator, rows: int) -> tuple[np.ndarray, Any]:
    _, q = laws_seen(subject, case)
    x = draw_candidates(subject, q, case.candidates, rng, rows)
    return x, subject.uniforms(rng, (rows,), case.candidates, case.vocab)


def _verify(subject: Subject, case: PositionCase, x: np.ndarray, u: Any, rng: np.random.Generator) -> np.ndarray:
    return subject.guarded(lambda clock: verify_many(subject, [case], x, u, rng, clock)[0])


def _emit(subject: Subject, case: PositionCase, rng: np.random.Generator, rows: int) -> np.ndarray:
    if subject.kind == "sampler":
        u = subject.uniforms(rng, (rows,), case.candidates, case.vocab)
        shape = (case.candidates, case.vocab)

        def job(clock: Clock) -> Any:
            laws = [case.target, case.draft]
            return subject.call(laws, [case.candidates], rng, clock=clock, u=u, shape=shape, last=[rows])

        return np.asarray(subject.format.numpy(subject.guarded(job)))
    x, u = _inputs(subject, case, rng, rows)
    return _verify(subject, case, x, u, rng)
