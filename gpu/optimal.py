"""The optimal verifier in batches: tokens of nearly the same ratio `p/q` share the ranks they draw.

Bins of the ratio are the tokens of a small problem, whose cut of `[0, 1]` `resispec_ref` makes on the host. A token's
winning law is then `ratio(bin) q`, exactly, so the step against it is exact whatever the bins (T11 of the mathematics).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from resispec_gpu.bins import BINS
from resispec_gpu.levels import Decision
from resispec_ref import State
from resispec_ref.arrays.arithmetic import Array, take
from resispec_ref.verifiers.independent.optimal import Optimal

_CUT = Optimal(groups=64)


def choose(
    P: Array, Q: Array, p: Array, q: Array, bins: Array, present: Array, uniforms: Array
) -> tuple[Decision, Array]:
    """Which candidate wins and is accepted, and the winner's ratio by bin, `(batch, bins)`; 0 where none is present.

    `P, Q` are masses by bin, `(batch, bins)`; `p, q` laws and `bins` bins of the candidates, `(batch, K)`; uniforms
    `(batch, K + 2)`. With fewer candidates present the cut is another one. Rows that are no laws have no winner: the
    caller refuses them.
    """
    P, Q, p, q, bins, present, u = map(on_host, (P, Q, p, q, bins, present, uniforms))
    K, looked = p.shape[-1], present.sum(-1)
    index, ratio = np.full(len(p), K), np.zeros_like(P)
    lawful = np.all((P >= 0) & (Q >= 0), axis=-1)
    for k in set(looked[lawful].tolist()) - {0}:
        rows = np.flatnonzero(lawful & (looked == k))
        state = _CUT.start(P[rows], Q[rows], k)
        winner = _CUT.pick(state, bins[rows, :k], u[rows, :k])
        ratio[rows] = np.divide(state.proposal, Q[rows], out=np.zeros_like(Q[rows]), where=Q[rows] > 0)
        f, g = p[rows, winner], q[rows, winner]
        s = g * ratio[rows, bins[rows, winner]]
        index[rows] = np.where(u[rows, K] * s < np.minimum(f, s), winner, K)
    return Decision(index, looked), ratio


@dataclass(frozen=True, eq=False)
class BinnedOptimal(Optimal):
    """The rule that the batched layer runs for `optimal`, as `resispec_ref` states rules, for NumPy laws in float64.

    `bin_of`, `(..., vocab)`: the bin of each token; any partition is exact.
    """

    bin_of: Any = None

    def start(self, p: Array, q: Array, candidates: int) -> State:
        if candidates == 0:
            return super().start(p, q, candidates)
        rows = np.arange(len(p))[:, None]
        masses = np.zeros((2, len(p), BINS.size))
        for mass, law in zip(masses, (p, q), strict=True):
            np.add.at(mass, (rows, self.bin_of), law)
        state = _CUT.start(masses[0], masses[1], candidates)
        class_of, *memory = state.memory
        ratio = np.divide(state.proposal, masses[1], out=np.zeros_like(masses[1]), where=masses[1] > 0)
        return State(p, q * take(ratio, self.bin_of), (take(class_of, self.bin_of), *memory))


def on_host(x: Array) -> np.ndarray:
    """An array of any library as NumPy's."""
    return np.asarray(x.cpu() if is_torch_array(x) else x)
