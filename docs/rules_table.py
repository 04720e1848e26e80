"""The table of the registry: what each rule says of itself, its acceptance on real laws, and its cost as a ratio."""

import inspect
import re
import time
from fractions import Fraction

import numpy as np
from IPython.display import HTML, Markdown
from page import measured

import resispec_ref as rs
from resispec_ref import sequence
from resispec_ref.measurements.measure import takes

CANDIDATES = 3
EVERY = 8


def rules_table() -> HTML:
    found = {r.rule: r for r in measured(CANDIDATES).rules}
    cost = costs()
    head = ["rule", "source", "claims", "candidates", "looks", "accepts", "bound", "waste", "cost", "theorem"]
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
            theorem(type(rule)),
        ])  # fmt: skip
    return table(head, rows)


def table(head: list[str], rows: list[list[str]]) -> HTML:
    """Cells of HTML, in a box of its own that scrolls on a phone."""

    def line(cells, tag="td"):
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(map(line, rows))
    text = f"<table class='docutils'><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"
    return HTML(f"<div class='table-wrapper' style='overflow-x:auto'>{text}</div>")


def theorem(documented: object) -> str:
    """The names after `Theorem:` in a docstring, each with its file."""
    named = re.search(r"Theorems?:\s+(.*?)\s+\((?:proofs/)?(\w+\.v)\)", inspect.getdoc(documented) or "", re.DOTALL)
    if named is None:
        return ""
    names = "</code>, <code>".join(re.findall(r"`(\w+)`", named[1]))
    return f"<code>{names}</code> ({named[2]})"


METHODS = (
    (sequence.verify_chain, "chain", True, "laws read down to the first rejection"),
    (sequence.verify_block, "chain", True, "all laws of the chain"),
    (sequence.hierarchical_law, "chain", True, "as block verification, which it is; as listed, lossy"),
    (sequence.verify_tree, "tree, node by node", True, "laws read along the path"),
    (sequence.verify_traversal, "tree, from its leaves", True, "all laws of the tree"),
    (sequence.verify_whole_tree, "tree, as a whole", True, "all laws of the tree, and a fit of weights each level"),
    (sequence.verify_graph, "graph", True, "laws read along the path"),
    (sequence.verify_graph_as_released, "graph", False, "all laws of the graph"),
)
"""What verifies more than one position, the kind of what it verifies, whether it is exact, and what it costs."""


def methods_table() -> HTML:
    """Each with its theorem and, where it has one, its exact expected accepted length on a small chain and tree."""
    left_out = {name for name in sequence.__all__ if name.startswith("verify_")} - {m[0].__name__ for m in METHODS}
    if left_out:
        raise RuntimeError(f"METHODS leaves out {sorted(left_out)}")
    lengths = example_lengths()
    rows = []
    for method, kind, exact, cost in METHODS:
        claim = "exact" if exact else "<b>lossy</b>"
        found = [str(x) for x in lengths.get(method.__name__, ())] or ["", ""]
        rows.append([f"<code>{method.__name__}</code>", kind, claim, cost, *found, theorem(method)])
    return table(["method", "kind", "claims", "cost", "accepts, chain", "accepts, tree", "theorem"], rows)


def example_lengths() -> dict[str, tuple[object, object]]:
    """Expected accepted lengths of a chain of two drafted tokens, and of a tree of two levels, two candidates a node.

    Each row of the target is (1/3, 2/3), of the draft (2/3, 1/3): fractions, but where weights are fitted in floats.
    """
    p, q = [Fraction(1, 3), Fraction(2, 3)], [Fraction(2, 3), Fraction(1, 3)]
    target, draft = sequence.NGram([p] * 2), sequence.NGram([q] * 2)
    chain, tree, prefix = sequence.chain_tree(2), sequence.complete_tree((2, 2)), (0,)

    def mean(law):
        return sum(chance * accepted for (_, accepted), chance in law.items())

    def walked(shape):
        return sequence.expected_accepted_length("optimal", target, draft, shape, prefix=prefix)

    def whole(shape):
        return sequence.whole_tree_law(target, draft, shape, prefix=prefix)

    return {
        "verify_chain": (walked(chain), ""),
        "verify_block": (mean(whole(chain)), ""),  # of one child a node, the whole tree is block verification
        "hierarchical_law": (mean(sequence.hierarchical_law(target, draft, 2, prefix=prefix)), ""),
        "verify_tree": (walked(chain), f"{float(walked(tree)):.4f}"),
        "verify_traversal": tuple(
            f"{float(x):.4f}" if shape is tree else x
            for shape in (chain, tree)
            for x in [mean(sequence.traversal_law("resispec", target, draft, shape, prefix=prefix))]
        ),
        "verify_whole_tree": (mean(whole(chain)), f"{float(mean(whole(tree))):.4f}"),
    }


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
