"""Trees: the walk has the target's joint law with `==`, whatever the rule, the shape and the siblings."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals import law_of
from models import (
    COUNTS,
    FEWER,
    RULES,
    SEQUENTIAL,
    accepted_length,
    as_objects,
    model_pairs,
    mutated,
    random_model,
    rows_of,
)

from resispec_ref import emitted_law, optimal_acceptance
from resispec_ref.bounds import optimal_acceptance_for
from resispec_ref.sequence import (
    NGram,
    Tree,
    complete_tree,
    completed,
    draft_tree,
    expected_accepted_length,
    joint_law,
    node_law,
    speculate,
    traversal_law,
    verify_traversal,
    verify_tree,
    walk_law,
)
from resispec_ref.sequence import tree as tree_module
from resispec_ref.sequence.node import check_siblings
from resispec_ref.sequence.tree import verification_noise
from resispec_ref.verifiers import get_verifier


@st.composite
def trees(draw, rule="naive", max_depth=3, max_children=3, max_nodes=8):
    """Shapes that `rule` can verify: ragged or empty; complete where it may pick any of distinct siblings."""
    counts = [k for k in COUNTS[rule] if k <= max_children]
    if not (get_verifier(rule).sequential or get_verifier(rule).replacement):
        branching = draw(st.lists(st.sampled_from(counts), max_size=max_depth))
        return complete_tree(branching[:2] if len(branching) * max(branching, default=0) > max_nodes else branching)
    parents, levels, node = [], {-1: 0}, -1
    while node < len(parents):
        count = draw(st.sampled_from((0, *counts))) if levels[node] < max_depth else 0
        for _ in range(count if len(parents) + count <= max_nodes else 0):
            levels[len(parents)] = levels[node] + 1
            parents.append(node)
        node += 1
    return Tree(parents)


def drafted_and_verified(rule, target, draft, tree, siblings, end=None):
    """All nodes drafted first, as a procedure of its uniforms."""
    noise = verification_noise(get_verifier(rule), tree)
    n = len(tree)

    def procedure(u):
        x = draft_tree(draft, tree, u[:n], siblings=siblings, end=end)
        rows = rows_of(target, tree, x), rows_of(draft, tree, x)
        found = verify_tree(rule, *rows, tree, x, u[n:].reshape(noise), siblings=siblings, end=end)
        return found.tokens, found.accepted

    return procedure, (n + noise[0] * noise[1],)


def expanded_on_the_way(rule, target, draft, tree, siblings, end=None):
    noise = verification_noise(get_verifier(rule), tree)
    n = len(tree)

    def procedure(u):
        found = speculate(rule, target, draft, tree, u[:n], u[n:].reshape(noise), siblings=siblings, end=end)
        return found.tokens, found.accepted

    return procedure, (n + noise[0] * noise[1],)


@pytest.mark.parametrize("rule", RULES)
@FEWER
@given(data=st.data())
def test_the_walk_has_the_targets_joint_law(rule, data):
    tree = data.draw(trees(rule))
    target, draft = data.draw(model_pairs(tree.depth + 1, ends=True))
    law = walk_law(rule, target, draft, tree, end=target.end)
    assert completed(law, target, tree.depth + 1) == joint_law(target, tree.depth + 1)
    assert expected_accepted_length(rule, target, draft, tree, end=target.end) == accepted_length(law)


@given(data=st.data())
def test_deterministic_siblings(data):
    tree = data.draw(trees())
    target, draft = data.draw(model_pairs(tree.depth + 1, ends=True))
    law = walk_law("naive", target, draft, tree, siblings="deterministic", end=target.end)
    assert completed(law, target, tree.depth + 1) == joint_law(target, tree.depth + 1)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("branching", [(3, 3, 3), (3, 2, 1)])
def test_complete_trees_of_depth_three(rule, branching):
    if not set(branching) <= set(COUNTS[rule]):
        branching = (2, 2, 2)
    tree, target, draft = complete_tree(branching), random_model(3, 3, 4), random_model(4, 3, 4)
    joint = completed(walk_law(rule, target, draft, tree), target, 4)
    assert joint == joint_law(target, 4)


@pytest.mark.parametrize(
    ("rule", "siblings"),
    [
        ("recursive-rejection", "independent"),
        ("resispec", "independent"),
        ("resispec-published", "independent"),
        ("recursive-rejection-without-replacement", "distinct"),
        ("naive", "deterministic"),
    ],
)
@pytest.mark.parametrize("parents", [(-1, -1, 0), (-1, 0, 0), (-1, -1)], ids=str)
def test_the_verification_from_uniforms_has_that_law(rule, siblings, parents, intervals):
    """Eager and lazy, against the recursion, which shares nothing with them but the models."""
    tree, vocab = Tree(parents), 3 if len(set(parents)) == 1 else 2
    target, draft = random_model(5, vocab, tree.depth + 1), random_model(6, vocab, tree.depth + 1)
    law = walk_law(rule, target, draft, tree, siblings=siblings)
    assert law_of(*expanded_on_the_way(rule, target, draft, tree, siblings)) == law
    assert law_of(*drafted_and_verified(rule, target, draft, tree, siblings)) == law


def test_an_end_token_in_a_tree(intervals):
    tree, target, draft = complete_tree((2, 1)), random_model(7, 2, 3, end=1), random_model(8, 2, 3, end=1)
    law = law_of(*drafted_and_verified("resispec", target, draft, tree, "independent", end=1))
    assert law == walk_law("resispec", target, draft, tree, end=1)
    assert completed(law, target, 3) == joint_law(target, 3)
    assert all(1 not in tokens[:-1] for tokens, _ in law)


@pytest.mark.parametrize("rule", ["recursive-rejection", "resispec"])
def test_a_tree_cut_by_what_was_drafted(rule, intervals):
    """Ragged as engines' trees are: no candidate below a token 0; below a 1 one or two, which its sibling decides."""
    tree, target, draft = Tree((-1, -1, 0, 0)), random_model(1, 2, 3), random_model(9, 2, 3, least=1)
    noise = verification_noise(get_verifier(rule), tree)

    def procedure(u):
        x = draft_tree(draft, tree, u[: len(tree)], siblings="independent")
        x[2:] = [-1, -1] if x[0] == 0 else [x[2], -1] if x[1] == 0 else x[2:]
        found = verify_tree(rule, rows_of(target, tree, x), rows_of(draft, tree, x), tree, x, u[4:].reshape(noise))
        return found.tokens, found.accepted

    law = law_of(procedure, (len(tree) + noise[0] * noise[1],))
    assert len({accepted for _, accepted in law}) > 1
    assert completed(law, target, 3) == joint_law(target, 3)


FAULTS = {
    "bonus from the wrong row": ("verify_tree", "target_rows[node + 1]", "target_rows[max(node, 0)]"),
    "residual of the wrong node": ("verify_tree", "draft_rows[node + 1]", "draft_rows[0]"),
    "continuing after a rejection": (
        "walk",
        "if index == len(children):",
        "index = min(index, len(children) - 1)\n        if not children:",
    ),
    "down the first child, whichever was accepted": ("walk", "children[index]", "children[0]"),
    "one candidate too few": (
        "walk",
        "verify(rule, p, q, x, u",
        "verify(rule, p, q, np.array([*x[:-1], *x[-1:] * 0 - 1]), u",
    ),
    "siblings in another order": ("walk", "x = candidates(children, q)", "x = np.sort(candidates(children, q))"),
    "not stopped by the end": ("walk", "emitted[-1] == end", "False"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_walk_is_seen(fault, intervals, monkeypatch):
    name, old, new = FAULTS[fault]
    monkeypatch.setattr(tree_module, name, mutated(getattr(tree_module, name), old, new))
    monkeypatch.setitem(drafted_and_verified.__globals__, "verify_tree", tree_module.verify_tree)
    tree, target, draft = complete_tree((2, 1)), random_model(1, 2, 3, end=1), random_model(9, 2, 3, end=1, least=1)
    if fault == "one candidate too few":  # exact, but accepts less than it should
        law = law_of(*drafted_and_verified("recursive-rejection", target, draft, tree, "independent", end=1))
        assert accepted_length(law) < expected_accepted_length("recursive-rejection", target, draft, tree, end=1)
        return
    try:
        law = law_of(*drafted_and_verified("recursive-rejection", target, draft, tree, "independent", end=1))
    except (ValueError, IndexError):
        return  # as loud as a wrong law
    cut = {}
    for (tokens, accepted), chance in law.items():
        cut[tokens[:3], accepted] = cut.get((tokens[:3], accepted), 0) + chance
    assert cut != walk_law("recursive-rejection", target, draft, tree, end=1)
    if fault == "not stopped by the end":  # what comes after the end is the end again, so the joint law hides it
        return
    assert completed(cut, target, 3) != joint_law(target, 3)


@pytest.mark.parametrize("rule", RULES)
def test_expanding_on_the_way_changes_nothing(rule, effort):
    """The same uniforms, the same tokens, on float models with contexts."""
    rng = np.random.default_rng(0)
    tree = complete_tree((3, 2, 2) if 3 in COUNTS[rule] else (2, 2, 2))
    target, draft = (NGram(rng.dirichlet(np.full(4, 0.5), size=(4, 4))) for _ in range(2))
    kind = check_siblings(None, get_verifier(rule))
    noise = verification_noise(get_verifier(rule), tree)
    for _ in range(20 * effort):
        v, u = rng.random(len(tree)), rng.random(noise)
        x = draft_tree(draft, tree, v, siblings=kind)
        found = verify_tree(rule, rows_of(target, tree, x), rows_of(draft, tree, x), tree, x, u)
        assert speculate(rule, target, draft, tree, v, u) == found


@given(data=st.data())
def test_the_law_of_a_node_adds_up_to_the_emitted_law(data):
    rule = get_verifier(data.draw(st.sampled_from((*RULES, "resispec-published"))))
    target, draft = data.draw(model_pairs(1))
    p, q, K = target.law(()), draft.law(()), data.draw(st.sampled_from((0, *COUNTS.get(rule.name, (1, 2, 3)))))
    found = node_law(rule, p, q, K, check_siblings(None, rule))
    whole = emitted_law(rule, p, q, candidates=K)
    assert (found.accepted.sum(axis=0) + found.extra == whole.law).all()
    assert (found.accepted.sum(axis=-1) == whole.acceptance_per_candidate).all()


@pytest.mark.parametrize("rule", RULES)
@FEWER
@given(data=st.data())
def test_no_exact_rule_is_above_the_bound_at_any_node(rule, data):
    """T10 for candidates drawn as the rule expects, at the root and below every first token."""
    verifier, K = get_verifier(rule), data.draw(st.sampled_from(COUNTS[rule]))
    target, draft = data.draw(model_pairs(2))
    for prefix in ((), *((x,) for x in range(len(target.law(()))))):
        p, q = target.law(prefix), draft.law(prefix)
        found = node_law(verifier, p, q, K, check_siblings(None, verifier))
        assert found.accepted.sum() <= optimal_acceptance_for(verifier, p, q, candidates=K)


def test_the_published_rule_is_above_the_bound():
    """Section 3 of the mathematics: 5/6 against a bound of 2/3, which the check above would see."""
    p, q = as_objects([F(1, 3)] * 3), as_objects([F(1, 2), F(1, 2), F(0)])
    found = node_law(get_verifier("resispec-published"), p, q, 2, "independent")
    assert found.accepted.sum() == F(5, 6)
    assert optimal_acceptance(p, q, candidates=2) == F(2, 3)


@pytest.mark.parametrize("rule", SEQUENTIAL)
@FEWER
@given(data=st.data())
def test_a_traversal_has_the_targets_joint_law(rule, data):
    tree = data.draw(trees(rule, max_depth=2, max_children=2, max_nodes=4))
    target, draft = data.draw(model_pairs(tree.depth + 1, ends=True))
    law = traversal_law(rule, target, draft, tree, end=target.end)
    assert completed(law, target, tree.depth + 1) == joint_law(target, tree.depth + 1)
    if rule in ("recursive-rejection", "recursive-rejection-without-replacement", "resispec"):
        assert accepted_length(law) >= expected_accepted_length(rule, target, draft, tree, end=target.end)


@pytest.mark.parametrize(
    ("rule", "siblings"),
    [
        ("recursive-rejection", "independent"),
        ("resispec", "independent"),
        ("recursive-rejection-without-replacement", "distinct"),
    ],
)
def test_traversals_from_uniforms_have_that_law(rule, siblings, intervals):
    tree, target, draft = Tree((-1, 0, -1)), random_model(5, 2, 3, end=1), random_model(6, 2, 3, end=1)
    n = len(tree)

    def procedure(u):
        x = draft_tree(draft, tree, u[:n], siblings=siblings, end=1)
        found = verify_traversal(rule, rows_of(target, tree, x), rows_of(draft, tree, x), tree, x, u[n:], end=1)
        return found.tokens, found.accepted

    assert law_of(procedure, (2 * n + 1,)) == traversal_law(rule, target, draft, tree, end=1)


def test_traversals_of_deterministic_siblings(intervals):
    tree, target, draft = complete_tree((2, 1)), random_model(5, 2, 3), random_model(6, 2, 3)

    def procedure(u):
        x = draft_tree(draft, tree, np.zeros(len(tree)), siblings="deterministic")
        rows = rows_of(target, tree, x), rows_of(draft, tree, x)
        found = verify_traversal("naive", *rows, tree, x, u, siblings="deterministic")
        return found.tokens, found.accepted

    law = law_of(procedure, (len(tree) + 1,))
    assert completed(law, target, 3) == joint_law(target, 3)


def test_weights_of_a_traversal_stay_below_one():
    """Rounding lets a rule accept a shade more than was proposed, and rows sum to a shade more than 1: no mass of `⊥`
    may become negative, which the rule's own checks would trip over (warnings are errors here)."""
    rng, tree, rule, above = np.random.default_rng(0), complete_tree((2, 1)), get_verifier("resispec"), 0
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(3), size=2)
        state = rule.start(p, q, 2)
        above += bool(np.any(rule.accepted(state) > state.proposal))
        rows = [np.stack([law] * (len(tree) + 1)) for law in (p, q)]
        x = draft_tree(NGram(q), tree, rng.random(len(tree)), siblings="independent")
        found = verify_traversal(rule, *rows, tree, x, rng.random(len(tree) + 1))
        assert len(found.tokens) == found.accepted + 1
    assert above > 20


def test_exhausted_siblings_are_absent():
    point = NGram(as_objects([F(1, 2), F(1, 2), F(0)]))
    x = draft_tree(point, complete_tree((3,)), np.zeros(3), siblings="distinct")
    assert x.tolist() == [0, 1, -1]
    only_two = NGram(as_objects([F(0), F(0), F(1)]))
    law = walk_law("recursive-rejection-without-replacement", only_two, point, complete_tree((3,)))
    assert law == {((2,), 0): 1}


@pytest.mark.parametrize(
    ("rule", "siblings", "message"),
    [
        ("resispec", "distinct", "verifies independent candidates"),
        ("recursive-rejection-without-replacement", "independent", "verifies distinct candidates"),
        ("resispec", "deterministic", "one-hot"),
        ("resispec", "sorted", "is not one of"),
    ],
)
def test_siblings_have_to_fit_the_rule(rule, siblings, message):
    with pytest.raises(ValueError, match=message):
        check_siblings(siblings, get_verifier(rule))
