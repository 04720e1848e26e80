"""The residual update: what mass one step reserves for later, `r = p − m`.

A step on a residual target `p` with proposal `q` accepts the mass `m = p − r`. When it rejects, the emitted token must
have the law `r / |r|`. Memoryless steps are exact iff `(p − q)+ ≤ r ≤ p`: the floor and the ceiling.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import (
    Array,
    capped_quotient,
    divide,
    is_rational,
    one_hot,
    positive_part,
    prefix_sum_from_zero,
    take,
    total,
)
from resispec_ref.arrays.convert import is_traced, refuse
from resispec_ref.validation import check_broadcast, check_pair, check_tokens

Spread = Literal["proportional", "water-filling"]
Budget = Literal["rejected-mass", "equation-13"]


def standard_residual(target: Any, draft: Any) -> Array:
    """Reserved mass of recursive rejection, `r = (p − q)+`: on the floor.

    Laws `(..., vocab)`, probabilities; returns the mass, not normalised. Source: Leviathan et al. 2023, Chen et al.
    2023.
    Theorem: `recursive_rejection_exact` (proofs/recursive_rejection.v).

    >>> standard_residual([0.25, 0.75], [0.5, 0.5]).tolist()
    [0.0, 0.25]
    """
    return floor(*check_pair(target, draft))


def shaped_residual(target: Any, draft: Any, level: Any) -> Array:
    """Reserved mass shaped like the draft between floor and ceiling, `r = max((p − q)+, min(p, λ q))`.

    Exact for every `level` `λ ≥ 0` that does not look at the candidate: 0 is recursive rejection, and a large one
    accepts nothing. Laws `(..., vocab)`, `level` a number or `(..., 1)`; returns the mass, not normalised.
    Source: design of this project after ResiSpec (arXiv 2608.24411), section 4 of the mathematics, equation (S).
    Theorem: `shaped_step_exact` (proofs/resispec.v).

    Raises:
        ValueError: laws that are not laws, or a negative or NaN level.

    >>> shaped_residual([0.25, 0.75], [0.5, 0.5], 0.25).tolist()
    [0.125, 0.25]
    """
    p, q = check_pair(target, draft)
    if is_rational(p) and isinstance(level, float):
        raise ValueError(f"level: {level} is a float beside exact laws; give a rational, such as Fraction({level})")
    if not is_traced(level) and not is_traced(p):
        shift = p[..., :1] * 0 + level
        if not bool(array_namespace(p).all((shift >= 0) & (shift < float("inf")))):
            raise ValueError(f"level: {level} is not a finite number, 0 or more")
    return shaped(p, q, level)


def published_residual(
    target: Any,
    draft: Any,
    token: Any,
    *,
    spread: Spread = "proportional",
    budget: Budget = "rejected-mass",
) -> Array:
    """Reserved mass of ResiSpec as published after rejecting `token` (`GetProxy`, Algorithm 1): **not exact**.

    With budget `Z = q(x0) − p(x0)`: `r = min(Z q, p)` off `x0` and 0 at `x0`, and what clipping lost is spread over
    the spare room. The paper leaves the spread open: "proportional" to the spare room, or "water-filling", which raises
    `r` in proportion to `q` until each token meets `p` and spreads only the rest in proportion.
    `budget="equation-13"` is the larger `max(min p/q, Z)` of the paper's Equation 13.

    Source: arXiv 2608.24411, Algorithm 1. Theorem: `published_not_exact` (proofs/published.v).

    Laws `(..., vocab)`, `token` `(...)` the rejected token ids, each of positive draft probability; returns mass.

    >>> from fractions import Fraction as F
    >>> [str(v) for v in published_residual([F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)], 0)]
    ['0', '5/42', '1/21']
    """
    check_option("spread", spread, Spread)
    check_option("budget", budget, Budget)
    p, q = check_pair(target, draft)
    xp = array_namespace(p)
    if isinstance(token, int | list | tuple):
        token = xp.asarray(token)
    batch = check_broadcast(target=p.shape[:-1], draft=q.shape[:-1], token=token.shape)
    x = check_tokens(xp.broadcast_to(token, batch)[..., None], q)
    if not is_traced(x):
        refuse(x < 0, x, "token", "is no token; the one that was rejected is needed")
    return published(p, q, x[..., 0], spread, budget)


def floor(p: Array, q: Array) -> Array:
    """`(p − q)+`, as a difference, so that nothing cancels twice."""
    return positive_part(p - q)


def shaped(p: Array, q: Array, level: Any) -> Array:
    """`clip(λ q, (p − q)+, p)`."""
    xp = array_namespace(p, q)
    return xp.maximum(floor(p, q), xp.minimum(p, q * level))


def published(p: Array, q: Array, token: Array, spread: Spread, budget: Budget) -> Array:
    """`GetProxy`'s reserved mass; rows whose token cannot be rejected (`Z ≤ 0`) reserve nothing in the box's budget."""
    xp = array_namespace(p, q)
    at = one_hot(token, p.shape[-1])
    Z = positive_part(take(q - p, token[..., None]))
    if budget == "equation-13":
        Z = xp.maximum(Z, xp.min(capped_quotient(p, q, q * 0 + 1), axis=-1, keepdims=True))
    open_p, open_q = xp.where(at, p * 0, p), xp.where(at, q * 0, q)
    Z = xp.minimum(Z, total(open_p))
    r = xp.minimum(open_q * (Z if spread == "proportional" else water_level(open_p, open_q, Z)), open_p)
    lost, spare = positive_part(Z - total(r)), open_p - r
    return xp.minimum(r + spare * divide(lost, total(spare), lost * 0), open_p)


def water_level(p: Array, q: Array, budget: Array) -> Array:
    """The `λ` with `Σ min(p, λ q) = budget`; where `q > 0` holds less than that, one that fills all of it.

    `λ ↦ Σ min(p, λ q)` is concave and piecewise linear, so it is the least of its linear pieces and `λ` the greatest of
    their solutions; the pieces come from sorting by `p / q`.
    """
    xp = array_namespace(p, q)
    most = (total(q) * 0 + 2) ** 900  # fills every token that floats can hold
    ratio = xp.where(q > 0, capped_quotient(p, q, most), q * 0)
    order = xp.argsort(ratio, axis=-1, stable=True)
    filled = prefix_sum_from_zero(take(xp.where(q > 0, p, p * 0), order))[..., :-1]
    open_q = take(q, order)
    rising = total(q) - prefix_sum_from_zero(open_q)[..., :-1]
    solutions = xp.where(
        (open_q > 0) & (rising > 0), capped_quotient(positive_part(budget - filled), rising, most), rising * 0
    )
    return xp.max(solutions, axis=-1, keepdims=True)


def check_option(name: str, value: Any, allowed: Any) -> None:
    """Raise unless `value` is one of the literal choices `allowed`."""
    if value not in get_args(allowed):
        raise ValueError(f"{name}: {value!r} is not one of {', '.join(map(repr, get_args(allowed)))}")
