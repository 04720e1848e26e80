"""What a verification rule is: a proposal, an accepted mass and a residual target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from resispec_ref._arrays import Array


class State(NamedTuple):
    """Where a verification stands before a candidate is looked at.

    All arrays have shape `(..., vocab)` or `(..., 1)` with the same leading dimensions, so that states can be stacked.
    """

    target: Array
    """The residual target `p_i`: the law that the emitted token must still have."""
    proposal: Array
    """The law `q_i` of the next candidate; all 0 where no candidate is left."""
    memory: tuple[Array, ...] = ()
    """What the rule carries besides, such as a schedule."""


class Verifier(ABC):
    """A sequential verification rule, as data.

    A subclass is a frozen dataclass whose fields are the rule's options; it states the attributes below, the accepted
    mass and the residual. The bodies are pure functions against the array API: no branching on values, leading
    dimensions are batch dimensions, results are new arrays. `law.py`, `acceptance.py` and the tests need nothing
    else.
    """

    name: ClassVar[str]
    """Registry key."""
    source: ClassVar[str]
    """Paper and equation."""
    exact: ClassVar[bool]
    """Whether the rule claims that the emitted token has the target's law."""
    replacement: ClassVar[bool] = True
    """Whether the candidates of a position are independent draws from the draft (else distinct, in order of draw)."""
    path_dependent: ClassVar[bool] = False
    """Whether the state after a rejection depends on which token was rejected."""

    def start(self, p: Array, q: Array, candidates: int) -> State:
        """The state before the first of `candidates` candidates."""
        return State(p + q * 0, q + p * 0)

    @abstractmethod
    def accepted(self, state: State) -> Array:
        """The accepted mass `m(x) = q_i(x) a(x)`, `0 ≤ m ≤ q_i`, shape `(..., vocab)`."""

    @abstractmethod
    def reject(self, state: State, token: Array) -> State:
        """The state after `token`, shape `(...)`, was rejected; path-independent rules do not look at it."""
