"""Graphs of merged candidates: the law of the walk is the tree's, and what would make it another one."""

from fractions import Fraction as F

import numpy as np
import pytest
from intervals import law_of
from models import as_objects, mutated, random_model

from resispec_ref.sequence import (
    NGram,
    complete_tree,
    completed,
    dag,
    draft_graph,
    expected_accepted_length,
    joint_law,
    verify_graph,
    walk_law,
)


def drafted_and_verified(rule, target, draft, branching, siblings="independent", end=None):
    nodes, depth, width = len(complete_tree(branching)), len(branching), max(branching) + 1

    def procedure(u):
        graph = draft_graph(draft, branching, u[:nodes], siblings=siblings, end=end)
        found = verify_graph(rule, target, draft, graph, u[nodes:].reshape(depth + 1, width), end=end)
        return found.tokens, found.accepted

    return procedure, (nodes + (depth + 1) * width,)


def bigrams(seed, vocab=2):
    return NGram(random_model(seed, vocab, 2, least=1).tables[1])


@pytest.mark.parametrize(
    ("rule", "siblings", "end"),
    [
        ("recursive-rejection", "independent", None),
        ("resispec", "independent", 1),
        ("recursive-rejection-without-replacement", "distinct", None),
    ],
)
@pytest.mark.parametrize("branching", [(2, 1), (1, 2), (1, 1, 1)], ids=str)
def test_a_graph_has_the_law_of_the_tree(rule, siblings, end, branching, intervals):
    """A draft that forgets all but one token and a target that forgets nothing."""
    target, draft = random_model(3, 2, len(branching) + 1, end), bigrams(4)
    law = law_of(*drafted_and_verified(rule, target, draft, branching, siblings, end))
    assert law == walk_law(rule, target, draft, complete_tree(branching), end=end)
    assert completed(law, target, len(branching) + 1) == joint_law(target, len(branching) + 1)


def test_a_node_is_reached_by_several_parents():
    graph = draft_graph(bigrams(4), (2, 2), [0.0, 0.99, 0.0, 0.99, 0.0, 0.99], siblings="independent")
    assert graph.tokens == (0, 1, 0, 1)
    assert graph.candidates[1:3] == ((2, 3), (2, 3))


def test_merging_saves_nodes_and_costs_no_length():
    rng = np.random.default_rng(1)
    target, draft = (NGram(rng.dirichlet(np.ones(4), size=4)) for _ in range(2))
    tree = complete_tree((3, 3, 3))
    graphs = [draft_graph(draft, (3, 3, 3), rng.random(len(tree)), siblings="independent") for _ in range(50)]
    assert max(len(graph.tokens) for graph in graphs) <= 12  # 4 tokens a level, of 39 nodes
    noise = rng.random((50, 4, 4))
    lengths = [
        verify_graph("resispec", target, draft, graph, u).accepted for graph, u in zip(graphs, noise, strict=True)
    ]
    expected = float(expected_accepted_length("resispec", target, draft, tree))
    # a mean of 50 lengths in [0, 3] errs by more than 1.2 with probability below 1e-6 (Hoeffding)
    assert abs(np.mean(lengths) - expected) < 1.2


FAULTS = {
    "a repeated candidate is dropped": (
        "grown",
        "candidates[node + 1] = tuple(names)",
        "candidates[node + 1] = tuple(dict.fromkeys(names))",
    ),
    "the target is read once for all paths": (
        "verify_graph",
        "target.law(prefix + emitted)",
        "target.law((*(0,) * (len(emitted) - 1), *emitted[-1:]))",
    ),
    "states are ignored": ("grown", "key = (x, draft.state((*prefix, *path, x)))", "key = (x, 0)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_graph_is_seen(fault, intervals, monkeypatch):
    """The smallest graphs that can show it: two tokens hide a dropped repetition, and depth 2 holds no mixed states."""
    name, old, new = FAULTS[fault]
    branching = {"a repeated candidate is dropped": (2,), "states are ignored": (2, 1, 1)}.get(fault, (2, 1))
    depth = len(branching) + 1
    target = random_model(3, 2, depth, least=1)
    draft = random_model(4, 2, depth, least=1) if fault == "states are ignored" else bigrams(4)
    if fault == "a repeated candidate is dropped":
        target, draft = NGram(as_objects([F(1, 5), F(2, 5), F(2, 5)])), NGram(as_objects([F(3, 5), F(3, 10), F(1, 10)]))
    scope = dag.__dict__ if name == "grown" else drafted_and_verified.__globals__
    monkeypatch.setitem(scope, name, mutated(getattr(dag, name), old, new))
    law = law_of(*drafted_and_verified("recursive-rejection", target, draft, branching))
    assert completed(law, target, depth) != joint_law(target, depth)
