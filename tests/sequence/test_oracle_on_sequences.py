"""The oracle's chain and tree adapters on this package's own walks: cleared as they are, found out with a fault."""

import pytest
from models import mutated

from resispec_ref import audit, uniforms_needed
from resispec_ref.oracle.cases.tables import chain_cases, tree_cases
from resispec_ref.sequence import Tree, chain, verify_block, verify_chain, verify_traversal
from resispec_ref.sequence import tree as tree_module

CASES = {"chain": chain_cases([2])[:2], "tree": [case for case in tree_cases() if len(case.branching) == 2]}


def verdict(kind, verify, draws):
    """Draws are what limits it, and not the clock; a fault ends the audit as soon as it is found."""
    found = audit(verify, kind=kind, cases=CASES[kind], batched=False, search=False, draws=draws, budget=600.0)
    return found.verdict


def chain_by(rule):
    def verify(target, draft, drafted, rng):
        u = rng.random((len(target), uniforms_needed(rule, 1)))
        return list(verify_chain(rule, target, draft, drafted, u).tokens)

    return verify


def block(target, draft, drafted, rng):
    return list(verify_block(target, draft, drafted, rng.random(len(target))).tokens)


def tree_by(rule):
    def verify(target, draft, tokens, parents, rng):
        tree = Tree(parents)
        u = rng.random((tree.depth + 1, uniforms_needed(rule, tree.branching)))
        return list(tree_module.verify_tree(rule, target, draft, tree, tokens, u).tokens)

    return verify


def traversal(target, draft, tokens, parents, rng):
    u = rng.random(len(tokens) + 1)
    return list(verify_traversal("resispec", target, draft, Tree(parents), tokens, u).tokens)


@pytest.mark.parametrize(
    ("kind", "verify"),
    [
        ("chain", chain_by("recursive-rejection")),
        ("chain", block),
        ("tree", tree_by("resispec")),
        ("tree", tree_by("optimal")),
        ("tree", traversal),
    ],
    ids=["token by token", "block", "tree, resispec", "tree, optimal", "traversal"],
)
def test_cleared(kind, verify, effort):
    assert verdict(kind, verify, 256 * effort) == "no fault found"


FAULTS = {
    "bonus from the wrong row": ("verify_tree", "target_rows[node + 1]", "target_rows[max(node, 0)]"),
    "residual of the wrong node": ("verify_tree", "draft_rows[node + 1]", "draft_rows[0]"),
    "continuing after a rejection": (
        "walk",
        "if index == len(children):",
        "index = min(index, len(children) - 1)\n        if not children:",
    ),
}


@pytest.mark.parametrize("kind", ["chain", "tree"])
@pytest.mark.parametrize("fault", FAULTS)
def test_found_out(kind, fault, monkeypatch):
    name, old, new = FAULTS[fault]
    monkeypatch.setattr(tree_module, name, mutated(getattr(tree_module, name), old, new))
    monkeypatch.setattr(chain, "verify_tree", tree_module.verify_tree)
    verify = chain_by("recursive-rejection") if kind == "chain" else tree_by("recursive-rejection")
    assert verdict(kind, verify, 20_000) == "fault found"
