"""What a verification rule is: a proposal, an accepted mass and a residual target, one step or several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, index_range, normalise
from resispec_ref.residual import floor


class State(NamedTuple):
    """Where a verification stands before a candidate is looked at.

    All arrays have the same leading dimensions, or ones that broadcast, so that states can be stacked.
    """

    target: Array
    """The residual target `p_i`, `(..., vocab)`: the law that the emitted token must still have."""
    proposal: Array
    """The law `q_i`, `(..., vocab)`, of the next candidate; all 0 where no candidate is left."""
    memory: tuple[Array, ...] = ()
    """What the rule carries besides, such as a schedule."""


class Verifier(ABC):
    """A verification rule, as data.

    A subclass is a frozen dataclass whose fields are the rule's options; it states the attributes below, the accepted
    mass and the residual. The bodies are pure functions against the array API: no branching on values, leading
    dimensions are batch dimensions, results are new arrays. `law.py`, `acceptance.py` and the tests need nothing
    else.

    A *sequential* rule looks at one candidate after the other, a step each: what a subclass gets if it says nothing. A
    rule that looks at all candidates first is a `Selection`.
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
    sequential: ClassVar[bool] = True
    """Whether a candidate is decided on without a look at those after it."""
    on_host: ClassVar[bool] = False
    """Whether NumPy computes it, whatever library the laws come from; it raises under `jax.jit` then."""

    @property
    def drafting(self) -> str:
        """How its candidates are drawn: "independent", "distinct", or as a name for laws of their own says."""
        return "independent" if self.replacement else "distinct"

    def candidate_laws(self, q: Array, candidates: int) -> Array | None:
        """The law of each candidate, `(..., K, vocab)`, where the rule has them drawn from laws that it makes itself.

        `None` (by default): from the draft `q`, with or without replacement.
        """
        return None

    def start(self, p: Array, q: Array, candidates: int) -> State:
        """The state before the first of `candidates` candidates."""
        return State(p + q * 0, q + p * 0)

    @abstractmethod
    def accepted(self, state: State) -> Array:
        """The accepted mass `m(x) = q_i(x) a(x)`, `0 ≤ m ≤ q_i`, shape `(..., vocab)`."""

    @abstractmethod
    def reject(self, state: State, token: Array) -> State:
        """The state after `token`, shape `(...)`, was rejected; path-independent rules do not look at it."""

    def matched(self, state: State) -> Array | None:
        """Which candidate each token is, `(..., vocab)`, where the last draw counts as accepted when it lands on one.

        Positions from 0, and the number of candidates for a token that is none of them; `None` (by default) where the
        last draw does not count.
        """
        return None

    def steps(self, candidates: int) -> int:
        """How many candidates are looked at, one a step."""
        return candidates

    def picks(self, candidates: int) -> int:
        """How many uniforms decide which candidates are looked at; they come before one a step and the last draw's."""
        return 0

    def order(self, state: State, tokens: Array, uniforms: Array) -> Array:
        """Which of the candidates `tokens`, `(..., K)`, are looked at, in order: `(..., steps)`."""
        return index_range(tokens.shape[-1], tokens) + tokens * 0


class Selection(Verifier):
    """A rule that looks at all candidates, picks one by a law that it knows, and then takes one speculative step.

        s = law of the pick,    m = min(p, s),    residual (p − s)+ / |(p − s)+|.

    Exact for every way of picking, because the step is taken against the law `s` that the pick really has; the
    acceptance rate is `Σ min(p, s)`. `start` returns `s` as the proposal. The rule does not see the order of its
    candidates; `acceptance_per_candidate` is for candidates listed in random order.
    """

    sequential = False

    @abstractmethod
    def pick(self, state: State, tokens: Array, uniforms: Array) -> Array:
        """The position, `(...)`, of the picked one among the candidates `tokens`, `(..., K)`, none of them absent."""

    def shares(self, state: State, candidates: int) -> Array:
        """The probability that each candidate is the one picked, `(..., K)`, when they are listed in random order."""
        return array_namespace(state.target).stack([state.target[..., 0] * 0 + 1] * candidates, axis=-1) / candidates

    def steps(self, candidates: int) -> int:
        return min(candidates, 1)

    def order(self, state: State, tokens: Array, uniforms: Array) -> Array:
        return self.pick(state, tokens, uniforms)[..., None]

    def accepted(self, state: State) -> Array:
        return array_namespace(state.target).minimum(state.target, state.proposal)

    def reject(self, state: State, token: Array) -> State:
        return state._replace(target=normalise(floor(state.target, state.proposal), otherwise=state.target))
