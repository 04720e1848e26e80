"""How fine a quadrature over the time of exponential clocks has to be."""

from __future__ import annotations

import functools
import math

_UNIT = 64  # steps are multiples of 1/64: exact in binary, so that nodes are evenly spaced


@functools.cache
def trapezoid_step(rings: int, error: float) -> float:
    """The largest step in `log t` with which the trapezoid rule is within `error` for the time of a `rings`-th ring.

    The density of that time is a mixture of `λ (λ t)^{k − 1} e^{−λ t} / Γ(k)`, `k ≤ rings`. By Poisson's summation the
    rule with step `h` errs by `2 Σ_n |Γ(k + 2πi n / h)| / Γ(k)`, of which the first term is all but nothing of it:

        |Γ(k + iω)| / Γ(k) = (πω / sinh πω)^{1/2} Π_{j < k} (1 + (ω / j)²)^{1/2},    ω = 2π / h,

    which grows with `k`.

    >>> trapezoid_step(1, 1e-13), trapezoid_step(8, 1e-13)
    (0.296875, 0.1875)
    """
    steps = 3 * _UNIT
    while steps > 1 and _error(rings, steps / _UNIT) > error:
        steps -= 1
    return steps / _UNIT


def _error(rings: int, step: float) -> float:
    omega = 2 * math.pi / step
    # sinh πω = e^{πω} / 2 up to rounding, as ω ≥ 2
    size = 0.5 * (math.log(2 * math.pi * omega) - math.pi * omega)
    return 2 * math.exp(size + 0.5 * sum(math.log1p((omega / j) ** 2) for j in range(1, rings)))
