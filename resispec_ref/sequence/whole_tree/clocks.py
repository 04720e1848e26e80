"""One level of a whole tree at full vocabulary: independent children, weights by cell, a quadrature over clocks.

With a clock of rate `v` for every child, the pick is the child whose clock rings first. For node `j` with `k_j`
independent children of law `q_j`, and `φ_j(r) = Σ_y q_j(y) e^{−v_j(y) r}`, it is a child of `j` with token `y` with
probability

    σ_j(y) = q_j(y) c_j(y),    c_j(y) = k_j ∫ v_j(y) e^{−v_j(y) r} φ_j(r)^{k_j − 1} Π_{i≠j} φ_i(r)^{k_i} dr.

Weights are constant on the cells of a node, each a range of bins of the ratio `p/q`; so is `c`, and `φ` is a sum over
cells. The integral is a trapezoid sum in `log r`. `σ` adds up to 1 with an error below 1e-10, and is not scaled to do
so; by as much, in total variation, the emitted law errs.

Source: section 8 of the mathematics, "Computing it".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from resispec_ref.arrays.arithmetic import positive_part
from resispec_ref.sequence.whole_tree.bins import BinnedRow, bins_of
from resispec_ref.sequence.whole_tree.level import Plan
from resispec_ref.sequence.whole_tree.level_bound import best_set

LEAST_WEIGHT = 1e-14
"""Of the largest weight of a level; smaller ones count as this, so that the quadrature reaches the last clock."""

_FIRST, _LAST = -24.0, 40.0  # of log r: so early no clock rang, e^{40} is late beside the slowest
_FINE, _ROUGH = 0.36, 1.0  # steps: the rule errs by about e^{−π² / step}, 1e-12 and, while weights are fitted, 5e-5
_CELLS, _LEAST_CELLS, _MOST_CELLS = 1500, 16, 96  # of a level, and of a node


class ClockLevel:
    """A level whose children are independent draws, each node's from its own draft."""

    def __init__(self, shares: Sequence[float], rows: Sequence[BinnedRow], counts: Sequence[int]):
        """Shares `a_j`, rows and numbers of children of the nodes."""
        self.shares, self.rows = np.asarray(shares, dtype=np.float64), rows
        self.counts = np.asarray(counts, dtype=np.float64)[:, None]
        taken, self.bound = best_set(shares, rows, counts)
        cells = min(max(_CELLS // len(rows), _LEAST_CELLS), _MOST_CELLS)
        self.mass, self.targets = np.zeros((2, len(rows), cells))
        self.upper, self.cell_of = np.zeros((len(rows), cells), dtype=bool), list[np.ndarray]()
        for j, (row, a, n) in enumerate(zip(rows, shares, taken.tolist(), strict=True)):
            cell, first = _cells(row, a, n, cells)
            self.cell_of.append(cell)
            self.upper[j, first:] = True
            self.mass[j] = np.bincount(cell, row.mass, cells)
            self.targets[j] = a * np.bincount(cell, row.mass * row.edge, cells)

    def picked(self, weights: np.ndarray) -> np.ndarray:
        """`σ` by node and cell, in the rough quadrature, which is for the choice of weights."""
        return self.mass * self._density(self._scaled(weights), _ROUGH)

    def plan(self, weights: np.ndarray) -> Plan:
        v = self._scaled(weights)
        density = self._density(v, _FINE)
        sigma = [c[cell] for c, cell in zip(density, self.cell_of, strict=True)]
        kept, stopped = list[np.ndarray](), list[float]()
        for row, a, s in zip(self.rows, self.shares.tolist(), sigma, strict=True):
            kept.append(np.minimum(1, a * row.edge / s))
            stopped.append(max(a - float(np.sum(kept[-1] * s * row.mass)), 0.0))

        def left(j: int) -> np.ndarray:
            row = self.rows[j]
            place = np.searchsorted(row.code, bins_of(row.target, row.draft)).clip(0, len(row.code) - 1)
            return positive_part(self.shares[j] * row.target - (kept[j] * sigma[j])[place] * row.draft)

        def weight(j: int, token: int) -> float:
            return float(v[j, self.cell_of[j][self.rows[j].place(token)]])

        return Plan(weight, lambda j, token: float(kept[j][self.rows[j].place(token)]), stopped, left)

    def _scaled(self, weights: np.ndarray) -> np.ndarray:
        most = np.max(np.where(self.mass > 0, weights, 0))
        return np.clip(weights / (most if most > 0 else 1), LEAST_WEIGHT, 1)

    def _density(self, v: np.ndarray, step: float) -> np.ndarray:
        """`c_j`, `(nodes, cells)`."""
        r = np.exp(np.arange(_FIRST, _LAST, step))
        silent = np.exp(-np.multiply.outer(v, r))
        log_phi = np.log(np.maximum((self.mass[:, None, :] @ silent)[:, 0], 1e-300))
        others = np.exp(np.sum(self.counts * log_phi, axis=0) - log_phi)  # all children but one of the node's own
        weight = r * step
        weight[0] /= -math.expm1(-step)  # and all earlier times
        return self.counts * v * (silent @ (others * weight)[..., None])[..., 0]


def _cells(row: BinnedRow, share: float, taken: int, cells: int) -> tuple[np.ndarray, int]:
    """The cell of each bin, and the first cell of those in `H`: the last `taken` bins.

    Cells are ranges of ratios. What is lost to them is the spread of the targets within each, so they are narrow where
    there is much mass, but wide where the target is sure to be more than the pick can be.
    """
    effort = np.cbrt(row.mass * np.minimum(row.edge, 1 / share)) + 1e-300
    below = len(effort) - taken
    low, high = float(effort[:below].sum()), float(effort[below:].sum())
    first = round(cells * low / (low + high))
    first = min(max(first, 2 * (below > 0)), cells - 2 * (taken > 0))
    found = np.zeros(len(effort), dtype=np.int64)
    for part, start, count in ((slice(0, below), 0, first), (slice(below, None), first, cells - first)):
        if len(effort[part]):
            total = np.cumsum(effort[part])
            found[part] = start + np.minimum(total / total[-1] * count, count - 1)
    return found, first
