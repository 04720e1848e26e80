"""Answers that carry a law in place of its draw: the accepted index, or path, and the law of what comes next."""

from __future__ import annotations

from typing import Any

import numpy as np

from resispec_ref.oracle.cases.tables import sample_rows
from resispec_ref.oracle.subjects.calls import CallError
from resispec_ref.oracle.subjects.convert import Format, token_array

_ROUNDING = {"float64": 1e-9, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}


def next_drawn(
    answer: Any, form: Format, candidates: np.ndarray, vocab: int, rng: np.random.Generator, given: dict[str, Any]
) -> Any:
    """`(index, law)` as `(token, index)`: the candidate accepted, or a draw from the residual law `(vocab,)`.

    `candidates` `(K,)`, or `(batch, K)` with answers of a batch. Any other answer is handed on as it is.
    """
    law = _law_in(answer, form, vocab, given)
    if law is None:
        return answer
    index = token_array(answer[0], form, given)
    K, shape = candidates.shape[-1], index.shape
    rows, flat = candidates.reshape(-1, K), index.reshape(-1)
    if len(flat) != len(rows) or law.reshape(-1, vocab).shape[0] != len(rows):
        raise CallError("shape", f"returned an index of shape {shape} beside a law of shape {law.shape}", given)
    inside = (flat >= 0) & (flat < K)
    drawn = sample_rows(law.reshape(-1, vocab), rng)
    taken = rows[np.arange(len(rows)), np.where(inside, flat, 0)]
    return np.where(inside, taken, drawn).reshape(shape), np.where(inside, flat, K).reshape(shape)


def path_continued(answer: Any, form: Format, vocab: int, rng: np.random.Generator, given: dict[str, Any]) -> Any:
    """`(path, law)` as the emitted tokens: the accepted ones, padded with -1 or none, and a draw from the law."""
    law = _law_in(answer, form, vocab, given)
    if law is None:
        return answer
    path = answer[0]
    if isinstance(path, list | tuple) and not len(path):
        path = np.empty((*law.shape[:-1], 0), dtype=np.int64)
    tokens, rows = np.atleast_2d(token_array(path, form, given)), np.atleast_2d(law)
    if len(tokens) != len(rows):
        raise CallError("shape", f"returned {len(tokens)} paths beside {len(rows)} laws", given)
    lengths = np.where((tokens < 0).any(1), np.argmax(tokens < 0, axis=1) if tokens.shape[1] else 0, tokens.shape[1])
    emitted = np.full((len(tokens), tokens.shape[1] + 1), -1, dtype=np.int64)
    emitted[:, :-1] = tokens
    emitted[np.arange(len(rows)), lengths] = sample_rows(rows, rng)
    kept = int(lengths.max()) + 1
    return emitted[:, :kept] if law.ndim == 2 else emitted[0, :kept]


def _law_in(answer: Any, form: Format, vocab: int, given: dict[str, Any]) -> np.ndarray | None:
    if not (isinstance(answer, tuple) and len(answer) == 2):
        return None
    try:
        law = form.numpy(answer[1])
    except Exception:
        return None
    if law.dtype.kind != "f" or law.ndim == 0 or law.shape[-1] != vocab:
        return None
    law = law.astype(np.float64)
    off = np.abs(law.sum(-1) - 1).max(initial=0.0)
    if not np.isfinite(law).all() or law.min(initial=0.0) < 0 or off > _ROUNDING[form.dtype]:
        raise CallError("protocol", f"returned a law that is none: {law.reshape(-1, vocab)[0]}", given)
    return law
