"""The pictures of `resispec map`. matplotlib is imported when one is drawn; it comes with the extra `plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resispec_ref.measurements.depth import Depth
    from resispec_ref.measurements.measure import Measurement

_EXACT, _BIASED, _INK, _GRID = "#2f76b5", "#d55e00", "#222222", "#e4e4e4"
_COLUMNS = 2


def plot_map(found: Sequence[Measurement], path: str | Path) -> None:
    """Total variation against acceptance rate, a panel for each measurement.

    Lines are the bounds for independent and for distinct candidates: to the right of its own, at TV 0, nothing can be.
    From each rises its frontier, the acceptance that a bias can buy: below and to the right of it nothing can be.
    """
    columns = min(_COLUMNS, len(found))
    rows = -(-len(found) // columns)
    figure = _figure(5.6 * columns + 2.6, 3.9 * rows)
    for axes, m in zip(figure.subplots(rows, columns, squeeze=False).flat, found, strict=False):
        for kind, style in (("independent", "-"), ("distinct", "--")):
            for bound in {r.optimal_acceptance for r in m.rules if r.drafting == kind}:
                axes.axvline(bound, color=_INK, linewidth=1, linestyle=style, label=f"bound, {kind} candidates")
                axes.plot([bound, 1], [0, 1 - bound], color=_EXACT, linewidth=1, linestyle=style, label="its frontier")
        for number, r in enumerate(m.rules, start=1):
            at = r.acceptance_rate, 0.0 if r.exact else r.total_variation_mean
            colour, label = _EXACT if r.exact else _BIASED, f"{number}  {r.rule}" + ("" if r.exact else " (biased)")
            axes.scatter(*at, s=26, color=colour, marker="o" if r.exact else "D", zorder=3, label=label)
            side = (0, -11 if number % 2 else 6) if r.exact else (10, -3)
            axes.annotate(number, at, side, textcoords="offset points", fontsize=8, color=colour, ha="center")
        axes.set_title(f"{m.candidates} candidates, temperature {m.temperature:g}", fontsize=10)
        axes.set_xlabel("acceptance rate")
        axes.set_ylabel("total variation from the target")
        top = max([0.1, *(r.total_variation_mean for r in m.rules)])
        axes.set_ylim(-0.07 * top, 1.1 * top)
        _plain(axes)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
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
