"""Draws of chains and trees: the emitted prefix, completed by the target, has the target's joint law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from resispec_ref.bounds import optimal_acceptance
from resispec_ref.oracle.cases.tables import ChainCase, Tables, TreeCase, joint_law, sample_rows
from resispec_ref.oracle.drawing.positions import Outcome, draw_candidates
from resispec_ref.oracle.drawing.returned import path_continued
from resispec_ref.oracle.subjects.calls import CallError, Clock
from resispec_ref.oracle.subjects.convert import token_array
from resispec_ref.oracle.subjects.subject import Prepared, Subject

SequenceCase = ChainCase | TreeCase


def seen_tables(subject: Subject, tables: Tables) -> Tables:
    return tuple(subject.format.seen(t) for t in tables)


def sequence_bounds(subject: Subject, case: SequenceCase) -> list[float]:
    """Bounds on how often the emitted tokens begin with drafted ones: 1, 2, … tokens in a chain, 1 in a tree.

    A chain's emitted prefix of `i` tokens and the drafted one have known laws, so they agree with probability at most
    `Σ min` of the two; below a tree's root the bound of several candidates holds.
    """
    p, q = seen_tables(subject, case.target), seen_tables(subject, case.draft)
    if isinstance(case, TreeCase):
        if callable(subject.draw):
            return []
        if subject.draw == "top-k":
            return [float(np.sort(p[0][0][np.argsort(-q[0][0], kind="stable")[: case.siblings]]).sum()) + 1e-12]
        independent = subject.draw == "independent"
        bound = optimal_acceptance(p[0][0], q[0][0], candidates=case.siblings, replacement=independent)
        return [float(bound) + 1e-12]
    if callable(subject.draw):
        return []
    if subject.draw == "top-k":
        q = tuple(likeliest(table) for table in q)
    prefixes = range(1, len(q) + 1)
    return [float(np.minimum(joint_law(p[:i]), joint_law(q[:i])).sum()) + 1e-12 for i in prefixes]


def draw_sequences(
    subject: Subject,
    cases: Sequence[SequenceCase],
    which: np.ndarray,
    rng: np.random.Generator,
    bounds: Sequence[list[float]],
) -> tuple[list[Outcome], np.ndarray]:
    """Emitted sequences, completed to the length of the target's tables, and the last token of each.

    All cases have the same vocabulary and shape; `which` `(n,)` says whose draw each is.
    """
    parts = [np.flatnonzero(which == j) for j in range(len(cases))]
    drafts, rows = list[np.ndarray](), list[tuple[np.ndarray, np.ndarray]]()
    for case, part in zip(cases, parts, strict=True):
        drafts.append(draw_drafted(subject, case, rng, len(part)))
        rows.append(rows_of(case, drafts[-1]))
    order = np.argsort(np.concatenate(parts))
    drafted = np.concatenate(drafts)[order]
    target, draft = (np.concatenate(side)[order] for side in zip(*rows, strict=True))
    u = subject.uniforms(rng, (len(which),), drafted.shape[1], cases[0].vocab)
    emitted, wrong = subject.guarded(
        lambda clock: emit_many(subject, cases[0], drafted, u, rng, clock, (target, draft), which)
    )
    found = [
        _outcome(subject, case, drafted[part], emitted[part], rng, bound)
        for case, part, bound in zip(cases, parts, bounds, strict=True)
    ]
    found[0].wrong = wrong
    last = np.maximum((emitted >= 0).sum(1) - 1, 0)
    return found, emitted[np.arange(len(emitted)), last]


def _outcome(
    subject: Subject,
    case: SequenceCase,
    drafted: np.ndarray,
    emitted: np.ndarray,
    rng: np.random.Generator,
    bounds: list[float],
) -> Outcome:
    outcome = Outcome(complete(emitted, seen_tables(subject, case.target), rng))
    if isinstance(case, TreeCase):
        first = (emitted[:, :1] == drafted[:, : case.siblings]).any(-1)
        agree = [int(first.sum())]
    else:
        same = np.cumprod(emitted[:, : case.drafted] == drafted, axis=1)
        agree = [int(same[:, i].sum()) for i in range(case.drafted)]
    outcome.rates = {f"acceptance of {i + 1}": (b, agree[i], len(drafted)) for i, b in enumerate(bounds)}
    return outcome


def draw_drafted(subject: Subject, case: SequenceCase, rng: np.random.Generator, n: int) -> np.ndarray:
    """`(n, …)` drafted tokens, or tokens of a tree's nodes."""
    return draw_tree(subject, case, rng, n) if isinstance(case, TreeCase) else draw_chain(subject, case, rng, n)


def draw_chain(subject: Subject, case: ChainCase, rng: np.random.Generator, n: int) -> np.ndarray:
    """`(n, K)` tokens drafted by the draft model, as the subject's `draw` says: sampled, or each row's likeliest."""
    prefix, tokens = np.zeros(n, dtype=np.int64), []
    for table in seen_tables(subject, case.draft):
        tokens.append(_children(subject, table, prefix, 1, rng)[:, 0])
        prefix = prefix * case.vocab + tokens[-1]
    return np.stack(tokens, axis=1)


def draw_tree(subject: Subject, case: TreeCase, rng: np.random.Generator, n: int) -> np.ndarray:
    """`(n, nodes)` tokens: the children of each node, drawn as the subject's `draw` says."""
    q, parents, V = seen_tables(subject, case.draft), case.parents, case.vocab
    prefix = {-1: np.zeros(n, dtype=np.int64)}
    depth = {-1: 0}
    tokens = np.empty((n, len(parents)), dtype=np.int64)
    for parent in dict.fromkeys(parents.tolist()):
        children = np.flatnonzero(parents == parent)
        drawn = _children(subject, q[depth[parent]], prefix[parent], len(children), rng)
        for i, child in enumerate(children.tolist()):
            tokens[:, child] = drawn[:, i]
            prefix[child], depth[child] = prefix[parent] * V + drawn[:, i], depth[parent] + 1
    return tokens


def _children(subject: Subject, table: np.ndarray, prefix: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """`(n, k)` tokens that follow the prefixes `(n,)`, drawn from their rows of the table."""
    rows = table[prefix]
    if callable(subject.draw):
        drawn = np.empty((len(prefix), k), dtype=np.int64)
        for number in np.unique(prefix):
            here = prefix == number
            drawn[here] = draw_candidates(subject, table[number], k, rng, int(here.sum()))
        return drawn
    if subject.draw == "distinct":
        with np.errstate(divide="ignore"):
            return np.argsort(rng.exponential(size=rows.shape) / rows, axis=-1, kind="stable")[:, :k]
    if subject.draw == "top-k":
        return np.argsort(-rows, axis=-1, kind="stable")[:, :k]
    return np.stack([sample_rows(rows, rng) for _ in range(k)], axis=1)


def likeliest(table: np.ndarray) -> np.ndarray:
    """The rows of drafts that are taken, not drawn: all mass on each row's likeliest token."""
    return np.eye(table.shape[-1])[np.argmax(table, axis=-1)]


def rows_of(case: SequenceCase, drafted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of both models that go with drafted tokens `(n, …)`.

    Chain: target `(n, K + 1, V)`, draft `(n, K, V)`. Tree: `(n, nodes + 1, V)` both, the root's row first.
    """
    n, V = len(drafted), case.vocab
    if isinstance(case, ChainCase):
        prefix = [np.zeros(n, dtype=np.int64)]
        for i in range(case.drafted):
            prefix.append(prefix[-1] * V + drafted[:, i])
        target = [t[x] for t, x in zip(case.target, prefix, strict=True)]
        draft = [t[x] for t, x in zip(case.draft, prefix[:-1], strict=True)]
        return np.stack(target, axis=1), np.stack(draft, axis=1)
    prefixes, depth = [np.zeros(n, dtype=np.int64)], [0]
    for node, parent in enumerate(case.parents.tolist()):
        prefixes.append(prefixes[parent + 1] * V + drafted[:, node])
        depth.append(depth[parent + 1] + 1)
    both = [
        np.stack([tables[d][x] for d, x in zip(depth, prefixes, strict=True)], axis=1)
        for tables in (case.target, case.draft)
    ]
    return both[0], both[1]


def emit_many(
    subject: Subject,
    case: SequenceCase,
    drafted: np.ndarray,
    u: np.ndarray | None,
    rng: np.random.Generator,
    clock: Clock,
    rows: tuple[np.ndarray, np.ndarray] | None = None,
    which: np.ndarray | None = None,
) -> tuple[np.ndarray, list[str]]:
    """Emitted tokens `(n, longest)` padded with -1, and contradictions in answers that came with a count.

    `rows` are those of both models where they are not all of `case`, and `which` says whose they are.
    """
    n = len(drafted)
    target, draft = rows or rows_of(case, drafted)
    longest = len(case.target)
    parents = [case.parents] if isinstance(case, TreeCase) else []
    shape = (drafted.shape[1], case.vocab)
    emitted, wrong = np.full((n, longest), -1, dtype=np.int64), list[str]()
    prepared, start = Prepared(), 0
    while start < n:
        step = max(1, min(subject.pace.rows, 2_000_000 // target[0].size)) if subject.batched else 1
        if not subject.batched and start % 64 == 0:
            prepared = Prepared()
        part = slice(start, start + step) if subject.batched else start
        ids = [
            drafted[part],
            *([np.tile(parents[0], (len(drafted[part]), 1))] if parents and subject.batched else parents),
        ]
        here = np.atleast_2d(drafted[part])
        noise = None if u is None else u[part]
        try:
            laws = [target[part], draft[part]]
            answer = subject.call(laws, ids, rng, clock=clock, u=noise, shape=shape, prepared=prepared)
            answer = path_continued(answer, subject.format, case.vocab, rng, clock.given)
            tokens, problem = _read(subject, answer, here, longest, case, clock)
        except CallError as error:
            error.case = None if subject.batched or which is None else int(which[start])
            raise
        emitted[start : start + len(here), : tokens.shape[1]] = tokens
        wrong += problem if not wrong else []
        start += len(here)
    return emitted, wrong


def complete(emitted: np.ndarray, tables: Tables, rng: np.random.Generator) -> np.ndarray:
    """The number in base `V` of each sequence, tokens that were not emitted (-1) being drawn from the target."""
    V, index = tables[0].shape[-1], np.zeros(len(emitted), dtype=np.int64)
    for i, table in enumerate(tables):
        token, missing = emitted[:, i].copy(), emitted[:, i] < 0
        if missing.any():
            token[missing] = sample_rows(table[index[missing]], rng)
        index = index * V + token
    return index


def _read(
    subject: Subject, answer: Any, drafted: np.ndarray, longest: int, case: SequenceCase, clock: Clock
) -> tuple[np.ndarray, list[str]]:
    count = None
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, second = answer
        count = token_array(second, subject.format, clock.given)
    tokens = token_array(answer, subject.format, clock.given)
    if not subject.batched:
        tokens = tokens[None] if tokens.ndim == 1 else tokens
    if tokens.ndim != 2 or len(tokens) != len(drafted) or not 1 <= tokens.shape[1] <= longest:
        raise CallError(
            "shape",
            f"returned shape {tokens.shape}; 1 to {longest} tokens are emitted, in a batch (batch, up to {longest}) "
            "padded with -1",
            clock.given,
        )
    lengths = np.where((tokens < 0).any(1), np.argmax(tokens < 0, axis=1), tokens.shape[1])
    after = np.arange(tokens.shape[1]) >= lengths[:, None]
    if (lengths == 0).any() or (~after & (tokens >= case.vocab)).any() or (tokens < -1).any():
        bad = tokens[(lengths == 0) | (tokens >= case.vocab).any(1) | (tokens < -1).any(1)][0]
        raise CallError(
            "token out of range",
            f"returned {bad.tolist()} with a vocabulary of {case.vocab}; at least one token is emitted, and -1 pads",
            clock.given,
        )
    tokens = np.where(after, -1, tokens)
    problems = []
    if count is not None and isinstance(case, ChainCase):
        a = count.reshape(-1)
        claimed = np.arange(drafted.shape[1]) < a[:, None]
        off = np.flatnonzero((a + 1 != lengths) | (claimed & (_padded(tokens, drafted.shape[1]) != drafted)).any(1))
        if len(off):
            i = off[0]
            given, returned = drafted[i].tolist(), tokens[i, : lengths[i]].tolist()
            problems.append(f"{a[i]} accepted of drafted {given} was returned beside {returned}")
    return tokens, problems


def _padded(tokens: np.ndarray, width: int) -> np.ndarray:
    padded = np.full((len(tokens), width), -1, dtype=np.int64)
    padded[:, : min(width, tokens.shape[1])] = tokens[:, :width]
    return padded
