"""What the Torch backend computes over the vocabulary, as plain functions that run eagerly or under `torch.compile`.

A pass takes `(rows, vocab)` blocks as they are stored and returns float64 numbers, `(rows, n)`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from resispec_gpu.levels import Level

Tensor = torch.Tensor

BLOCK = 512  # entries that are summed in the working precision before their sums are added in float64
_BITS, _OCTAVES_BELOW_1 = 5, 6  # buckets of the ratio p/q: 2^5 an octave, from 2^-6 on
_BIAS, _DIGITS = 127, 23  # of float32


class Stored(NamedTuple):
    """One law a row, as the caller holds it: probabilities, or logits with the logarithm of their softmax's sum."""

    entries: Tensor
    log_total: Tensor | None
    temperature: float
    work: torch.dtype

    def part(self, rows: slice | Tensor) -> Stored:
        return self._replace(
            entries=self.entries[rows], log_total=None if self.log_total is None else self.log_total[rows]
        )

    def law(self) -> Tensor:
        """Probabilities in the working precision, which for stored ones of that precision is the same memory."""
        x = self.entries.to(self.work)
        return x if self.log_total is None else torch.exp(x / self.temperature - self.log_total)


def log_totals(p: Stored, q: Stored) -> Tensor:
    """`log Σ exp(x / temperature)` of both rows of logits, `(rows, 2)`."""
    found = [torch.logsumexp(x.entries.to(x.work) / x.temperature, -1, keepdim=True) for x in (p, q)]
    return torch.cat(found, dim=-1).double()


def sums(p: Stored, q: Stored) -> Tensor:
    """The sums of both laws and their least entries, `(rows, 4)`."""
    return _sums(p.law(), q.law())


def excess(p: Stored, q: Stored, *levels: Tensor) -> Tensor:
    """`Σ (p − t q)+` for each level, `(rows, 1)`; `(rows, n)`."""
    f, g = p.law(), q.law()
    return torch.cat([_total(_above(f, g, t)) for t in levels], dim=-1)


def excess_and_sums(p: Stored, q: Stored, *levels: Tensor) -> Tensor:
    """Both of the above from one reading of the inputs, `(rows, n + 4)`."""
    nothing = (levels[0] * 0).to(p.work)  # with a term that varies by row the compiler fuses the sums with the excess
    return torch.cat([excess(p, q, *levels), _sums(p.law() + nothing, q.law() + nothing)], dim=-1)


def histogram(p: Stored, q: Stored, octaves: int) -> Tensor:
    """Masses of `p`, then of `q`, in buckets of the ratio `p/q`, then the least entries; `(rows, 2 (edges + 1) + 2)`.

    The leading bits of a float32 number its bucket; from bucket 1 on, bucket `j` begins at `edges[j − 1]`. Tokens of
    `q = 0` have the ratio infinity; those of `p = q = 0` fall anywhere, as they have no mass.
    """
    f, g = p.law(), q.law()
    lowest, highest = ((_BIAS + e) << _BITS for e in (-_OCTAVES_BELOW_1, octaves))
    bits = torch.div(f, g).to(torch.float32).view(torch.int32).bitwise_right_shift_(_DIGITS - _BITS)
    bucket = bits.clamp_(lowest - 1, highest).sub_(lowest - 1).long()
    found = []
    for x in (f, g):
        mass = torch.zeros((len(x), highest - lowest + 2), dtype=torch.float64, device=x.device)
        found.append(mass.scatter_add_(-1, bucket, x.double()))
    return torch.cat([*found, *(x.amin(-1, keepdim=True).double() for x in (f, g))], dim=-1)


def edges(octaves: int) -> list[float]:
    """Where the buckets of `histogram` begin, without the first, which begins at 0."""
    n = 1 << _BITS
    return [2.0**e * (1 + j / n) for e in range(-_OCTAVES_BELOW_1, octaves) for j in range(n)] + [2.0**octaves]


def residual_sums(p: Stored, q: Stored, rows: Tensor, top: Level, bottom: Level | None) -> Tensor:
    """For each of `rows` the residual mass in blocks of `BLOCK` tokens, `(rows, blocks)`; levels `(rows, 1)`."""
    return _block_sums(residual(p.part(rows).law(), q.part(rows).law(), top, bottom))


def residual(f: Tensor, g: Tensor, top: Level, bottom: Level | None) -> Tensor:
    """`p − q (min(ρ, top) − min(ρ, bottom))`, 0 exactly where the band holds all of the token; no bottom means 0."""
    r = torch.lerp(_above(f, g, top.a), _above(f, g, top.b), top.theta.to(f.dtype))
    if bottom is None:
        return r
    low, high = (torch.minimum(f, t.to(f.dtype) * g) for t in (bottom.a, bottom.b))
    return r + torch.lerp(low, high, bottom.theta.to(f.dtype))


def draw(mass: Tensor, before: Tensor, aim: Tensor) -> Tensor:
    """The first entry whose running sum, from `before` on, exceeds `aim`, at most the last of positive mass.

    `mass` `(rows, n)`, the others and the answer `(rows, 1)`.
    """
    index = torch.arange(mass.shape[-1], device=mass.device)
    last = torch.where(mass > 0, index, 0).amax(-1, keepdim=True)
    return torch.minimum((before + mass.double().cumsum(-1) <= aim).sum(-1, keepdim=True), last)


def _sums(f: Tensor, g: Tensor) -> Tensor:
    least = [torch.cat([x.amin(-1) for x in _blocks(y)], dim=-1).amin(-1, keepdim=True).double() for y in (f, g)]
    return torch.cat([_total(f), _total(g), *least], dim=-1)


def _above(f: Tensor, g: Tensor, t: Tensor) -> Tensor:
    return torch.addcmul(f, g, -t.to(f.dtype)).clamp_min_(0)


def _blocks(x: Tensor) -> list[Tensor]:
    """`x` as `(rows, blocks, BLOCK)`, and what is left of the row as `(rows, 1, rest)`."""
    whole = x.shape[-1] // BLOCK * BLOCK
    parts = [x[:, :whole].unflatten(-1, (whole // BLOCK, BLOCK))] if whole else []
    return [*parts, x[:, None, whole:]] if whole < x.shape[-1] else parts


def _block_sums(x: Tensor) -> Tensor:
    return torch.cat([part.sum(-1).double() for part in _blocks(x)], dim=-1)


def _total(x: Tensor) -> Tensor:
    return _block_sums(x).sum(-1, keepdim=True)
