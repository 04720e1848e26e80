"""One node of a candidate tree: how its candidates are drawn, and the exact law of its verification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, cast

import numpy as np
from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, one_hot, total
from resispec_ref.arrays.draw import draw
from resispec_ref.candidates.several_drafts import hub_laws
from resispec_ref.law import _any_token, _every_token, _map
from resispec_ref.residual import check_option
from resispec_ref.rule.verifier import Selection, State, Verifier

Siblings = Literal["independent", "distinct", "hubs", "deterministic"]
"""Hubs are those of `spechub`: one candidate drawn off the most probable tokens, and these."""
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
    drafting = cast(Siblings, rule.drafting)
    if siblings is None or siblings == drafting:
        return drafting
    check_option("siblings", siblings, Siblings)
    if siblings == "deterministic" and rule.name != "naive":
        raise ValueError(
            f"siblings: deterministic candidates have one-hot laws; verify them by 'naive', not {rule.name}"
        )
    if siblings != "deterministic":
        raise ValueError(f"siblings: {siblings}, but {rule.name} verifies {drafting} candidates")
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
    hubs = hub_laws(q, K) if siblings == "hubs" and K else None
    found = np.full(K, ABSENT, dtype=np.int64)
    for i in range(K):
        mass = q if hubs is None else hubs[i]
        if not total(mass)[0] > 0:
            break
        found[i] = draw(mass, uniforms[i : i + 1])
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

    A rule that looks at all candidates at once does not see their order; its accepted mass is divided among them by
    `shares`. That is right for independent candidates; of distinct ones only the sum is (`walk_law` refuses where that
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
    extra = p * 0 + q * 0
    accepted = [extra] * candidates

    def finish(state: State, drawn: Array) -> None:
        """No candidate is left: a token is drawn, and counts as accepted where the rule lets it land on a candidate."""
        nonlocal extra
        position = rule.matched(state) if candidates else None
        for i in range(candidates if position is not None else 0):
            landed = xp.where(position == i, drawn, drawn * 0)
            accepted[i] = accepted[i] + xp.sum(landed, axis=-2)
            drawn = drawn - landed
        extra = extra + xp.sum(drawn, axis=-2)

    for step in range(rule.steps(candidates)):
        exhausted = total(state.proposal) <= 0
        finish(state, weight * xp.where(exhausted, state.target, state.target * 0))
        m = weight * rule.accepted(state)
        shares = rule.shares(state, candidates) if isinstance(rule, Selection) else None
        for i in [step] if shares is None else range(candidates):
            accepted[i] = accepted[i] + xp.sum(m if shares is None else m * shares[..., i : i + 1], axis=-2)
        state, weight = branch(rule, state, weight, state.proposal - rule.accepted(state))
    finish(state, weight * state.target)
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
