"""Chains: token by token and as a block, from uniforms and as laws; the joint law is the target's, with `==`."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals import law_of
from models import COUNTS, FEWER, RULES, accepted_length, as_objects, model_pairs, mutated, random_model, rows_of

from resispec_ref import optimal_acceptance
from resispec_ref.sequence import (
    NGram,
    ToyModel,
    chain_tree,
    completed,
    draft_tree,
    expected_accepted_length,
    joint_law,
    traversal_law,
    verify_block,
    verify_chain,
    verify_traversal,
    walk_law,
)
from resispec_ref.sequence import chain as chain_module
from resispec_ref.sequence import tree as tree_module
from resispec_ref.sequence.tree import Tree

# the two examples of practice: independent rows
COIN = NGram(as_objects([F(1, 3), F(2, 3)])), NGram(as_objects([F(2, 3), F(1, 3)]))
SKEWED = NGram(as_objects([F(9, 20), F(3, 10), F(1, 4)])), NGram(as_objects([F(3, 5), F(1, 4), F(3, 20)]))
FIXED = (
    ToyModel(
        [as_objects([F(1, 5), F(2, 5), F(2, 5)]), as_objects([[F(1, 2), F(1, 4), F(1, 4)]] * 2 + [[F(0), F(1), F(0)]])]
    ),
    ToyModel([as_objects([F(3, 5), F(3, 10), F(1, 10)]), as_objects([[F(1, 6), F(1, 3), F(1, 2)]] * 3)]),
)


def one_by_one(rule, target, draft, n, end=None):
    """Draft and verify, as a procedure of its uniforms, with what is emitted and how much of it was accepted."""

    def procedure(u):
        x = draft_tree(draft, chain_tree(n), u[0, :n], siblings="independent", end=end)
        rows = rows_of(target, chain_tree(n), x), rows_of(draft, chain_tree(n), x)[:-1]
        found = verify_chain(rule, *rows, x, u[1:, :2], end=end)
        return found.tokens, found.accepted

    return procedure, (n + 2, max(n, 2))


def as_block(target, draft, n, end=None):
    def procedure(u):
        x = draft_tree(draft, chain_tree(n), u[:n], siblings="independent", end=end)
        rows = rows_of(target, chain_tree(n), x), rows_of(draft, chain_tree(n), x)[:-1]
        found = verify_block(*rows, x, u[n:], end=end)
        return found.tokens, found.accepted

    return procedure, (2 * n + 1,)


@pytest.mark.parametrize("rule", [name for name in RULES if 1 in COUNTS[name]])
@FEWER
@given(data=st.data())
def test_token_by_token_has_the_targets_joint_law(rule, data):
    n = data.draw(st.integers(0, 3))
    target, draft = data.draw(model_pairs(n + 1, ends=True))
    law = walk_law(rule, target, draft, chain_tree(n), end=target.end)
    assert completed(law, target, n + 1) == joint_law(target, n + 1)
    assert expected_accepted_length(rule, target, draft, chain_tree(n), end=target.end) == accepted_length(law)


@pytest.mark.parametrize("rule", ["recursive-rejection", "resispec", "naive"])
def test_the_verification_from_uniforms_has_that_law(rule, intervals):
    for (target, draft), n in ((FIXED, 1), (COIN, 2)):
        assert law_of(*one_by_one(rule, target, draft, n)) == walk_law(rule, target, draft, chain_tree(n))


FAULTS = {
    "bonus from the wrong row": (tree_module, "verify_tree", "target_rows[node + 1]", "target_rows[max(node, 0)]"),
    "residual of the wrong node": (tree_module, "verify_tree", "draft_rows[node + 1]", "draft_rows[0]"),
    "continuing after a rejection": (
        tree_module,
        "walk",
        "if index == len(children):",
        "index = min(index, len(children) - 1)\n        if not children:",
    ),
    "accepted token emitted twice": (
        tree_module,
        "walk",
        "path.append(node)",
        "path.append(node); emitted.append(emitted[-1])",
    ),
    "no extra token": (
        tree_module,
        "walk",
        "return Emission(tuple(emitted), tuple(path))\n        node",
        "return Emission(tuple(emitted[:-1] or emitted), tuple(path))\n        node",
    ),
    "the uniforms of the first token again": (tree_module, "walk", "uniforms(len(path))", "uniforms(0)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_walk_is_seen(fault, intervals, monkeypatch):
    module, name, old, new = FAULTS[fault]
    faulty = mutated(getattr(module, name), old, new)
    monkeypatch.setattr(module, name, faulty)
    monkeypatch.setattr(chain_module, "verify_tree", tree_module.verify_tree)
    target, draft = random_model(1, 2, 3), random_model(2, 2, 3)
    law = law_of(*one_by_one("recursive-rejection", target, draft, 2))
    cut = {}
    for (tokens, accepted), chance in law.items():
        cut[tokens[:3], accepted] = cut.get((tokens[:3], accepted), 0) + chance
    assert completed(cut, target, 3) != joint_law(target, 3)


@pytest.mark.parametrize(("pair", "one", "block"), [(COIN, F(10, 9), F(11, 9)), (SKEWED, F("1.5725"), F("1.6175"))])
def test_the_examples_of_block_verification(pair, one, block, intervals):
    target, draft = pair
    joint = joint_law(target, 3)
    law = law_of(*as_block(target, draft, 2))
    assert completed(law, target, 3) == joint
    assert accepted_length(law) == block
    assert expected_accepted_length("recursive-rejection", target, draft, chain_tree(2)) == one
    if pair is COIN:
        assert joint_law(target, 2) == {(0, 0): F(1, 9), (0, 1): F(2, 9), (1, 0): F(2, 9), (1, 1): F(4, 9)}


@given(data=st.data())
def test_a_block_is_exact_and_never_shorter(data):
    """By the recursion of traversals, of which blocks are the case of one child a node (next test)."""
    n = data.draw(st.integers(1, 3))
    target, draft = data.draw(model_pairs(n + 1, ends=True))
    law = traversal_law("recursive-rejection", target, draft, chain_tree(n), end=target.end)
    assert completed(law, target, n + 1) == joint_law(target, n + 1)
    one = expected_accepted_length("recursive-rejection", target, draft, chain_tree(n), end=target.end)
    assert accepted_length(law) >= one
    first = optimal_acceptance(target.law(()), draft.law(()), candidates=1)
    assert (
        sum(chance for (_, accepted), chance in law.items() if accepted) == first
    )  # what the first token loses, none wins


@pytest.mark.parametrize("n", [1, 2])
def test_blocks_from_uniforms_are_traversals(n, intervals, effort):
    for seed in range(2 * effort):
        end = 1 if seed % 2 else None
        target, draft = random_model(10 + seed, 2, n + 1, end), random_model(50 + seed, 2, n + 1, end)
        expected = traversal_law("recursive-rejection", target, draft, chain_tree(n), end=end)
        law = law_of(*as_block(target, draft, n, end))
        assert law == expected

        def procedure(u, target=target, draft=draft, end=end):
            x = draft_tree(draft, chain_tree(n), u[:n], siblings="independent", end=end)
            rows = rows_of(target, chain_tree(n), x), rows_of(draft, chain_tree(n), x)
            found = verify_traversal("recursive-rejection", *rows, chain_tree(n), x, u[n:], end=end)
            return found.tokens, found.accepted

        assert law_of(procedure, (2 * n + 1,)) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if i == 0 or u[i - 1] * whole < h:", "if i == 0 or u[i - 1] < weight:"),  # passes by the ratio alone
        ("normalise(left, otherwise=P[i])", "normalise(positive_part(P[i] - Q[min(i, n - 1)]), otherwise=P[i])"),
        ("1 + weight * 0)", "2 + weight * 0)"),  # the product is not capped
    ],
)
def test_a_fault_in_the_block_is_seen(old, new, intervals, monkeypatch):
    target, draft = SKEWED
    good = law_of(*as_block(target, draft, 2))
    monkeypatch.setitem(as_block.__globals__, "verify_block", mutated(verify_block, old, new))
    bad = law_of(*as_block(target, draft, 2))
    assert bad != good
    assert completed(bad, target, 3) != joint_law(target, 3)


def test_accepted_once_then_rejected():
    """Ratios (2, .1, 2, 2) with every uniform .5: accepted 1, emitted 2; counting all passing positions says 3."""
    p = [[0.5, 0.5], [0.05, 0.95], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    q = [[0.25, 0.75], [0.5, 0.5], [0.25, 0.75], [0.25, 0.75]]
    found = verify_chain("recursive-rejection", p, q, [0, 0, 0, 0], np.full((5, 2), 0.5))
    assert (found.accepted, len(found.tokens)) == (1, 2)


def test_all_accepted_none_drafted_and_a_point_target():
    p, q = np.full((4, 2), 0.5), np.full((3, 2), 0.5)
    assert len(verify_chain("resispec", p, q, [0, 1, 1], np.full((4, 2), 0.9)).tokens) == 4
    assert verify_chain("resispec", [[0.0, 0.0, 1.0]], np.zeros((0, 3)), [], np.full((1, 1), 0.9)).tokens == (2,)
    assert verify_block([[0.0, 0.0, 1.0]], np.zeros((0, 3)), [], [0.9]).tokens == (2,)
    point = [[0.0, 0.0, 1.0], [0.3, 0.3, 0.4]]
    assert verify_chain("resispec", point, [[0.2, 0.5, 0.3]], [1], np.full((2, 2), 0.4)).tokens == (2,)
    assert verify_block(point, [[0.2, 0.5, 0.3]], [1], [0.4, 0.4]).tokens == (2,)


def test_a_short_draft_is_never_read_as_the_last_token():
    p = [[0.0, 0.5, 0.5], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    q = [[0.0, 0.5, 0.5], [0.3, 0.3, 0.4]]
    full = np.zeros((3, 2))
    assert verify_chain("recursive-rejection", p, q, [1, -1], full).tokens == (1, 2)
    assert verify_chain("recursive-rejection", p, q, [-1, -1], full).tokens == (1,)
    assert verify_block(p, q, [1, -1], [0.0, 0.0, 0.0]).tokens == (1, 2)
    assert verify_block(p, q, [-1, -1], [0.0, 0.0, 0.5]).tokens == (2,)


@pytest.mark.parametrize("how", ["token by token", "block", "traversal"])
def test_a_draft_that_stops_when_it_likes(how, intervals):
    """Ragged by what was drafted: nothing after a first token 0. The joint law is the target's all the same."""
    target, draft, tree = random_model(1, 2, 3), random_model(9, 2, 3, least=1), chain_tree(2)

    def procedure(u):
        x = draft_tree(draft, tree, u[:2], siblings="independent")
        x = np.where(x[0] == 0, [0, -1], x)
        p, q = rows_of(target, tree, x), rows_of(draft, tree, x)
        if how == "token by token":
            found = verify_chain("recursive-rejection", p, q[:-1], x, u[2:].reshape(3, 2))
        elif how == "block":
            found = verify_block(p, q[:-1], x, u[2:5])
        else:
            found = verify_traversal("recursive-rejection", p, q, tree, x, u[2:5])
        return found.tokens, found.accepted

    law = law_of(procedure, (8,))
    assert {accepted for (_, accepted), chance in law.items() if chance} == {0, 1, 2}
    assert completed(law, target, 3) == joint_law(target, 3)


def test_an_end_token_inside_an_accepted_block_ends_the_output():
    p, q = np.full((4, 3), 1 / 3), np.full((3, 3), 1 / 3)
    for found in (
        verify_chain("resispec", p, q, [0, 2, 1], np.full((4, 2), 0.5), end=2),
        verify_block(p, q, [0, 2, 1], np.full(4, 0.5), end=2),
    ):
        assert (found.tokens, found.accepted) == ((0, 2), 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: verify_chain("resispec", [[1.0]], [[1.0]], [0], [[0, 0], [0, 0]]),
            "target_rows: 1 rows; 2 are needed",
        ),
        (
            lambda: verify_chain("resispec", [[1.0]] * 2, [[1.0]], [0, 0], [[0, 0], [0, 0]]),
            r"tokens: shape \(2,\); the tree has 1",
        ),
        (
            lambda: verify_chain("resispec", [[1.0]] * 2, [[1.0]], [0], [[0, 0]]),
            r"uniforms: shape \(1, 2\); \(2, 2\) is needed",
        ),
        (lambda: verify_chain("resispec", [[1.0]] * 2, [[1.0]], [0], [[0, 1], [0, 0]]), "uniforms.*is not in"),
        (
            lambda: verify_chain("resispec", [[1.0]] * 3, [[1.0]] * 2, [-1, 0], np.zeros((3, 2))),
            "node 1: 0, but its parent",
        ),
        (lambda: verify_block([[1.0]], [[1.0]], [0], [0, 0]), "draft_rows: 1 rows beside 1 of the target"),
        (lambda: verify_block([[1.0]] * 2, [[1.0]] * 2, [0], [0, 0]), "draft_rows: 2 rows beside 2"),
        (lambda: verify_block([[0.5, 0.5]] * 2, [[1.0, 0.0]], [1], [0, 0]), "draft probability 0"),
        (lambda: verify_block([[0.5, 0.4]] * 2, [[1.0, 0.0]], [0], [0, 0]), "target_rows, row 0.*is the sum"),
        (lambda: Tree([0]), "parents, node 0: 0 is not an earlier node"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
