"""Importance-weighted selection: a candidate picked by `p/q`, then one speculative step."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, capped_quotient, is_rational, total
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.weighted import WeightedSelection

_RANGE = 2**10  # weights are kept within this of 1, so that every candidate has one
_MOST = 100  # a larger power of the largest weight would be beyond floats
_MULTISETS = 400  # of the other candidates: up to so many, they are enumerated
_STEP, _CUT = 0.3, 34.0  # trapezoid rule in log r, which errs by e^{−π²/step}; e^{−34} is below rounding


@dataclass(frozen=True)
class ImportanceWeighted(WeightedSelection):
    """Pick a candidate with probability in proportion to its importance weight, then accept or draw the residual.

        v = (p/q)^n, within [2^−10, 2^10];    s(x) = K q(x) E[v(x) / (v(x) + v(X_2) + … + v(X_K))];    m = min(p, s).

    The canonical form of multi-draft sampling with simple weights in the place of a linear program's. With `q` alone it
    is `s = q`, with a large power the strict priority of the largest ratio. Small vocabularies: the other candidates
    are enumerated, rationally; large ones, in floats: `s = K q v ∫ e^{−v r} (Σ q e^{−v r})^{K−1} dr`.

    Options: `power`, the `n`, 0 to 100.

    Source: Khisti et al. 2025 (arXiv 2410.18234), the canonical decomposition. Theorem: `weights_exact`
    (proofs/optimal.v).
    """

    name = "importance-weighted"
    source = "Khisti et al. 2025"
    exact = True
    repeats = True

    power: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.power <= _MOST or self.power != int(self.power):
            raise ValueError(f"power: {self.power} is not a power of the ratio; give an integer from 0 to {_MOST}")

    def start(self, p: Array, q: Array, candidates: int) -> State:
        p, q = p + q * 0, q + p * 0
        if candidates == 0:
            return State(p, q)
        xp = array_namespace(p, q)
        one = p * 0 + 1
        ratio = xp.where(q > 0, capped_quotient(p, q, one * _RANGE), one)
        v = xp.minimum(xp.maximum(ratio**self.power, one / _RANGE), one * _RANGE)
        others = math.comb(p.shape[-1] + candidates - 2, candidates - 1)
        law = _by_multisets if is_rational(q) or others <= _MULTISETS else _by_quadrature
        s = law(q, v, candidates)
        return State(p, s / total(s), (v, xp.astype(v < 0, xp.int64)))


def _by_multisets(q: Array, v: Array, K: int) -> Array:
    """`s` by enumeration of what the other `K − 1` candidates are, in any order."""
    s = q * 0
    for others in itertools.combinations_with_replacement(range(q.shape[-1]), K - 1):
        chance, weight = q[..., :1] * 0 + math.factorial(K - 1), q[..., :1] * 0
        for x in others:
            chance, weight = chance * q[..., x : x + 1], weight + v[..., x : x + 1]
        for x in set(others):
            chance = chance / math.factorial(others.count(x))
        s = s + chance * q * v / (v + weight) * K
    return s


def _by_quadrature(q: Array, v: Array, K: int) -> Array:
    xp = array_namespace(q)
    s = q * 0
    reach = _CUT + math.log(_RANGE)
    for log_r in np.arange(-reach, reach, _STEP).tolist():
        e = xp.exp(-v * math.exp(log_r))
        s = s + e * total(q * e) ** (K - 1) * math.exp(log_r)
    return s * q * v * (K * _STEP)
