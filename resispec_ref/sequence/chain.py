"""Chains of drafted tokens: verified one by one, or as a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import normalise, positive_part, take, total
from resispec_ref.arrays.draw import draw
from resispec_ref.rule.verifier import Verifier
from resispec_ref.sequence.node import ABSENT
from resispec_ref.sequence.tree import Emission, Tree, check_drafted, check_noise, verify_tree
from resispec_ref.validation import check_law, check_pair, check_tokens, check_uniforms


def chain_tree(length: int) -> Tree:
    """The tree with one child a node, `length` deep.

    >>> chain_tree(3).parents
    (-1, 0, 1)
    """
    return Tree(range(-1, length - 1))


def verify_chain(
    verifier: str | Verifier,
    target_rows: Any,
    draft_rows: Any,
    tokens: Any,
    uniforms: Any,
    *,
    end: int | None = None,
) -> Emission:
    """Verify `n` drafted tokens one after the other, and emit one more: a token after a rejected one is not looked at.

    Args:
        verifier: any rule of the registry, used with one candidate.
        target_rows: `(n + 1, vocab)`; row `i` is the law of token `i` after the drafted tokens before it.
        draft_rows: `(n, vocab)`, the laws that the drafted tokens come from.
        tokens: `(n,)`; a draft shorter than `n` is filled up with `-1`.
        uniforms: `(n + 1, uniforms_needed(verifier, 1))` in `[0, 1)`.
        end: the output ends with this token, wherever it comes.

    Raises:
        ValueError: as `verify_tree`.

    Source: Leviathan et al. 2023 (arXiv 2211.17192), Algorithm 1. Theorem: `tree_walk_exact` (proofs/chain.v).

    >>> p, q = [[0.2, 0.4, 0.4], [0.1, 0.9, 0.0]], [[0.6, 0.3, 0.1]]
    >>> verify_chain("recursive-rejection", p, q, [0], [[0.5, 0.1], [0.0, 0.0]])
    Emission(tokens=(1,), path=())
    """
    n = len(draft_rows)
    return verify_tree(verifier, target_rows, [*draft_rows, None], chain_tree(n), tokens, uniforms, end=end)


def verify_block(target_rows: Any, draft_rows: Any, tokens: Any, uniforms: Any, *, end: int | None = None) -> Emission:
    """Verify `n` drafted tokens as a block: emit the longest prefix that passes, and one more token.

    With `p_0 = 1` and `p_i = min(1, p_{i-1} P_i(x_i) / Q_i(x_i))`, the prefix of length `i` passes with probability

        h_i = |(p_i P_{i+1} − Q_{i+1})+| / (|(p_i P_{i+1} − Q_{i+1})+| + 1 − p_i),    h_n = p_n,

    and after the longest that does, of length `i < n`, the next token has the law of `(p_i P_{i+1} − Q_{i+1})+`. Exact.
    Of all exact verifiers that know the target's laws along the drafted path only, as an engine does, none accepts more
    in expectation (Sun et al., Theorem 2); nor do those that know its laws off the path too (arXiv 2602.16961).

    Args:
        target_rows: `(n + 1, vocab)`.
        draft_rows: `(n, vocab)`.
        tokens: `(n,)`; `-1` fills up a shorter draft. Nothing after the token `end` is looked at.
        uniforms: `(n + 1,)` in `[0, 1)`: one for each prefix `1 … n`, and the last for the token after it.
        end: the output ends with this token, wherever it comes.

    Raises:
        ValueError: rows that are not laws, tokens outside the vocabulary or of draft probability 0, other shapes.

    Source: Sun et al. 2024 (arXiv 2403.10444), Algorithm 2.
    Theorem: `block_verification_exact` (proofs/hierarchical.v).

    >>> p, q = [[0.2, 0.8]] * 3, [[0.6, 0.4]] * 2
    >>> verify_block(p, q, [0, 1], [0.9, 0.5, 0.0])
    Emission(tokens=(0, 1, 0), path=(0, 1))
    """
    n = len(target_rows) - 1
    if len(draft_rows) != n:
        raise ValueError(f"draft_rows: {len(draft_rows)} rows beside {n + 1} of the target; one less is needed")
    x = check_drafted(tokens, chain_tree(n))
    length = _length(x, end)
    P = check_law(target_rows[: length + 1], name="target_rows")
    Q = check_pair(P[:-1], draft_rows[:length])[1] if length else P[:0]
    u = check_uniforms(check_noise("uniforms", uniforms, (n + 1,)), P[0], needed=n + 1)
    check_tokens(x[:length, None], Q)
    weight, passed, mass = total(P[0]), 0, P[0]
    for i in range(length + 1):
        if i < length:
            left = positive_part(weight * P[i] - Q[i])
            h, whole = total(left), total(left) + 1 - weight
        else:
            left, h, whole = P[i], weight, 1
        if i == 0 or u[i - 1] * whole < h:
            passed, mass = i, normalise(left, otherwise=P[i])
        if i < length:
            at = x[i : i + 1]
            weight = np.minimum(weight * take(P[i], at) / take(Q[i], at), 1 + weight * 0)
    kept = tuple(int(v) for v in x[:passed])
    extra = () if kept and kept[-1] == end else (int(draw(mass, u[n:])),)
    return Emission(kept + extra, tuple(range(passed)))


def _length(x: np.ndarray, end: int | None) -> int:
    """How many drafted tokens there are: up to the first absent one, and to the first end token, that included."""
    absent = np.flatnonzero(x == ABSENT)
    length = int(absent[0]) if absent.size else len(x)
    ends = np.flatnonzero(x[:length] == end) if end is not None else absent[:0]
    return int(ends[0]) + 1 if ends.size else length
