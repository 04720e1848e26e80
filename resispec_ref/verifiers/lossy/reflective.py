"""Reflective verification: a second opinion that has seen the candidate. Lossy."""

from __future__ import annotations

from dataclasses import dataclass

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.arrays.convert import number_like
from resispec_ref.rule.options import check_share
from resispec_ref.verifiers.lossy.moving_target import MovingTarget


@dataclass(frozen=True)
class Reflective(MovingTarget):
    """The target is mixed with a second law that has seen the candidate, here the one that agrees with it entirely.

        h^(x) = (1 − w) p + w 1_x.

    **Biased**, for every weight above 0: the second law moves with the candidate. Of a model's own second law nothing
    is known at the level of distributions; the point mass is the most that it can add to the candidate's probability.

    Options: `weight`, the `w` in `[0, 1]` of the second law; 0 is recursive rejection.

    Source: after reflective verification (arXiv 2505.18629); the point mass is this project's choice (T18).
    """

    name = "reflective"
    source = "after arXiv 2505.18629"
    exact = False

    weight: float = 0.1

    def __post_init__(self) -> None:
        check_share("weight", self.weight)

    def height(self, p: Array) -> Array:
        w = number_like(self.weight, p)
        return (1 - w) * p + w
