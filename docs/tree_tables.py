"""Tables of accepted length by tree and rule, with the bias: computed for n-grams, recorded for language models."""

import json
from collections.abc import Iterable
from pathlib import Path

from IPython.display import Markdown

import resispec_ref as rs
from resispec_ref.measurements.tree_tables import TREES, Row, ngram_rows

RECORDED = Path(__file__).parent / "findings" / "recorded"
"""Files `decode-*.json`, printed by `resispec decode --tables --json`."""


def ngram_table(temperature: float) -> Markdown:
    return table(ngram_rows("\n".join(rs.load_pairs().metadata["texts"]), temperature), f"temperature {temperature:g}")


def recorded_rows() -> list[Row]:
    """What was recorded of the language model and its drafts."""
    files = sorted(RECORDED.glob("decode-*.json"))
    rows = [Row(**row) for file in files for row in json.loads(file.read_text())]
    return [r for r in rows if r.models.startswith("without")]


def recorded_table(temperature: float) -> Markdown:
    return table([r for r in recorded_rows() if r.temperature == temperature], f"temperature {temperature:g}")


def table(rows: Iterable[Row], caption: str) -> Markdown:
    """A row for each draft and rule, a column for each tree: length, its ratio to recursive rejection, and the bias."""
    found = list(rows)
    trees = [tree for tree in TREES if any(r.tree == tree for r in found)]
    lines = [f"| {caption} | " + " | ".join(trees) + " | bias |", "|---|" + "--:|" * (len(trees) + 1)]
    for draft in dict.fromkeys(r.models for r in found):
        lines.append(f"| **draft: {draft}** |" + " |" * (len(trees) + 1))
        for rule in dict.fromkeys(r.rule for r in found):
            cells = {r.tree: r for r in found if (r.models, r.rule) == (draft, rule)}
            biases = [r for r in cells.values() if r.bias is not None]
            exact = next(iter(cells.values())).exact
            bias = "0" if exact else _range(biases)
            texts = " | ".join(cell(cells.get(tree)) for tree in trees)
            lines.append(f"| `{rule}` | {texts} | {bias if exact else f'**{bias}**'} |")
    return Markdown("\n".join(lines))


def cell(row: Row | None) -> str:
    if row is None or row.accepted_length is None:
        return ""
    interval = f" ± {row.half_width:.2f}" if row.half_width else ""
    spread = f" ± {row.ratio_half_width:.2f}" if row.ratio_half_width else ""
    ratio = "" if row.ratio is None else f" (×{row.ratio:.2f}{spread})"
    return f"{row.accepted_length:.2f}{interval}{ratio}"


def _range(rows: list[Row]) -> str:
    """The least and the greatest bias over the trees, with the widest of their intervals."""
    if not rows:
        return ""
    least, greatest = (f"{bias:.2f}" for bias in (min(r.bias for r in rows), max(r.bias for r in rows)))
    spread = max(r.bias_half_width for r in rows)
    return least + (f" to {greatest}" if greatest != least else "") + (f" ± {spread:.2f}" if spread else "")
