"""Pictures of measurements. matplotlib is imported when one is drawn; it comes with the extra `plot`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resispec_ref.measurements.measure import Measurement

_SHADES = ("#0b3c6f", "#2f76b5", "#7fb2dc", "#c6dcef")  # one hue, dark to light: read in grey as well as in colour
_BIAS, _NOISE, _INK = "#d55e00", "#b8b8b8", "#222222"
_ROUNDING = 1e-12


def check_available() -> None:
    """Raise an `ImportError` that says what to install, before any work is done that the picture is for."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ModuleNotFoundError('a plot needs matplotlib: pip install "resispec-ref[plot]"')


def plot_measurement(found: Measurement, path: str | Path) -> None:
    """Acceptance rate of every rule against its bound, by accepted candidate, and its total variation beside it.

    `path` decides the format: .png, .svg, .pdf. Errors: `ModuleNotFoundError` without matplotlib; `ValueError` for a
    format that matplotlib does not write.
    """
    check_available()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rules = sorted(found.rules, key=lambda r: (r.drafting != "independent", r.drafting, r.acceptance_rate))
    figure = Figure(figsize=(11, 1.9 + 0.42 * len(rules)), layout="constrained")
    FigureCanvasAgg(figure)
    rates, bias = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    rows = range(len(rules))

    for i in range(found.candidates):
        shade = _SHADES[min(i, len(_SHADES) - 1)]
        left = [sum(r.acceptance_per_candidate[:i]) for r in rules]
        width = [r.acceptance_per_candidate[i] for r in rules]
        more = "+" if i + 1 == len(_SHADES) < found.candidates else ""
        label = f"{'' if i else 'candidate '}{i + 1}{more}" if i < len(_SHADES) else None
        rates.barh(rows, width, left=left, height=0.62, color=shade, edgecolor="white", linewidth=0.8, label=label)
    for y, r in zip(rows, rules, strict=True):
        bound, rate = r.optimal_acceptance, r.acceptance_rate
        rates.plot([bound, bound], [y - 0.42, y + 0.42], color=_INK, linewidth=2.2, label="bound" if y == 0 else None)
        rates.text(1.02, y, f"{rate:.3f}", va="center", color=_INK, fontsize=9)
    rates.set_yticks(rows, [r.rule + ("" if r.exact else " (biased)") for r in rules])
    rates.set_xlim(0, 1.09)
    rates.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    rates.set_xlabel("acceptance rate, by the candidate accepted")

    noise = [min(r.total_variation_noise, r.total_variation_mean) for r in rules]
    mean = [r.total_variation_mean for r in rules]
    beyond = [m - n for m, n in zip(mean, noise, strict=True)]
    bias.barh(rows, noise, height=0.62, color=_NOISE, label="sampling noise")
    bias.barh(rows, beyond, left=noise, height=0.62, color=_BIAS, label="mean")
    worst = [r.total_variation_worst for r in rules]
    away = [y for y in rows if worst[y] > _ROUNDING]
    bias.scatter([worst[y] for y in away], away, marker="D", s=26, color=_INK, zorder=3, label="worst position")
    bias.set_xlim(0, max(0.1, *worst) * 1.1)
    for y in set(rows).difference(away):
        bias.text(0.012 * bias.get_xlim()[1], y, "0", va="center", color=_INK, fontsize=9)
    bias.set_xlabel("total variation from the target")

    for axes in (rates, bias):
        axes.set_axisbelow(True)
        axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
        axes.tick_params(length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    figure.suptitle(
        f"{found.candidates} candidates, temperature {found.temperature:g}, {found.positions} positions", fontsize=11
    )
    for axes in (rates, bias):
        axes.legend(
            ncols=5, loc="lower left", bbox_to_anchor=(-0.02, 1.0), frameon=False, fontsize=9, handlelength=1.0,
            columnspacing=1.2, handletextpad=0.5,
        )  # fmt: skip
    figure.savefig(path, dpi=160)
