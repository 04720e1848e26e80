"""Reshaped proposals: the published proxy, and the capacity that later candidates still have.

The exact shaped rule reserves for each token what the *remaining* candidates can still accept of it. For independent
candidates one number `W` fixes the whole schedule; for different laws per candidate it is a fixed point.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import (
    Array,
    capped_quotient,
    count_below,
    count_while,
    divide,
    is_rational,
    one_hot,
    positive_part,
    prefix_sum_from_zero,
    take,
    total,
)
from resispec_ref.residual import Budget, Spread, published_residual
from resispec_ref.validation import check_candidates, check_drafts, check_pair


class Schedule(NamedTuple):
    """The best schedule of shaped residuals for independent candidates.

    `W`, shape `(...)`, is the final total weight; `weights`, `(..., K)`, the probability that each candidate is
    looked at; `residuals`, `(..., K + 1, vocab)`, the unnormalised residual targets `u_1 … u_{K+1}`.
    """

    W: Array
    weights: Array
    residuals: Array


def published_proxy(
    target: Any, draft: Any, token: Any, *, spread: Spread = "proportional", budget: Budget = "rejected-mass"
) -> Array:
    """The proxy proposal `k` of ResiSpec as published after rejecting `token`: `k = p − r` off it, `k = q` at it.

    Arguments as in `published_residual`. Source: arXiv 2608.24411, Algorithm 1, `GetProxy`. Theorem:
    `published_not_exact` (proofs/published.v).

    >>> from fractions import Fraction as F
    >>> [str(v) for v in published_proxy([F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)], 0)]
    ['1/2', '3/14', '2/7']
    """
    r = published_residual(target, draft, token, spread=spread, budget=budget)
    p, q = check_pair(target, draft)
    xp = array_namespace(p)
    token = xp.asarray(token) if isinstance(token, int | list | tuple) else token
    return xp.where(one_hot(token, p.shape[-1]), q, p - r)


def schedule(target: Any, draft: Any, *, candidates: int) -> Schedule:
    """`W` and the weights `w_1 … w_K` of the best sequential verifier of `K` independent candidates.

    Solves `S_K(W) = W` for the unnormalised residuals `u_{i+1} = max(p − q S_i, min(p, q (W − S_i)+))`, `w_i = |u_i|`,
    `S_i = w_1 + … + w_i`; the acceptance rate is then `Σ min(p, W q)`. Exact on rationals. Where `W` is not unique
    the least root is taken (in floats the least but for rounding); all roots give the same law and acceptance rate.
    Source: section 4 of the mathematics, equation (P).
    Theorem: `schedule_exact` (proofs/resispec.v).

    Laws `(..., vocab)`; `candidates` `K ≥ 1`. Raises `ValueError` as `check_pair` does.

    >>> from fractions import Fraction as F
    >>> s = schedule([F(1, 2), F(3, 10), F(1, 5)], [F(3, 5), F(7, 20), F(1, 20)], candidates=2)
    >>> str(s.W[()]), [str(w) for w in s.weights]
    ('39/20', ['1', '19/20'])
    """
    p, q = check_pair(target, draft)
    if check_candidates(candidates) < 1:
        raise ValueError("candidates: a schedule needs 1 candidate or more")
    W = schedule_total(p, q, candidates)
    xp = array_namespace(p, q)
    u, w, past = [p + q * 0], [], W * 0
    for _ in range(candidates):
        w.append(total(u[-1]))
        past = past + w[-1]
        u.append(xp.maximum(p - q * past, xp.minimum(p, q * positive_part(W - past))))
    return Schedule(W[..., 0], xp.concat(w, axis=-1), xp.stack(u, axis=-2))


def future_capacity(target: Any, drafts: Any, *, iterations: int = 200) -> Array:
    """Capacity `C_i = Σ_{j>i} w_j q_j` left after each candidate when the candidates have laws `q_1 … q_K` of their
    own.

    A fixed point in the weights, `w_{i+1} = |max(p − Σ_{j≤i} w_j q_j, min(p, C_i))|`, approached by iteration.
    Any capacities are exact when used as `λ q = C / w`, so stopping early costs acceptance only.
    Source: section 4 of the mathematics, "different laws per candidate". Theorem: `capacity_step_exact`
    (proofs/resispec.v).

    Args:
        target: `(..., vocab)`.
        drafts: `(..., K, vocab)`, the law of each candidate.
        iterations: how often the weights are replaced.

    Returns:
        `(..., K, vocab)`; entry `i` is `C_i`, and the last is 0.

    >>> from fractions import Fraction as F
    >>> C = future_capacity([F(1, 2), F(1, 2)], [[F(1), F(0)], [F(0), F(1)]])
    >>> [[str(v) for v in row] for row in C]
    [['0', '1/2'], ['0', '0']]
    """
    p, q = check_drafts(target, drafts)
    return array_namespace(p, q).stack(capacities(capacity_weights(p, q, iterations), q), axis=-2)


def capacity_weights(p: Array, q: Array, iterations: int = 200) -> list[Array]:
    """The fixed point of `future_capacity`: the probability `w_i`, `(..., 1)`, that each candidate is looked at."""
    xp = array_namespace(p, q)
    K = q.shape[-2]
    w = [total(q[..., i, :]) * total(p) for i in range(K)]
    for _ in range(iterations):
        C = capacities(w, q)
        past, w = p * 0, [total(p)]
        for i in range(K - 1):
            past = past + w[i] * q[..., i, :]
            w.append(total(xp.maximum(p - past, xp.minimum(p, C[i]))))
    return w


def schedule_total(p: Array, q: Array, candidates: int) -> Array:
    """The least root `W`, `(..., 1)`, of `S_K(W) = W` in `[1, K]`, but for rounding, by a search over breakpoints.

    With `ρ = p/q` sorted, `S_i(W)` is linear in `W` between the points where `W`, or a level `W − S_i(W)`, meets a
    ratio or 0. A bracket of the root is narrowed to lie between two such points, one level after the other; each
    level is linear on the bracket left by those before it, so its points are found by interpolation. On the last
    bracket `S_K(W) − W` is linear and solved.
    """
    table = _RatioTable(p, q, candidates)
    one = total(p * 0 + q * 0) + 1
    low, high = one, one * candidates
    for level in range(candidates):
        low, high = _narrow(table, level, low, high)
    excess_low, excess_high = -table.levels(low)[candidates], -table.levels(high)[candidates]
    inside = low + (high - low) * divide(excess_low, excess_low - excess_high, excess_low * 0)
    xp = array_namespace(low)
    inside = xp.where(excess_high > 0, high, inside)  # a root but for rounding, as `low` may be
    return xp.where(excess_low <= table.rounding, low, inside)


def _narrow(table: _RatioTable, level: int, low: Array, high: Array) -> tuple[Array, Array]:
    """The part of the bracket that holds the root and where `W − S_level(W)`, linear on the bracket, meets no knot."""
    xp = array_namespace(low)
    at_low, at_high = table.levels(low)[level], table.levels(high)[level]
    knots = table.knots.shape[-1]

    def point(index: Array) -> Array:
        t = take(table.knots, index)
        inside = low + (high - low) * divide(t - at_low, at_high - at_low, t * 0)
        return xp.where(t <= at_low, low, xp.where(t >= at_high, high, inside))

    def before_root(index: Array) -> Array:
        W = point(index[..., 0, :])
        return (table.levels(W)[table.candidates] < -table.rounding)[..., None, :]

    count = count_while(before_root, knots, xp.astype(low != low, xp.int64))
    previous, following = xp.maximum(count - 1, count * 0), xp.minimum(count, count * 0 + knots - 1)
    return xp.where(count > 0, point(previous), low), xp.where(count < knots, point(following), high)


class _RatioTable:
    """Sorted ratios `ρ = p/q` with prefix sums, from which `W − S_i(W)` costs a few searches instead of a pass."""

    def __init__(self, p: Array, q: Array, candidates: int):
        xp = array_namespace(p, q)
        beyond = p * 0 + q * 0 + (candidates + 1)
        ratio = capped_quotient(p, q, beyond)
        order = xp.argsort(ratio, axis=-1, stable=True)
        self.ratio = take(ratio, order)
        self.P, self.Q = prefix_sum_from_zero(take(p, order)), prefix_sum_from_zero(take(q, order))
        self.knots = xp.concat([self.ratio[..., :1] * 0, self.ratio], axis=-1)
        self.candidates = candidates
        # of a level: K sums of a few terms up to K, each of prefix sums. S_K − W may be this little below 0 at a root.
        # Between two W it grows by at least the acceptance, so that stopping early costs no more than this.
        self.rounding = 0 if is_rational(p) else 8 * candidates**2 * math.log2(p.shape[-1] + 1) * 2.0**-53

    def levels(self, W: Array) -> list[Array]:
        """`W − S_0, W − S_1, …, W − S_K` for every `W` of shape `(..., n)`, with `S_0 = 0`."""
        xp = array_namespace(W)
        S = W * 0 + self.P[..., -1:]
        found = [W, W - S]
        for _ in range(self.candidates - 1):
            v, top = positive_part(W - S), xp.maximum(W, S)
            high, low = count_below(self.ratio, top), count_below(self.ratio, v)
            P_high, Q_high = take(self.P, high), take(self.Q, high)
            always = self.P[..., -1:] - P_high - S * (self.Q[..., -1:] - Q_high)
            S = S + always + take(self.P, low) + v * (Q_high - take(self.Q, low))
            found.append(W - S)
        return found


def capacities(w: list[Array], q: Array) -> list[Array]:
    """`C_i = Σ_{j>i} w_j q_j` for weights `w` and laws `q`, `(..., K, vocab)`."""
    ahead = [w[-1] * q[..., -1, :] * 0]
    for i in range(len(w) - 1, 0, -1):
        ahead.append(ahead[-1] + w[i] * q[..., i, :])
    return ahead[::-1]
