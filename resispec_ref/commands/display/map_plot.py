"""The pictures of `resispec map`. matplotlib is imported when one is drawn; it comes with the extra `plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resispec_ref.commands.display.rule_map import draw_map

if TYPE_CHECKING:
    from resispec_ref.measurements.depth import Depth
    from resispec_ref.measurements.measure import Measurement

_INK, _GRID = "#222222", "#e4e4e4"
_COLOURS = {"ink": _INK, "quiet": "#5a6472", "page": "#ffffff"} | {
    "target": "#2f76b5", "accepted": "#16826a", "missing": "#d55e00"
}  # fmt: skip
_COLUMNS = 2


def plot_map(found: Sequence[Measurement], path: str | Path) -> None:
    """Total variation against acceptance rate, a map for each measurement (`draw_map`)."""
    columns = min(_COLUMNS, len(found))
    rows = -(-len(found) // columns)
    figure = _figure(7.6 * columns, 6.2 * rows)
    for part, m in zip(figure.subfigures(rows, columns, squeeze=False).flat, found, strict=False):
        draw_map(figure, part, _COLOURS, m)
        part.suptitle(f"{m.candidates} candidates, temperature {m.temperature:g}", fontsize=10)
        for axes in part.axes:
            _plain(axes)
        part.axes[1].grid(axis="y", visible=False)
    figure.savefig(path, dpi=150)


def plot_depth(curves: Sequence[Depth], path: str | Path) -> None:
    """Acceptance by number of candidates, and its decay along the candidates where they are looked at in turn."""
    from matplotlib import colormaps

    figure = _figure(13.5, 4.6)
    rates, decays = figure.subplots(1, 2)
    colours = colormaps["tab20"]
    for i, c in enumerate(curves):
        style = "-" if c.exact else ":"
        numbers = range(1, len(c.acceptance_rate) + 1)
        (line,) = rates.plot(
            numbers, c.acceptance_rate, style, marker=".", color=colours(i % 20), label=c.rule + " *" * c.sampled
        )
        if c.decay is not None:
            decays.plot(numbers, c.decay, style, marker=".", color=line.get_color(), label=c.rule)
    for i, bound in enumerate(sorted({tuple(c.bound) for c in curves})):
        label = None if i else "bounds"
        rates.plot(range(1, len(bound) + 1), bound, "--", color=_INK, linewidth=1, label=label)
    rates.set_xlabel("candidates" + "    (* estimated from sampled paths)" * any(c.sampled for c in curves))
    rates.set_ylabel("acceptance rate")
    decays.set_xlabel(f"candidate, of {len(curves[0].bound)}")
    decays.set_ylabel("accepted, where those before were rejected")
    for axes in (rates, decays):
        axes.set_ylim(0, 1.02)
        _plain(axes)
    figure.legend(*rates.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def _figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _plain(axes: Any) -> None:
    axes.set_axisbelow(True)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
