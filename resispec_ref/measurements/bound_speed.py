"""`resispec bench --bound`: how near the rules come to their bounds, and in what time, on this machine.

Times are processor time; set OMP_NUM_THREADS=1 for one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np

from resispec_ref.bounds import optimal_acceptance
from resispec_ref.candidates.quadrature import trapezoid_step
from resispec_ref.distributions import law_from_logits
from resispec_ref.law import emitted_law, estimated_law
from resispec_ref.measurements.linear_programs import best_sequential_acceptance
from resispec_ref.models.pairs import load_pairs
from resispec_ref.picking import weights
from resispec_ref.rule.registry import get_verifier

T = TypeVar("T")
VOCAB, BATCH = 49_152, 128
TEMPERATURES = (1.0, 0.6)
SEQUENTIAL = {
    True: ("recursive-rejection", "k-seq", "resispec"),
    False: ("recursive-rejection-without-replacement", "resispec-without-replacement"),
}
"""Sequential rules with and without replacement."""


@dataclass(frozen=True)
class Finding:
    """One number beside the limit that it has to keep, if any."""

    what: str
    found: float
    limit: float | None
    kept: bool


def _at_most(what: str, found: Any, limit: float | None = None) -> Finding:
    return Finding(what, float(found), limit, limit is None or bool(found <= limit))


def _at_least(what: str, found: Any, limit: float) -> Finding:
    return Finding(what, float(found), limit, bool(found >= limit))


def findings(every: int = 4) -> Iterator[Finding]:
    """All of them; where quadratures are slow, on one recorded position of `every`."""
    yield from _optimal_on_random_pairs()
    yield from _optimal_on_recorded_pairs()
    yield from _pooled()
    yield from _apart_on_random_pairs()
    yield from _apart_on_recorded_pairs(every)
    yield from _yardsticks()


def _optimal_on_random_pairs() -> Iterator[Finding]:
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(200):
        vocab, K = int(rng.integers(2, 13)), int(rng.integers(2, 9))
        p, q = rng.dirichlet(np.full(vocab, rng.choice([0.1, 0.5, 2])), (2, 25)) + 1e-300
        p, q = p / p.sum(-1, keepdims=True), q / q.sum(-1, keepdims=True)
        rate = emitted_law("optimal", p, q, candidates=K).acceptance_rate
        worst = max(worst, np.max(np.abs(optimal_acceptance(p, q, candidates=K) - rate)))
    yield _at_most("optimal, 5,000 random pairs of 2 to 12 tokens: gap to the bound", worst, 1e-9)


def _optimal_on_recorded_pairs() -> Iterator[Finding]:
    for heat in TEMPERATURES:
        p, q = recorded(heat)
        for K in range(2, 9):
            found, seconds = timed(partial(emitted_law, "optimal", p, q, candidates=K))
            gap = np.max(np.abs(optimal_acceptance(p, q, candidates=K) - found.acceptance_rate))
            where = f"optimal, {len(p)} recorded pairs, {p.shape[-1]:,} tokens, T = {heat:g}, K = {K}"
            yield _at_most(f"{where}: gap to the bound", gap, 1e-6)
            yield _at_most(f"{where}: milliseconds a position", 1e3 * seconds / len(p))


def _pooled() -> Iterator[Finding]:
    rng = np.random.default_rng(0)
    logits = 2 * rng.gumbel(size=(BATCH, VOCAB))
    p, q = law_from_logits(logits), law_from_logits(logits + 2 / 3 * rng.gumbel(size=logits.shape))
    rule = get_verifier("optimal", groups=64)
    for K in (2, 3, 4, 7, 8):
        state, seconds = timed(partial(rule.start, p, q, K), runs=5)
        share = np.min(np.minimum(p, state.proposal).sum(axis=-1) / optimal_acceptance(p, q, candidates=K))
        where = f"optimal, 64 groups, {BATCH} random positions, {VOCAB:,} tokens, K = {K}"
        yield _at_least(f"{where}: least share of the bound", share, 0.999)
        yield _at_most(f"{where}: milliseconds a position", 1e3 * seconds / BATCH, 2)


def _apart_on_random_pairs() -> Iterator[Finding]:
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(400):
        vocab, K = int(rng.integers(2, 10)), int(rng.integers(1, 5))
        p, q = rng.dirichlet(np.full(vocab, rng.choice([0.2, 0.5, 1, 3])), 2)
        rate = emitted_law("optimal-without-replacement", p, q, candidates=K).acceptance_rate
        worst = max(worst, optimal_acceptance(p, q, candidates=K, replacement=False) - rate)
    yield _at_most("optimal-without-replacement, 400 random pairs of 2 to 9 tokens: gap to the bound", worst, 1e-3)


def _apart_on_recorded_pairs(every: int) -> Iterator[Finding]:
    def finer(rings: int, error: float) -> float:
        return trapezoid_step(rings, error) / (2 if error == weights.LAW_ERROR else 1)

    rule = get_verifier("optimal-without-replacement")
    for heat in TEMPERATURES:
        p, q = recorded(heat, every)
        for K in (2, 3, 4, 7):
            state, seconds = timed(partial(rule.start, p, q, K))
            bound = optimal_acceptance(p, q, candidates=K, replacement=False)
            with patch.object(weights, "trapezoid_step", finer):
                again = rule.start(p, q, K)
            where = f"{len(p)} recorded pairs, T = {heat:g}, K = {K}"
            optimal = f"optimal-without-replacement, {where}"
            share = np.minimum(p, state.proposal).sum(axis=-1).mean() / bound.mean()
            yield _at_least(f"{optimal}: share of the bound", share, 0.99)
            yield _at_most(f"{optimal}: milliseconds a position", 1e3 * seconds / len(p), 200)
            change = np.max(np.abs(state.proposal - again.proposal))
            yield _at_most(f"{optimal}: change of the law with twice the nodes", change, 1e-10)
            base, shaped = (
                np.mean(estimated_law(name, p, q, candidates=K, paths=32, rng=np.random.default_rng(1)).acceptance_rate)
                for name in SEQUENTIAL[False]
            )
            yield _at_least(f"resispec-without-replacement over recursive rejection, {where}", shaped - base, 0)


def _yardsticks() -> Iterator[Finding]:
    rng = np.random.default_rng(0)
    pairs = [rng.dirichlet(np.full(5, rng.choice([0.3, 1, 3])), 2) for _ in range(60)]
    for replacement, names in SEQUENTIAL.items():
        best = [best_sequential_acceptance(p, q, candidates=3, replacement=replacement) for p, q in pairs]
        bound = [optimal_acceptance(p, q, candidates=3, replacement=replacement) for p, q in pairs]
        kind = f"{'with' if replacement else 'without'} replacement, 60 random pairs of 5 tokens, K = 3"
        yield _at_most(f"best sequential rule {kind}: mean distance to the bound", np.mean(np.subtract(bound, best)))
        for name in names:
            rates = [emitted_law(name, p, q, candidates=3).acceptance_rate for p, q in pairs]
            apart = np.subtract(best, rates)
            yield _at_most(f"{name}: mean distance to the best sequential rule {kind}", np.mean(apart))
            yield _at_most(f"{name}: largest distance", np.max(apart), 1e-8 if name == "resispec" else None)


def recorded(temperature: float, every: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The embedded recording as laws."""
    pairs = load_pairs()
    p, q = (law_from_logits(x[::every], temperature=temperature) for x in (pairs.target_logits, pairs.draft_logits))
    return p, q


def timed(work: Callable[[], T], runs: int = 1) -> tuple[T, float]:
    """The result, and the least processor time of `runs`."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return found, best
