"""How far two laws of sequences are apart, and what a law of sequences is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from resispec_ref.sequence.targets import Reward
from resispec_ref.sequence.toy import Tokens

SequenceLaw = Mapping[Tokens, Any]
"""The probability of every sequence; those of probability 0 may be left out."""


def sequence_total_variation(one: SequenceLaw, other: SequenceLaw) -> Any:
    """`½ Σ |one(s) − other(s)|`, in `[0, 1]`; exact for rationals.

    >>> sequence_total_variation({(0,): 0.5, (1,): 0.5}, {(0,): 1.0})
    0.5
    """
    return sum(abs(one.get(s, 0) - other.get(s, 0)) for s in one.keys() | other.keys()) / 2


def sequence_divergence(one: SequenceLaw, other: SequenceLaw) -> float:
    """`Σ one(s) ln(one(s) / other(s))` in nats; infinite where `other` lacks a sequence that `one` has.

    >>> round(sequence_divergence({(0,): 1.0}, {(0,): 0.5, (1,): 0.5}), 4)
    0.6931
    """
    if any(mass and not other.get(s, 0) for s, mass in one.items()):
        return math.inf
    return math.fsum(float(mass) * math.log(mass / other[s]) for s, mass in one.items() if mass)


def expected_reward(law: SequenceLaw, reward: Reward) -> Any:
    """`Σ law(s) R(s)`; exact for rationals.

    >>> expected_reward({(0, 1): 0.5, (1, 1): 0.5}, sum)
    1.5
    """
    return sum(mass * reward(s) for s, mass in law.items())
