"""What a token drawn by the target's race is, given the winners of the draft's races on the same clocks.

Race `j` has a clock `S_ij` of rate 1 for every token `i`. The draft's candidate is `x_j = argmin_i S_ij / q_i`, and the
emitted token `argmin_i min_j S_ij / p_i`. With ratios `ρ = p/q` sorted and `φ(ρ) = Σ_i (q_i ρ − p_i)+`, which is linear
between them,

    G_z(t) = t ∫_{ρ_z}^∞ e^{−t φ(ρ)} dρ = Σ_{k ≥ z} (e^{−t φ_k} − e^{−t φ_{k+1}}) / Q_k,    Q_k = Σ_{i ≤ k} q_i,

`e^{−t} q_z G_z(t)` is the probability that `z` wins a draft's race in which no clock is before its target's time `t`.
Given the candidates `z_1 … z_k` of `k` of the `K` races, the emitted token is then `y` with probability

    ∫ e^{−K t} [ p_y Σ_j (G_{z_j} − G_y)+ Π_{i≠j} G_{z_i} + Σ_{j: z_j = y} ρ_y e^{−t φ_y} Π_{i≠j} G_{z_i}
                 + (K − k) p_y Π_i G_{z_i} ] dt.

One position at a time: rationals as sums of exponentials, exactly; floats by the trapezoid rule in `log t`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import capped_quotient
from resispec_ref.arrays.convert import objects

_STEP, _CUT = 0.25, 36.0  # the rule errs by about e^{−π² / step}; e^{−36} is below rounding
_FIRST = -46.0  # of log t: e^{−46} is early beside every clock, as ratios are kept within
_MOST = 1e15  # so that a token of the draft that the target wants more often is as good as certain to be emitted

Exponentials = dict[Any, Any]
"""`Σ c e^{−λ t}` as `{λ: c}`."""


class _Pieces:
    """The tokens of the draft in ascending order of ratio, `φ` at each, and `Q` after it."""

    def __init__(self, p: np.ndarray, q: np.ndarray, ratio: np.ndarray):
        self.order = sorted((x for x in range(len(q)) if q[x] > 0), key=ratio.__getitem__)
        self.place = {x: k for k, x in enumerate(self.order)}
        self.phi, self.Q, P, Q = [], [], p[0] * 0, q[0] * 0
        for x in self.order:
            self.phi.append(max(ratio[x] * Q - P, P * 0))
            P, Q = P + p[x], Q + q[x]
            self.Q.append(Q)


class Coupling(ABC):
    """One position's tables, for laws `(vocab,)` and `K` races."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, ...], np.ndarray] = {}

    def law(self, looked: Sequence[int]) -> np.ndarray:
        """Of the emitted token given these candidates, in any order: `(vocab,)`."""
        return self.laws([looked])[0]

    def laws(self, looked: Sequence[Sequence[int]]) -> list[np.ndarray]:
        """Those of several lists of candidates."""
        keys = [tuple(sorted(xs)) for xs in looked]
        new = {key for key in keys if key not in self.found}
        for count in {len(key) for key in new}:
            alike = [key for key in new if len(key) == count]
            self.found |= zip(alike, self._laws(alike), strict=True)
        return [self.found[key] for key in keys]

    @abstractmethod
    def _laws(self, looked: list[tuple[int, ...]]) -> list[np.ndarray]:
        """Those of different lists of as many candidates each."""


class ExactCoupling(Coupling):
    """For rational laws."""

    def __init__(self, p: np.ndarray, q: np.ndarray, candidates: int):
        super().__init__()
        ratio = objects([a / b if b > 0 else a * 0 for a, b in zip(p, q, strict=True)], p.shape)
        self.p, self.q, self.K, self.pieces = p, q, candidates, _Pieces(p, q, ratio)
        tail: Exponentials = {}
        self.G: dict[int, Exponentials] = {x: {} for x in range(len(q)) if not q[x] > 0}
        for k in reversed(range(len(self.pieces.order))):
            phi, Q = self.pieces.phi, self.pieces.Q[k]
            tail = _sum(tail, {phi[k]: 1 / Q})
            if k + 1 < len(phi):
                tail = _sum(tail, {phi[k + 1]: -1 / Q})
            self.G[self.pieces.order[k]] = tail

    def _laws(self, looked: list[tuple[int, ...]]) -> list[np.ndarray]:
        return [self._law(xs) for xs in looked]

    def _law(self, looked: tuple[int, ...]) -> np.ndarray:
        p, q, K = self.p, self.q, self.K
        law = [v * 0 for v in p]
        whole: Exponentials = {p[0] * 0: p[0] * 0 + 1}
        for z in looked:
            whole = _product(whole, self.G[z])
        for z in set(looked):
            rest: Exponentials = {p[0] * 0: p[0] * 0 + looked.count(z)}
            for x in list(looked[: looked.index(z)]) + list(looked[looked.index(z) + 1 :]):
                rest = _product(rest, self.G[x])
            ahead = self._integral(_product(rest, self.G[z]))
            for y in range(len(p)):
                if p[y] > 0 and (not q[y] > 0 or p[y] / q[y] > p[z] / q[z]):
                    law[y] += p[y] * (ahead - self._integral(_product(rest, self.G[y])))
            own = {self.pieces.phi[self.pieces.place[z]]: p[z] / q[z]}
            law[z] += self._integral(_product(rest, own))
        left = self._integral(whole) * (K - len(looked))
        return objects([a + b * left for a, b in zip(law, p, strict=True)], p.shape)

    def _integral(self, f: Exponentials) -> Any:
        return sum((c / (self.K + rate) for rate, c in f.items()), start=self.p[0] * 0)


class FloatCoupling(Coupling):
    """For float laws."""

    def __init__(self, p: np.ndarray, q: np.ndarray, candidates: int):
        super().__init__()
        self.ratio = np.where(q > 0, capped_quotient(p, q, p * 0 + _MOST), np.inf)
        pieces = _Pieces(p, q, self.ratio)
        log_t = np.arange(_FIRST, math.log(_CUT), _STEP)
        t = np.exp(log_t)
        self.p, self.K = p, candidates
        self.weight, self.t = np.exp(-candidates * t) * t * _STEP, t
        self.phi = np.full(len(p), np.inf)
        self.phi[pieces.order] = pieces.phi
        e = np.exp(np.multiply.outer(-np.array(pieces.phi), t))
        e[:-1] -= e[1:]
        e /= np.array(pieces.Q)[:, None]
        self.G = np.zeros((len(p), len(t)))
        self.G[pieces.order] = np.cumsum(e[::-1], axis=0)[::-1]

    def _laws(self, looked: list[tuple[int, ...]]) -> list[np.ndarray]:
        z = np.array(looked, dtype=np.int64).reshape(len(looked), len(looked[0]))
        n, k = z.shape
        G = self.G[z]
        rests = np.zeros((k, n, len(self.t)))
        for j in range(k):
            rests[j] = self.weight * np.prod(np.delete(G, j, axis=1), axis=1)
        behind = rests @ self.G.T  # one product for all: that is what takes time
        law = np.multiply.outer(np.prod(G, axis=1) @ self.weight, self.p) * (self.K - k)
        for x, rest, after in zip(z.T, rests, behind, strict=True):
            own = self.ratio[x, None]
            law += np.where(self.ratio > own, self.p * (np.take_along_axis(after, x[:, None], -1) - after), 0)
            law[np.arange(n), x] += own[:, 0] * np.sum(rest * np.exp(-np.multiply.outer(self.phi[x], self.t)), axis=-1)
        law = np.maximum(law, 0)
        return list(law / law.sum(axis=-1, keepdims=True))


def _sum(f: Exponentials, g: Exponentials) -> Exponentials:
    found = dict(f)
    for rate, c in g.items():
        found[rate] = found.get(rate, c * 0) + c
    return {rate: c for rate, c in found.items() if c}


def _product(f: Exponentials, g: Exponentials) -> Exponentials:
    found: Exponentials = {}
    for a, c in f.items():
        for b, d in g.items():
            found[a + b] = found.get(a + b, c * 0) + c * d
    return {rate: c for rate, c in found.items() if c}
