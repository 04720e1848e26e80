"""Pairs of laws to validate and to measure on: random, real and adversarial rows of any vocabulary."""

from __future__ import annotations

import numpy as np

from resispec_ref import law_from_logits

KINDS = ("random", "flat", "real", "near", "adversarial")


def laws(kind: str, batch: int, vocab: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Target and draft, `(batch, vocab)` in float64.

    `random`: a target as peaked as a language model's, and a draft of perturbed logits. `flat`: high temperature, no
    token matters. `real`: rows of the recorded pair at random places of the vocabulary. `near`: equal, and ratios that
    differ by at most 1e-6, 1e-3 and 1/100. `adversarial`: see below.
    """
    if kind == "adversarial":
        pairs = [adversarial_pair(n, vocab, rng) for n in range(batch)]
        p, q = (np.array([pair[i] for pair in pairs]).reshape(batch, vocab) for i in (0, 1))
        return p, q
    if kind == "real":
        return _recorded(batch, vocab, rng)
    if kind == "near":
        p = rng.exponential(size=(batch, vocab)) ** 2
        far = np.resize([0, 1e-6, 1e-3, 1e-2], batch)[:, None]
        q = p * (1 + far * rng.uniform(-0.5, 0.5, (batch, vocab)))
        return p / p.sum(-1, keepdims=True), q / q.sum(-1, keepdims=True)
    logits = rng.standard_normal((batch, vocab)) * (3.0 if kind == "random" else 0.2)
    other = logits + rng.standard_normal((batch, vocab)) * (0.7 if kind == "random" else 0.2)
    return law_from_logits(logits), law_from_logits(other)


def adversarial_pair(n: int, vocab: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Equal, disjoint, one-hot, half-empty, with ratios on bucket edges, with tiny entries, far apart: by `n`."""
    p, q = rng.dirichlet(np.full(vocab, 0.05), 2) if vocab <= 4096 else rng.exponential(size=(2, vocab)) ** 6
    one = np.zeros(vocab)
    one[rng.integers(vocab)] = 1
    half = np.arange(vocab) < max(1, vocab // 2)
    edge = q * 2.0 ** rng.integers(-3, 3, vocab) * (1 + rng.integers(0, 32, vocab) / 32)
    tiny = q * np.where(rng.random(vocab) < 0.5, 1e-30, 1)
    pairs = (
        (p, p),
        (one, q + 1e-3),
        (p, one),
        (one, one),
        (p * half + 1e-300 * half, q * ~half + half * (vocab < 2)),
        (p * half + half / vocab, q + 1 / vocab),
        (edge, q),
        (q, edge),
        (tiny, q),
        (q, tiny),
        (np.ones(vocab), np.ones(vocab)),
        (p + one * 1e3, q),
    )
    f, g = pairs[n % len(pairs)]
    return f / f.sum(), g / g.sum()


def candidates(q: np.ndarray, count: int, rng: np.random.Generator, *, distinct: bool) -> np.ndarray:
    """Draws from each row of `q`, `(batch, count)`; distinct ones in order, `-1` where the support is exhausted."""
    if not distinct:
        running = np.cumsum(q, axis=-1)
        aim = rng.random((len(q), count)) * running[:, -1:]
        last = np.max(np.where(q > 0, np.arange(q.shape[-1]), 0), axis=-1, keepdims=True)
        found = [np.searchsorted(row, u, side="right") for row, u in zip(running, aim, strict=True)]
        return np.minimum(np.reshape(found, (len(q), count)).astype(np.int64), last)
    with np.errstate(divide="ignore"):
        rings = rng.exponential(size=q.shape) / q  # the first rings of clocks of rates q
    order = np.argsort(rings, axis=-1)[:, :count]
    fresh = np.where(np.take_along_axis(q, order, -1) > 0, order, -1)
    return np.pad(fresh, ((0, 0), (0, count - fresh.shape[-1])), constant_values=-1)


def _recorded(batch: int, vocab: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    from resispec_ref.models.pairs import load_pairs

    pairs = load_pairs()
    width = min(pairs.width, vocab)
    laws = np.zeros((2, batch, vocab))
    for row in range(batch):
        n, places = row % pairs.positions, rng.permutation(vocab)[:width]
        for law, logits in zip(laws, (pairs.target_logits, pairs.draft_logits), strict=True):
            law[row, places] = law_from_logits(logits[n, :width])
    return laws[0], laws[1]
