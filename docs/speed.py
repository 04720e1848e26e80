"""What was measured of the batched layer, in tables and figures, from `findings/recorded/speed*.json`."""

import json
from pathlib import Path

from IPython.display import Markdown

from resispec_gpu import benchmark, context
from resispec_gpu.plot import draw_growth, draw_ratios
from resispec_gpu.scaling import Timing, along, fit

RECORDED = Path(__file__).parent / "findings" / "recorded"
"""`speed.json` and `speed-context.json`, printed by the two commands of the page with `--json`."""

MACHINE, MAIN, SWEPT = benchmark.load(RECORDED / "speed.json")


def machine() -> str:
    clock = {"cpu": "processor time", "wall": "wall-clock time"}[MACHINE["clock"]]
    threads = MACHINE["threads"] or MACHINE["cores"]
    return f"{MACHINE['processor']}, threads: {threads}, {clock}, load {MACHINE['load']}, {MACHINE['system']}"


def timing(what: str, candidates: int = 4) -> Timing:
    return next(t for t in MAIN if (t.what, t.candidates) == (what, candidates))


def main_table(candidates: int) -> Markdown:
    """Ratio first, then milliseconds and memory, of everything with so many candidates."""
    lines = ["| | over `minimum + sum` | ms | memory, in inputs |", "|---|--:|--:|--:|"]
    for t in MAIN:
        if t.candidates == candidates:
            name = t.what if "[" in t.what else f"{t.what} [{t.library}]"
            added = "" if t.added is None else f"{t.added:.2f}"
            lines.append(f"| {name} | {t.ratio:.2f} | {t.milliseconds:.1f} | {added} |")
    return Markdown("\n".join(lines))


def growth_table() -> Markdown:
    """The fitted line of every rule and backend, in nanoseconds an entry of one array."""
    lines = ["| | batch: fixed + each | off by | slope | vocabulary: fixed + each | off by | slope |"]
    lines.append("|---|" + "--:|" * 6)
    for name in dict.fromkeys(t.what for t in SWEPT if "[" in t.what):
        cells = []
        for size in ("batch", "vocab"):
            line = along(SWEPT, name, size)
            found = fit([t.batch * t.vocab for t in line], [t.milliseconds for t in line])
            cells += [f"{found.fixed:.1f} ms + {found.each * 1e6:.1f} ns"]
            cells += [f"{found.deviation:.0%}", f"{found.slope:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return Markdown("\n".join(lines))


def storage_table() -> Markdown:
    """Ratios by storage type and by number of candidates, on the compiled Torch backend."""
    mine = [t for t in SWEPT if t.what.endswith("[torch-compiled]")]
    batch, vocab = MAIN[0].batch, MAIN[0].vocab
    at = {(t.what, t.dtype, t.candidates): t for t in mine if (t.batch, t.vocab) == (batch, vocab)}
    columns = [("float32", 1), ("float32", 2), ("float32", 4), ("float32", 8), ("bfloat16", 4), ("float16", 4)]
    lines = [
        "| ms | " + " | ".join(f"{dtype}, K = {K}" for dtype, K in columns) + " |",
        "|---|" + "--:|" * len(columns),
    ]
    for name in dict.fromkeys(t.what for t in mine):
        cells = [f"{at[name, *column].milliseconds:.1f}" for column in columns]
        lines.append(f"| {name.partition(' [')[0]} | {' | '.join(cells)} |")
    return Markdown("\n".join(lines))


def context_table() -> Markdown:
    """Every piece of work as a share of the target's forward pass."""
    found = json.loads((RECORDED / "speed-context.json").read_text())
    unit = found["seconds"][context.TARGET]
    lines = [f"| {found['model']}, {found['dtype']}, K = {found['candidates']} | share | ms |", "|---|--:|--:|"]
    lines += [f"| {name} | {s / unit:.1%} | {s * 1e3:.1f} |" for name, s in found["seconds"].items()]
    return Markdown("\n".join(lines))


def _colours(theme: dict[str, str]) -> dict[str, str]:
    return {
        "recursive-rejection": theme["quiet"],
        "recursive-rejection-without-replacement": theme["reserved"],
        "resispec": theme["target"],
        "optimal": theme["draft"],
        "other": theme["grid"],
    }


def ratios(figure, colours):
    draw_ratios(figure.subplots(), MAIN, _colours(colours))


def growth(figure, colours):
    for axes, size in zip(figure.subplots(1, 2), ("batch", "vocab"), strict=True):
        draw_growth(axes, SWEPT, size, _colours(colours))
