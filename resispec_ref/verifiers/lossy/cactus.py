"""Cactus: every candidate gets a target within a divergence of its own. Lossy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, is_rational
from resispec_ref.arrays.convert import number_like, number_type, objects
from resispec_ref.rule.options import check_share
from resispec_ref.verifiers.lossy.moving_target import MovingTarget


@dataclass(frozen=True)
class Cactus(MovingTarget):
    """The candidate's own probability is raised as far as a divergence of about `δ` from the target allows.

        h^(x)(x) = min(1, p(x) + √(2 δ p(x) (1 − p(x)))),    h^(x)(y) ∝ p(y) elsewhere.

    **Biased**: each `h^(x)` is within about `δ` of the target, but what is emitted mixes them and need not be. Fair
    three-sided die, draft (1/2, 1/2, 0), `δ = 1/16`: the emitted law is (1/2, 1/2, 0), whose divergence from the target
    is `ln 1.5 = 6.5 δ`.

    Options: `delta`, the `δ` in `[0, 1]`, in nats; 0 is recursive rejection. For rational laws the root is exact where
    it is rational, and else the decimal that the float prints as.

    Source: Cactus (arXiv 2604.04987), for one candidate; several are verified in turn here (T18).
    """

    name = "cactus"
    source = "arXiv 2604.04987"
    exact = False

    delta: float = 0.125

    def __post_init__(self) -> None:
        check_share("delta", self.delta)

    def height(self, p: Array) -> Array:
        xp = array_namespace(p)
        spread = 2 * number_like(self.delta, p) * p * (1 - p)
        if is_rational(p):
            root = objects([_root(v, number_type(p)) for v in spread.reshape(-1).tolist()], spread.shape)
        else:
            root = xp.sqrt(xp.where(spread > 0, spread, spread * 0))
        return xp.minimum(p + root, p * 0 + 1)


def _root(x: Any, number: type) -> Any:
    above, below = math.isqrt(int(x.numerator)), math.isqrt(int(x.denominator))
    if above**2 == x.numerator and below**2 == x.denominator:
        return number(above) / number(below)
    return number(Fraction(str(math.sqrt(x))))
