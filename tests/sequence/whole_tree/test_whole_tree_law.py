"""The rule over whole trees: the target's joint law with `==` for any weights, by two routes and from uniforms."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals import law_of
from models import accepted_length, as_objects, model_pairs, mutated, random_model, rows_of
from plain_whole_tree import plain_joint, plain_law
from strategies import one_in

from resispec_ref import PerCandidate, optimal_acceptance
from resispec_ref.sequence import (
    NGram,
    Tree,
    chain_tree,
    complete_tree,
    completed,
    draft_tree,
    joint_law,
    traversal_law,
    verify_block,
)
from resispec_ref.sequence.whole_tree import (
    accepted_masses,
    best_weights,
    equal_weights,
    target_weights,
    verify_whole_tree,
    whole_tree_law,
)
from resispec_ref.sequence.whole_tree import level as level_module
from resispec_ref.sequence.whole_tree import verify as verify_module
from resispec_ref.sequence.whole_tree import walk as walk_module

KINDS = ("independent", "distinct", "deterministic")
SHAPES = ((-1, -1, 0, 0), (-1, -1, 0, 1), (-1, -1, -1, 1), (-1, 0, 0, 2), (-1, -1, 0, 2), (-1, 0, 1, 2), (-1, -1), ())


def arbitrary(seed):
    """Weights 0 to 8 that depend on the target's masses as a hash does, the same in both routes."""

    def weight(row, y):
        return F((row[y].numerator * 31 + row[y].denominator * 17 + 7 * y + seed) % 9)

    def weights(level):
        return as_objects([[weight(row, y) for y in range(len(row))] for row in level.targets])

    return weights, weight


def rows(model):
    return lambda path: model.law(path).tolist()


@given(data=st.data())
def test_the_joint_law_is_the_targets_by_two_routes(data):
    """A thousand models, trees and weightings under the profile `thorough`."""
    parents, siblings = data.draw(st.sampled_from(SHAPES)), data.draw(st.sampled_from(KINDS))
    weights, weight = arbitrary(data.draw(st.integers(0, 8)))
    tree = Tree(parents)
    target, draft = data.draw(model_pairs(tree.depth + 1, max_vocab=2 if len(tree) > 3 else 3, ends=True))
    law = whole_tree_law(target, draft, tree, siblings=siblings, weights=weights, end=target.end)
    assert law == plain_law(rows(target), rows(draft), parents, siblings, weight, target.end)
    n = tree.depth + 1
    assert plain_joint(law, rows(target), n) == joint_law(target, n) == completed(law, target, n)
    assert sum(accepted_masses(law)) == accepted_length(law)


@pytest.mark.parametrize("siblings", [*KINDS, "hubs"])
@pytest.mark.parametrize("weights", [best_weights, equal_weights, target_weights])
def test_every_kind_of_siblings_and_weights(siblings, weights):
    for seed, branching in enumerate([(3,), (2, 2), (2, 1, 1)]):
        target, draft = random_model(seed, 2, 4), random_model(seed + 9, 2, 4)
        law = whole_tree_law(target, draft, complete_tree(branching), siblings=siblings, weights=weights)
        assert completed(law, target, 4) == joint_law(target, 4)


class Drafters:
    """A draft with a law for each candidate; the third is deterministic."""

    laws = as_objects([[F(1, 2), F(1, 2), F(0)], [F(0), F(1, 4), F(3, 4)], [F(0), F(1), F(0)]])

    def law(self, prefix):
        return PerCandidate(self.laws if not prefix else np.roll(self.laws, prefix[-1], axis=0))

    def state(self, prefix):
        return prefix


def test_candidates_with_laws_of_their_own(intervals):
    target, tree = random_model(3, 3, 3), Tree((-1, -1, -1, 0, 2))
    law = whole_tree_law(target, Drafters(), tree)
    assert completed(law, target, 3) == joint_law(target, 3)

    def procedure(u):
        x = np.array([0 if u[0] < F(1, 2) else 1, 1 if u[1] < F(1, 4) else 2, 1])
        known = [target.law(()), *(target.law((int(y),)) for y in x)]
        found = verify_whole_tree(known, [Drafters().law(())] * 4, complete_tree((3,)), x, u[2:])
        return found.tokens, found.accepted

    assert law_of(procedure, (4,)) == whole_tree_law(target, Drafters(), complete_tree((3,)))


def drafted_and_verified(target, draft, tree, siblings, end=None, weights=best_weights):
    n = len(tree)

    def procedure(u):
        x = draft_tree(draft, tree, u[:n], siblings=siblings, end=end)
        known = rows_of(target, tree, x), rows_of(draft, tree, x)
        found = verify_whole_tree(*known, tree, x, u[n:], siblings=siblings, end=end, weights=weights)
        return found.tokens, found.accepted

    return procedure, (n + 2,)


@pytest.mark.parametrize("siblings", [*KINDS, "hubs"])
@pytest.mark.parametrize("parents", [(-1, -1, 0), (-1, 0, 0), (-1, 0, 1), (-1, -1, -1), ()], ids=str)
@pytest.mark.parametrize("end", [None, 1])
def test_the_verification_from_uniforms_has_that_law(siblings, parents, end, intervals):
    tree = Tree(parents)
    target, draft = random_model(5, 2, tree.depth + 1, end), random_model(6, 2, tree.depth + 1, end)
    expected = whole_tree_law(target, draft, tree, siblings=siblings, end=end)
    assert law_of(*drafted_and_verified(target, draft, tree, siblings, end)) == expected


@one_in(2)
@given(data=st.data())
def test_chains_are_block_verification(data):
    n = data.draw(st.integers(1, 3))
    target, draft = data.draw(model_pairs(n + 1, ends=True))
    block = traversal_law("recursive-rejection", target, draft, chain_tree(n), end=target.end)
    positive = whole_tree_law(target, draft, chain_tree(n), weights=best_weights, end=target.end)
    assert accepted_length(positive) == accepted_length(block)
    assert accepted_masses(positive) == accepted_masses(block)


def test_a_chain_from_uniforms_accepts_what_verify_block_accepts(intervals, monkeypatch):
    from resispec_ref.sequence import chain

    monkeypatch.setattr(chain, "check_uniforms", lambda u, p, needed: np.asarray(u))
    tree = chain_tree(2)
    for seed in range(3):
        target, draft = random_model(seed, 2, 3), random_model(seed + 20, 2, 3)

        def block(u, target=target, draft=draft):
            x = draft_tree(draft, tree, u[:2], siblings="independent")
            found = verify_block(rows_of(target, tree, x), rows_of(draft, tree, x)[:-1], x, u[2:])
            return found.tokens, found.accepted

        whole = law_of(*drafted_and_verified(target, draft, tree, "independent"))
        assert accepted_length(whole) == accepted_length(law_of(block, (5,)))
    coin = NGram(as_objects([F(1, 3), F(2, 3)])), NGram(as_objects([F(2, 3), F(1, 3)]))
    assert accepted_length(whole_tree_law(*coin, tree)) == F(11, 9)


def test_one_level_reaches_the_bound(effort):
    """Within 1e-3 everywhere and 1e-5 in the mean, from below: the weights' tolerance."""
    gaps = []
    for seed in range(40 * effort):
        rng = np.random.default_rng(seed)
        vocab, K, siblings = int(rng.integers(2, 5)), int(rng.integers(1, 4)), KINDS[seed % 2]
        p, q = rng.dirichlet(np.full(vocab, rng.choice([0.5, 1, 3])), 2)
        law = whole_tree_law(NGram_of_first(p), NGram_of_first(q), complete_tree((K,)), siblings=siblings)
        gaps.append(optimal_acceptance(p, q, candidates=K, replacement=siblings != "distinct") - accepted_length(law))
    assert min(gaps) > -1e-12
    assert max(gaps) < 1e-3
    assert np.mean(gaps) < 1e-5


class NGram_of_first:
    """The same law everywhere."""

    def __init__(self, law):
        self.row = law

    def law(self, prefix):
        return self.row

    def state(self, prefix):
        return ()


def test_weights_that_are_right_reach_it_exactly():
    """With `==` where the bound is 1 and not on its edge; where it is below 1 only in the limit of weights."""
    q = NGram_of_first(as_objects([F(1, 2), F(1, 3), F(1, 6)]))
    tree = complete_tree((2,))
    assert accepted_masses(whole_tree_law(q, q, tree, weights=equal_weights)) == [1]
    weighted = as_objects([[F(1), F(2), F(3)]])
    pick = level_module.EnumeratedLevel(
        as_objects([[F(1, 3)] * 3]), {((x, y),): q.row[x] * q.row[y] for x in range(3) for y in range(3)}
    )
    p = NGram_of_first(pick.picked(weighted)[0])
    assert sum(p.row) == optimal_acceptance(p.row, q.row, candidates=2) == 1
    assert accepted_masses(whole_tree_law(p, q, tree, weights=lambda level: weighted)) == [1]
    rare = NGram_of_first(as_objects([F(1, 9), F(1, 3), F(5, 9)]))
    bound = optimal_acceptance(rare.row, q.row, candidates=2)
    near = accepted_masses(whole_tree_law(rare, q, tree))[0]
    assert bound - F(1, 10**7) < near < bound < 1


FAULTS = {
    "stops are not rescaled": (walk_module, "below", "stop.mass * scale", "stop.mass"),
    "acceptance by the uncapped ratio": (
        level_module.EnumeratedLevel,
        "plan",
        "np.minimum(t, sigma)",
        "t",
    ),
    "an extra token from the plain target": (
        level_module.EnumeratedLevel,
        "plan",
        "positive_part(t - sigma)",
        "t * np.sum(positive_part(t - sigma), axis=-1, keepdims=True) / np.sum(t, axis=-1, keepdims=True)",
    ),
    "weights normalised over siblings": (
        level_module,
        "children_kept",
        "[w / total * plan.kept(j, y)",
        "[w / sum(row) * plan.kept(j, y)",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault, monkeypatch, intervals):
    """From uniforms: the law of a rule whose masses do not add up to 1 is another than that of who draws from them."""
    module, name, old, new = FAULTS[fault]
    monkeypatch.setattr(module, name, mutated(getattr(module, name), old, new))
    monkeypatch.setattr(walk_module, "children_kept", level_module.children_kept)
    monkeypatch.setattr(verify_module, "below", walk_module.below)
    target, draft = random_model(1, 2, 3), random_model(2, 2, 3)
    law = law_of(*drafted_and_verified(target, draft, complete_tree((2, 1)), "independent", weights=equal_weights))
    assert completed(law, target, 3) != joint_law(target, 3)


def test_without_a_fault_nothing_is_seen(intervals):
    target, draft = random_model(1, 2, 3), random_model(2, 2, 3)
    law = law_of(*drafted_and_verified(target, draft, complete_tree((2, 1)), "independent", weights=equal_weights))
    assert completed(law, target, 3) == joint_law(target, 3)


def test_bad_input_is_named():
    p = [[0.5, 0.5]] * 3
    tree = complete_tree((2,))
    for message, call in {
        "target_rows: 2 rows": lambda: verify_whole_tree(p[:2], p, tree, [0, 1], [0.1, 0.1]),
        "uniforms: shape": lambda: verify_whole_tree(p, p, tree, [0, 1], [0.1]),
        "tokens": lambda: verify_whole_tree(p, p, tree, [0, 2], [0.1, 0.1]),
        "drawn before": lambda: verify_whole_tree(p, p, tree, [0, 0], [0.1, 0.1], siblings="distinct"),
        "siblings": lambda: verify_whole_tree(p, p, tree, [0, 0], [0.1, 0.1], siblings="twins"),
        "weights: shape": lambda: verify_whole_tree(p, p, tree, [0, 0], [0.1, 0.1], weights=lambda level: np.ones(2)),
        "is negative": lambda: verify_whole_tree(p, p, tree, [0, 0], [0.1, 0.1], weights=lambda level: -level.targets),
        "not a finite": lambda: verify_whole_tree(
            p, p, tree, [0, 0], [0.1, 0.1], weights=lambda level: level.targets / 0.0
        ),
        "is not in": lambda: verify_whole_tree(p, p, tree, [0, 0], [0.1, 1.1]),
    }.items():
        with np.errstate(divide="ignore"), pytest.raises(ValueError, match=message):
            call()
    assert verify_module.MAX_OUTCOMES < verify_module.MAX_EXACT_OUTCOMES
