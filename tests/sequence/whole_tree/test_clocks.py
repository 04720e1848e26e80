"""Levels at full vocabulary: the quadrature against enumeration, exactness token by token, and the level's bound."""

import itertools

import numpy as np
import pytest

from resispec_ref.sequence.node import ABSENT
from resispec_ref.sequence.tree import Tree, complete_tree
from resispec_ref.sequence.whole_tree import verify as verify_module
from resispec_ref.sequence.whole_tree import verify_whole_tree
from resispec_ref.sequence.whole_tree.bins import binned
from resispec_ref.sequence.whole_tree.clocks import LEAST_WEIGHT, ClockLevel
from resispec_ref.sequence.whole_tree.level import planned
from resispec_ref.sequence.whole_tree.level_bound import best_set
from resispec_ref.sequence.whole_tree.weights import best_weights, equal_weights

QUADRATURE = 1e-10


def random_level(rng, nodes, vocab, zeros=0.0):
    def law(scale):
        x = rng.random(vocab) ** scale * (rng.random(vocab) >= zeros)
        x[rng.integers(vocab)] += 0.1
        return x / x.sum()

    laws = [(law(3), law(3)) for _ in range(nodes)]
    shares = rng.dirichlet(np.ones(nodes)) * rng.choice([1.0, 0.6])
    counts = rng.integers(1, 4, nodes).tolist()
    return laws, shares.tolist(), counts, ClockLevel(shares.tolist(), [binned(*pair) for pair in laws], counts)


def picked_by_enumeration(laws, counts, v):
    """`σ` by listing every list of children, in plain Python."""
    vocab, found = len(laws[0][0]), np.zeros((len(laws), len(laws[0][0])))
    places = [j for j, k in enumerate(counts) for _ in range(k)]
    for tokens in itertools.product(range(vocab), repeat=len(places)):
        chance = np.prod([laws[j][1][y] for j, y in zip(places, tokens, strict=True)])
        total = sum(v(j, y) for j, y in zip(places, tokens, strict=True)) if chance else 1
        for j, y in zip(places, tokens, strict=True):
            found[j, y] += chance * v(j, y) / total if chance else 0
    return found


def random_weights(level, rng):
    return np.exp(rng.uniform(np.log(LEAST_WEIGHT), 0, level.targets.shape))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("choose", ["best", "equal", "random"])
def test_every_token_is_emitted_as_often_as_the_target_wants(seed, choose):
    """`σ min(1, t/σ) + e = t`, where `σ` is what enumeration says of the weights that the plan gives the children."""
    rng = np.random.default_rng(seed)
    laws, shares, counts, level = random_level(rng, nodes=1 + seed % 2, vocab=5, zeros=0.3 * (seed % 3 == 0))
    weights = {"best": best_weights, "equal": equal_weights, "random": lambda x: random_weights(x, rng)}[choose]
    plan = planned(level, weights)
    drawn = [(j, y) for j, (_, q) in enumerate(laws) for y in range(5) if q[y] > 0]
    v = {at: plan.weight(*at) for at in drawn}
    sigma = picked_by_enumeration(laws, counts, lambda j, y: v[j, y])
    for j, ((p, _), a) in enumerate(zip(laws, shares, strict=True)):
        left = plan.left(j)
        kept = np.array([plan.kept(j, y) if (j, y) in v else 0.0 for y in range(5)])
        np.testing.assert_allclose(sigma[j] * kept + left, a * p, rtol=0, atol=QUADRATURE)
        assert np.sum(left) == pytest.approx(plan.stopped[j], abs=QUADRATURE)


@pytest.mark.parametrize("nodes", [1, 3, 27])
def test_the_pick_is_some_child(nodes):
    rng = np.random.default_rng(nodes)
    level = random_level(rng, nodes, vocab=400)[3]
    for weights in (best_weights(level), random_weights(level, rng), equal_weights(level)):
        sigma = level.mass * level._density(level._scaled(weights), 0.36)
        assert np.sum(sigma) == pytest.approx(1, abs=QUADRATURE)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_set_is_the_best_of_all_sets(seed):
    """All sets of pairs of node and token, on a vocabulary so small that they can be listed."""
    rng = np.random.default_rng(seed)
    laws, shares, counts, _ = random_level(rng, nodes=1 + seed % 2, vocab=4)
    rows = [binned(*pair) for pair in laws]
    least = 1.0
    for H in itertools.product([False, True], repeat=4 * len(laws)):
        inside = np.reshape(H, (len(laws), 4))
        lost = sum(a * p[~x].sum() for a, (p, _), x in zip(shares, laws, inside, strict=True))
        missed = np.prod([(1 - q[x].sum()) ** k for k, (_, q), x in zip(counts, laws, inside, strict=True)])
        least = min(least, lost + 1 - missed)
    found = best_set(shares, rows, counts).bound
    assert least * (1 - 2**-9) - 1e-12 <= found <= least + 1e-12  # a bin is an octave's 2^9th wide, or less


@pytest.mark.parametrize(("nodes", "lost"), [(1, 0.003), (3, 0.001), (27, 0.001)])
def test_a_level_at_a_large_vocabulary_keeps_nearly_its_bound(nodes, lost):
    rng = np.random.default_rng(5)

    def softmax(x):
        e = np.exp(x - x.max())
        return e / e.sum()

    laws = [(softmax(z), softmax(z + rng.normal(size=5000))) for z in 3.5 * rng.normal(size=(nodes, 5000))]
    shares = (rng.dirichlet(np.ones(nodes)) * 0.8).tolist()
    level = ClockLevel(shares, [binned(*pair) for pair in laws], [3] * nodes)
    plan = planned(level, best_weights)
    kept = sum(shares) - sum(plan.stopped)
    assert level.bound * (1 - lost) <= kept <= level.bound * (1 + 2**-9)


def test_where_enumeration_is_too_long_the_clocks_are_used(monkeypatch):
    rng = np.random.default_rng(3)
    vocab, tree = 60, complete_tree((3, 2))
    rows = rng.dirichlet(np.ones(vocab), len(tree) + 1)
    drafts = rng.dirichlet(np.ones(vocab), len(tree) + 1)
    tokens = [int(rng.choice(vocab, p=drafts[parent + 1])) for parent in tree.parents]
    used = []
    monkeypatch.setattr(verify_module, "ClockLevel", lambda *args: used.append(1) or ClockLevel(*args))
    found = verify_whole_tree(rows, drafts, tree, tokens, rng.random(2))
    assert used
    assert len(found.tokens) == found.accepted + 1


def test_the_first_token_has_the_target_s_law_when_drawn_with_clocks(monkeypatch):
    """600 drafted trees: chi-square with 3 degrees of freedom is above 27.9 with probability 4e-6 for the target's law.

    Off by a total variation of 0.15 it is above that with probability 0.98 or more.
    """
    monkeypatch.setattr(verify_module, "MAX_OUTCOMES", 0)
    rng = np.random.default_rng(11)
    tree = complete_tree((2, 2))
    p, q = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
    counts = np.zeros(4)
    n = 600
    for _ in range(n):
        tokens = rng.choice(4, size=len(tree), p=q).tolist()
        counts[verify_whole_tree([p] * 7, [q] * 7, tree, tokens, rng.random(2)).tokens[0]] += 1
    assert np.sum((counts - n * p) ** 2 / (n * p)) < 27.9


def test_what_cannot_be_done_at_a_large_vocabulary_says_so():
    rows = np.full((3, 3000), 1 / 3000)
    with pytest.raises(ValueError, match="only independent candidates"):
        verify_whole_tree(rows, rows, Tree((-1, -1)), [0, 1], [0.1, 0.2], siblings="distinct")


def test_absent_candidates_are_no_children():
    rows = np.full((4, 3000), 1 / 3000)
    found = verify_whole_tree(rows, rows, Tree((-1, -1, -1)), [5, 7, ABSENT], [0.1, 0.2])
    assert found.tokens[0] in (5, 7)
