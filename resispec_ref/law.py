"""The emitted law of a verification rule: exactly, or by sampled paths with standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from resispec_ref.arrays.arithmetic import Array, index_range, is_rational, total
from resispec_ref.arrays.draw import draw
from resispec_ref.distributions import scalar, tv
from resispec_ref.rule.problem import check_problem
from resispec_ref.rule.verifier import Selection, State, Verifier
from resispec_ref.validation import check_candidates

MAX_PATHS = 2_000_000
"""Entries (`paths × vocab`) up to which `emitted_law` enumerates the rejected paths of a path-dependent rule."""


class EmittedLaw(NamedTuple):
    """What a rule emits for one pair of laws; a batch has leading dimensions `(...)`."""

    law: Array
    """`(..., vocab)`: the law of the emitted token."""
    acceptance_rate: Array
    """`(...)`: the probability that a candidate is accepted."""
    acceptance_per_candidate: Array
    """`(..., K)`: the probability that candidate `i` is the one accepted (of a `Selection`: in random order)."""
    total_variation: Array
    """`(...)`: distance of `law` from the target; 0 for an exact rule."""


class EstimatedLaw(NamedTuple):
    """`EmittedLaw` by sampled rejected paths: means over the paths, and the standard errors of those means."""

    law: Array
    acceptance_rate: Array
    acceptance_per_candidate: Array
    total_variation: Array
    """Of the mean law. Sampling noise alone makes it positive, by about `total_variation_noise`."""
    law_error: Array
    acceptance_rate_error: Array
    acceptance_per_candidate_error: Array
    total_variation_noise: Array
    """`½ Σ` of the law's standard errors: an upper bound on the expected distance between mean law and true law."""


def emitted_law(verifier: str | Verifier, target: Any, draft: Any, *, candidates: int) -> EmittedLaw:
    """The law of the token that `verifier` emits, exactly (`==` for rationals).

    Each step adds `P(reached) · m_i`, and the last residual target the rest. A path-independent rule has one state a
    step; a path-dependent one is followed along every sequence of rejected tokens.

    Args:
        verifier: a registry name or a `Verifier`.
        target: `(..., vocab)` law `p`.
        draft: `(..., vocab)` law `q`; candidates are drawn from it with or without replacement, as the rule says. Or
            a law for each candidate, `PerCandidate(laws)`.
        candidates: `K ≥ 0` of them.

    Raises:
        ValueError: laws that are not laws; an unknown rule; more rejected paths than `MAX_PATHS` entries
            (use `estimated_law`).

    Source: section 7 of the mathematics. Theorem: `step_exact_iff` (proofs/step.v).

    >>> from fractions import Fraction as F
    >>> found = emitted_law("resispec-published", [F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)], candidates=1)
    >>> [str(v) for v in found.law], str(found.total_variation)
    (['19/42', '19/42', '2/21'], '5/21')
    """
    K = check_candidates(candidates)
    rule, p, q = check_problem(verifier, target, draft, K)
    vocab = p.shape[-1]
    if rule.path_dependent and vocab ** (K + 1) > MAX_PATHS:
        raise ValueError(
            f"candidates: {rule.name} follows {vocab}^{K} rejected paths here, more than are enumerated; "
            "use estimated_law, or a smaller vocabulary"
        )
    branch = _every_token if rule.path_dependent else _any_token
    law, rates = _walk(rule, p, q, K, branch, lambda x: array_namespace(x).sum(x, axis=-2))
    rate = total(rates)[..., 0] if K else law[..., 0] * 0
    rate = array_namespace(law).where(rate > 1, rate * 0 + 1, rate)  # rounding of the sum
    return EmittedLaw(*map(scalar, (law, rate, rates, tv(law, p))))


def estimated_law(
    verifier: str | Verifier, target: Any, draft: Any, *, candidates: int, paths: int, rng: np.random.Generator
) -> EstimatedLaw:
    """`emitted_law` of a path-dependent rule at a large vocabulary, estimated from sampled rejected paths.

    Only the rejected tokens are sampled; along each path the exact conditional laws are added. Unbiased for the law
    and the rates. Floats only.

    Args:
        verifier, target, draft, candidates: as for `emitted_law`.
        paths: how many paths are sampled a row, 2 or more.
        rng: the source of the samples.

    Raises:
        ValueError: as `emitted_law`; rational laws; fewer than 2 paths.

    >>> rng = np.random.default_rng(0)
    >>> found = estimated_law("naive", [0.5, 0.5], [0.5, 0.5], candidates=2, paths=64, rng=rng)
    >>> abs(float(found.acceptance_rate) - 0.75) <= 4 * float(found.acceptance_rate_error) + 1e-12
    True
    """
    K = check_candidates(candidates)
    rule, p, q = check_problem(verifier, target, draft, K)
    if is_rational(p):
        raise ValueError("target: sampling is for floats; emitted_law gives rational laws exactly")
    if paths < 2:
        raise ValueError(f"paths: {paths} sampled paths have no standard error; give 2 or more")
    xp = array_namespace(p, q)

    def sampled(rule: Verifier, state: State, weight: Array, left: Array) -> tuple[State, Array]:
        u = rng.random((*weight.shape[:-1], 1))
        token = draw(left, xp.asarray(u, device=device(p)))
        return rule.reject(state, token), weight * total(left)

    law, rates = _walk(rule, p, q, K, sampled, lambda x: x, paths=paths)
    rate = total(rates) if K else law[..., :1] * 0

    def mean_and_error(x: Array) -> tuple[Array, Array]:
        return xp.mean(x, axis=-2), xp.std(x, axis=-2, correction=1) / paths**0.5

    (law, law_error), (rates, rates_error) = mean_and_error(law), mean_and_error(rates)
    rate, rate_error = mean_and_error(rate)
    found = (
        law,
        rate[..., 0],
        rates,
        tv(law, p),
        law_error,
        rate_error[..., 0],
        rates_error,
        total(law_error)[..., 0] / 2,
    )
    return EstimatedLaw(*map(scalar, found))


def _walk(
    rule: Verifier,
    p: Array,
    q: Array,
    candidates: int,
    branch: Callable[[Verifier, State, Array, Array], tuple[State, Array]],
    gather: Callable[[Array], Array],
    paths: int = 1,
) -> tuple[Array, Array]:
    """Emitted law and acceptance per candidate, before `gather` also along an axis of rejected paths (second to last).

    `weight` is the probability that a path is reached with every candidate on it rejected; `branch` continues the
    paths after a rejection, given the mass left at each token.
    """
    xp = array_namespace(p, q)
    state = _map(
        lambda x: xp.repeat(x[..., None, :], paths, axis=-2) if paths > 1 else x[..., None, :],
        rule.start(p, q, candidates),
    )
    weight = total(state.target * 0) + 1
    law, rates = gather(state.target * 0), [gather(weight[..., :0])]
    landed = gather(weight * 0)
    for _ in range(rule.steps(candidates)):
        m = rule.accepted(state)
        exhausted = total(state.proposal) <= 0
        ended = weight * xp.where(exhausted, state.target, state.target * 0)
        law = law + gather(weight * m + ended)
        rates.append(gather(weight * total(m)))
        landed = landed + gather(_landed(rule, state, candidates, ended))
        state, weight = branch(rule, state, weight, state.proposal - m)
    last = weight * state.target
    landed = landed + gather(_landed(rule, state, candidates, last))
    found = xp.concat(rates, axis=-1)
    if isinstance(rule, Selection) and candidates > 0:
        found = found * gather(rule.shares(state, candidates))
    return law + gather(last), found + landed


def _landed(rule: Verifier, state: State, candidates: int, drawn: Array) -> Array:
    """What of the mass `drawn` from the residual lands on each candidate, `(..., K)`, where that counts; else 0."""
    position = rule.matched(state) if candidates else None
    if position is None:
        return drawn[..., :1] * 0
    xp = array_namespace(drawn)
    return xp.concat([total(xp.where(position == i, drawn, drawn * 0)) for i in range(candidates)], axis=-1)


def _any_token(rule: Verifier, state: State, weight: Array, left: Array) -> tuple[State, Array]:
    """One state for all rejected tokens: the rule does not look at them."""
    token = array_namespace(left).argmax(left, axis=-1)
    return rule.reject(state, token), weight * total(left)


def _every_token(rule: Verifier, state: State, weight: Array, left: Array) -> tuple[State, Array]:
    """One state for each rejected token: the axis of paths grows by a factor of `vocab`, or less for one exact pair."""
    xp = array_namespace(left)
    vocab = left.shape[-1]
    if is_rational(left) and left.ndim == 2:
        return _every_possible_token(rule, state, weight * left)

    def flat(x: Array) -> Array:
        return xp.reshape(x, (*x.shape[:-3], x.shape[-3] * vocab, x.shape[-1]))

    state = _map(lambda x: flat(xp.broadcast_to(x[..., None, :], (*x.shape[:-1], vocab, x.shape[-1]))), state)
    token = xp.broadcast_to(index_range(vocab, left), left.shape)
    token = xp.reshape(token, (*token.shape[:-2], token.shape[-2] * vocab))
    return rule.reject(state, token), flat((weight * left)[..., None])


def _every_possible_token(rule: Verifier, state: State, mass: Array) -> tuple[State, Array]:
    """`_every_token` without the paths of probability 0, which rationals tell from the others; one of them at least."""
    path, token = np.nonzero(mass > 0) if (mass > 0).any() else np.zeros((2, 1), dtype=np.int64)
    return rule.reject(_map(lambda x: x[path], state), token), mass[path, token][:, None]


def _map(change: Callable[[Array], Array], state: State) -> State:
    return State(change(state.target), change(state.proposal), tuple(map(change, state.memory)))
