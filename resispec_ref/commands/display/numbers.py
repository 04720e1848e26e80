"""Numbers and laws as text."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any


def law_text(law: Iterable[Any]) -> str:
    """`(1/2, 1/2, 0)`."""
    return f"({', '.join(map(number_text, law))})"


def number_text(x: Any) -> str:
    """A rational as it is, `19/42`; a float with six digits."""
    return str(Fraction(x)) if isinstance(x, Fraction | int) else f"{float(x):.6g}"


def decimal_text(x: Any, digits: int = 3) -> str:
    """A probability with a few digits, and a plain `0` for what is 0 up to rounding."""
    return "0" if abs(x) < 1e-12 else f"{float(x):.{digits}f}"


def with_interval(value: float, half_width: float) -> str:
    """`2.605 ± 0.101`."""
    return f"{value:.3f}" + (f" ± {half_width:.3f}" if half_width > 0 else "")
