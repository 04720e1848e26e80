"""Which of `K` distinct candidates is picked, at full vocabulary: two races of exponential clocks.

Candidates drawn without replacement are the first `K` rings of clocks of rates `q`. Among the candidates of the highest
class present, the pick with probabilities in proportion to weights `v` is the first ring of clocks of rates `v`. With
`t` the time of the last candidate and `r` the level of the pick's ring, the law of the pick is a double integral of a
coefficient of

    Π_y (a_y + z g_y b_y),    a_y = e^{−q_y t},  b_y = 1 − a_y,  g_y = e^{−v_y r}.

The few heaviest tokens enter one by one, without a subtraction; the others through power sums of `b/a` over groups of
equal weight. Integrals are trapezoid sums in `log t` and `log r`, as fine as `trapezoid_step` says: `t` is the time of
ring number `K` and needs the more nodes the larger `K` is, `r` that of a first ring.

NumPy in float64, one position at a time. Source: section 6 of the mathematics, T12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

HEAVY = 12
"""Tokens that enter one by one, beside as many as there are candidates."""
LEAST_WEIGHT = 1e-7  # of the largest one in its class
_CUT = 28.0  # what has probability e^{−28}, 1e-12, is left out


class Nodes(NamedTuple):
    """Places and weights of a quadrature."""

    at: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class Race:
    """One position's candidates: tokens in the order of groups, the heaviest being groups of their own and first.

    `q`, `(tokens,)`, of positive entries only; `first`, `(groups,)`, where each group begins; `upper`, `(groups,)`,
    whether it is in the higher class.
    """

    q: np.ndarray
    first: np.ndarray
    heavy: int
    upper: np.ndarray
    candidates: int

    def times(self, step: float) -> Nodes:
        """Nodes in `t` over all times at which the last candidate can come."""
        K, h = self.candidates, self.q[: self.heavy]
        log_t = np.arange(-_CUT / K - 1, math.log(_CUT + K) - math.log(h[min(K, len(h)) - 1]) + step, step)
        few = np.zeros((K, len(log_t)))  # the chance of k rings of heavy clocks
        few[0] = 1
        for rate in h:
            missed = np.exp(-rate * np.exp(log_t))
            few = few * missed + np.concatenate([few[:1] * 0, few[:-1]]) * (1 - missed)
        late = int(np.count_nonzero(few.sum(axis=0) > math.exp(-_CUT)))
        at = np.exp(log_t[: late + 1])
        return Nodes(at, at * step)

    def sums(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`Σ o^j` for `j = 1 … K` and `Σ q o^j` for `j = 0 … K − 1` of the light groups; `(K, groups, times)`.

        `o = b/a = e^{q t} − 1`.
        """
        light, first = self.q[self.heavy :, None], self.first[self.heavy :] - self.heavy
        odds, power = np.expm1(light * t), np.ones((len(light), len(t)))
        with_q, without_q = [], []
        for _ in range(self.candidates):
            with_q.append(np.add.reduceat(light * power, first, axis=0))
            power = power * odds
            without_q.append(np.add.reduceat(power, first, axis=0))
        return np.array(without_q), np.array(with_q)


def levels(step: float) -> Nodes:
    """Nodes in `r` over all levels at which a clock of the weights that are allowed can ring first."""
    log_r = np.arange(-_CUT, math.log(_CUT / LEAST_WEIGHT) + step, step)
    return Nodes(np.exp(log_r), np.exp(log_r) * step)


class Picked(NamedTuple):
    """The law of the pick by group, and what gives it token by token within the light groups."""

    groups: np.ndarray
    by_odds: np.ndarray
    """`(K, times, light groups)`: the factor of `o^{j + 1}`."""
    by_rate: np.ndarray
    """`(K, times, light groups)`: the factor of `q o^j`."""


def picked_law(race: Race, v: np.ndarray, t: Nodes, r: Nodes, sums: tuple[np.ndarray, np.ndarray]) -> Picked:
    """The law of the pick for weights `v`, `(groups,)`: among the higher class where it is present, else the other."""
    high = _class_law(race, np.where(race.upper, v, 0), np.ones(len(v), dtype=bool), t, r, sums)
    low = _class_law(race, np.where(race.upper, 0, v), ~race.upper, t, r, sums)
    return Picked(*(a + b for a, b in zip(high, low, strict=True)))


def token_law(race: Race, picked: Picked, t: Nodes) -> np.ndarray:
    """The law of the pick token by token, `(tokens,)`."""
    light = race.q[race.heavy :]
    sizes = np.diff(np.append(race.first[race.heavy :], len(race.q)))
    odds = np.expm1(light * t.at[:, None])
    power, s = np.ones_like(odds), np.zeros(len(light))
    for by_odds, by_rate in zip(picked.by_odds, picked.by_rate, strict=True):
        s += np.sum(power * light * np.repeat(by_rate, sizes, axis=-1), axis=0)
        power *= odds
        s += np.sum(power * np.repeat(by_odds, sizes, axis=-1), axis=0)
    return np.concatenate([picked.groups[: race.heavy], s])


def _class_law(
    race: Race,
    v: np.ndarray,
    present: np.ndarray,
    t: Nodes,
    r: Nodes,
    sums: tuple[np.ndarray, np.ndarray],
) -> Picked:
    """The law of the pick among groups of weight `v > 0`, where only `present` groups are among the candidates.

    `P` holds the coefficients of the product up to `z^{K − 1}`, and `D` those of the sum over the token that rings
    last: for it, `z g b` becomes `z g q a`.
    """
    K, n, q = race.candidates, race.heavy, race.q
    decay = np.exp(-np.multiply.outer(v, r.at))
    rung = -np.expm1(-np.multiply.outer(q[:n], t.at)) * present[:n, None]
    missed = np.exp(-np.multiply.outer(q[:n], t.at))
    last = q[:n, None] * missed * present[:n, None]
    able = (v[:n] > 0) & present[:n]  # whoever cannot be the pick has a factor that does not depend on the level
    idle = (np.zeros((K, len(t.at), 1)), np.zeros((K, len(t.at), 1)))
    idle[0][0] = 1
    for y in np.flatnonzero(~able):
        idle = _with_token(idle, missed[y], rung[y], last[y], np.ones(1))
    after, tokens = [_product(_light(race, decay[n:], present[n:], t, sums), idle)], np.flatnonzero(able)
    for y in tokens[::-1]:
        after.append(_with_token(after[-1], missed[y], rung[y], last[y], decay[y]))
    P, D = after.pop()
    ranks = r.weight * decay * v[:, None]
    by_odds, by_rate = np.zeros((2, K, len(t.at), len(v) - n))
    for j in range(K):
        sign = (-1) ** j * t.weight[:, None]
        falling = (ranks[n:] * decay[n:] ** j).T
        by_odds[j] = sign * (D[K - 1 - j] @ falling)
        by_rate[j] = sign * (j + 1) * (P[K - 1 - j] @ falling)
    odds_sums, rate_sums = sums
    light = np.einsum("jgt,jtg->g", odds_sums, by_odds) + np.einsum("jgt,jtg->g", rate_sums, by_rate)
    heavy, before = np.zeros(n), (np.zeros_like(P), np.zeros_like(D))
    before[0][0] = 1
    for y in tokens:
        P, D = before
        Q, C = after.pop()
        others = np.einsum("ktr,ktr,r->t", P, Q[::-1], ranks[y])
        ringing = np.einsum("ktr,ktr,r->t", P, C[::-1], ranks[y]) + np.einsum("ktr,ktr,r->t", D, Q[::-1], ranks[y])
        heavy[y] = np.sum(t.weight * (rung[y] * ringing + last[y] * others))
        before = _with_token(before, missed[y], rung[y], last[y], decay[y])
    return Picked(np.concatenate([heavy, light]), by_odds, by_rate)


def _product(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """`P` and `D` of two sets of tokens together."""
    (P, D), (Q, C) = a, b
    new_P, new_D = P * Q[0], D * Q[0] + P * C[0]
    for k in range(1, len(P)):
        new_P[k:] += P[:-k] * Q[k]
        new_D[k:] += D[:-k] * Q[k] + P[:-k] * C[k]
    return new_P, new_D


def _with_token(
    polynomials: tuple[np.ndarray, np.ndarray], missed: np.ndarray, rung: np.ndarray, last: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    P, D = polynomials
    a, b, c = missed[:, None], np.multiply.outer(rung, g), np.multiply.outer(last, g)
    new_P, new_D = P * a, D * a
    new_P[1:] += P[:-1] * b
    new_D[1:] += D[:-1] * b + P[:-1] * c
    return new_P, new_D


def _light(
    race: Race, decay: np.ndarray, present: np.ndarray, t: Nodes, sums: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """`P` and `D` of the light tokens, by Newton's identities from their power sums."""
    K, shape = race.candidates, (len(t.at), decay.shape[-1])
    odds_sums, rate_sums = (x * present[:, None] for x in sums)
    missed = np.exp(-race.q[race.heavy :].sum() * t.at)[:, None]
    power, e, ringing = np.ones_like(decay), [np.ones(shape)], list[np.ndarray]()
    signed = list[np.ndarray]()
    for j in range(K):
        power = power * decay
        signed.append((-1) ** j * (odds_sums[j].T @ power))
        ringing.append((-1) ** j * (rate_sums[j].T @ power))
    for k in range(1, K):
        e.append(sum((e[k - 1 - j] * signed[j] for j in range(k)), start=np.zeros(shape)) / k)
    D = [np.zeros(shape)]
    for k in range(1, K):
        D.append(sum((e[k - 1 - j] * ringing[j] for j in range(k)), start=np.zeros(shape)))
    return np.array(e) * missed, np.array(D) * missed
