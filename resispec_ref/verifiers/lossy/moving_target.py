"""Rules whose target depends on the candidate that is looked at. Not exact, each in its own way."""

from __future__ import annotations

from abc import abstractmethod

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, index_range, normalise
from resispec_ref.residual import floor
from resispec_ref.rule.verifier import State, Verifier


class MovingTarget(Verifier):
    """Each candidate `x` is tested against a law `h^(x)` of its own.

        a(x) = min(1, h^(x)(x) / q(x)),    R^(x) = (h^(x) − q)+ / |(h^(x) − q)+|.

    Were `h` the same for all candidates, `h` would be emitted. As it moves with `x`, what is emitted is

        Σ_x [min(q(x), h^(x)(x)) 1_x + (q(x) − h^(x)(x))+ R^(x)],

    in general neither the target nor any `h^(x)`. The published ResiSpec is a member with `h^(x)(x) = p(x)`, and
    `h^(x) = q + r^(x)` elsewhere.

    Source: section 9 of the mathematics (T18). Theorem: `moving_target_law` (proofs/moving.v).
    """

    path_dependent = True

    @abstractmethod
    def height(self, p: Array) -> Array:
        """`h^(x)(x)` for every `x`, `(..., vocab)`: at least `p`, at most 1."""

    def aim(self, p: Array, token: Array) -> Array:
        """The law `h^(x)`, `(..., vocab)`, for the candidate `token`: here the others share what is left as in `p`."""
        xp = array_namespace(p)
        here = token[..., None] == index_range(p.shape[-1], p)
        at = xp.sum(xp.where(here, self.height(p), p * 0), axis=-1, keepdims=True)
        others = xp.where(here, p * 0, p)
        return xp.where(here, at + p * 0, normalise(others, otherwise=others) * (1 - at))

    def accepted(self, state: State) -> Array:
        return array_namespace(state.target).minimum(self.height(state.target), state.proposal)

    def reject(self, state: State, token: Array) -> State:
        r = floor(self.aim(state.target, token), state.proposal)
        return state._replace(target=normalise(r, otherwise=state.target))
