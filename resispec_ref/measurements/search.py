"""Looking for a case in which something is at fault, and making that case as small as possible.

Nothing here knows what a fault is: `search` and `shrink` take any predicate of a `Case`, `climb` any score. The audit
of the built-in rules gives them exact laws; a check of foreign code can give them a statistical test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

Law = tuple[Fraction, ...]


class Case(NamedTuple):
    """A rational target and draft over the same tokens, and a number of candidates."""

    target: Law
    draft: Law
    candidates: int


Fault = Callable[[Case], bool]
Score = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""Target `(n, vocab)`, draft `(n, vocab)`, candidates -> `(n,)`; the higher, the worse."""

WEIGHTS = 12  # random laws are integers up to this, over their sum: small enough for ties and zeros to be common


def random_cases(rng: np.random.Generator, *, vocab: int = 6, candidates: int = 4, paths: int = 125) -> Iterator[Case]:
    """Random cases without end: zeros, ties, point masses, equal and disjoint laws, 1 to `vocab` tokens.

    `paths` limits `tokens ** candidates`, the work of following every rejected candidate.

    >>> sum(next(random_cases(np.random.default_rng(0))).target)
    Fraction(1, 1)
    """
    while True:
        V, K = int(rng.integers(1, vocab + 1)), int(rng.integers(0, candidates + 1))
        a, b = (rng.integers(0, WEIGHTS + 1, V) * (rng.random(V) < 0.8) for _ in range(2))
        kind = rng.integers(0, 10)
        if kind == 0:
            b = a  # p = q
        elif kind == 1:
            b = np.where(a > 0, 0, b)  # disjoint supports
        elif kind == 2:
            a = np.eye(V, dtype=int)[rng.integers(V)]  # a point mass
        elif kind == 3:
            b = np.eye(V, dtype=int)[rng.integers(V)]
        if a.sum() and b.sum() and paths >= V**K:
            yield Case(_law(a), _law(b), K)


def search(fault: Fault, cases: Iterable[Case]) -> list[Case]:
    """The cases that are at fault."""
    return [case for case in cases if fault(case)]


def size(case: Case) -> tuple[int, int, int, int]:
    """What "smaller" means: fewer tokens, then fewer candidates, then smaller denominators.

    >>> size(Case((Fraction(1, 3),) * 3, (Fraction(1, 2), Fraction(1, 2), Fraction(0)), 1))
    (3, 1, 5, 3)
    """
    denominators = [math.lcm(*(x.denominator for x in law)) for law in (case.target, case.draft)]
    return len(case.target), case.candidates, sum(denominators), max(denominators)


def shrink(fault: Fault, case: Case, *, tries: int = 4000) -> Case:
    """The smallest case at fault that is found from `case`, in at most `tries` calls of `fault`.

    Tokens are dropped or merged, candidates taken away, laws replaced by all laws of smaller denominators, over and
    over until nothing smaller is at fault.

    >>> shrink(lambda case: max(case.target) < 1, Case((Fraction(3, 7), Fraction(4, 7)), (Fraction(1), Fraction(0)), 2))
    Case(target=(Fraction(1, 2), Fraction(1, 2)), draft=(Fraction(1, 1), Fraction(0, 1)), candidates=0)
    """
    while True:
        for smaller in _smaller(case):
            tries -= 1
            if tries < 0:
                return case
            if fault(smaller):
                case = smaller
                break
        else:
            return case


def climb(
    score: Score,
    rng: np.random.Generator,
    *,
    vocab: int,
    candidates: int,
    flat: float = 0.0,
    chains: int = 64,
    rounds: int = 60,
) -> tuple[float, Case]:
    """The worst score that hill climbing meets, and its case: `chains` at once, each keeping a random change if better.

    Where a sixth of the rounds has met nothing above `flat` there is no hill, and the climb ends. Laws are integers
    over their sum, so that the case is rational and the climb the same on every machine.
    """

    def scores(a: np.ndarray) -> np.ndarray:
        p, q = a[:, 0] / a[:, 0].sum(-1, keepdims=True), a[:, 1] / a[:, 1].sum(-1, keepdims=True)
        return np.asarray(score(p, q, candidates))

    a = rng.integers(0, WEIGHTS + 1, (chains, 2, vocab))
    a[..., 0] += a.sum(-1) == 0
    best = scores(a)
    for done in range(rounds):
        if 6 * done >= rounds and best.max() <= flat:
            break
        change = rng.choice(np.array([-16, -4, -1, 1, 4, 16, 64]), a.shape) * (rng.random(a.shape) < 1 / vocab)
        b = np.maximum(np.where(rng.random(a.shape) < 0.1 / vocab, 0, a) + change, 0)
        b[..., 0] += b.sum(-1) == 0
        found = scores(b)
        better = found > best
        a, best = np.where(better[:, None, None], b, a), np.where(better, found, best)
    top = int(np.argmax(best))
    return float(best[top]), Case(_law(a[top, 0]), _law(a[top, 1]), candidates)


def _law(weights: Iterable[int]) -> Law:
    whole = [int(w) for w in weights]
    return tuple(Fraction(w, sum(whole)) for w in whole)


def _smaller(case: Case) -> Iterator[Case]:
    """Cases smaller than `case`, the boldest steps first."""
    p, q, K = case
    V = len(p)
    for i in range(V):
        rest = [tuple(x for j, x in enumerate(law) if j != i) for law in (p, q)]
        if all(sum(law) for law in rest):
            a, b = (tuple(x / sum(law) for x in law) for law in rest)
            yield Case(a, b, K)
        for j in range(i):  # token i counts as token j
            a, b = (tuple(x + law[i] * (k == j) for k, x in enumerate(law) if k != i) for law in (p, q))
            yield Case(a, b, K)
    for fewer in range(K):
        yield Case(p, q, fewer)
    now = size(case)
    for D in range(2, now[2] + 1):
        for d in range(1, D):
            if (V, K, D, max(d, D - d)) < now:
                yield from (Case(a, b, K) for a in _laws(V, d) for b in _laws(V, D - d))


def _laws(vocab: int, denominator: int) -> Iterator[Law]:
    """All laws over `vocab` tokens whose probabilities are multiples of `1 / denominator`."""

    def parts(n: int, whole: int) -> Iterator[tuple[int, ...]]:
        if n == 1:
            yield (whole,)
            return
        for first in range(whole, -1, -1):
            yield from ((first, *rest) for rest in parts(n - 1, whole - first))

    return (tuple(Fraction(n, denominator) for n in law) for law in parts(vocab, denominator))
