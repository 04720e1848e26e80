"""Implementations in other array libraries, number types, kinds of input and of noise."""

import numpy as np
import pytest
from mutants import sound
from mutants.tools import pick

from resispec_ref.oracle import ChainCase, TreeCase, audit, position_cases
from resispec_ref.oracle.cases.tables import chain_cases, joint_law, tree_cases
from resispec_ref.oracle.drawing.positions import draw_candidates
from resispec_ref.oracle.subjects.convert import Format
from resispec_ref.oracle.subjects.noise import Noise
from resispec_ref.oracle.subjects.subject import Subject

CASES = position_cases([1, 2], real_rows=0)[:6]
QUICK = {"draws": 1_000, "search": False, "cases": CASES}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_torch(dtype):
    import torch

    def verify(target, draft, candidates, generator):
        p, rows = target.double(), torch.arange(len(target))
        token = torch.full((len(target),), -1)
        for x in candidates.T:
            u = torch.rand(len(p), generator=generator, dtype=torch.float64)
            token = torch.where((token < 0) & (u * draft.double()[rows, x] < p[rows, x]), x, token)
            r = torch.clamp(p - draft.double(), min=0)
            p = torch.where(r.sum(1, keepdim=True) > 0, r, p)
            p = p / p.sum(1, keepdim=True)
        return torch.where(token < 0, torch.multinomial(p, 1, generator=generator)[:, 0], token)

    report = audit(verify, kind="verifier", library="torch", dtype=dtype, **QUICK)
    assert report.verdict == "no fault found", str(report)
    assert report.tolerance == {"float16": 2**-10, "bfloat16": 2**-7}.get(dtype, 0)


def test_torch_without_a_generator_draws_from_the_global_one():
    import torch

    def sampler(target, draft, k, n):
        return torch.multinomial(target, n, replacement=True)

    first, second = (audit(sampler, kind="sampler", library="torch", **QUICK) for _ in range(2))
    assert first.verdict == "no fault found", str(first)
    assert [c.observed_law for c in first.cases] == [c.observed_law for c in second.cases]


def test_jax_under_jit():
    import jax

    @jax.jit
    def verify(target, draft, candidates, key):
        accept, draw = jax.random.split(key)
        x = candidates[:, 0]
        rows = jax.numpy.arange(len(x))
        u = jax.random.uniform(accept, (len(x),), dtype=target.dtype)
        r = jax.numpy.maximum(target - draft, 0)
        token = jax.random.categorical(draw, jax.numpy.log(r))
        return jax.numpy.where(u * draft[rows, x] < target[rows, x], x, token)

    cases = [case for case in CASES if case.candidates == 1]
    report = audit(verify, kind="verifier", library="jax", **(QUICK | {"cases": cases, "draws": 512}))
    assert report.verdict == "no fault found", str(report)


def test_logits_in_place_of_probabilities():
    def verify(target, draft, candidates, rng):
        p, q = (np.exp(x - x.max()) / np.exp(x - x.max()).sum() for x in (target, draft))
        return sound.accepts_late(p, q, candidates, rng)

    assert audit(verify, kind="verifier", inputs="logits", **QUICK).verdict == "no fault found"


def test_laws_seen_after_rounding_are_what_was_given():
    p = np.array([0.1, 0.2, 0.7])
    seen = Format("numpy", "float16").seen(p)
    assert np.abs(seen - p).max() > 0
    assert seen.sum() == pytest.approx(1, abs=1e-15)


def test_half_precision_arithmetic_is_tolerated_and_a_fault_is_not():
    def coarse(target, draft, candidates, rng):
        p = (target.astype(np.float16) + np.float16(0)).astype(float)
        return pick(p / p.sum(), rng.random())

    assert audit(coarse, kind="verifier", dtype="float16", **QUICK).verdict == "no fault found"
    report = audit(lambda p, q, x, rng: x[0], kind="verifier", dtype="float16", **QUICK)
    assert report.verdict == "fault found"


def test_one_position_at_a_time_or_a_batch_is_found_out():
    seen = []

    def verify(target, draft, candidates, rng):
        seen.append(target.ndim)
        return sound.batched(target, draft, candidates, rng)

    audit(verify, kind="verifier", **QUICK)
    assert set(seen) == {2}


def test_a_users_own_draw():
    def top_then_random(q, k, rng, n):
        x = rng.choice(len(q), size=(n, k), p=q)
        x[:, 0] = np.argmax(q)
        return x

    report = audit(sound.target_match, kind="verifier", draw=top_then_random, **QUICK)
    assert report.verdict == "no fault found"
    assert report.cases[0].acceptance_bound is None


@pytest.mark.parametrize("draw", ["independent", "distinct", "top-k"])
def test_candidates_are_drawn_as_said(draw):
    q, rng = np.array([0.1, 0.4, 0.0, 0.5]), np.random.default_rng(0)
    x = draw_candidates(Subject(max, "verifier", draw=draw), q, 2, rng, 40_000)
    assert (x != 2).all()
    first = np.bincount(x[:, 0], minlength=4) / len(x)
    if draw == "top-k":
        assert (x == [3, 1]).all()
        return
    assert first == pytest.approx(q, abs=5 * 0.5 / 200)  # five standard errors
    if draw == "distinct":
        assert (x[:, 0] != x[:, 1]).all()
        second = np.mean(x[x[:, 0] == 3, 1] == 1)
        assert second == pytest.approx(0.8, abs=5 * 0.4 / 140)


def test_noise_is_what_was_asked_for():
    noise = Noise.parse("uniform:K+1, exponential:V,gumbel:2*V")
    assert noise.sizes(3, 5) == [4, 5, 10]
    u, e, g = noise.split(np.random.default_rng(0).random((50_000, noise.dimension(3, 5))), 3, 5)
    assert u.shape == (50_000, 4)
    for values, mean in ((u, 0.5), (e, 1.0), (g, np.euler_gamma)):
        assert np.isfinite(values).all()
        assert values.mean() == pytest.approx(mean, abs=5 * 1.3 / np.sqrt(values.size))
    edges = Noise.parse("uniform:1,exponential:1,gumbel:1").split(np.array([[0.0] * 3, [1 - 2.0**-53] * 3]), 1, 1)
    assert all(np.isfinite(a).all() for a in edges)


def test_rows_of_a_tree_belong_to_its_nodes():
    case = next(c for c in tree_cases() if c.branching == (2, 1))
    seen = []

    def verify(target, draft, tokens, parents, rng):
        seen.append((target, tokens, parents))
        return [pick(target[0], rng.random())]

    audit(verify, kind="tree", cases=[case], draws=50, batched=False)
    target, tokens, parents = seen[0]
    assert parents.tolist() == [-1, -1, 0, 1]
    assert (target[0] == case.target[0][0]).all()
    assert (target[2] == case.target[1][tokens[1]]).all()
    assert (target[4] == case.target[2][tokens[1] * 3 + tokens[3]]).all()


def test_batched_chains_and_trees():
    def first_only(target, draft, *rest):
        rng = rest[-1]
        running = np.cumsum(target[:, 0], axis=1)
        token = (rng.random((len(target), 1)) * running[:, -1:] >= running).sum(1)
        return np.stack([token, np.full(len(target), -1)], axis=1)

    for kind, cases in (("chain", chain_cases([1])), ("tree", tree_cases()[:2])):
        report = audit(first_only, kind=kind, cases=cases, draws=2_000)
        assert report.verdict == "no fault found", str(report)


def test_a_chain_that_counts_wrongly_is_seen():
    def verify(target, draft, drafted, rng):
        return sound.token_by_token(target, draft, drafted, rng), 0

    report = audit(verify, kind="chain", candidates=1, draws=500, search=False)
    assert any(f.check == "accepted index" and f.level == "fault" for f in report.findings)
    assert report.verdict == "fault found"


def test_joint_law_of_tables():
    for case in [*chain_cases([1, 2, 3]), *tree_cases()]:
        assert isinstance(case, ChainCase | TreeCase)
        assert joint_law(case.target).sum() == pytest.approx(1, abs=1e-12)
