"""Draws at one position: samplers, which draw their own candidates, and verifiers, which are handed them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from resispec_ref.bounds import optimal_acceptance
from resispec_ref.oracle.cases.positions import PositionCase
from resispec_ref.oracle.cases.tables import sample_tokens
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
    subject: Subject, case: PositionCase, n: int, rng: np.random.Generator, bound: float | None
) -> Outcome:
    """`n` emitted tokens, and how many of them were candidates."""
    _, q = laws_seen(subject, case)
    if subject.kind == "sampler":
        tokens, _ = subject.guarded(lambda clock: _sample(subject, case, n, rng, clock))
        return Outcome(_cells(case, tokens))
    candidates = draw_candidates(subject, q, case.candidates, rng, n)
    u = subject.uniforms(rng, (n,), case.candidates, case.vocab)
    tokens, index = subject.guarded(lambda clock: verify_many(subject, case, candidates, u, rng, clock))
    outcome = Outcome(_cells(case, tokens), wrong=_index_faults(candidates, tokens, index))
    if bound is not None:
        accepted = int((tokens[:, None] == candidates).any(-1).sum())
        outcome.rates["acceptance"] = (bound, accepted, n)
    return outcome


def verify_many(
    subject: Subject,
    case: PositionCase,
    candidates: np.ndarray,
    u: np.ndarray | None,
    rng: np.random.Generator,
    clock: Clock,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Tokens `(n,)`, and accepted indices if the implementation returns them, for candidates `(n, K)`."""
    n, V = len(candidates), case.vocab
    shape = (case.candidates, V)
    found = []
    prepared, start = Prepared(), 0
    while start < n:
        step = max(1, min(subject.pace.rows, _CHUNK // V)) if subject.batched else 1
        x = candidates[start : start + step]
        v = None if u is None else u[start : start + step]
        if subject.batched:
            laws = [np.tile(law, (len(x), 1)) for law in (case.target, case.draft)]
            answer = subject.call(laws, [x], rng, clock=clock, u=v, shape=shape)
            found.append(_read(subject, answer, (len(x),), case, clock))
        else:
            if start % _FRESH == 0:
                prepared = Prepared()
            one = None if v is None else v[0]
            laws = [case.target, case.draft]
            answer = subject.call(laws, [x[0]], rng, clock=clock, u=one, shape=shape, prepared=prepared)
            tokens, index = _read(subject, answer, (), case, clock)
            found.append((tokens.reshape(1), None if index is None else index.reshape(1)))
        start += len(x)
    tokens = np.concatenate([t for t, _ in found])
    indices = [i for _, i in found if i is not None]
    return tokens, np.concatenate(indices) if len(indices) == len(found) else None


def _sample(
    subject: Subject, case: PositionCase, n: int, rng: np.random.Generator, clock: Clock
) -> tuple[np.ndarray, np.ndarray | None]:
    u = subject.uniforms(rng, (n,), case.candidates, case.vocab)
    answer = subject.call(
        [case.target, case.draft],
        [case.candidates],
        rng,
        clock=clock,
        u=u,
        shape=(case.candidates, case.vocab),
        last=[n],
    )
    return _read(subject, answer, (n,), case, clock)


def _read(
    subject: Subject, answer: Any, shape: tuple[int, ...], case: PositionCase, clock: Clock
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
    outside = (tokens < 0) | (tokens >= case.vocab)
    if outside.any():
        raise CallError(
            "token out of range",
            f"returned token {tokens[outside].reshape(-1)[0]} with a vocabulary of {case.vocab}",
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
