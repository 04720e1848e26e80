"""Multi-candidate acceptance from given uniforms: one step, one draw, and a whole verification."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from resispec_ref.arrays import draw as _draw
from resispec_ref.arrays.arithmetic import Array, is_rational, take, total
from resispec_ref.arrays.convert import is_traced, refuse
from resispec_ref.candidates.several_drafts import PerCandidate
from resispec_ref.distributions import scalar
from resispec_ref.rule.problem import check_problem
from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import State, Verifier
from resispec_ref.validation import check_candidates, check_masses, check_rows_of_noise, check_tokens, check_uniforms


class Verification(NamedTuple):
    """The outcome of `verify`; a batch has leading dimensions `(...)`."""

    token: Array
    """`(...)`: the emitted token id."""
    accepted_index: Array
    """`(...)`: which candidate was accepted, from 0; `K` if none was."""


def uniforms_needed(verifier: str | Verifier, candidates: int) -> int:
    """How many uniforms a position `verify` takes for `candidates` candidates.

    A sequential rule: one a candidate, and one for the residual draw. A rule that looks at all candidates first: those
    with which it picks one, then one for that candidate, and one for the residual draw.

    >>> uniforms_needed("resispec", 3), uniforms_needed("optimal", 3)
    (4, 5)
    """
    rule, K = get_verifier(verifier), check_candidates(candidates)
    return rule.picks(K) + rule.steps(K) + 1


def verify(verifier: str | Verifier, target: Any, draft: Any, tokens: Any, uniforms: Any) -> Verification:
    """Run `verifier` on given candidates with given uniforms: the same arrays in give the same token out.

    Candidate `i` is accepted iff `u_i q_i(x_i) < m_i(x_i)`, strictly; if none is, the last uniform draws from the
    last residual target by its cumulative sum in token order.

    Args:
        verifier: a registry name or a `Verifier`.
        target: `(..., vocab)` law `p`.
        draft: `(..., vocab)` law `q`, or `PerCandidate(laws)`.
        tokens: `(..., K)` candidate ids in the order of their draw. `-1` marks an absent candidate, for ragged lists:
            it ends the list, and the token is drawn from the residual target reached, the target itself if there is no
            candidate at all.
        uniforms: `(..., uniforms_needed(verifier, K))`, each in `[0, 1)`.

    Returns:
        `Verification(token, accepted_index)`.

    Raises:
        ValueError: laws that are not laws; an id outside the vocabulary or of draft probability 0; a repeated candidate
            where the rule draws without replacement; uniforms outside `[0, 1)`; tokens or uniforms that are not one
            row a position (laws broadcast, but what is random is never shared).

    Where rounding alone left a residual without mass (`p = q` up to rounding, and a uniform next to 1), the residual
    target before it is used: a law of the same support, never uniform and never NaN.

    Source: section 2 of the mathematics. Theorem: `chain_exact` (proofs/chain.v).

    >>> found = verify("recursive-rejection", [0.2, 0.4, 0.4], [0.6, 0.3, 0.1], [0], [0.5, 0.1])
    >>> int(found.token), int(found.accepted_index)
    (1, 1)
    """
    rule, p, q = check_problem(verifier, target, draft)
    several = isinstance(draft, PerCandidate)
    x = check_tokens(tokens, q, distinct=not rule.replacement, own_laws=several)
    K = x.shape[-1]
    laws = None if several else rule.candidate_laws(q, K)
    if K and laws is not None:
        check_tokens(x, laws, own_laws=True)
    u = check_uniforms(uniforms, p, needed=uniforms_needed(rule, K))
    xp = array_namespace(p, q)
    batch = np.broadcast_shapes(
        *map(tuple, (p.shape[:-1], q.shape[: -2 if several else -1], x.shape[:-1], u.shape[:-1]))
    )
    check_rows_of_noise(batch, tokens=x, uniforms=u)
    if rule.sequential:
        return Verification(*map(scalar, _run(rule, p, q, x, u)))
    # looking at all candidates at once, a rule is another one for every number of candidates
    present = xp.sum(xp.astype(x >= 0, xp.int64), axis=-1)
    token = index = present * 0
    for k in range(K + 1) if is_traced(x) else sorted({int(n) for n in np.asarray(present).flat}):
        used = xp.concat([u[..., : rule.picks(k)], u[..., rule.picks(K) :][..., : rule.steps(k)], u[..., -1:]], axis=-1)
        found, at = _run(rule, p, q, xp.where((present == k)[..., None], x, x * 0)[..., :k], used)
        token, index = xp.where(present == k, found, token), xp.where(present == k, at, index)
        index = xp.where((present == k) & (at == k), index * 0 + K, index)
    return Verification(scalar(token), scalar(index))


def _run(rule: Verifier, p: Array, q: Array, x: Array, u: Array) -> tuple[Array, Array]:
    """Token and accepted index (`K` if none) of a verification of checked arguments; `x` and `u` have the batch."""
    xp = array_namespace(p, q)
    K, batch = x.shape[-1], x.shape[:-1]
    state = rule.start(p, q, K)
    steps, picks = rule.steps(K), rule.picks(K)
    order = rule.order(state, x, u[..., :picks]) if K else x
    x, u = take(x, order) if K else x, u[..., picks:]
    index = xp.full(batch, K, dtype=xp.int64, device=device(p))
    token = index * 0
    looking = index == K
    for i in range(steps):
        present = looking & (x[..., i] >= 0)
        candidate = xp.where(present, x[..., i], x[..., i] * 0)
        taken = present & _draw.accepts(state.proposal, rule.accepted(state), candidate, u[..., i])
        index, token = xp.where(taken, order[..., i], index), xp.where(taken, candidate, token)
        looking = present & ~taken
        state = _where(looking[..., None], rule.reject(state, candidate), state)
    drawn = _draw.draw(state.target, u[..., -1:])
    position = rule.matched(state) if K else None
    landed = index * 0 + K if position is None else xp.astype(take(position, drawn[..., None])[..., 0], index.dtype)
    rejected = index == K
    return xp.where(rejected, drawn, token), xp.where(rejected, landed, index)


def _where(condition: Array, state: State, otherwise: State) -> State:
    xp = array_namespace(condition)
    memory = tuple(xp.where(condition, x, y) for x, y in zip(state.memory, otherwise.memory, strict=True))
    target, proposal = (xp.where(condition, x, y) for x, y in zip(state[:2], otherwise[:2], strict=True))
    return State(target, proposal, memory)


def accepts(proposal: Any, accepted: Any, token: Any, uniform: Any) -> Array:
    """One step: whether `token`, drawn from `proposal`, is accepted, `u q(x) < m(x)`, strictly; shape `(...)`.

    Args:
        proposal: `(..., vocab)` mass `q`, which need not sum to 1.
        accepted: `(..., vocab)` accepted mass `m ≤ q`.
        token: `(...)` ids with `q(x) > 0`.
        uniform: `(...)`, in `[0, 1)`.

    Raises:
        ValueError: a mass that is NaN, infinite or negative; more accepted than proposed; masses over different
            vocabularies; an id outside the vocabulary or without mass; a uniform outside `[0, 1)`.

    Source: section 1 of the mathematics. Theorem: `step_exact_iff` (proofs/step.v).

    >>> bool(accepts([0.5, 0.5], [0.25, 0.5], 0, 0.5)), bool(accepts([0.5, 0.5], [0.25, 0.5], 1, 0.999))
    (False, True)
    """
    q, m = check_masses(proposal=proposal, accepted=accepted)
    if q.shape[-1] != m.shape[-1]:
        raise ValueError(
            f"accepted: {m.shape[-1]} tokens beside {q.shape[-1]} of proposal; both are over the same tokens"
        )
    if not (is_traced(q) or is_traced(m)):
        rounding = 0 if is_rational(q) else total(q) * 2.0**-50  # of differences of a few masses
        refuse(m > q + rounding, m + q * 0, "accepted", "is more than the proposal has of the token")
    token, uniform = (x if is_array_api_obj(x) else np.asarray(x) for x in (token, uniform))
    x = check_tokens(token[..., None], q, absent=False)
    u = check_uniforms(uniform[..., None], q, needed=1)
    check_rows_of_noise(np.broadcast_shapes(tuple(x.shape[:-1]), tuple(u.shape[:-1])), token=x, uniform=u)
    return scalar(_draw.accepts(q, m, x[..., 0], u[..., 0]))


def draw(mass: Any, uniform: Any) -> Array:
    """Inverse CDF in token order: the first token whose running sum exceeds `u |mass|`, and never one without mass.

    Args:
        mass: `(..., vocab)`, not necessarily normalised.
        uniform: `(..., 1)`, in `[0, 1)`.

    Returns:
        `(...)` token ids.

    Raises:
        ValueError: a mass that is NaN, infinite or negative, or a row without any; a uniform outside `[0, 1)`.

    Source: section 1 of the mathematics.

    >>> int(draw([0.0, 0.5, 0.5], [0.0])), int(draw([0.5, 0.5], [0.5]))
    (1, 1)
    """
    (m,) = check_masses(mass=mass)
    if not is_traced(m):
        refuse(total(m) <= 0, total(m), "mass", "is the sum of the row; nothing can be drawn from it")
    return scalar(_draw.draw(m, check_uniforms(uniform, m, needed=1)))
