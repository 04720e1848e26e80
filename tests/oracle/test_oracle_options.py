"""Every option is honoured or refused, and what an implementation writes to is no evidence."""

import numpy as np
import pytest
from mutants import chains, positions, sound, trees
from mutants.tools import pick, residual

from resispec_ref.oracle import audit, fraction_case, position_cases
from resispec_ref.oracle.cases.tables import chain_cases, tree_cases
from resispec_ref.oracle.subjects.subject import Subject

FEW = {"search": False, "draws": 1_000, "budget": 600.0}


def test_greedy_drafts_of_a_chain_are_found_where_they_are_drawn_so():
    """Drafts that are the argmax of their rows, tested with p/q: exact for sampled drafts, and wrong for these."""
    options = FEW | {"kind": "chain", "candidates": [1, 2], "draws": 4_000}
    assert audit(sound.token_by_token, **options).verdict == "no fault found"
    assert audit(sound.token_by_token, draw="top-k", **options).verdict == "fault found"
    assert audit(chains.one_hot_rule, draw="top-k", **options).verdict == "no fault found"


def test_a_users_own_draw_in_chains_and_trees():
    seen = []

    def second_likeliest(q, k, rng, n):
        seen.append(q)
        return np.tile(np.argsort(-q)[1 : 1 + k], (n, 1))

    chain = audit(chains.one_hot_rule, kind="chain", draw=second_likeliest, cases=chain_cases([2])[:1], **FEW)
    assert chain.verdict == "no fault found", str(chain)
    assert all(q.ndim == 1 for q in seen)
    tree = audit(trees.one_hot_rule, kind="tree", draw=second_likeliest, cases=tree_cases([2])[:1], **FEW)
    assert tree.verdict == "no fault found", str(tree)
    wrong = audit(sound.tree_walk, kind="tree", draw=second_likeliest, cases=tree_cases([2])[:1], **FEW)
    assert wrong.verdict == "fault found"


@pytest.mark.parametrize("k", [1, 3])
def test_candidates_of_a_tree_are_children_of_its_root(k):
    seen = set()

    def verify(target, draft, tokens, parents, rng):
        seen.add(int((parents == -1).sum()))
        return [pick(target[0], rng.random())]

    audit(verify, kind="tree", candidates=k, batched=False, **(FEW | {"draws": 20}))
    assert seen == {k}


def float32_law(target, draft):
    p, q = np.asarray(target, np.float32), np.asarray(draft, np.float32)
    m = np.minimum(p, q)
    r = p - m
    return m, r / r.sum() if r.sum() > 0 else r


def test_a_right_law_in_float32_is_no_fault():
    for options in ({}, {"dtype": "float32"}):
        report = audit(float32_law, kind="law", search=False, **options)
        assert report.verdict == "no fault found", str(report)
        assert report.tv_upper < 1e-5
    wrong = audit(lambda p, q: (float32_law(p, q)[0], np.asarray(p, np.float32)), kind="law", search=False)
    assert wrong.verdict == "fault found"


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_laws_in_the_arrays_that_were_asked_for(dtype):
    import torch

    seen = set()

    def law(target, draft):
        seen.add((type(target), target.dtype))
        m = torch.minimum(target, draft)
        r = target - m
        return m, r / r.sum() if r.sum() > 0 else r

    report = audit(law, kind="law", library="torch", dtype=dtype, search=False)
    assert report.verdict == "no fault found", str(report)
    assert seen == {(torch.Tensor, getattr(torch, dtype))}


def test_what_an_in_place_verifier_spoils_is_no_evidence():
    """Exact on fresh arrays: one finding, that it writes to its input, and no law that is wrong."""

    def overwrites(target, draft, candidates, rng):
        for x in candidates:
            if rng.random() * draft[x] < target[x]:
                return x
            target[:] = residual(target, draft)
        return pick(target, rng.random())

    for options in ({"checks": False}, {}):
        report = audit(overwrites, kind="verifier", cases=position_cases([1, 2], real_rows=0)[:8], **FEW, **options)
        assert [f.check for f in report.findings] == ["inputs unchanged"]
        assert report.verdict == "fault found"
        assert report.log10_e < 4
        assert report.diagnosis is None

    def chain(target, draft, drafted, rng):
        answer = sound.token_by_token(target, draft, drafted, rng)
        target[:] = 0
        return answer

    report = audit(chain, kind="chain", candidates=1, **FEW)
    assert [f.check for f in report.findings] == ["inputs unchanged"]
    assert report.log10_e < 4

    def law(target, draft):
        m = np.minimum(target, draft)
        target -= m
        return m, target / target.sum() if target.sum() else target

    report = audit(law, kind="law", search=False)
    assert [f.check for f in report.findings] == ["inputs unchanged"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "sampler", "draw": "top-k"}, "draw: a sampler is handed no candidates"),
        ({"kind": "law", "draw": "distinct"}, "draw: a law is handed no candidates"),
        ({"kind": "law", "noise": "uniform:1"}, "noise: a law is computed"),
        ({"kind": "law", "batched": True}, "batched: a law is called with one pair"),
        ({"kind": "sampler", "batched": True}, "batched: a sampler is called with one pair"),
        ({"kind": "chain", "draw": "distinct"}, "a chain has one"),
        ({"kind": "tree", "cases": chain_cases([1])}, "cases: a tree is audited on TreeCase, not on ChainCase"),
        ({"kind": "verifier", "candidates": 3, "cases": position_cases([1])}, "none of them has 3 candidates"),
    ],
)
def test_what_would_be_ignored_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        audit(lambda *given: 0, **options)


def test_given_cases_of_law():
    given = fraction_case(["1/2", "1/2"], ["1/4", "3/4"], 1)
    report = audit(lambda p, q: (np.minimum(p, q), p), kind="law", cases=[given], search=False)
    assert [case.inputs for case in report.cases] == [given.inputs()]


def test_which_parameter_takes_the_generator():
    def takes(function, kind="verifier"):
        return Subject(function, kind).takes_rng

    assert takes(lambda target, draft, candidates, source: 0) is True
    assert takes(lambda target, draft, candidates, rng=None: 0) is True
    assert takes(lambda target, draft, candidates, temperature=1.0: 0) is False
    assert takes(lambda target, draft, candidates, temperature=1.0, *, generator=None: 0) == "generator"
    assert takes(lambda target, draft, candidates, *, key: 0) == "key"
    assert takes(lambda t, d, x, parents, threshold=0.3: 0, "tree") is False
    assert takes(lambda target, draft, k, n: 0, "sampler") is False
    assert takes(lambda target, draft, k, rng, n: 0, "sampler") is True
    assert takes(lambda *given: 0) is True


def test_a_default_is_left_alone_and_a_named_generator_is_used():
    def verify(target, draft, candidates, scale=1.0, *, generator):
        assert scale == 1.0
        return positions.resamples_from_target(target, draft, candidates, generator)

    report = audit(verify, kind="verifier", candidates=1, **FEW)
    assert report.verdict == "fault found"
    assert not report.raised
