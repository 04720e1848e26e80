"""The picture of a benchmark: ratios of the main table, and how time grows with batch and vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resispec_gpu.rules import RULES
from resispec_gpu.scaling import CANDIDATES, Timing, along, fit
from resispec_gpu.works import SORT, UNIT
from resispec_ref.commands.display.measure_plot import check_available

COLOURS = dict(zip(RULES, ("#7f7f7f", "#bdbdbd", "#0b3c6f", "#d55e00"), strict=True)) | {"other": "#dddddd"}
"""By rule; `other` for the yardsticks and for engines."""

_STYLES = {"torch": ":", "torch-compiled": "-", "jax": "--"}


def plot(main: list[Timing], swept: list[Timing], where: dict[str, Any], path: str | Path) -> None:
    """Draw it to `path` (.png, .svg, .pdf). Needs matplotlib, the extra `plot`."""
    check_available()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = 0.3 * len(bars_of(main)) + 0.8
    figure = Figure(figsize=(12, height + 0.8 + 4.6 * bool(swept)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(1 + bool(swept), 2, height_ratios=(height, *[4.6] * bool(swept)))
    draw_ratios(figure.add_subplot(grid[0, :]), main)
    if swept:
        for i, size in enumerate(("batch", "vocab")):
            draw_growth(figure.add_subplot(grid[1, i]), swept, size)
    shown = ", ".join(f"{key} {value}" for key, value in where.items() if value is not None)
    figure.suptitle(shown, fontsize=8, x=0.99, ha="right", color="#555555")
    figure.savefig(path, dpi=150)


def bars_of(main: list[Timing]) -> list[Timing]:
    """What `draw_ratios` shows, from the longest to the shortest of each library."""
    bars = [t for t in main if t.candidates == CANDIDATES and t.what != UNIT and not t.what.startswith(SORT)]
    return sorted(bars, key=lambda t: (t.library, -t.ratio))


def draw_ratios(axes: Any, main: list[Timing], colours: Mapping[str, str] = COLOURS) -> None:
    """A bar for each piece of work on the same arrays; the line at 1 is the `minimum` + `sum` pass."""
    bars = bars_of(main)
    names = [t.what if "[" in t.what else f"{t.what} [{t.library}]" for t in bars]
    kinds = [colours.get(t.what.partition(" [")[0], colours["other"]) for t in bars]
    axes.barh(range(len(bars)), [t.ratio for t in bars], color=kinds, height=0.7)
    for y, t in enumerate(bars):
        axes.text(t.ratio * 1.04, y, f"{t.ratio:.1f}", va="center", fontsize=8)
    axes.axvline(1, color="#808080", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(bars)), names, fontsize=8)
    axes.set_xlim(0.2, 3 * max(t.ratio for t in bars))
    t = bars[0]
    axes.set_xlabel(
        f"time over one {UNIT} pass in the same library\nbatch {t.batch}, vocabulary {t.vocab:,}, K = {t.candidates}"
    )
    axes.grid(axis="y", visible=False)
    axes.spines[["top", "right"]].set_visible(False)


def draw_growth(axes: Any, swept: list[Timing], size: str, colours: Mapping[str, str] = COLOURS) -> None:
    """Time against `size` ("batch" or "vocab"), a fixed and a linear part fitted to each rule and backend."""
    fixed = None
    for name in dict.fromkeys(t.what for t in swept if t.what != UNIT):
        rule, _, backend = name.rstrip("]").partition(" [")
        line = along(swept, name, size)
        if len(line) < 2 or "without" in rule:
            continue
        fixed = line[0]
        x, y = [getattr(t, size) for t in line], [t.milliseconds for t in line]
        found = fit(x, y)
        label = f"{rule}, {backend}: slope {found.slope:.2f}"
        axes.loglog(x, y, "o", color=colours[rule], markersize=3)
        dense = [x[0] * (x[-1] / x[0]) ** (i / 50) for i in range(51)]
        fitted = [found.fixed + found.each * n for n in dense]
        axes.loglog(dense, fitted, _STYLES[backend], color=colours[rule], linewidth=1.2, label=label)
    if fixed is not None:
        other = f"vocabulary {fixed.vocab:,}" if size == "batch" else f"batch {fixed.batch}"
        axes.set_xlabel(f"{'batch' if size == 'batch' else 'vocabulary'} ({other}, K = {fixed.candidates})")
        axes.set_xticks(x, [f"{n:,}" for n in x])
        axes.minorticks_off()
    axes.set_ylabel("milliseconds")
    axes.legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    axes.spines[["top", "right"]].set_visible(False)
