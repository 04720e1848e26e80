"""Level by level down a tree: the shares of its nodes, and the places where the path may end.

After each level, shares and stops add up to 1. Whatever the stops gain or lose, they do in proportion, so that the mean
of each over the children that may come is what it was: every share and every stop is a martingale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.sequence.whole_tree.level import Plan, children_kept


class Stop(NamedTuple):
    """A place where the accepted path may end."""

    node: Any
    mass: Any
    """The probability that it ends there, given what is seen."""
    extra: Callable[[], Array] | None
    """The mass of its extra token, `(vocab,)`; None after an end token."""


class State(NamedTuple):
    """What is left after some levels."""

    shares: list[Any]
    """Of the nodes of the last level seen."""
    stops: list[Stop]


def below(state: State, stops: Sequence[Stop], plan: Plan, lists: Sequence[Sequence[int]], one: Any) -> State:
    """The state after the children `lists` of the nodes of `plan`, whose own stops are the last of `stops`.

    Masses are rescaled to add up to 1 with the children's shares. What they were before has that sum in the mean.
    """
    kept = [a for row in children_kept(plan, lists, one * 0) for a in row]
    whole = sum((stop.mass for stop in stops), start=one * 0)
    rest = max(one - sum(kept, start=one * 0), one * 0)  # below 0 by rounding only
    scale = rest / whole if whole > 0 else one * 0
    return State(kept, [stop._replace(mass=stop.mass * scale) for stop in stops if stop.mass > 0])
