"""Draws at one position: samplers, which draw their own candidates, and verifiers, which are handed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from resispec_ref.bounds import optimal_acceptance
from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import sample_tokens
from resispec_ref.oracle.drawing.returned import next_drawn
from resispec_ref.oracle.subjects.calls import CallError, Clock
from resispec_ref.oracle.subjects.convert import token_array
from resispec_ref.oracle.subjects.subject import Prepared, Subject

_CHUNK = 2_000_000  # entries of a batch of laws
_FRESH = 64  # calls one by one after which laws are converted anew: an implementation may have written to them


@dataclass
class Outcome:
    """What a round of draws brought."""

    cells: np.ndarray
    """`(n,)` the cell of each draw."""
    rates: dict[str, tuple[float, int, int]] = field(default_factory=dict)
    """Name -> bound, successes, draws."""
    wrong: list[str] = field(default_factory=list)
    """Contradictions within answers, such as an accepted index that is not the token's."""


def laws_seen(subject: Subject, case: PositionCase) -> tuple[np.ndarray, np.ndarray]:
    """Target and draft after rounding to the implementation's number type."""
    return subject.format.seen(case.target), subject.format.seen(case.draft)


def cell_law(subject: Subject, case: PositionCase) -> np.ndarray:
    """What the cells of a draw are distributed as if the implementation is exact."""
    p, _ = laws_seen(subject, case)
    return p if case.cells is None else np.bincount(case.cells, weights=p)


def draw_candidates(subject: Subject, q: np.ndarray, K: int, rng: np.random.Generator, n: int) -> np.ndarray:
    """`(n, K)` candidates in the order of their draw.

    Raises:
        ValueError: the user's own drawing function returned another shape, or tokens outside the vocabulary.
    """
    if callable(subject.draw):
        x = np.asarray(subject.draw(q, K, rng, n))
        if x.shape != (n, K) or x.dtype.kind not in "iu" or x.min(initial=0) < 0 or x.max(initial=0) >= len(q):
            raise ValueError(f"draw: returned {x.dtype} of shape {x.shape}; token ids of shape ({n}, {K}) are needed")
        return x.astype(np.int64)
    if subject.draw == "top-k":
        return np.tile(np.argsort(-q, kind="stable")[:K], (n, 1))
    if subject.draw == "distinct":
        with np.errstate(divide="ignore"):
            rings = rng.exponential(size=(n, len(q))) / q
        return np.argsort(rings, axis=-1, kind="stable")[:, :K]
    return sample_tokens(q, rng, n * K).reshape(n, K)


def acceptance_bound(subject: Subject, p: np.ndarray, q: np.ndarray, K: int) -> float | None:
    """What an exact implementation can accept at most, if the law of the candidates is known."""
    if subject.kind == "sampler" or callable(subject.draw):
        return None
    if subject.draw == "top-k":
        return float(p[np.argsort(-q, kind="stable")[:K]].sum())
    return min(1.0, float(optimal_acceptance(p, q, candidates=K, replacement=subject.draw == "independent")) + 1e-12)


def draw_positions(
    subject: Subject,
    cases: Sequence[PositionCase],
    which: np.ndarray,
    rng: np.random.Generator,
    bounds: Sequence[float | None],
) -> list[Outcome]:
    """Emitted tokens, and how many of them were candidates; `which` `(n,)` says whose draw each is.

    All cases have the same vocabulary and number of candidates.
    """
    n, K = len(which), cases[0].candidates
    if subject.kind == "sampler":
        return _sample(subject, cases, which, rng)
    candidates = np.empty((n, K), dtype=np.int64)
    for j, case in enumerate(cases):
        here = which == j
        candidates[here] = draw_candidates(subject, laws_seen(subject, case)[1], K, rng, int(here.sum()))
    u = subject.uniforms(rng, (n,), K, cases[0].vocab)
    tokens, index = subject.guarded(lambda clock: verify_many(subject, cases, candidates, u, rng, clock, which))
    found = []
    for j, (case, bound) in enumerate(zip(cases, bounds, strict=True)):
        here = which == j
        x, emitted = candidates[here], tokens[here]
        outcome = Outcome(
            _cells(case, emitted), wrong=_index_faults(x, emitted, None if index is None else index[here])
        )
        if bound is not None:
            outcome.rates["acceptance"] = (bound, int((emitted[:, None] == x).any(-1).sum()), len(x))
        found.append(outcome)
    return found


def verify_many(
    subject: Subject,
    cases: Sequence[PositionCase],
    candidates: np.ndarray,
    u: np.ndarray | None,
    rng: np.random.Generator,
    clock: Clock,
    which: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Tokens `(n,)`, and accepted indices if the implementation returns them, for candidates `(n, K)`.

    `which` `(n,)` says which case each row is of; all of the first where it is left out.
    """
    n, V = len(candidates), cases[0].vocab
    which = np.zeros(n, dtype=np.int64) if which is None else which
    shape = (candidates.shape[1], V)
    target, draft = (np.stack(laws) for laws in zip(*((case.target, case.draft) for case in cases), strict=True))
    found = []
    prepared, start = [Prepared() for _ in cases], 0
    while start < n:
        step = max(1, min(subject.pace.rows, _CHUNK // V)) if subject.batched else 1
        part = slice(start, start + step)
        x = candidates[part]
        v = None if u is None else u[part]
        if subject.batched:
            answer = subject.call([target[which[part]], draft[which[part]]], [x], rng, clock=clock, u=v, shape=shape)
            answer = next_drawn(answer, subject.format, x, V, rng, clock.given)
            found.append(_read(subject, answer, (len(x),), V, clock))
        else:
            if start % _FRESH == 0:
                prepared = [Prepared() for _ in cases]
                for other in prepared[1:]:
                    other.share(prepared[0])
            j = int(which[start])
            one = None if v is None else v[0]
            laws = [cases[j].target, cases[j].draft]
            try:
                answer = subject.call(laws, [x[0]], rng, clock=clock, u=one, shape=shape, prepared=prepared[j])
                answer = next_drawn(answer, subject.format, x[0], V, rng, clock.given)
                tokens, index = _read(subject, answer, (), V, clock)
            except CallError as error:
                error.case = j
                raise
            found.append((tokens.reshape(1), None if index is None else index.reshape(1)))
        start += len(x)
    tokens = np.concatenate([t for t, _ in found])
    indices = [i for _, i in found if i is not None]
    return tokens, np.concatenate(indices) if len(indices) == len(found) else None


def _sample(
    subject: Subject, cases: Sequence[PositionCase], which: np.ndarray, rng: np.random.Generator
) -> list[Outcome]:
    """Draws of a sampler, in calls of half the size: those of different cases follow one another."""
    found = list[list[np.ndarray]]([] for _ in cases)
    counts = np.bincount(which, minlength=len(cases))
    for half in range(2):
        for j, case in enumerate(cases):
            n = int(counts[j]) // 2 if half else -(-int(counts[j]) // 2)
            if n == 0:
                continue
            u = subject.uniforms(rng, (n,), case.candidates, case.vocab)

            def job(clock: Clock, case: PositionCase = case, n: int = n, u: np.ndarray | None = u) -> np.ndarray:
                shape = (case.candidates, case.vocab)
                laws = [case.target, case.draft]
                answer = subject.call(laws, [case.candidates], rng, clock=clock, u=u, shape=shape, last=[n])
                return _read(subject, answer, (n,), case.vocab, clock)[0]

            try:
                found[j].append(_cells(case, subject.guarded(job)))
            except CallError as error:
                error.case = j
                raise
    return [Outcome(np.concatenate(cells) if cells else np.empty(0, dtype=np.int64)) for cells in found]


def _read(
    subject: Subject, answer: Any, shape: tuple[int, ...], vocab: int, clock: Clock
) -> tuple[np.ndarray, np.ndarray | None]:
    """An answer as tokens, or as tokens and accepted indices where it is a pair."""
    index = None
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, second = answer
        index = token_array(second, subject.format, clock.given)
    tokens = token_array(answer, subject.format, clock.given)
    for label, a in (("token ids", tokens), ("accepted indices", index)):
        if a is not None and a.shape != shape:
            raise CallError("shape", f"returned {label} of shape {a.shape}; {shape} is needed", clock.given)
    outside = (tokens < 0) | (tokens >= vocab)
    if outside.any():
        raise CallError(
            "token out of range",
            f"returned token {tokens[outside].reshape(-1)[0]} with a vocabulary of {vocab}",
            clock.given,
        )
    return tokens, index


def _cells(case: PositionCase, tokens: np.ndarray) -> np.ndarray:
    return tokens if case.cells is None else case.cells[tokens]


def _index_faults(candidates: np.ndarray, tokens: np.ndarray, index: np.ndarray | None) -> list[str]:
    """Where an accepted index names a candidate that is not the token."""
    if index is None:
        return []
    inside = (index >= 0) & (index < candidates.shape[1])
    named = np.take_along_axis(candidates, np.where(inside, index, 0)[:, None], axis=1)[:, 0]
    bad = np.flatnonzero(inside & (named != tokens))
    if not len(bad):
        return []
    i = bad[0]
    return [
        f"accepted index {index[i]} of candidates {candidates[i].tolist()} was returned beside token {tokens[i]} "
        f"({len(bad)} of {len(tokens)} answers)"
    ]
