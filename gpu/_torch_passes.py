"""What the Torch backend computes over the vocabulary, as plain functions that run eagerly or under `torch.compile`.

A pass takes `(rows, vocab)` blocks as they are stored and returns float64 numbers, `(rows, n)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from resispec_gpu.bins import BINS, Bins
from resispec_gpu.levels import Level

Tensor = torch.Tensor

BLOCK = 512  # entries that are summed in the working precision before their sums are added in float64


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

    def at(self, rows: slice | Tensor, tokens: Tensor) -> Stored:
        """Some tokens of each of `rows`, `(rows, n)`."""
        index = torch.arange(len(self.entries), device=tokens.device)[rows, None]
        return self._replace(
            entries=self.entries[index, tokens], log_total=None if self.log_total is None else self.log_total[rows]
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


def histogram(p: Stored, q: Stored, bins: Bins) -> Tensor:
    """Masses of `p`, then of `q`, in bins of the ratio `p/q`, then the least entries; `(rows, 2 bins.size + 2)`."""
    f, g = p.law(), q.law()
    bin_of = bins_of(f, g, bins)
    found = []
    for x in (f, g):
        mass = torch.zeros((len(x), bins.size), dtype=torch.float64, device=x.device)
        found.append(mass.scatter_add_(-1, bin_of, x.double()))
    return torch.cat([*found, *(x.amin(-1, keepdim=True).double() for x in (f, g))], dim=-1)


def bins_of(f: Tensor, g: Tensor, bins: Bins) -> Tensor:
    """The bin of each token, from the leading bits of `p/q` in float32; tokens of `p = q = 0` may fall anywhere."""
    bits = torch.div(f, g).to(torch.float32).view(torch.int32).bitwise_right_shift_(bins.shift)
    return bits.sub_(bins.lowest).clamp_(0, bins.size - 1).long()


def band_mass(p: Stored, q: Stored, *levels: Tensor) -> Tensor:
    """Residual `p − q (min(ρ, top) − min(ρ, bottom))`, exactly 0 where the band holds all of a token.

    `levels`: `a, b, θ` of the top and, where it is not 0 in all rows, of the bottom.
    """
    f, g = p.law(), q.law()
    top, bottom = Level(*levels[:3]), Level(*levels[3:]) if levels[3:] else None
    r = torch.lerp(_above(f, g, top.a), _above(f, g, top.b), top.theta.to(f.dtype))
    if bottom is None:
        return r
    low, high = (torch.minimum(f, t.to(f.dtype) * g) for t in (bottom.a, bottom.b))
    return r + torch.lerp(low, high, bottom.theta.to(f.dtype))


def bin_mass(p: Stored, q: Stored, ratio: Tensor) -> Tensor:
    """Residual `(p − s)+` of a winner whose law is `s = ratio q`, `ratio` `(rows, BINS.size)` by bin."""
    f, g = p.law(), q.law()
    return torch.addcmul(f, g, ratio.to(f.dtype).gather(-1, bins_of(f, g, BINS)), value=-1).clamp_min_(0)


def residual_sums(p: Stored, q: Stored, rows: Tensor, mass: Callable[..., Tensor], columns: Sequence[Tensor]) -> Tensor:
    """For each of `rows` the residual mass in blocks of `BLOCK` tokens, `(rows, blocks)`."""
    return _block_sums(mass(p.part(rows), q.part(rows), *columns))


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
