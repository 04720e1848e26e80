"""The pick by weights: what the rules that pick so have in common."""

from __future__ import annotations

from array_api_compat import array_namespace

from resispec_ref._arrays import Array, take
from resispec_ref._draw import draw
from resispec_ref.verifiers._base import Selection, State


class WeightedSelection(Selection):
    """Among the candidates of the higher class, or all if there are none, `x` is picked in proportion to `v(x)`.

    The state's memory begins with the weights and, as booleans, the higher class, both `(..., vocab)`. Uniforms: one
    for the pick, one for the acceptance, one for the residual draw.
    """

    def picks(self, candidates: int) -> int:
        return min(candidates, 1)

    def pick(self, state: State, tokens: Array, uniforms: Array) -> Array:
        weight, upper = state.memory[:2]
        xp = array_namespace(weight)
        v, above = take(weight, tokens), take(upper, tokens)
        return draw(xp.where(above == xp.any(above, axis=-1, keepdims=True), v, v * 0), uniforms)
