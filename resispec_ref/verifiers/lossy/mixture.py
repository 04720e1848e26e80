"""A mixture of the two laws, verified exactly. Lossy."""

from __future__ import annotations

from dataclasses import dataclass

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.arrays.convert import number_like
from resispec_ref.rule.options import check_share
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.independent.resispec import ResiSpec


@dataclass(frozen=True)
class Mixture(ResiSpec):
    """`resispec` towards an ensemble of target and draft, `(1 − α) p + α q`.

    **Biased** on purpose, and by a known amount: the emitted token has the mixture's law, at a total variation of
    `α TV(p, q)` from the target.

    Options: `weight`, the `α` in `[0, 1]` that the draft has in the mixture.

    Source: the contrast of section 5 of the mathematics.
    """

    name = "mixture"
    source = "this project, as a contrast"
    exact = False

    weight: float = 0.1

    def __post_init__(self) -> None:
        check_share("weight", self.weight)

    def start(self, p: Array, q: Array, candidates: int) -> State:
        alpha = number_like(self.weight if candidates else 0, p)
        return super().start((1 - alpha) * p + alpha * q, q, candidates)
