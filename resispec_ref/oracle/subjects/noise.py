"""Noise as an argument: uniforms, exponential or Gumbel variates, so many a position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_KINDS = ("uniform", "exponential", "gumbel")


@dataclass(frozen=True)
class Noise:
    """What noise an implementation takes, from a text such as `"uniform:K+1"` or `"uniform:K,exponential:V"`.

    Each part becomes one argument, in this order, in place of the generator: an array `(size,)`, or `(batch, size)`.
    Sizes are sums of integers, `K` (candidates or drafted tokens; nodes of a tree) and `V` (vocabulary), or products
    such as `K*V`.

    >>> Noise.parse("uniform:K,exponential:V").sizes(2, 5)
    [2, 5]
    """

    parts: tuple[tuple[str, str], ...]

    @staticmethod
    def parse(text: str) -> Noise:
        parts = []
        for part in text.split(","):
            kind, _, size = part.strip().partition(":")
            parts.append((kind, size or "1"))
        noise = Noise(tuple(parts))
        try:
            if not all(kind in _KINDS for kind, _ in parts):
                raise ValueError
            noise.sizes(1, 1)
        except ValueError:
            raise ValueError(
                f"noise: {text!r} is not understood: write kind:size, such as 'uniform:K+1' or 'uniform:K,gumbel:V'; "
                f"kinds are {', '.join(_KINDS)}"
            ) from None
        return noise

    def sizes(self, K: int, V: int) -> list[int]:
        value = {"K": K, "V": V}

        def term(text: str) -> int:
            product = 1
            for factor in text.split("*"):
                product *= value[factor.strip()] if factor.strip() in value else int(factor)
            return product

        return [sum(term(t) for t in size.split("+")) for _, size in self.parts]

    def split(self, u: np.ndarray, K: int, V: int) -> list[np.ndarray]:
        """Uniforms `(..., dimension)` in `[0, 1)` as the arguments, of the kinds asked for."""
        ends = np.cumsum(self.sizes(K, V))
        arrays = np.split(u, ends[:-1], axis=-1)
        return [_TRANSFORMS[kind](a) for (kind, _), a in zip(self.parts, arrays, strict=True)]

    def dimension(self, K: int, V: int) -> int:
        return sum(self.sizes(K, V))


def uniforms(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Uniforms in `[0, 1)` that stay below 1 in the number type: multiples of 2⁻²⁴ unless that is float64."""
    return truncated(rng.random(shape), dtype)


def truncated(u: np.ndarray, dtype: str) -> np.ndarray:
    return u if dtype == "float64" else np.floor(u * 2.0**24) / 2.0**24


def _exponential(u: np.ndarray) -> np.ndarray:
    return -np.log1p(-u)


def _gumbel(u: np.ndarray) -> np.ndarray:
    return -np.log(-np.log(np.maximum(u, 2.0**-60)))


_TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "uniform": np.asarray,
    "exponential": _exponential,
    "gumbel": _gumbel,
}
