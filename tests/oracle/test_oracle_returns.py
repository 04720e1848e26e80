"""What is returned: an accepted index or path with the law of what comes next, which the oracle draws from."""

import numpy as np
import pytest
from mutants import sound
from mutants.tools import accepts, residual

from resispec_ref.oracle import audit, position_cases
from resispec_ref.oracle.cases.tables import chain_cases, tree_cases

OPTIONS = {"search": False, "draws": 2_048, "budget": 600.0}
CASES = position_cases([1, 2], real_rows=0)[:8]


def indexed(p, q, candidates, rng, last=residual):
    for i, x in enumerate(candidates):
        if accepts(p, q, x, rng):
            return i, p
        p = last(p, q) if i == len(candidates) - 1 else residual(p, q)
    return len(candidates), p


def path(p, q, drafted, rng, last=residual):
    for i, x in enumerate(drafted):
        if not accepts(p[i], q[i], x, rng):
            return list(drafted[:i]), last(p[i], q[i])
    return list(drafted), p[-1]


def test_an_index_and_the_residual_law():
    report = audit(indexed, kind="verifier", cases=CASES, batched=False, **OPTIONS)
    assert report.verdict == "no fault found", str(report)
    wrong = audit(lambda p, q, x, rng: indexed(p, q, x, rng, lambda p, q: p), kind="verifier", cases=CASES, **OPTIONS)
    assert wrong.diagnosis.name == "resample-from-target"


def test_a_batch_of_indices_and_laws():
    def verify(target, draft, candidates, rng):
        answers = [indexed(p, q, x, rng) for p, q, x in zip(target, draft, candidates, strict=True)]
        return np.array([i for i, _ in answers]), np.stack([law for _, law in answers])

    assert audit(verify, kind="verifier", cases=CASES, batched=True, **OPTIONS).verdict == "no fault found"


@pytest.mark.parametrize("batched", [False, True])
def test_a_path_and_the_law_of_the_next_token(batched):
    def verify(target, draft, drafted, rng):
        if not batched:
            return path(target, draft, drafted, rng)
        answers = [path(p, q, x, rng) for p, q, x in zip(target, draft, drafted, strict=True)]
        padded = [[*tokens, *[-1] * (drafted.shape[1] - len(tokens))] for tokens, _ in answers]
        return np.array(padded), np.stack([law for _, law in answers])

    report = audit(verify, kind="chain", cases=chain_cases([1, 2])[:6], batched=batched, **OPTIONS)
    assert report.verdict == "no fault found", str(report)


def test_a_tree_s_path_and_law():
    def verify(target, draft, tokens, parents, rng):
        emitted = sound.tree_walk(target, draft, tokens, parents, rng)
        return emitted[:-1], np.eye(target.shape[1])[emitted[-1]]

    report = audit(verify, kind="tree", cases=tree_cases([2])[:4], batched=False, **OPTIONS)
    assert report.verdict == "no fault found", str(report)


def test_a_law_that_is_none_is_said():
    report = audit(lambda p, q, x, rng: (1, p * 0.5), kind="verifier", cases=CASES[:2], batched=False, **OPTIONS)
    assert report.verdict == "could not run"
    assert "a law that is none" in str(report)


def test_global_generators_are_seeded_whenever_they_are_loaded():
    import torch

    def verify(target, draft, candidates, rng):
        u = torch.rand((), dtype=torch.float64).item() + np.random.random()
        return int(np.searchsorted(np.cumsum(target), u % 1, side="right"))

    first, second = (audit(verify, kind="verifier", cases=CASES[:2], **OPTIONS) for _ in range(2))
    assert first.verdict == "no fault found", str(first)
    assert [c.observed_law for c in first.cases] == [c.observed_law for c in second.cases]
    assert not first.findings
