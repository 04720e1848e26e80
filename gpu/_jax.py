"""The batched step in JAX: one function to `jit`, whose passes over the vocabulary hold nothing beside the inputs.

On accelerators a pass is a reduction that XLA fuses with the elementwise work. XLA's CPU compiler does not vectorise
such reductions, so there a pass is a loop over blocks of a row, and rows without a residual draw are skipped.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from resispec_gpu.bins import BINS
from resispec_gpu.levels import Band, Level, Profile, above, capped
from resispec_gpu.optimal import choose
from resispec_gpu.rules import Step, run
from resispec_gpu.shaped import coarse_knots, merged, refined_knots
from resispec_ref.arrays.arithmetic import Array
from resispec_ref.arrays.convert import is_traced

_BLOCK = 1024


class Stored(NamedTuple):
    """`(batch, vocab)` laws as the caller holds them: probabilities, or logits and the log of their sum, `(batch,)`."""

    entries: Array
    log_total: Array | None
    temperature: Any

    def block(self, row: Array, start: Array, size: int) -> Array:
        """Probabilities of `size` tokens of one row, `(size,)`."""
        x = lax.dynamic_slice(self.entries, (row, start), (1, size))[0]
        return _law(x, None if self.log_total is None else self.log_total[row], self.temperature)

    def at(self, rows: Array, tokens: Array) -> Array:
        log_total = None if self.log_total is None else self.log_total[rows]
        return _law(self.entries[rows, tokens], log_total, self.temperature)

    def law(self) -> Array:
        return _law(self.entries, None if self.log_total is None else self.log_total[..., None], self.temperature)

    def row(self, row: Array) -> Array:
        return self.at(row, jnp.arange(self.entries.shape[-1]))


class Laws:
    """Target and draft with the reductions that the rules ask for. `temperature`: None for probabilities."""

    def __init__(self, target: Array, draft: Array, temperature: Any = None):
        self.batch, self.vocab = target.shape
        self.number = jnp.result_type(float)  # of what is not an entry: float64 where JAX has it enabled
        self._sums: Array | None = None
        self.on_cpu = jax.default_backend() == "cpu"
        self.stored = [Stored(x, None, temperature) for x in (target, draft)]
        if temperature is not None:
            totals = [_log_total(x) for x in self.stored]
            self.stored = [x._replace(log_total=total) for x, total in zip(self.stored, totals, strict=True)]
            logs = jnp.stack(totals, axis=-1).astype(self.number)
            self._sums = jnp.concatenate([logs - logs + 1, logs * 0], axis=-1)  # 1 by construction, or NaN

    @property
    def sums(self) -> Array:
        """The sums of target and draft, and their least entries; `(batch, 4)`."""
        if self._sums is None:
            self._pass(None)
        return self._sums

    @property
    def scale(self) -> Array:
        """Levels of the stored entries over those of the laws, `|p| / |q|`; `(batch, 1)`."""
        return self.sums[:, :1] / self.sums[:, 1:2]

    def at(self, tokens: Array) -> tuple[Array, Array]:
        rows = jnp.arange(self.batch)[:, None]
        p, q = (x.at(rows, tokens).astype(self.number) for x in self.stored)
        return p / self.sums[:, :1], q / self.sums[:, 1:2]

    def excess(self, levels: Array) -> Array:
        return self._pass(levels * self.scale) / self.sums[:, :1]

    def profile(self, candidates: int) -> Profile:
        """`E` at coarse knots, then at the levels of the schedule that these give."""
        if candidates <= 1:  # one candidate takes W = 1, whatever the excess is
            return Profile(self.scale, self.scale * 0)
        raw = jnp.broadcast_to(jnp.asarray(coarse_knots(candidates), self.number), (self.batch, len(coarse_knots(1))))
        found = self._pass(raw)
        t, E = raw / self.scale, found / self.sums[:, :1]
        refined = refined_knots(Profile(t, E), candidates)
        return merged(t, E, refined, self.excess(refined))

    def binned(self) -> tuple[Array, Array]:
        """Masses of target and draft in `BINS` of the ratio, `(batch, bins)`."""
        laws = [x.law() for x in self.stored]
        places = (jnp.arange(self.batch)[:, None], _bins_of(*laws))
        P, Q = (jnp.zeros((self.batch, BINS.size), self.number).at[places].add(x.astype(self.number)) for x in laws)
        return P / self.sums[:, :1], Q / self.sums[:, 1:2]

    def bin_at(self, tokens: Array) -> Array:
        """The bins of `tokens`, `(batch, K)`."""
        return _bins_of(*(x.at(jnp.arange(self.batch)[:, None], tokens) for x in self.stored))

    def draw(self, rejected: Array, kept: Band | Array, uniform: Array) -> Array:
        """Where `rejected`, a token from the row's residual, by inverse CDF in token order."""
        if isinstance(kept, Band):
            bands = [Level(x.a * self.scale, x.b * self.scale, x.theta) for x in kept]
            columns: Any = Band(*(Level(*(x[:, 0].astype(jnp.float32) for x in band)) for band in bands))
        else:
            columns = (kept * self.scale).astype(jnp.float32)
        rows = (jnp.arange(self.batch), columns, uniform[:, 0])
        if not self.on_cpu:
            return jax.vmap(self._draw_row)(*rows)

        def where_rejected(row: Any) -> Array:
            return lax.cond(row[0], lambda r: self._draw_row(*r), lambda r: jnp.zeros((), r[0].dtype), row[1])

        return lax.map(where_rejected, (rejected, rows))

    def _draw_row(self, row: Array, kept: Band | Array, uniform: Array) -> Array:
        """First the block, from sums over blocks, then the token in it; without residual, from the target."""
        p, q = (x.row(row) for x in self.stored)
        if isinstance(kept, Band):
            r = above(p, q, kept.top) + capped(p, q, kept.bottom)
        else:
            r = jnp.maximum(p - kept[_bins_of(p, q)] * q, 0)
        r = jnp.where(jnp.any(r > 0), r, p)
        r = jnp.pad(r, (0, -self.vocab % _BLOCK)).reshape(-1, _BLOCK)
        sums = r.sum(-1).astype(self.number)
        running = jnp.cumsum(sums)
        aim = uniform * running[-1]
        block = _first_beyond(running, aim, sums)
        before = jnp.where(block > 0, running[block - 1], 0)
        inside = r[block].astype(self.number)
        return block * _BLOCK + _first_beyond(before + jnp.cumsum(inside), aim, inside)

    def _pass(self, levels: Array | None) -> Array:
        """`Σ (p − t q)+` of the stored entries at `levels`, `(batch, n)`; the first pass also finds the sums."""
        summed = self._sums is None
        t = jnp.zeros((self.batch, 0), jnp.float32) if levels is None else levels.astype(jnp.float32)
        found = self._blocked(t, summed) if self.on_cpu else self._fused(t, summed)
        if summed:
            self._sums = found[:, t.shape[1] :]
        return found[:, : t.shape[1]]

    def _fused(self, t: Array, summed: bool) -> Array:
        p, q = (x.law() for x in self.stored)
        found = [jnp.maximum(p - t[:, j, None] * q, 0).sum(-1) for j in range(t.shape[1])]
        if summed:
            found += [p.sum(-1), q.sum(-1), p.min(-1), q.min(-1)]
        return jnp.stack(found, axis=-1).astype(self.number)

    def _blocked(self, t: Array, summed: bool) -> Array:
        blocks, rest = divmod(self.vocab, _BLOCK)

        def entries(row: Array, start: Any, size: int) -> tuple[Array, Array, Array]:
            p, q = (x.block(row, start, size) for x in self.stored)
            least = jnp.stack([p, q]) if summed else jnp.zeros((0, size), p.dtype)
            return jnp.maximum(p - t[row][:, None] * q, 0), least, least

        def add(i: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            row, block = i // blocks, i % blocks
            E, total, least = entries(row, block * _BLOCK, _BLOCK)
            return carry[0].at[row].add(E), carry[1].at[row].add(total), carry[2].at[row].min(least)

        n = 2 if summed else 0
        start = [jnp.zeros((self.batch, k, _BLOCK), jnp.float32) for k in (t.shape[1], n)]
        found = (*start, jnp.full_like(start[1], jnp.inf))
        E, total, least = lax.fori_loop(0, self.batch * blocks, add, found) if blocks else found
        E, total, least = (f(x.astype(self.number), -1) for f, x in ((jnp.sum, E), (jnp.sum, total), (jnp.min, least)))
        if rest:
            tail = jax.vmap(lambda row: entries(row, blocks * _BLOCK, rest))(jnp.arange(self.batch))
            E, total = (x + y.sum(-1).astype(self.number) for x, y in zip((E, total), tail, strict=False))
            least = jnp.minimum(least, tail[2].min(-1).astype(self.number))
        return jnp.concatenate([E, total, least], axis=-1)


def _law(x: Array, log_total: Array | None, temperature: Any) -> Array:
    x = x.astype(jnp.float32)
    return x if log_total is None else jnp.exp(x / temperature - log_total)


def _log_total(x: Stored) -> Array:
    scaled = x.entries.astype(jnp.float32) / x.temperature
    return jax.nn.logsumexp(scaled, axis=-1)


def _first_beyond(running: Array, aim: Array, mass: Array) -> Array:
    """The first index whose running sum exceeds `aim`, at most the last one of positive mass."""
    index = jnp.arange(mass.shape[0])
    return jnp.minimum(jnp.sum(running <= aim), jnp.max(jnp.where(mass > 0, index, 0)))


def _bins_of(f: Array, g: Array) -> Array:
    """The bin of each token, from the leading bits of `p/q` in float32; tokens of `p = q = 0` may fall anywhere."""
    bits = lax.bitcast_convert_type((f / g).astype(jnp.float32), jnp.int32) >> BINS.shift
    return jnp.clip(bits - BINS.lowest, 0, BINS.size - 1)


def step(rule: str, target: Array, draft: Array, tokens: Array, uniforms: Array, temperature: Any = None) -> Any:
    """One verification of a batch, and the sums: `tokens` `(batch, K)`, uniforms for each row.

    One compiled function; two for `optimal`, whose cut is made on the host between them.
    """
    if rule != "optimal":
        return _step(rule, target, draft, tokens, uniforms, temperature)
    if any(map(is_traced, (target, draft, tokens, uniforms))):
        raise ValueError("rule: optimal makes its cut on the host; call it outside of jax.jit and jax.vmap")
    with jax.enable_x64(True):  # many tokens may share a bin: float32 would not do for its sum
        masses, present, sums = _look(target, draft, tokens, temperature)
    sums = sums.astype(jnp.result_type(float))  # 64 bits may be unknown out here
    decision, ratio = choose(*masses, present, uniforms)
    index = jnp.asarray(decision.accepted_index)
    drawn = _draw(target, draft, index == tokens.shape[-1], jnp.asarray(ratio), uniforms[:, -1:], temperature)
    return Step(_emitted(tokens, index, drawn), index, ratio), sums


@partial(jax.jit, static_argnames="rule")
def _step(rule: str, target: Array, draft: Array, tokens: Array, uniforms: Array, temperature: Any) -> Any:
    laws, K = Laws(target, draft, temperature), tokens.shape[-1]
    u = uniforms.astype(laws.number)
    decision, kept, found = run(laws, rule, tokens, u)
    index = decision.accepted_index
    return Step(_emitted(tokens, index, laws.draw(index == K, kept, u[:, -1:])), index, found), laws.sums


@jax.jit
def _look(target: Array, draft: Array, tokens: Array, temperature: Any) -> Any:
    laws, present = Laws(target, draft, temperature), tokens >= 0
    index = jnp.where(present, tokens, 0)
    return (*laws.binned(), *laws.at(index), laws.bin_at(index)), present, laws.sums


@jax.jit
def _draw(target: Array, draft: Array, rejected: Array, ratio: Array, uniform: Array, temperature: Any) -> Array:
    return Laws(target, draft, temperature).draw(rejected, ratio, uniform)


def _emitted(tokens: Array, index: Array, drawn: Array) -> Array:
    padded = jnp.concatenate([tokens, drawn[:, None].astype(tokens.dtype)], axis=-1)
    return jnp.take_along_axis(padded, index[:, None], axis=-1)[:, 0]
