"""The figures of the documentation. `python docs/figures.py DIRECTORY` writes those that the README shows."""

import sys
from pathlib import Path

import numpy as np
from page import DARK, LIGHT, measured, picture
from tree_tables import recorded_rows

import resispec_ref as rs
from resispec_ref.commands.display.rule_map import draw_map
from resispec_ref.measurements.measure import Measurement
from resispec_ref.measurements.tree_tables import TREES
from resispec_ref.sequence import (
    complete_tree,
    expected_accepted_length,
    verify_tree,
    verify_whole_tree,
)
from resispec_ref.sequence.whole_tree import target_weights

EVERY = 4  # of the recorded positions, where many numbers of candidates are computed


def some_laws(temperature: float = 1.0):
    """Target and draft laws at every fourth position of the embedded recording."""
    pairs = rs.load_pairs()
    return tuple(
        rs.law_from_logits(x[::EVERY], temperature=temperature) for x in (pairs.target_logits, pairs.draft_logits)
    )


# ---- residual drift ----


def chances_when_looked_at(rule: str, p, q, K: int) -> np.ndarray:
    """How often candidate `i` is accepted, of the times that it is looked at, over all positions."""
    rates = np.mean(rs.emitted_law(rule, p, q, candidates=K).acceptance_per_candidate, axis=0)
    return rates / (1 - np.concatenate([[0], np.cumsum(rates)[:-1]]))


def residual_drift(figure, colours, *, p, q, K: int = 8):
    """Recursive rejection's candidates pass less and less often; those of a shaped residual do not drift away."""
    axes = figure.subplots()
    x = np.arange(1, K + 1)
    for rule, colour, marker in [("recursive-rejection", "missing", "o"), ("resispec", "accepted", "s")]:
        y = chances_when_looked_at(rule, p, q, K)
        axes.plot(x, y, color=colours[colour], marker=marker, linewidth=2)
        at, offset, side = (1, (8, 6), "left") if y[0] > y[-1] else (K - 2, (-10, 2), "right")
        axes.annotate(rule, (x[at], y[at]), textcoords="offset points", xytext=offset, ha=side, color=colours[colour])
    axes.set_xticks(x)
    axes.set_ylim(0, 1)
    axes.set_xlabel(f"candidate, of {K}")
    axes.set_ylabel("accepted, of those looked at")
    axes.grid(axis="x", visible=False)


# ---- acceptance as candidates are added ----


def acceptance_by_candidates(figure, colours, *, p, q, K: int = 8):
    """Acceptance rate against the number of candidates, and the bound that no exact rule exceeds."""
    axes = figure.subplots()
    x = np.arange(1, K + 1)
    bound = [np.mean(rs.optimal_acceptance(p, q, candidates=int(k))) for k in x]
    axes.fill_between(x, bound, 1, color=colours["grid"], linewidth=0)
    axes.text(1.15, 0.985, "out of reach of every exact rule", ha="left", va="top", color=colours["quiet"])
    axes.plot(x, bound, color=colours["ink"], linewidth=2, label="bound (optimal transport)")
    rules = [("resispec", "accepted", "s"), ("k-seq", "target", "^"), ("recursive-rejection", "missing", "o")]
    for rule, colour, marker in rules:
        rates = [np.mean(rs.emitted_law(rule, p, q, candidates=int(k)).acceptance_rate) for k in x]
        axes.plot(x, rates, color=colours[colour], marker=marker, linewidth=1.6, label=rule)
    axes.set_xticks(x)
    axes.set_xlim(1, K)
    axes.set_ylim(top=1)
    axes.set_xlabel("candidates K")
    axes.set_ylabel("acceptance rate")
    axes.legend(loc="lower right")
    axes.grid(axis="x", visible=False)


# ---- bias against acceptance ----

MAP_SIZE = (7.6, 6)


def bias_map(figure, colours, *, found: Measurement):
    draw_map(figure, figure, colours, found)


# ---- between floor and ceiling ----


def between_floor_and_ceiling(figure, colours, *, p, q, level: float):
    """The reserve `clip(λ q, (p − q)+, p)` token by token, in the order of `p / q`."""
    p, q = np.asarray(p), np.asarray(q)
    order = np.argsort(np.divide(p, q, out=np.full(len(p), np.inf), where=q > 0), kind="stable")
    p, q = p[order], q[order]
    r = rs.shaped_residual(p, q, level)
    x = np.arange(len(p))
    axes = figure.subplots()
    floor = np.maximum(p - q, 0)
    axes.bar(x, r, width=0.72, color=colours["reserved"], alpha=0.85, label="reserved r")
    axes.bar(x, p - r, width=0.72, bottom=r, color=colours["accepted"], alpha=0.85, label="accepted m = p − r")
    half = 0.42
    axes.hlines(p, x - half, x + half, color=colours["target"], linewidth=2.4, label="ceiling p")
    axes.hlines(floor, x - half, x + half, color=colours["ink"], linewidth=2.4, label="floor (p − q)⁺")
    axes.plot(x, level * q, color=colours["draft"], marker="o", linestyle=":", linewidth=1.6, label="λ q")
    axes.set_xticks(x, [f"{a / b:.2f}" if b else "∞" for a, b in zip(p, q, strict=True)])
    axes.set_xlabel("tokens, by p / q")
    axes.set_ylabel("probability")
    axes.legend(ncols=3, loc="upper left", fontsize=9)
    axes.set_ylim(0, max(p.max(), (level * q).max()) * 1.45)
    axes.grid(axis="x", visible=False)


# ---- accepted length by tree ----

SHAPES = ((1, 1, 1, 1, 1, 1), (2, 1, 1), (2, 2), (3, 1), (6,))  # six nodes each
RULES = (("recursive-rejection", "missing", "o"), ("k-seq", "target", "^"), ("resispec", "accepted", "s"))


def length_by_tree(figure, colours, *, target, draft):
    """Expected accepted length of trees of six nodes, from deep to wide, averaged over the token before."""
    axes = figure.subplots()
    x = np.arange(len(SHAPES))
    for rule, colour, marker in RULES:
        lengths = [
            np.mean(
                [float(expected_accepted_length(rule, target, draft, complete_tree(s), prefix=(t,))) for t in range(3)]
            )
            for s in SHAPES
        ]
        axes.plot(x, lengths, color=colours[colour], marker=marker, linewidth=1.6, label=rule)
    axes.set_xticks(x, [", ".join(map(str, s)) for s in SHAPES])
    axes.set_xlabel("children at each depth, six nodes in all")
    axes.set_ylabel("expected accepted length")
    axes.set_ylim(0, None)
    axes.legend(loc="lower left")
    axes.grid(axis="x", visible=False)


# ---- whole trees ----

BELOW = {"both": (0, 0, 1, 1), "the first": (0, 1, 0, 0), "the second": (1, 1, 1, 0), "neither": (1, 1, 0, 0)}
"""Which of the nodes 0 and 1 finds the token that must follow it among its two candidates: those of 0, then of 1."""


def masses_of_siblings(figure, colours, *, target, draft, steps: int = 16):
    """Where the accepted path ends, node by node and as a whole tree, for four trees that begin with the same nodes."""
    tree, axes = complete_tree((2, 2)), figure.subplots(1, len(BELOW), sharey=True)
    names = ["ends at 0, 0", "ends at 1, 1", "ends after one token"]
    shades = [colours[name] for name in ("accepted", "target", "missing")]
    for panel, (which, below) in zip(axes, BELOW.items(), strict=True):
        tokens = (0, 1, *below)
        rows = [[model.law(path) for path in ((), *_paths(tree, tokens))] for model in (target, draft)]
        noise = [[0.5] * rs.uniforms_needed("recursive-rejection", 2)] * 3
        one_by_one = [verify_tree("recursive-rejection", *rows, tree, tokens, noise)]
        whole = [
            verify_whole_tree(*rows, tree, tokens, [(i + 0.5) / steps, 0.5], weights=target_weights)
            for i in range(steps)
        ]
        for y, found in enumerate((whole, one_by_one)):
            ends = [step.tokens[:2] if step.accepted == 2 else None for step in found]
            left = 0.0
            for name, end, shade in zip(names, ((0, 0), (1, 1), None), shades, strict=True):
                share = ends.count(end) / len(ends)
                panel.barh(y, share, left=left, height=0.6, color=shade, label=name)
                left += share
        panel.set_title(f"found below: {which}", fontsize=10)
        panel.set_xlim(0, 1)
        panel.set_xticks([0, 0.5, 1], ["0", "½", "1"])
        panel.grid(axis="y", visible=False)
    axes[0].set_yticks([0, 1], ["whole tree", "node by node"])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles[:3], labels[:3], loc="outside lower center", ncols=3)


def _paths(tree, tokens):
    """What stands before the row of each node."""
    paths = []
    for token, parent in zip(tokens, tree.parents, strict=True):
        paths.append((*(paths[parent] if parent >= 0 else ()), token))
    return paths


MARKS = {
    "recursive-rejection": ("missing", "o"),
    "recursive-rejection-without-replacement": ("draft", "D"),
    "resispec-published": ("quiet", "v"),
    "resispec": ("accepted", "s"),
    "resispec-without-replacement": ("reserved", "P"),
    "optimal": ("ink", "^"),
}


def recorded_lengths(figure, colours, *, temperature: float = 1.0):
    """Accepted length by tree on a language model, a panel for each draft; biased rules are hollow."""
    rows = [r for r in recorded_rows() if r.temperature == temperature]
    drafts = list(dict.fromkeys(r.models for r in rows))
    panels = figure.subplots(1, len(drafts), sharey=True, squeeze=False)[0]
    for axes, draft in zip(panels, drafts, strict=True):
        mine = [r for r in rows if r.models == draft]
        trees = [tree for tree in TREES if any(r.tree == tree for r in mine)]
        for i, (rule, (colour, marker)) in enumerate(MARKS.items()):
            found = [r for r in mine if r.rule == rule]
            x = [trees.index(r.tree) + 0.12 * (i - (len(MARKS) - 1) / 2) for r in found]
            face = colours[colour] if found and found[0].exact else "none"
            axes.errorbar(
                x, [r.accepted_length for r in found], [r.half_width for r in found], linestyle="none", marker=marker,
                color=colours[colour], markerfacecolor=face, label=rule,
            )  # fmt: skip
        axes.set_xticks(range(len(trees)), trees)
        axes.set_xlim(-0.5, len(trees) - 0.5)
        axes.set_ylim(0, None)
        axes.set_title(f"draft: {draft.replace('without', 'without layers')}", fontsize=10)
        axes.grid(axis="x", visible=False)
    panels[0].set_ylabel("accepted length")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)


def main(directory: str) -> None:
    for theme, colours in (("light", LIGHT), ("dark", DARK)):
        svg = picture(bias_map, colours, MAP_SIZE, found=measured(3))
        (Path(directory) / f"map-{theme}.svg").write_bytes(svg)


if __name__ == "__main__":
    main(sys.argv[1])
