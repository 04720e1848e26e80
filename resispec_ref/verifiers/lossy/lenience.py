"""Lenience: the draft counts for less than it is. Lossy."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, normalise
from resispec_ref.arrays.convert import number_like
from resispec_ref.residual import floor
from resispec_ref.rule.options import check_share
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class Lenience(Verifier):
    """Recursive rejection with `l q` in the place of `q`.

        a = min(1, p_i / (l q)),    p_{i+1} = (p_i − l q)+ / |(p_i − l q)+|.

    **Biased** for `l < 1`: a token may be emitted with probability up to `p / l`.

    Options: `lenience`, the `l` in `(0, 1]`; 1 is recursive rejection.

    Source: Leviathan et al. 2023 (arXiv 2211.17192), appendix on lenience, for one candidate.
    """

    name = "lenience"
    source = "Leviathan et al. 2023, appendix"
    exact = False

    lenience: float = 0.5

    def __post_init__(self) -> None:
        check_share("lenience", self.lenience, least=1e-9)

    def accepted(self, state: State) -> Array:
        p = state.target
        return array_namespace(p).minimum(p / number_like(self.lenience, p), state.proposal)

    def reject(self, state: State, token: Array) -> State:
        p = state.target
        r = floor(p, state.proposal * number_like(self.lenience, p))
        return state._replace(target=normalise(r, otherwise=p))
