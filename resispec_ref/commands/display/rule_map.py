"""All rules on one map: bias against acceptance, a name beside each point, exact rules in a band of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resispec_ref.measurements.measure import Measurement, RuleMeasurement

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, width, height, in points."""

_STYLES = {"independent": "-", "distinct": "--"}
_FAR = 0.1  # an exact rule that accepts so much less than all others is told of at the edge


def draw_map(root: Any, figure: Any, colours: Mapping[str, str], found: Measurement) -> None:
    """Total variation from the target against acceptance, with the frontier that no rule passes; exact rules below.

    Args:
        root: the Matplotlib figure that is saved; `figure` is it, or a subfigure of it.
        colours: of "ink", "quiet", "page", "accepted" (exact rules), "missing" (biased ones), "target" (the frontier).
        found: what was measured.
    """
    lossy = [r for r in found.rules if not r.exact]
    exact = sorted((r for r in found.rules if r.exact), key=lambda r: r.acceptance_rate)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[6, 5])
    bounds = {r.drafting: r.optimal_acceptance for r in found.rules if r.drafting in _STYLES}
    rates = sorted(r.acceptance_rate for r in found.rules)
    told = len(rates) > 1 and rates[1] - rates[0] > _FAR and exact[0].acceptance_rate == rates[0]
    left = rates[int(told)] - 0.025
    top = 1.2 * max([0.1, *(r.total_variation_mean for r in lossy)])
    above.set_xlim(left, 1)
    above.set_ylim(0, top)
    _bounds(above, below, bounds, colours)
    lines = [(x, i * top / 40) for x in bounds.values() for i in range(41)]
    if bounds:
        kind = min(bounds, key=lambda name: (name != "independent", name))
        lines += _frontier(above, bounds[kind], kind, top, colours)
    points = [(r.acceptance_rate, r.total_variation_mean) for r in lossy]
    above.scatter([x for x, _ in points], [y for _, y in points], s=46, color=colours["missing"], zorder=3)
    above.set_ylabel("total variation from the target")
    _exact(below, exact, left, colours)
    below.set_xlabel(f"acceptance rate, {found.candidates} candidates")
    _names(root, above, points, [r.rule for r in lossy], lines, colours)


def _bounds(above: Any, below: Any, bounds: Mapping[str, float], colours: Mapping[str, str]) -> None:
    """A line for each kind of candidates; two are near each other, so their names stand to either side."""
    for kind, bound in bounds.items():
        for axes in (above, below):
            axes.axvline(bound, color=colours["ink"], linestyle=_STYLES[kind], linewidth=1.2, zorder=1)
        side, gap = ("right", -4) if bound == min(bounds.values()) else ("left", 4)
        above.annotate(
            f"bound, {kind} candidates", (bound, 1), (gap, -2), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha=side, va="top", fontsize=8, color=colours["quiet"],
        )  # fmt: skip


def _frontier(axes: Any, bound: float, kind: str, top: float, colours: Mapping[str, str]) -> list[Point]:
    """What a bias can buy: one for one, from the bound on."""
    axes.plot([bound, 1], [0, 1 - bound], color=colours["target"], linewidth=1.8, zorder=2)
    axes.fill_between([bound, 1], [0, 1 - bound], color=colours["target"], alpha=0.12, linewidth=0, zorder=0)
    axes.annotate(
        f"no rule for {kind}\ncandidates can be here", (1, 0), (-4, 5), textcoords="offset points", ha="right",
        va="bottom", fontsize=8, color=colours["target"],
    )  # fmt: skip
    return [(bound + i * (1 - bound) / 40, i * (1 - bound) / 40) for i in range(41)]


def _exact(axes: Any, rules: Sequence[RuleMeasurement], left: float, colours: Mapping[str, str]) -> None:
    """A row for each exact rule."""
    for row, r in enumerate(rules):
        note = "" if r.drafting == "independent" else f", {r.drafting}"
        text, x = f"{r.rule}{note}", r.acceptance_rate
        if x < left:
            text, x = f"← {text}, at {x:.2f}", left
        else:
            axes.scatter(x, row, s=46, color=colours["accepted"], zorder=3)
        side, gap = ("left", 8) if x < (left + 1) / 2 else ("right", -8)
        axes.annotate(
            text, (x, row), (gap, 0), textcoords="offset points", ha=side, va="center", fontsize=8.5, zorder=2,
            color=colours["accepted"], bbox={"facecolor": colours["page"], "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
    axes.set_ylim(-0.7, len(rules) - 0.3)
    axes.set_yticks([])
    axes.grid(axis="y", visible=False)
    axes.set_ylabel("exact: total variation 0")


def _names(
    root: Any,
    axes: Any,
    points: Sequence[Point],
    names: Sequence[str],
    lines: Sequence[Point],
    colours: Mapping[str, str],
) -> None:
    """A name beside each point, on the side where it covers no other point and no other name, and no line if it can."""
    root.draw_without_rendering()  # settles the layout
    extent = axes.get_window_extent()
    wide, high = (72 * side / root.dpi for side in (extent.width, extent.height))
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()

    def around(point: Point, half: float) -> Box:
        x, y = (point[0] - x0) / (x1 - x0) * wide, (point[1] - y0) / (y1 - y0) * high
        return x - half, y - half, 2 * half, 2 * half

    placed, walls = [around(p, 5) for p in points], [around(p, 2) for p in lines]
    for point, name in zip(points, names, strict=True):
        x, y, _, _ = around(point, 0)
        width = 5.0 * len(name)

        def cost(place: tuple[float, float, str], x: float = x, y: float = y, width: float = width) -> tuple[Any, ...]:
            mine = x + place[0], y + place[1], width, 10.0
            outside = mine[0] < 0 or mine[0] + width > wide or mine[1] < 0
            return outside, sum(_overlap(mine, p) for p in placed), any(_overlap(mine, w) for w in walls)

        places = [(8.0, -5.0, "left"), (-8 - width, -5.0, "right")]
        places += [(-width / 2, 7.0, "center"), (-width / 2, -17.0, "center"), (2 - width, 7.0, "right")]
        dx, dy, side = min(places, key=cost)
        placed.append((x + dx, y + dy, width, 10.0))
        offset = {"left": dx, "right": dx + width, "center": 0}[side], dy + 5
        axes.annotate(
            name, point, offset, textcoords="offset points", ha=side, va="center", fontsize=8.5, zorder=2,
            color=colours["missing"],
            bbox={"facecolor": colours["page"], "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
        )  # fmt: skip


def _overlap(one: Box, other: Box) -> bool:
    return all(one[i] < other[i] + other[i + 2] and other[i] < one[i] + one[i + 2] for i in (0, 1))
