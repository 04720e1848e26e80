"""The picture of a benchmark: ratios of the main table, and how time grows with batch and vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from resispec_gpu.benchmark import CANDIDATES, SORT, UNIT, Timing, along, fit
from resispec_gpu.rules import RULES
from resispec_ref.plots import check_available

_COLOURS = dict(zip(RULES, ("#7f7f7f", "#bdbdbd", "#0b3c6f", "#d55e00"), strict=True))
_STYLES = {"torch": ":", "torch-compiled": "-", "jax": "--"}


def plot(main: list[Timing], swept: list[Timing], where: dict[str, Any], path: str | Path) -> None:
    """Draw it to `path` (.png, .svg, .pdf). Needs matplotlib, the extra `plot`."""
    check_available()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    bars = [t for t in main if t.candidates == CANDIDATES and t.what not in (UNIT, SORT)]
    figure = Figure(figsize=(12, 1.6 + 0.3 * len(bars) + 3.6 * bool(swept)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(1 + bool(swept), 2, height_ratios=(0.3 * len(bars) + 0.8, *[3.6] * bool(swept)))
    _ratios(figure.add_subplot(grid[0, :]), bars)
    if swept:
        for i, size in enumerate(("batch", "vocab")):
            _growth(figure.add_subplot(grid[1, i]), swept, size)
    shown = ", ".join(f"{key} {value}" for key, value in where.items() if value is not None)
    figure.suptitle(shown, fontsize=8, x=0.99, ha="right", color="#555555")
    figure.savefig(path, dpi=150)


def _ratios(axes: Any, bars: list[Timing]) -> None:
    bars = sorted(bars, key=lambda t: (t.library, -t.ratio))
    names = [t.what if "[" in t.what else f"{t.what} [{t.library}]" for t in bars]
    colours = [_COLOURS.get(t.what.partition(" [")[0], "#dddddd") for t in bars]
    axes.barh(range(len(bars)), [t.ratio for t in bars], color=colours, height=0.7)
    for y, t in enumerate(bars):
        axes.text(t.ratio * 1.04, y, f"{t.ratio:.1f}", va="center", fontsize=8)
    axes.axvline(1, color="#222222", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(bars)), names, fontsize=8)
    axes.set_xlim(0.2, 3 * max(t.ratio for t in bars))
    t = bars[0]
    axes.set_xlabel(f"time over one {UNIT} pass in the same library (batch {t.batch}, vocabulary {t.vocab:,}, K = 4)")
    axes.spines[["top", "right"]].set_visible(False)


def _growth(axes: Any, swept: list[Timing], size: str) -> None:
    for name in dict.fromkeys(t.what for t in swept if t.what != UNIT):
        rule, _, backend = name.rstrip("]").partition(" [")
        line = along(swept, name, size)
        if len(line) < 2 or "without" in rule:
            continue
        x, y = [getattr(t, size) for t in line], [t.milliseconds for t in line]
        found = fit(x, y)
        label = f"{rule}, {backend}: slope {found.slope:.2f}"
        axes.loglog(x, y, "o", color=_COLOURS[rule], markersize=3)
        dense = [x[0] * (x[-1] / x[0]) ** (i / 50) for i in range(51)]
        fitted = [found.fixed + found.each * n for n in dense]
        axes.loglog(dense, fitted, _STYLES[backend], color=_COLOURS[rule], linewidth=1.2, label=label)
    fixed = line[0]
    axes.set_xlabel(f"batch (vocabulary {fixed.vocab:,})" if size == "batch" else f"vocabulary (batch {fixed.batch})")
    axes.set_ylabel("milliseconds; lines: fixed + linear")
    axes.legend(fontsize=6.5, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
