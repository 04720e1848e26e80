"""A row read once: its draft's mass by the ratio of target and draft, in bins so narrow that little is lost.

What a whole tree keeps of a token depends on `p/q` alone, but for a factor of its node. So a row of any vocabulary
becomes a histogram: the draft's mass in bins of the ratio, 2^9 an octave, each 0.14 to 0.2% wide. Kept is what a token
at the lower end of its bin may keep, so that the rule stays exact whatever the bins are, and loses at most their width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_BITS = 9
_SHIFT = 23 - _BITS  # of float32, which is enough to tell ratios apart
_LOWEST, _HIGHEST = (int(np.float32(2.0**octave).view(np.int32)) >> _SHIFT for octave in (-16, 8))
_BELOW = 1 - 2.0**-20  # an end of a bin is this much lower, as a ratio may have been rounded up to it


@dataclass(frozen=True)
class BinnedRow:
    """Target and draft of one node, `(vocab,)` in float64, and the histogram of their ratio."""

    target: np.ndarray
    draft: np.ndarray
    code: np.ndarray
    """The numbers of the bins that are not empty, as `bins_of` gives them, ascending; `(bins,)`."""
    mass: np.ndarray
    """The draft's mass in each."""
    edge: np.ndarray
    """The least ratio of each; 0 for the first, of all ratios below `2^-16`."""

    def place(self, token: int) -> int:
        """Which of the bins a token of the draft is in."""
        found = bins_of(self.target[token : token + 1], self.draft[token : token + 1])
        return int(np.searchsorted(self.code, found[0]))


def binned(target: np.ndarray, draft: np.ndarray) -> BinnedRow:
    """The histogram of one row.

    >>> row = binned(np.array([0.5, 0.25, 0.25]), np.array([0.5, 0.5, 0.0]))
    >>> row.mass.tolist(), row.edge.round(5).tolist()
    ([0.5, 0.5], [0.5, 1.0])
    """
    mass = np.bincount(bins_of(target, draft), draft)
    code = np.flatnonzero(mass)
    return BinnedRow(target, draft, code, mass[code], _EDGES[code])


def bins_of(target: np.ndarray, draft: np.ndarray) -> np.ndarray:
    """The bin of every token, from the leading bits of `p/q`; of no account where `q = 0`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.divide(target, draft, out=np.empty(len(target), dtype=np.float32), casting="same_kind")
    code = ratio.view(np.int32) >> _SHIFT
    np.clip(code, _LOWEST - 1, _HIGHEST, out=code)
    code -= _LOWEST - 1
    return code


_EDGES = np.append(0, (np.arange(_LOWEST, _HIGHEST + 1, dtype=np.int32) << _SHIFT).view(np.float32) * _BELOW)
