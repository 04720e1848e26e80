"""Gumbel list coupling: the target's race runs on the clocks of the draft's races."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, index_range, one_hot
from resispec_ref.arrays.convert import from_host, rows_on_host
from resispec_ref.picking.race_coupling import ExactCoupling, FloatCoupling
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class GumbelListCoupling(Verifier):
    """Draw from the target with the noise that drew the candidates; accept if the token is one of them.

        x_j = argmin_i S_ij / q_i,    y = argmin_i min_j S_ij / p_i,    S_ij exponential of rate 1.

    `y` has the law `p`, whatever the draft: it does not look at the candidates at all, only at the noise. Given the
    candidates it is likely to be among them. The noise is integrated out here: a candidate looked at changes the law of
    `y`, none is accepted on the way (`m = 0`), and the last draw, of `y` given all candidates, counts as accepted where
    it lands on one. The first `K` uniforms are not used.

    Computed by NumPy, one position after the other, so this rule raises under `jax.jit` and `jax.vmap`.

    Source: Rowan, Phan and Khisti 2025 (arXiv 2506.05632); Daliri et al. 2025 (arXiv 2408.07978) for one candidate.
    Theorem: `step_exact_iff` (proofs/step.v).
    """

    name = "gumbel-list-coupling"
    source = "Rowan et al. 2025"
    exact = True
    path_dependent = True
    on_host = True

    def start(self, p: Array, q: Array, candidates: int) -> State:
        xp = array_namespace(p, q)
        p, q = p + q * 0, q + p * 0
        nobody = index_range(p.shape[-1], p) * 0 + candidates + xp.astype(p < 0, xp.int64)
        looked = xp.concat([nobody[..., :1] * 0 - 1] * max(candidates, 1), axis=-1)
        return State(p, q, (p, looked, nobody, nobody[..., :1] * 0))

    def accepted(self, state: State) -> Array:
        return state.proposal * 0

    def reject(self, state: State, token: Array) -> State:
        p, looked, position, count = state.memory
        xp = array_namespace(p)
        K = looked.shape[-1]
        at = index_range(K, looked) == count
        looked = xp.where(at, token[..., None] + looked * 0, looked)
        first = one_hot(token, p.shape[-1]) & (position == K)
        batch = np.broadcast_shapes(tuple(p.shape[:-1]), tuple(looked.shape[:-1]))
        wide = [xp.broadcast_to(x, (*batch, x.shape[-1])) for x in (p, state.proposal, looked)]
        law = wide[0] if 0 in batch else from_host(_laws(*(rows_on_host(self.name, x)[0] for x in wide)), wide[0])
        return State(law, state.proposal, (p, looked, xp.where(first, count, position), count + 1))

    def matched(self, state: State) -> Array:
        return state.memory[2]


def _laws(p: np.ndarray, q: np.ndarray, looked: np.ndarray) -> np.ndarray:
    """Row by row, with the tables of a position used for all rows of it that follow each other."""
    found = list[np.ndarray]()
    waiting = list[list[int]]()
    same = np.all((p[1:] == p[:-1]) & (q[1:] == q[:-1]), axis=-1).tolist()
    tables = ExactCoupling if p.dtype == object else FloatCoupling
    coupling = tables(p[0], q[0], looked.shape[-1])
    for a, b, xs, known in zip(p, q, looked.tolist(), [True, *same], strict=True):
        if not known:
            found += coupling.laws(waiting)
            coupling, waiting = tables(a, b, len(xs)), []
        waiting.append([x for x in xs if x >= 0 and b[x] > 0])  # others come with probability 0
    return np.stack(found + coupling.laws(waiting))
