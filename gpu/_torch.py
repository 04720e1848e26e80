"""The batched step in Torch: eager on any device, or with its passes over the vocabulary compiled.

Eager passes go over a few rows at a time, so that what they hold beside the inputs is small and stays in cache.
Compiled passes (`torch.compile`) fuse the elementwise work into the reduction, which reads each input once and holds
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from resispec_gpu import _torch_passes as passes
from resispec_gpu.bins import BINS, Bins
from resispec_gpu.levels import Band, Level, Profile
from resispec_gpu.rules import Step, run
from resispec_gpu.shaped import COARSE_KNOTS, coarse_knots, merged, refined_knots
from resispec_ref.arrays.arithmetic import Array

Tensor = torch.Tensor

_CACHED = 1 << 18  # entries of a law that an eager pass works on at a time, a thread


class Laws:
    """`(batch, vocab)` target and draft as they are stored, with the reductions that the rules ask for.

    `temperature`: None for probabilities, else the rows are logits.
    """

    def __init__(self, target: Tensor, draft: Tensor, *, temperature: float | None, compile: bool):
        self.batch = len(target)
        in_cache = torch.get_num_threads() * math.ceil(_CACHED / target.shape[-1])
        self.rows = math.ceil(self.batch / 16) if target.is_cuda else in_cache
        self.compile = compile
        work = torch.promote_types(torch.promote_types(target.dtype, draft.dtype), torch.float32)
        self.stored = [passes.Stored(x, None, temperature or 1.0, work) for x in (target, draft)]
        self._sums: Array | None = None
        if temperature is not None:
            logs = self._over_rows(passes.log_totals)
            self.stored = [x._replace(log_total=logs[:, i : i + 1].to(work)) for i, x in enumerate(self.stored)]
            self._sums = self.small(torch.cat([logs - logs + 1, logs * 0], dim=-1))  # 1 by construction, or NaN

    def at(self, tokens: Array) -> tuple[Array, Array]:
        index = torch.as_tensor(tokens)
        p, q = (x.at(slice(None), index).law().double() for x in self.stored)
        return self.small(p) / self.sums[:, :1], self.small(q) / self.sums[:, 1:2]

    def excess(self, levels: Array) -> Array:
        raw = torch.as_tensor(levels * self.scale)
        return self.small(self._over_rows(passes.excess, *raw.split(1, dim=-1))) / self.sums[:, :1]

    def profile(self, candidates: int) -> Profile:
        if candidates <= 1:  # one candidate takes W = 1, whatever the excess is
            return Profile(self.scale, self.scale * 0)
        return self._two_passes(candidates) if self.compile else self._from_histogram(candidates)

    @property
    def sums(self) -> Array:
        """The sums of target and draft, and their least entries; `(batch, 4)`."""
        if self._sums is None:
            self._sums = self.small(self._over_rows(passes.sums))
        return self._sums

    @property
    def scale(self) -> Array:
        """Levels of the stored entries over those of the laws, `|p| / |q|`; `(batch, 1)`."""
        return self.sums[:, :1] / self.sums[:, 1:2]

    def binned(self) -> tuple[Array, Array]:
        """Masses of target and draft in `BINS` of the ratio, `(batch, bins)`."""
        found = self._histogram(BINS)
        return self.small(found[0]) / self.sums[:, :1], self.small(found[1]) / self.sums[:, 1:2]

    def bin_at(self, tokens: Array) -> Array:
        """The bins of `tokens`, `(batch, K)`."""
        f, g = (x.at(slice(None), torch.as_tensor(tokens)).law() for x in self.stored)
        return self.small(passes.bins_of(f, g, BINS))

    def draw(self, rows: Tensor, kept: Band | Array, uniform: Tensor) -> Tensor:
        """For each of `rows` a token from its residual, by inverse CDF in token order.

        First the block is found from sums over blocks, then the token in it. A row that rounding left without
        residual draws from the target.
        """
        mass, columns = self._residual(rows, kept)
        sums = self._residual_sums(rows, mass, columns)
        empty = sums.sum(-1, keepdim=True) <= 0
        if bool(empty.any()):
            columns = [torch.where(empty, 0, x) for x in columns]  # nothing kept for the candidates
            sums = self._residual_sums(rows, mass, columns)
        running = sums.cumsum(-1)
        aim = uniform[rows] * running[:, -1:]
        block = passes.draw(sums, running[:, :1] * 0, aim)
        before = torch.cat([running[:, :1] * 0, running], dim=-1).gather(-1, block)
        index = block * passes.BLOCK + torch.arange(passes.BLOCK, device=block.device)
        vocab = self.stored[0].entries.shape[-1]
        p, q = (x.at(rows, index.clamp_max(vocab - 1)) for x in self.stored)
        inside = torch.where(index < vocab, mass(p, q, *columns), 0)
        return (block * passes.BLOCK + passes.draw(inside, before, aim))[:, 0]

    def _residual(self, rows: Tensor, kept: Band | Array) -> tuple[Callable[..., Tensor], list[Tensor]]:
        """The function of what is kept for the candidates that gives a row's residual, and its arguments."""
        scale = torch.as_tensor(self.scale)[rows]
        if not isinstance(kept, Band):
            return passes.bin_mass, [torch.as_tensor(kept, device=rows.device)[rows] * scale]
        levels = [Level(*(torch.as_tensor(x)[rows] for x in level)) for level in kept]
        levels = [Level(x.a * scale, x.b * scale, x.theta) for x in levels]
        bottom = levels[1] if bool((levels[1].a + levels[1].theta > 0).any()) else ()
        return passes.band_mass, [*levels[0], *bottom]

    def _histogram(self, bins: Bins) -> tuple[Tensor, Tensor]:
        found = self._over_rows(passes.histogram, bins=bins)
        P, Q = found[:, : bins.size], found[:, bins.size : -2]
        self._sums = self.small(torch.cat([P.sum(-1, keepdim=True), Q.sum(-1, keepdim=True), found[:, -2:]], dim=-1))
        return P, Q

    def _from_histogram(self, candidates: int) -> Profile:
        """`E` at the edges of ratio bins, by one pass of scattered additions: `E(t) = P(ρ ≥ t) − t Q(ρ ≥ t)`."""
        bins = Bins(5, -6, math.ceil(math.log2(candidates)) + 1)
        P, Q = (x.flip(-1).cumsum(-1).flip(-1) for x in self._histogram(bins))
        t = torch.tensor(bins.edges, dtype=torch.float64, device=P.device)
        E = ((P[:, 1:] - t * Q[:, 1:]) / P[:, :1]).clamp_min(0)
        return Profile(self.small(t), self.small(E), self.scale)

    def _two_passes(self, candidates: int) -> Profile:
        """`E` at coarse knots, then at the levels of the schedule that these give."""
        t = torch.tensor(coarse_knots(candidates), dtype=torch.float64, device=self.stored[0].entries.device)
        function = passes.excess_and_sums if self._sums is None else passes.excess
        found = self._over_rows(function, *t.expand(self.batch, -1).split(1, dim=-1))
        if self._sums is None:
            self._sums = self.small(found[:, COARSE_KNOTS:])
        coarse, E = self.small(t) / self.scale, self.small(found[:, :COARSE_KNOTS]) / self.sums[:, :1]
        refined = refined_knots(Profile(coarse, E), candidates)
        return merged(coarse, E, refined, self.excess(refined))

    def small(self, x: Tensor) -> Array:
        """`(batch, …)` numbers as the schedule works with them: NumPy on the CPU, where its small steps cost less."""
        return x if x.is_cuda else x.numpy()

    def _residual_sums(self, rows: Tensor, mass: Callable[..., Tensor], columns: list[Tensor]) -> Tensor:
        if self.compile and mass is passes.band_mass and len(rows) > 1:  # one row would be compiled for itself
            return _compiled(passes.residual_sums)(*self.stored, rows, mass, columns)
        found = []
        for start in range(0, len(rows), self.rows):
            part = slice(start, start + self.rows)
            found.append(passes.residual_sums(*self.stored, rows[part], mass, [x[part] for x in columns]))
        return torch.cat(found)

    def _over_rows(self, function: Callable[..., Tensor], *columns: Tensor, **options: Any) -> Tensor:
        if self.compile and function is not passes.histogram:
            return _compiled(function)(*self.stored, *columns, **options)
        found = []
        for start in range(0, self.batch, self.rows):
            part = slice(start, start + self.rows)
            found.append(function(*(x.part(part) for x in self.stored), *(x[part] for x in columns), **options))
        return torch.cat(found)


@cache
def _compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    # a version for every number of candidates, dtype and kind of input; beyond the limit Torch would run it eagerly
    many = torch._dynamo.config.patch(recompile_limit=128, accumulated_recompile_limit=1024)
    return many(torch.compile(function, dynamic=True))


def step(rule: str, laws: Laws, tokens: Tensor, uniforms: Tensor) -> Step:
    """One verification of a batch of at least one row: `tokens` `(batch, K)`, `uniforms` `(batch, K + 1)`."""
    tokens, u, K = tokens.long(), uniforms.double(), tokens.shape[-1]
    decision, kept, bands = run(laws, rule, laws.small(tokens), laws.small(u))
    index = torch.as_tensor(decision.accepted_index, device=tokens.device)
    padded = torch.cat([tokens, tokens.new_zeros((len(tokens), 1))], dim=-1)
    token = padded.gather(-1, index[:, None])[:, 0]
    rejected = torch.nonzero(index == K)[:, 0]
    if len(rejected):
        token = token.index_copy(0, rejected, laws.draw(rejected, kept, u[:, -1:]))
    return Step(token, index, bands)
