"""Noise as points: biases far below what independent draws can show."""

import time

import numpy as np
import pytest
from mutants import sound

from resispec_ref.oracle import audit, fraction_case
from resispec_ref.oracle.cases.tables import chain_cases
from resispec_ref.oracle.drawing.high_resolution import enumerable, resolve
from resispec_ref.oracle.drawing.positions import draw_candidates
from resispec_ref.oracle.subjects.noise import Noise
from resispec_ref.oracle.subjects.subject import Subject

FIVE = fraction_case(
    ["1/20", "3/20", "1/5", "1/4", "7/20"], ["3/10", "1/4", "1/5", "3/20", "1/10"], 1, name="five tokens"
)


def verify(target, draft, candidates, u, bias=0.0):
    """Recursive rejection of one candidate from uniforms, its acceptance probability too high by `bias`."""
    rows, x = np.arange(len(target)), candidates[:, 0]
    taken = u[:, 0] * draft[rows, x] < target[rows, x] * (1 + bias)
    r = np.maximum(target - draft, 0)
    running = np.cumsum(r, axis=1)
    drawn = (u[:, 1:] * running[:, -1:] >= running).sum(1)
    return np.where(taken, x, np.minimum(drawn, target.shape[1] - 1))


def subject(function):
    return Subject(function, "verifier", noise=Noise.parse("uniform:K+1"), batched=True)


def test_resolves_1e_4_on_five_tokens_within_10_seconds():
    """The stated resolution: half-width of the confidence interval on TV, and a bias of 1e-4 that is found."""
    began = time.process_time()
    right = resolve(subject(verify), FIVE, resolution=3e-5, seconds=10.0, error=1e-4)
    assert not right.fault
    assert right.tv_upper < 1e-4
    factor = 1e-4 / 0.2  # accepted mass of tokens 0 and 1 grows by this share of 1/20 + 3/20: total variation 1e-4
    wrong = resolve(subject(lambda *a: verify(*a, bias=factor)), FIVE, resolution=3e-5, seconds=10.0, error=1e-4)
    assert wrong.fault
    assert wrong.tv == pytest.approx(1e-4, abs=wrong.tv_upper - wrong.tv)
    assert time.process_time() - began < 10


def test_two_candidates_and_other_noise():
    K2 = fraction_case(["1/5", "2/5", "2/5"], ["3/5", "3/10", "1/10"], 2)
    gumbel = Subject(sound.gumbel_residual, "verifier", noise=Noise.parse("uniform:K,gumbel:V"), batched=True)
    found = resolve(gumbel, K2, resolution=1e-3, seconds=10.0, error=1e-4)
    assert not found.fault
    assert found.tv_upper < 2e-3


def test_a_single_position_function():
    def single(p, q, candidates, u):
        return int(verify(p[None], q[None], candidates[None], u[None])[0])

    one = Subject(single, "verifier", noise=Noise.parse("uniform:K+1"), batched=False)
    assert resolve(one, FIVE, resolution=1e-2, seconds=3.0, error=1e-4).tv_upper < 2e-2


def chain_verify(p, q, drafted, u, shift=0):
    n, K = drafted.shape
    out = np.full((n, K + 1), -1)
    for b in range(n):
        for i in range(K + 1):
            row = p[b, i] if i == K else np.maximum(p[b, i] - q[b, i], 0)
            if i < K and u[b, i] * q[b, i, drafted[b, i]] < p[b, i, drafted[b, i]]:
                out[b, i] = drafted[b, i]
                continue
            row = p[b, max(i - shift, 0)] if i == K else row
            out[b, i] = min(int((np.cumsum(row) <= u[b, K] * row.sum()).sum()), len(row) - 1)
            break
    return out


@pytest.mark.parametrize("shift", [0, 1])
def test_chains(shift):
    chain = Subject(lambda *a: chain_verify(*a, shift=shift), "chain", noise=Noise.parse("uniform:K+1"), batched=True)
    case = chain_cases([1])[0]
    found = resolve(chain, case, resolution=5e-3, seconds=20.0, error=1e-4)
    assert found.fault == bool(shift)


def test_false_alarm_rate(effort):
    """100 right verifiers at error 5%, twice confirmed: at most 1% by chance each, so under 7."""
    alarms = 0
    for seed in range(100 * min(effort, 10)):
        rng = np.random.default_rng(seed)
        p, q = rng.multinomial(30, [1 / 4] * 4), rng.multinomial(30, [1 / 4] * 4)
        case = fraction_case([f"{v}/30" for v in p], [f"{v}/30" for v in q], 1)
        alarms += resolve(subject(verify), case, resolution=1.0, seconds=5.0, error=0.05, seed=seed).fault
    assert alarms < 7 * min(effort, 10)


def test_what_can_be_enumerated():
    assert enumerable(subject(verify), FIVE)
    assert not enumerable(Subject(verify, "verifier"), FIVE)
    own = Subject(verify, "verifier", noise=Noise.parse("uniform:2"), draw=lambda q, k, rng, n: None)
    assert not enumerable(own, FIVE)
    assert not enumerable(subject(verify), fraction_case(["1/5"] * 5, ["1/5"] * 5, 4))


def test_the_audit_uses_it():
    report = audit(
        lambda *a: verify(*a, bias=0.002),
        kind="verifier",
        candidates=1,
        noise="uniform:K+1",
        cases=[FIVE],
        draws=2_000,
        budget=600.0,
        search=False,
    )
    assert report.verdict == "fault found", str(report)
    assert report.high_resolution[0].fault
    assert report.log10_e < 4  # the draws alone would not have shown it


def test_enumerated_weights_are_those_of_the_draws():
    q = np.array([0.5, 0.3, 0.2])
    from resispec_ref.oracle.faults.positions import draws

    for draw in ("independent", "distinct"):
        pairs = dict(draws(q.tolist(), 2, draw))
        x = draw_candidates(Subject(max, "verifier", draw=draw), q, 2, np.random.default_rng(0), 50_000)
        for tuple_, weight in pairs.items():
            share = np.mean((x == tuple_).all(1))
            assert share == pytest.approx(weight, abs=5 * np.sqrt(weight / 50_000))
