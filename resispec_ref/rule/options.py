"""Checks of the rules' options."""

from __future__ import annotations


def check_share(name: str, value: float, *, least: float = 0) -> None:
    """Raise unless `value` is a number in `[0, 1]`, and above 0 if `least` is."""
    if not least <= value <= 1:
        raise ValueError(f"{name}: {value} is not in [{least}, 1]")
