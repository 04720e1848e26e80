"""`optimal`: the bound is attained, the law is the target's by both routes, whatever the cut."""

import numpy as np
import optimal_routes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules import exact
from strategies import one_in, pairs, problems

import resispec_ref as rs
from resispec_ref.picking import ranks
from resispec_ref.picking.shadow import Pieces, shadow_cut


def laws(rng, rows, vocab):
    """Skewed and even laws, some with zeros."""
    p, q = (rng.dirichlet(np.full(vocab, rng.choice([0.1, 0.5, 2])), rows) + 1e-300 for _ in range(2))
    if vocab > 1 and rng.random() < 0.3:
        q[:, 1:] *= rng.random((rows, vocab - 1)) < 0.7
    return p / p.sum(axis=-1, keepdims=True), (q + 1e-12 * (np.arange(vocab) == 0)) / (q.sum(-1, keepdims=True) + 1e-12)


def test_the_bound_is_attained_on_random_pairs(effort):
    """Up to 12 tokens and 8 candidates, to 1e-9; what is met is rounding, 3e-15."""
    rng = np.random.default_rng(11)
    for _ in range(40 * effort):
        vocab, K = int(rng.integers(1, 13)), int(rng.integers(2, 9))
        p, q = laws(rng, 25, vocab)
        bound = rs.optimal_acceptance(p, q, candidates=K)
        rate = rs.emitted_law("optimal", p, q, candidates=K).acceptance_rate
        assert np.all(rate <= bound + 1e-12)
        assert np.all(rate >= bound - 1e-9)


@pytest.fixture(scope="module")
def recorded():
    """Some of the recorded positions, in full width, half of them at temperature 0.6."""
    pairs = rs.load_pairs()
    return tuple(
        np.concatenate([rs.law_from_logits(x[s::32], temperature=T) for s, T in ((0, 1), (16, 0.6))])
        for x in (pairs.target_logits, pairs.draft_logits)
    )


@pytest.mark.parametrize("K", [2, 8])
def test_the_bound_is_attained_on_recorded_pairs(recorded, K):
    bound = rs.optimal_acceptance(*recorded, candidates=K)
    rate = rs.emitted_law("optimal", *recorded, candidates=K).acceptance_rate
    np.testing.assert_allclose(rate, bound, rtol=0, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3, 8])
def test_sets_for_groups_keep_the_bound(recorded, K):
    bound = rs.optimal_acceptance(*recorded, candidates=K)
    rate = rs.emitted_law(rs.get_verifier("optimal", groups=64), *recorded, candidates=K).acceptance_rate
    assert np.all(rate >= 0.999 * bound)


def sets_by_token(found):
    """The pieces that each token of the first row draws its rank from, as `(start, size)`; mixtures share them."""
    begin, pieces, set_of = 0, {}, 0
    ends = list(np.cumsum(found.length[0]))
    for end, top in zip(found.end[0], found.top[0], strict=True):
        if end == begin:
            continue
        while set_of + 1 < len(ends) and begin >= ends[set_of]:
            set_of += 1
        pieces.setdefault(set_of, []).append((top - (end - begin), end - begin))
        begin = end
    return [
        [
            (start, size * weight / found.length[0][n])
            for n, weight in ((low, share), (low + 1, 1 - share))
            if weight
            for start, size in pieces[n]
        ]
        for low, share in ((found.lower[0][c], found.share[0][c]) for c in found.class_of[0])
    ]


@pytest.mark.parametrize("groups", [None, 6])
@one_in(2)
@given(problem=problems(max_paths=27, max_candidates=2, min_candidates=1))
def test_both_routes_agree(groups, problem):
    """The winner by enumeration of tokens and pieces has the law that the step is taken against, in rationals."""
    p, q, K = problem
    state = rs.get_verifier("optimal", groups=groups).start(exact(p), exact(q), K)
    found = ranks.make_ranks(exact(p)[None], exact(q)[None], K, groups)
    drawn = [x for x in range(len(q)) if q[x]]
    sets = sets_by_token(ranks.Ranks(*(x if x is not found.class_of else x[:, drawn] for x in found)))
    full = [sets[drawn.index(x)] if x in drawn else [] for x in range(len(q))]
    picked = optimal_routes.picked_by_rank(q, K, full)
    assert picked == list(state.proposal)
    law, rate = optimal_routes.one_step(p, list(state.proposal), picked)
    assert law == p
    assert rate == rs.emitted_law(rs.get_verifier("optimal", groups=groups), p, q, candidates=K).acceptance_rate


@given(pair=pairs(vocab=5), K=st.integers(1, 4))
def test_a_cut_covers_the_ranks_once(pair, K):
    p, q = pair
    found = ranks.make_ranks(exact(p)[None], exact(q)[None], K)
    sizes = np.diff(found.end[0], prepend=0)
    starts = sorted((top - size, size) for top, size in zip(found.top[0], sizes, strict=True) if size)
    end = 0
    for start, size in starts:
        assert start == end
        end = start + size
    assert end == 1


def test_exact_for_every_cut(monkeypatch):
    """Windows at random places, far from the best: still the target's law, `==`, and a lower acceptance rate."""
    rng = np.random.default_rng(5)
    p, q = rs.emitted_law("naive", [[0.5, 0.3, 0.2]], [[0.2, 0.2, 0.6]], candidates=0).law, np.array([[0.2, 0.2, 0.6]])
    best = rs.emitted_law("optimal", p, q, candidates=3).acceptance_rate

    def askew(length, mass, candidates):
        return shadow_cut(length, rng.permuted(mass, axis=-1), candidates)

    monkeypatch.setattr(ranks, "shadow_cut", askew)
    found = [rs.emitted_law("optimal", p, q, candidates=3) for _ in range(10)]
    assert all(np.max(f.total_variation) < 1e-15 for f in found)
    assert min(f.acceptance_rate[0] for f in found) < best[0] - 0.01


def test_a_window_of_the_wrong_law_would_be_seen():
    """The second route finds a cut whose pieces are not what the law says: two pieces exchanged."""
    start, size, owner = (np.array([x]) for x in ([0.0, 0.5], [0.5, 0.5], [0, 1]))
    pieces = Pieces(start, size, owner)
    q = [pieces.size[0][0], pieces.size[0][1]]
    right = optimal_routes.picked_by_rank(q, 2, [[(0.0, 0.5)], [(0.5, 0.5)]])
    assert right == [0.25, 0.75]
    assert optimal_routes.picked_by_rank(q, 2, [[(0.5, 0.5)], [(0.0, 0.5)]]) != right


def test_options_and_tracing_are_refused_in_words():
    with pytest.raises(ValueError, match="groups: 3 sets"):
        rs.get_verifier("optimal", groups=3)
