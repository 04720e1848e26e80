"""The optimal verifier of independent candidates: the candidate of the highest rank, then one speculative step."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, count_while, divide, prefix_sum_from_zero, take
from resispec_ref.arrays.convert import from_host, rows_on_host
from resispec_ref.picking.ranks import make_ranks
from resispec_ref.rule.verifier import Selection, State


@dataclass(frozen=True)
class Optimal(Selection):
    """Attains the optimal-transport bound.

        s(x) = Σ_{[a, b] in I(x)} (b^K − a^K),    m = min(p, s),    residual (p − s)+ / |(p − s)+|,

    for a cut of `[0, 1]` into sets `I(x)` of length `q(x)`: each candidate draws a rank uniform on its set, and the
    largest rank wins. Exact for every cut. The cut made here, by shadows, has the law `s* = clip(p, λ q, μ q)` with
    `Σ min(p, s*) = 1 − max_H (q(H)^K − p(H))+`, up to rounding. For rational laws the ends of the cut are the rationals
    that the rounded ends are, adjusted to the exact lengths; the law `s` of that cut is exact.

    Uniforms: `K` for the ranks, one for the acceptance, one for the residual draw.

    The cut is made by NumPy: laws of other array libraries are taken to the host for it and the cut is brought back, so
    this rule raises under `jax.jit` and `jax.vmap`.

    Options: `groups`, to let all tokens draw from about so many sets, for speed; 64 keep more than 99.9% of the bound.
    By default every token has its own.

    Source: this project (T11 of the mathematics), for the bound of Sun et al. 2023 and Hu et al. 2025. Theorem:
    `ranks_exact` (proofs/optimal.v).
    """

    name = "optimal"
    source = "this project; bound of Sun et al. 2023"
    exact = True
    on_host = True

    groups: int | None = None

    def __post_init__(self) -> None:
        if self.groups is not None and (not isinstance(self.groups, int) or self.groups < 4):
            raise ValueError(f"groups: {self.groups} sets tell no ratios apart; give an integer, 4 or more, or None")

    def start(self, p: Array, q: Array, candidates: int) -> State:
        p, q = array_namespace(p, q).broadcast_arrays(p, q)
        if candidates == 0:
            return State(p, q)
        rows_p, rows_q = rows_on_host(self.name, p, q)
        ranks = make_ranks(rows_p, rows_q, candidates, self.groups)
        class_of, lower, share, ratio, length, end, top = (from_host(x, p) for x in ranks)
        return State(p, q * take(ratio, class_of), (class_of, lower, share, length, end, top))

    def picks(self, candidates: int) -> int:
        return candidates

    def pick(self, state: State, tokens: Array, uniforms: Array) -> Array:
        class_of, lower, share, length, end, top = state.memory
        xp = array_namespace(end)
        own = take(class_of, tokens)
        below = take(share, own)
        first = uniforms < below
        u = xp.where(first, divide(uniforms, below, below * 0), divide(uniforms - below, 1 - below, below * 0))
        chosen = take(lower, own) + xp.astype(~first, lower.dtype)
        place = take(prefix_sum_from_zero(length), chosen) + u * take(length, chosen)
        before = count_while(lambda i: _at(end, i) <= place[..., None], end.shape[-1], tokens * 0)
        before = xp.minimum(before, before * 0 + (end.shape[-1] - 1))
        return xp.argmax(take(top, before) - (take(end, before) - place), axis=-1)


def _at(x: Array, index: Array) -> Array:
    """`x[..., index]` for an index with two axes more than the batch."""
    xp = array_namespace(x)
    flat = xp.reshape(index, (*index.shape[:-2], index.shape[-2] * index.shape[-1]))
    return xp.reshape(take(x, flat), index.shape)
