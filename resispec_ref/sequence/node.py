"""One node of a candidate tree: how its candidates are drawn, and the exact law of its verification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
from array_api_compat import array_namespace

from resispec_ref._arrays import Array, one_hot, total
from resispec_ref.acceptance import draw
from resispec_ref.law import _any_token, _every_token, _map
from resispec_ref.verifiers import State, Verifier

Siblings = Literal["independent", "distinct", "deterministic"]
ABSENT = -1


class NodeLaw(NamedTuple):
    """What verifying one node leads to; all entries together sum to 1."""

    accepted: Array
    """`(..., K, vocab)`: candidate `i` is accepted and is the token `x`."""
    extra: Array
    """`(..., vocab)`: no candidate is accepted and the token drawn from the residual target is `x`."""


def check_siblings(siblings: Siblings | None, rule: Verifier) -> Siblings:
    """How the candidates of a node are drawn; by default as the rule expects.

    A deterministic candidate has a one-hot law. Against one-hot laws every step of recursive rejection accepts `p_i(x)`
    and rules `x` out, which is what target matching does, whatever it believes of the draft: the rule is `naive`.

    Raises:
        ValueError: siblings drawn in another way than the rule verifies them.
    """
    if siblings is None:
        return "independent" if rule.replacement else "distinct"
    if siblings not in get_args(Siblings):
        raise ValueError(f"siblings: {siblings!r} is not one of {', '.join(map(repr, get_args(Siblings)))}")
    if siblings == "deterministic" and rule.name != "naive":
        raise ValueError(
            f"siblings: deterministic candidates have one-hot laws; verify them by 'naive', not {rule.name}"
        )
    if siblings != "deterministic" and (siblings == "independent") != rule.replacement:
        wanted = "independent" if rule.replacement else "distinct"
        raise ValueError(f"siblings: {siblings}, but {rule.name} verifies {wanted} candidates")
    return siblings


def draw_candidates(q: Array, uniforms: Array, siblings: Siblings) -> Array:
    """The candidates of a node in the order of their draw, `(K,)` for `K` uniforms; `-1` once the draft is exhausted.

    Distinct ones leave the draft, renormalised, as they are drawn; deterministic ones are the most probable tokens of
    positive probability, ties by token id, and use no uniform.
    """
    xp = array_namespace(q)
    K = uniforms.shape[-1]
    if siblings == "deterministic":
        best = xp.argsort(q, axis=-1, descending=True, stable=True)[:K]
        kept = np.where(xp.take(q, best) > 0, best, ABSENT)
        return np.concatenate([kept, np.full(K - kept.shape[0], ABSENT)]).astype(np.int64)
    found = np.full(K, ABSENT, dtype=np.int64)
    for i in range(K):
        if not total(q)[0] > 0:
            break
        found[i] = draw(q, uniforms[i : i + 1])
        if siblings == "distinct":
            q = xp.where(one_hot(xp.asarray(found[i]), q.shape[-1]), q * 0, q)
    return found


def node_law(
    rule: Verifier,
    p: Array,
    q: Array,
    candidates: int,
    siblings: Siblings,
    *,
    paths: int | None = None,
    rng: np.random.Generator | None = None,
) -> NodeLaw:
    """The exact law of verifying `candidates` siblings drawn from `q` against `p`, `(..., vocab)` laws.

    A rule that looks at all candidates at once does not see their order; its accepted mass is divided evenly among
    them. That is right for independent candidates; of distinct ones only the sum is (`walk_law` refuses where that
    would matter).

    A path-dependent rule is followed along every sequence of rejected tokens, or along `paths` sampled from `rng`: then
    the answer is a mean over them of exact conditional laws, unbiased and not exact.

    >>> from resispec_ref.verifiers import get_verifier
    >>> p, q = np.array([0.5, 0.5]), np.array([0.75, 0.25])
    >>> law = node_law(get_verifier("recursive-rejection"), p, q, 1, "independent")
    >>> law.accepted.tolist(), law.extra.tolist()
    ([[0.5, 0.25]], [0.0, 0.25])
    """
    xp = array_namespace(p, q)
    if siblings == "deterministic":
        return _matched(p, q, candidates)
    copies = paths if paths and rule.path_dependent else 1
    state = _map(lambda x: xp.repeat(x[..., None, :], copies, axis=-2), rule.start(p, q, candidates))
    weight = (total(state.target * 0) + 1) / copies
    branch = _any_token if not rule.path_dependent else _every_token if paths is None else _sampled(rng)
    accepted, extra = [], p * 0 + q * 0
    for _ in range(rule.steps(candidates)):
        m = rule.accepted(state)
        exhausted = total(state.proposal) <= 0
        extra = extra + xp.sum(weight * xp.where(exhausted, state.target, state.target * 0), axis=-2)
        accepted.append(xp.sum(weight * m, axis=-2))
        state, weight = branch(rule, state, weight, state.proposal - m)
    if len(accepted) < candidates:  # one step for all candidates, each as likely as the others to be the one picked
        accepted = [accepted[0] / candidates] * candidates
    last, position = weight * state.target, rule.matched(state)
    if position is not None:  # the last draw counts as accepted where it lands on a candidate
        landed = [xp.where(position == i, last, last * 0) for i in range(candidates)]
        accepted = [m + xp.sum(more, axis=-2) for m, more in zip(accepted, landed, strict=True)]
        last = last - sum(landed)
    extra = extra + xp.sum(last, axis=-2)
    return NodeLaw(xp.stack(accepted, axis=-2) if accepted else extra[..., None, :][..., :0, :], extra)


def _sampled(rng: np.random.Generator | None) -> Callable[[Verifier, State, Array, Array], tuple[State, Array]]:
    """One rejected token a path, drawn from the mass left."""
    if rng is None:
        raise ValueError("rng: sampled paths need a source of randomness")

    def branch(rule: Verifier, state: State, weight: Array, left: Array) -> tuple[State, Array]:
        token = draw(left, rng.random((*left.shape[:-1], 1)))
        return rule.reject(state, token), weight * total(left)

    return branch


def _matched(p: Array, q: Array, candidates: int) -> NodeLaw:
    """Deterministic candidates: each is accepted when a draw from the target is it."""
    xp = array_namespace(p, q)
    x = draw_candidates(q, np.zeros(candidates), "deterministic")
    at = [one_hot(xp.asarray(v), p.shape[-1]) for v in x]  # all false where absent
    extra = p
    for taken in at:
        extra = xp.where(taken, extra * 0, extra)
    return NodeLaw(xp.stack([xp.where(taken, p, p * 0) for taken in at]) if at else p[None][:0], extra)
