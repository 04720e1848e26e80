"""The pick by weights: what the rules that pick so have in common."""

from __future__ import annotations

from typing import ClassVar

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, index_range, take
from resispec_ref.arrays.draw import draw
from resispec_ref.rule.verifier import Selection, State


class WeightedSelection(Selection):
    """Among the candidates of the highest class there is, `x` is picked in proportion to its weight `v(x)`.

    A token that several candidates are counts once, or with `repeats` as often as it is there.

    The state's memory begins with the weights and the classes, integers, both `(..., vocab)`. Uniforms: one
    for the pick, one for the acceptance, one for the residual draw.
    """

    repeats: ClassVar[bool] = False

    def picks(self, candidates: int) -> int:
        return min(candidates, 1)

    def pick(self, state: State, tokens: Array, uniforms: Array) -> Array:
        weight, level = state.memory[:2]
        xp = array_namespace(weight)
        v, height = take(weight, tokens), take(level, tokens)
        if not self.repeats:
            index = index_range(tokens.shape[-1], tokens)
            same = tokens[..., :, None] == tokens[..., None, :]
            earlier = xp.any(same & (index[None, :] < index[:, None]), axis=-1)
            v = xp.where(earlier, v * 0, v)
        return draw(xp.where(height == xp.max(height, axis=-1, keepdims=True), v, v * 0), uniforms)
