"""Graphs verified edge by edge: the law against the code run on intervals, and by how much it is not the target's."""

from fractions import Fraction as F

import pytest
from intervals import law_of
from models import as_objects, mutated, random_model
from test_dag import bigrams

from resispec_ref.sequence import (
    NGram,
    ToyModel,
    complete_tree,
    completed,
    dag_as_released,
    draft_graph,
    joint_law,
    released_graph_law,
    sequence_total_variation,
    verify_graph_as_released,
    walk_law,
)

ONE, OTHER = NGram(as_objects([F(1, 3), F(2, 3)])), NGram(as_objects([F(2, 3), F(1, 3)]))


def run(target, draft, branching, siblings="independent"):
    """Drafted and verified on uniforms, of which a graph that merges nodes leaves some unused."""
    nodes = len(complete_tree(branching))

    def procedure(u):
        graph = draft_graph(draft, branching, u[:nodes], siblings=siblings)
        edges = sum(map(len, graph.candidates))
        found = verify_graph_as_released(target, draft, graph, u[nodes : nodes + edges + 1])
        return found.tokens, found.accepted

    return law_of(procedure, (2 * nodes + 1,))


def first_token(law):
    return [sum(m for (s, _), m in law.items() if s[0] == x) for x in (0, 1)]


@pytest.mark.parametrize("branching", [(1,), (2,), (1, 1), (2, 1), (1, 2)], ids=str)
@pytest.mark.parametrize("siblings", ["independent", "distinct", "deterministic"])
def test_the_law_is_that_of_the_code(branching, siblings):
    target, draft = random_model(3, 2, len(branching) + 1, least=1), bigrams(4)
    assert run(target, draft, branching, siblings) == released_graph_law(target, draft, branching, siblings=siblings)


def test_merged_nodes():
    """Two candidates of two: the draft forgets all but one token, so that both ways lead to the same nodes."""
    target, draft = random_model(3, 2, 3, least=1), NGram(as_objects([F(1, 2), F(1, 2)]))
    law = released_graph_law(target, draft, (2, 2))
    assert sum(law.values()) == 1
    assert law == run(target, draft, (2, 2))


def test_one_candidate_by_hand():
    """0 is drafted with 2/3 and passes half the time; 1 passes always; the rest is drawn from the target."""
    law = released_graph_law(ONE, OTHER, (1,))
    assert first_token(law) == [F(1, 3) + F(1, 3) * F(1, 3), F(1, 3) + F(1, 3) * F(2, 3)] == [F(4, 9), F(5, 9)]
    away = sequence_total_variation(completed(law, ONE, 2), joint_law(ONE, 2))
    assert away == F(1, 9)


def test_more_candidates_and_levels_are_no_cure():
    """Beside the exact rule for the same drafts, which is 0 away."""
    away = {
        b: sequence_total_variation(completed(released_graph_law(ONE, OTHER, b), ONE, 3), joint_law(ONE, 3))
        for b in ((1,), (2,), (1, 1), (2, 1))
    }
    assert away == {(1,): F(1, 9), (1, 1): F(1, 9), (2,): F(4, 27), (2, 1): F(37, 243)}
    exact = completed(walk_law("recursive-rejection", ONE, OTHER, complete_tree((2, 1))), ONE, 3)
    assert exact == joint_law(ONE, 3)


def test_the_longest_path_is_biased_by_itself():
    """Both first tokens pass always; after 0 the draft is right, after 1 it is wrong always: 0 is kept every time."""
    fair, zero = [F(1, 2), F(1, 2)], [F(1), F(0)]
    last = [[fair, fair], [fair, fair]]
    target, draft = (ToyModel([fair, [zero, zero], last]), ToyModel([fair, [zero, zero[::-1]], last]))
    assert first_token(released_graph_law(target, draft, (2, 1), siblings="distinct")) == zero
    assert first_token(released_graph_law(target, draft, (2,), siblings="distinct")) == fair


def test_a_model_that_drafts_itself_is_exact_on_chains():
    target = random_model(3, 2, 3, least=1)
    assert completed(released_graph_law(target, target, (1, 1)), target, 3) == joint_law(target, 3)


FAULTS = {
    "the first path is kept": ("len(path) > len(kept)", "not kept"),
    "the last of the longest": ("len(path) > len(kept)", "len(path) >= len(kept)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_path_is_seen(fault, monkeypatch):
    target, draft = random_model(3, 2, 3, least=1), bigrams(4)
    right = run(target, draft, (2, 1), "deterministic")
    monkeypatch.setattr(dag_as_released, "longest_paths", mutated(dag_as_released.longest_paths, *FAULTS[fault]))
    assert released_graph_law(target, draft, (2, 1), siblings="deterministic") != right
