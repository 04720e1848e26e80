"""The bound: the highest acceptance rate of any exact verifier, sequential or not (optimal transport)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, divide, is_rational, prefix_sum, prefix_sum_from_zero, take, total
from resispec_ref.arrays.convert import is_traced
from resispec_ref.candidates.candidate_sets import distinct_sets
from resispec_ref.candidates.quadrature import trapezoid_step
from resispec_ref.candidates.several_drafts import PerCandidate, per_candidate_bound
from resispec_ref.distributions import scalar
from resispec_ref.validation import check_candidates, check_drafts, check_pair

if TYPE_CHECKING:
    from resispec_ref.rule.verifier import Verifier

_CERTAIN = 36.0  # a clock of rate q rang by t with probability 1 − e^{−36}, below rounding, once q t exceeds this
_GONE = 740.0  # e^{−740} is 0 beside anything
_MOST = 19  # candidates without replacement, so that what follows holds
_ENOUGH = 700.0  # of clocks of this total `q t`, each at most 36, fewer than 19 rang with probability e^{18·36 − 700}
_ERROR = 1e-13  # of the quadrature
_LAST = 100.0  # log t, where it is not known how late the last clock is: one of mass 1e-43 rings by then


def optimal_acceptance(target: Any, draft: Any, *, candidates: int, replacement: bool = True) -> Array:
    """The optimal-transport bound `1 − max_H (Q(H) − p(H))+` on the acceptance rate of exact verifiers.

    `Q(H)` is the probability that all `K` candidates lie in `H`; the best `H` is a prefix of the tokens sorted by
    `p/q` ascending. Independent candidates: `Q(H) = q(H)^K`. Without replacement: rational laws by enumeration of sets,
    exactly; floats by quadrature over a race of exponential clocks, `O(vocab K)` a node, to about 1e-12. Under
    `jax.jit`, which shows no values, that needs draft masses above 1e-43; else they may be as small as floats are.

    Args:
        target: `(..., vocab)` law `p`.
        draft: `(..., vocab)` law `q` of the candidates, or a law for each, `PerCandidate(laws)`: then all subsets of a
            small vocabulary are tried, but for deterministic candidates beside one drawn.
        candidates: `K ≥ 0`.
        replacement: whether candidates are independent draws, or distinct ones drawn in sequence.

    Returns:
        `(...)`, in `[0, 1]`.

    Raises:
        ValueError: laws that are not laws; rational laws without replacement with too many sets of candidates to
        enumerate, or float laws with more than 19 candidates.

    Source: Sun et al. 2023 (arXiv 2310.15141), Hu et al. 2025 (arXiv 2502.18779), section 6 of the mathematics (T10).
    Theorem: `acceptance_upper_bound` (proofs/optimal.v), `bound_attained` (proofs/attained.v).

    >>> from fractions import Fraction as F
    >>> str(optimal_acceptance([F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)], candidates=2))
    '2/3'
    """
    K = check_candidates(candidates)
    if isinstance(draft, PerCandidate):
        p, q = check_drafts(target, draft.laws)
        if q.shape[-2] != K:
            raise ValueError(f"draft: laws for {q.shape[-2]} candidates, but there are {K}")
        return scalar(per_candidate_bound(p, q))
    p, q = check_pair(target, draft)
    if K == 0:
        return scalar(total(p + q * 0)[..., 0] * 0)
    p, q = sort_by_ratio(p, q)
    P = prefix_sum_from_zero(p)
    if replacement:
        escape = 1 - prefix_sum_from_zero(q) ** K
    elif is_rational(q):
        escape = 1 - _inside_by_sets(q, K)
    elif K > _MOST:
        raise ValueError(f"candidates: {K} distinct candidates are more than the quadrature for floats takes, {_MOST}")
    else:
        escape = escape_by_race(q, K)
    return scalar(array_namespace(P).min(P + escape, axis=-1))


def optimal_acceptance_for(rule: Verifier, target: Any, draft: Any, *, candidates: int) -> Array:
    """`optimal_acceptance` for candidates that are drawn as `rule` has them drawn.

    >>> from resispec_ref import get_verifier
    >>> float(optimal_acceptance_for(get_verifier("spechub"), [0.5, 0.25, 0.25], [0.5, 0.5, 0.0], candidates=2))
    0.75
    """
    if not isinstance(draft, PerCandidate):
        laws = rule.candidate_laws(check_pair(target, draft)[1], check_candidates(candidates))
        if laws is not None:
            p, _ = check_pair(target, draft)
            return scalar(per_candidate_bound(p, laws)) if candidates else scalar(total(p)[..., 0] * 0)
    return optimal_acceptance(target, draft, candidates=candidates, replacement=rule.replacement)


def sort_by_ratio(p: Array, q: Array) -> tuple[Array, Array]:
    """Both laws with their tokens sorted by `p/q`, ascending; tokens of `q = 0` last."""
    xp = array_namespace(p, q)
    share = divide(q, p + q, p * 0 + q * 0)  # falls as p/q rises, without infinities, and tells small q apart
    order = xp.argsort(-share, axis=-1, stable=True)
    return take(p, order), take(q, order)


def _inside_by_sets(q: Array, K: int) -> Array:
    """`Q(H)` for every prefix `H`, length `vocab + 1`: a set lies in the prefix that ends with its last token."""
    xp = array_namespace(q)
    ending = [q[..., :1] * 0] * (q.shape[-1] + 1)
    for S, chance in distinct_sets(q, K).items():
        ending[max(S, default=-1) + 1] = ending[max(S, default=-1) + 1] + chance
    return prefix_sum(xp.concat(ending, axis=-1))


def escape_by_race(q: Array, K: int, error: float = _ERROR) -> Array:
    """`1 − Q(H)` for every prefix: `∫ q(H^c) e^{−q(H^c) t} P(fewer than K clocks of H rang by t) dt`.

    With odds `o = e^{q t} − 1` the probability of exactly `k` rings is `e^{−q(H) t} e_k(o)`, and the elementary
    symmetric polynomials of all prefixes come from running sums of positive terms, so nothing cancels. What is left of
    the integral at `t` is, for every prefix, at most the probability that fewer than K clocks of all rang by then: it
    ends the sum of a row.
    """
    xp = array_namespace(q)
    zero, step = q[..., :1] * 0, trapezoid_step(K, error)
    outside = xp.flip(prefix_sum_from_zero(xp.flip(q, axis=-1)), axis=-1)
    escape, running = outside * 0, zero == 0
    first, last = math.ceil(math.log(error)) - 3, _LAST
    if not is_traced(q):  # later terms are 0: the least mass of all, if any, ends the sum for each row alike
        least = float(xp.min(xp.where(q > 0, q, q * 0 + 1))) if math.prod(q.shape) else 1.0
        last = math.log(_GONE) - math.log(least) + step
    for log_t in np.arange(first, last, step).tolist():
        rate, certain = _times(q, log_t, _CERTAIN)
        leaving, _ = _times(outside, log_t, _GONE)
        rung, rates = prefix_sum_from_zero(xp.astype(certain, q.dtype)), prefix_sum_from_zero(rate)
        counted = rates <= _ENOUGH  # beyond, K clocks rang, and the odds would overflow
        odds = xp.where(counted[..., 1:], xp.expm1(rate), q * 0)
        none = xp.where(counted, xp.exp(-rates), zero)
        fewer, e = none * 0, none * 0 + 1
        for k in range(K):
            fewer = fewer + xp.where(rung + k < K, none * e, none * 0)
            e = xp.concat([zero, xp.cumulative_sum(odds * e[..., :-1], axis=-1)], axis=-1)
        escape = escape + xp.where(running, leaving * xp.exp(-leaving) * fewer, zero)
        running = running & (fewer[..., -1:] > error / 10)
        if not is_traced(q) and not xp.any(running):
            break
    return escape * step


def _times(q: Array, log_t: float, most: float) -> tuple[Array, Array]:
    """`q t`, and 0 where it exceeds `most`, with where that is; late times are beyond floats, but such products not."""
    xp = array_namespace(q)
    scale = 1.0 if log_t < _LAST else 2.0**1000
    beyond = q > math.exp(math.log(most) - log_t)
    return xp.where(beyond, q * 0, q) * scale * math.exp(log_t - math.log(scale)), beyond
