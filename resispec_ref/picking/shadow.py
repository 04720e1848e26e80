"""The shadow cut: sets of ranks in `[0, 1]` of given lengths, such that the largest of `K` ranks has a given law.

NumPy in float64, a row a position. Source: section 6 of the mathematics, T11. Theorem: `cut_exists`
(proofs/ranks.v).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from resispec_ref.arrays.arithmetic import capped_quotient, power

_ROUNDING = 1e-15  # of a mass between two ranks: where the search for a window's place ends
_SEARCHES = 60
_DEPTH = 4  # jumps below a window that are looked at first


class Pieces(NamedTuple):
    """Sets of ranks as pieces `[start, start + size]` with their `owner`, `(rows, pieces)`, in the order of the sets.

    A set's pieces follow each other; unused ones, of size 0, come last.
    """

    start: np.ndarray
    size: np.ndarray
    owner: np.ndarray


def shadow_cut(length: np.ndarray, mass: np.ndarray, candidates: int) -> Pieces:
    """Each set in turn takes a window of what is free of `[0, 1]`, of its length, placed so that it has its mass.

    `length` and `mass` are `(rows, sets)`; sets ascend by `mass / length`. A window is contiguous in the free part,
    whose places are counted without what was taken: from the place `begin[i]` on, place `c` is the rank `c + shift[i]`.
    Every window reaches beyond the last of these jumps, because its mean rank is higher than all before. With the
    masses of `winner_law` a window of the right mass exists (Strassen); otherwise the nearest is taken.
    """
    return _cut(length.tobytes(), mass.tobytes(), length.shape, candidates)


@lru_cache(maxsize=1)  # rules that pick alike are often asked about the same laws, one after the other
def _cut(lengths: bytes, masses: bytes, shape: tuple[int, int], candidates: int) -> Pieces:
    length, mass = (np.frombuffer(x).reshape(shape) for x in (lengths, masses))
    rows, sets = shape
    begin, shift = np.zeros((rows, sets + 1)), np.zeros((rows, sets + 1))
    last, taken = np.zeros((rows, 1), dtype=np.int64), np.zeros((rows, 1))
    found: list[tuple[np.ndarray, ...]] = []
    for n in range(sets):
        Q, M, depth = length[:, n, None], mass[:, n, None], _DEPTH
        while True:
            bottom = np.maximum(last - depth, 0)
            column = np.minimum(bottom + np.arange(min(depth, int(last.max())) + 1), last)
            window = _Window(
                np.take_along_axis(begin, column, 1), np.take_along_axis(shift, column, 1), 1 - taken, Q, candidates
            )
            if depth >= last.max() or not np.any((bottom > 0) & window.is_above(M)):
                break
            depth *= 4
        a = window.place(M)
        _, start, size = window.mass(a)
        row, piece = np.nonzero(size > 0)
        found.append((row, start[row, piece], size[row, piece], np.full(len(row), n)))
        taken = taken + Q
        last = np.max(np.where(window.begin < a, column + 1, bottom), axis=-1, keepdims=True)
        np.put_along_axis(begin, last, a, 1)
        np.put_along_axis(shift, last, taken, 1)
    row, start, size, owner = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    row = row[order]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    pieces = [np.zeros((rows, int(place.max(initial=0)) + 1), dtype=x.dtype) for x in (start, size, owner)]
    for padded, x in zip(pieces, (start, size, owner), strict=True):
        padded[row, place] = x[order]
        padded.flags.writeable = False
    return Pieces(*pieces)


class _Window:
    """A window of length `Q` at a place still to be found, over the topmost jumps of the free part `[0, end]`."""

    def __init__(self, begin: np.ndarray, shift: np.ndarray, end: np.ndarray, Q: np.ndarray, candidates: int):
        self.begin, self.shift, self.Q, self.K = begin, shift, Q, candidates
        self.edges = np.concatenate([begin, end], axis=-1)
        self.low = np.maximum(begin[:, :1], begin[:, -1:] - Q)
        self.highest = end - Q

    def mass(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mass of the window at the place `a`, with the pieces it consists of: their starts and sizes."""
        ends = np.clip(self.edges, a, a + self.Q)
        start, end = ends[:, :-1] + self.shift, ends[:, 1:] + self.shift
        return np.sum(power(end, self.K) - power(start, self.K), axis=-1, keepdims=True), start, end - start

    def is_above(self, M: np.ndarray) -> np.ndarray:
        """Whether even the lowest place over these jumps is too high for a window of the mass `M`."""
        return (self.low > self.highest) | (self.mass(self.low)[0] > M + _ROUNDING)

    def place(self, M: np.ndarray) -> np.ndarray:
        """The place where the window's mass, which grows with it, is `M`: Newton's method inside a bracket."""
        low, high = self.low, np.maximum(self.highest, self.low)
        high = np.where(self.mass(low)[0] > M + _ROUNDING, low, high)  # out of reach: the nearest place
        low = np.where(self.mass(high)[0] < M - _ROUNDING, high, low)
        K, taken = self.K, self.shift[:, -1:]
        density = np.where(self.Q > 0, capped_quotient(M, K * self.Q, np.ones_like(M)), 0)
        a = np.clip(density ** (1 / max(K - 1, 1)) - taken - self.Q / 2, low, high)
        for _ in range(_SEARCHES):
            excess = self.mass(a)[0] - M
            low, high = np.where(excess < 0, a, low), np.where(excess > 0, a, high)
            searching = (np.abs(excess) > _ROUNDING) & (high > low)
            if not searching.any():
                break
            bottom = a + np.max(np.where(self.begin <= a, self.shift, 0), axis=-1, keepdims=True)
            slope = K * (power(a + self.Q + taken, K - 1) - power(bottom, K - 1))
            newton = a - np.divide(excess, slope, out=np.full_like(a, np.inf), where=np.abs(excess) < slope)
            inside = (newton > low) & (newton < high)
            a = np.where(searching, np.where(inside, newton, (low + high) / 2), a)
        return a
