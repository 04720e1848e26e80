"""What the executed pages share: running the command line, showing a figure in light and dark, fractions, a cache."""

import base64
import contextlib
import hashlib
import io
import json
import os
import shlex
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import resispec_ref
from resispec_ref.commands import cli as command_line
from resispec_ref.measurements.measure import Measurement, RuleMeasurement, measure

HERE = Path(__file__).parent
CACHE = HERE / "_build" / "measured"

LIGHT = {"ink": "#1b1f24", "quiet": "#5a6472", "grid": "#e2e6eb", "page": "#ffffff"} | {
    "target": "#256abf", "draft": "#c2600c", "accepted": "#16826a", "reserved": "#8a5cc7", "missing": "#c8243f"
}  # fmt: skip
DARK = {"ink": "#e7eaee", "quiet": "#a3adba", "grid": "#2f353d", "page": "#131416"} | {
    "target": "#6aa8f5", "draft": "#f2a154", "accepted": "#3fc3a2", "reserved": "#b794f0", "missing": "#ff6b7f"
}  # fmt: skip


def cli(line: str, exit_code: int = 0) -> None:
    """Run `resispec ...` as typed and print what it prints; a page that expects another exit code says so."""
    program, *arguments = shlex.split(line)
    assert program == "resispec"
    print(f"$ {line}")
    found = command_line.main(arguments)
    if found != exit_code:
        raise RuntimeError(f"{line}: exit code {found}, not {exit_code}")


def fractions(text: str) -> list[Fraction]:
    """`"1/2, 3/10, 1/5"` as a law."""
    return [Fraction(entry.strip()) for entry in text.split(",")]


def readable(values) -> str:
    """Fractions as people write them."""
    return "(" + ", ".join(map(str, values)) + ")"


class Drawn:
    """A figure drawn twice, for light and for dark pages; `alt` says in words what it shows."""

    def __init__(self, pictures: dict[str, bytes], alt: str):
        self.pictures, self.alt = pictures, alt

    def _repr_html_(self) -> str:
        def image(kind: str) -> str:
            data = base64.b64encode(self.pictures[kind]).decode()
            return f'<img class="only-{kind}" alt="{self.alt}" src="data:image/svg+xml;base64,{data}">'

        return f'<figure class="drawn">{image("light")}{image("dark")}</figure>'


def show(draw: Callable, alt: str, size: tuple[float, float] = (8, 3.6), **data) -> Drawn:
    """`draw(figure, colours, **data)`, once a theme."""
    return Drawn({"light": picture(draw, LIGHT, size, **data), "dark": picture(draw, DARK, size, **data)}, alt)


def picture(draw: Callable, colours: dict[str, str], size: tuple[float, float], opaque: bool = False, **data) -> bytes:
    """The figure as SVG, the same bytes every time."""
    import matplotlib
    from matplotlib.figure import Figure

    style = {
        "svg.hashsalt": draw.__name__, "svg.fonttype": "path", "font.size": 10,
        "text.color": colours["ink"], "axes.labelcolor": colours["ink"], "axes.edgecolor": colours["quiet"],
        "xtick.color": colours["quiet"], "ytick.color": colours["quiet"],
        "axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "axes.axisbelow": True, "grid.color": colours["grid"], "legend.frameon": False,
        "figure.facecolor": colours["page"] if opaque else "none",
    }  # fmt: skip
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure, colours, **data)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
        return out.getvalue()


def sources_key() -> str:
    """A hash of the package's sources, so that what was measured with other sources is never shown."""
    sources = sorted(Path(resispec_ref.__file__).parent.rglob("*.py"))
    return hashlib.sha256("".join(map(Path.read_text, sources)).encode()).hexdigest()[:16]


def measured(candidates: int, **options) -> Measurement:
    """`resispec_ref.measure` on the embedded recording; pages that ask for the same share one computation.

    Kept in `_build` under the hash of the sources, which a build takes once, when it starts (`conf.py`).
    """
    key = os.environ.get("RESISPEC_DOCS_KEY") or sources_key()
    name = "-".join([key, str(candidates), *(f"{k}{v}" for k, v in sorted(options.items()))])
    file = CACHE / f"{name}.json"
    if not file.exists():
        found = measure(candidates=candidates, **options)
        CACHE.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(asdict(found)))
        draft.replace(file)
    kept = json.loads(file.read_text())
    return Measurement(**kept | {"rules": [RuleMeasurement(**rule) for rule in kept["rules"]]})


def help_texts():
    """`--help` of every command, as the command line prints it."""
    from IPython.display import Markdown

    parts = [f"```text\n{_printed(['--help'])}```"]
    for name in command_line.COMMANDS:
        parts.append(f"**`resispec {name}`**\n\n```text\n{_printed([name, '--help'])}```")
    return Markdown("\n\n".join(parts))


def _printed(arguments: list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        command_line.main(arguments)
    return out.getvalue()
