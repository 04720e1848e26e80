"""The table of the registry: what each rule says of itself, its acceptance on real laws, and its cost as a ratio."""

import inspect
import time

import numpy as np
from IPython.display import HTML, Markdown
from page import measured

import resispec_ref as rs
from resispec_ref.measurements.measure import takes

CANDIDATES = 3
EVERY = 8


def rules_table() -> HTML:
    found = {r.rule: r for r in measured(CANDIDATES).rules}
    cost = costs()
    head = ["rule", "source", "claims", "candidates", "looks", "accepts", "bound", "waste", "cost"]
    rows = []
    for name in rs.verifier_names():
        rule, r = rs.get_verifier(name), found.get(name)
        rows.append([
            f"<code>{name}</code>",
            rule.source,
            "exact" if rule.exact else "<b>lossy</b>",
            rule.drafting,
            "in turn" if getattr(rule, "sequential", True) else "at all",
            f"{r.acceptance_rate:.4f}" if r else "",
            f"{r.optimal_acceptance:.4f}" if r else "",
            f"{round(r.waste, 4) + 0:.4f}" if r else "",
            f"{cost[name]:.3g}" if name in cost else "",
        ])  # fmt: skip

    def line(cells, tag="td"):
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(map(line, rows))
    table = f"<table class='docutils'><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"
    return HTML(f"<div class='table-wrapper' style='overflow-x:auto'>{table}</div>")


def costs() -> dict[str, float]:
    """Seconds of `verify` by rule, over those of recursive rejection."""
    pairs = rs.load_pairs()
    p, q = (rs.law_from_logits(x[::EVERY]) for x in (pairs.target_logits, pairs.draft_logits))
    rng = np.random.default_rng(0)
    seconds = {}
    for name in rs.verifier_names():
        rule = rs.get_verifier(name)
        if not takes(rule, CANDIDATES):
            continue
        laws = rule.candidate_laws(q, CANDIDATES)
        drawn = drawn_from(q, rng, CANDIDATES)
        if laws is not None:
            drawn = np.concatenate([drawn_from(laws[:, i], rng, 1) for i in range(CANDIDATES)], axis=-1)
        u = rng.random((len(p), rs.uniforms_needed(rule, CANDIDATES)))
        runs = []
        for _ in range(5):
            start = time.perf_counter()
            rs.verify(rule, p, q, drawn, u)
            runs.append(time.perf_counter() - start)
        seconds[name] = min(runs)
    return {name: s / seconds["recursive-rejection"] for name, s in seconds.items()}


def drawn_from(q: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    """Distinct tokens, by a race of exponential clocks: candidates that rules of either kind take."""
    return np.argsort(-np.log(rng.random(q.shape)) / np.maximum(q, 1e-300), axis=-1)[:, :count]


def formulas() -> Markdown:
    """Each rule's docstring: its formula is the indented block."""
    parts = []
    for name in rs.verifier_names():
        text = inspect.getdoc(type(rs.get_verifier(name))) or ""
        quoted = "\n".join(f"> {line}" if line else ">" for line in text.splitlines())
        parts.append(f"**`{name}`**\n\n{quoted}\n")
    return Markdown("\n".join(parts))
