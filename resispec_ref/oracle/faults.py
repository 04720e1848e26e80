"""Known faults at one position, as laws: what each faulty verifier would emit, exactly.

A fault is a function of target, draft and the candidates drawn that gives the law of the emitted token; averaged over
the candidates it is what an audit would see. Plain Python over numbers of any kind, so rational in, rational out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from resispec_ref.law import emitted_law
from resispec_ref.verifiers import get_verifier, verifier_names

Law = list[Any]
Given = Callable[[Law, Law, Sequence[int]], Law]
"""`(p, q, candidates) -> law of the emitted token`."""


@dataclass(frozen=True)
class Fault:
    """A fault known from practice."""

    name: str
    description: str
    remedy: str
    given: Given
    draw: str | None = None
    """How the fault's own candidates are drawn, where it is about that; else as the audit says."""


def fault_law(fault: Fault, p: Law, q: Law, candidates: int, *, draw: str = "independent") -> Law | None:
    """The emitted law of `fault`, or None where it says nothing about this case.

    Args:
        p, q: target and draft, `Fraction` or float.
        candidates: `K`.
        draw: how candidates are drawn: independent, distinct, top-k.

    >>> from fractions import Fraction as F
    >>> p, q = [F(1, 5), F(2, 5), F(2, 5)], [F(3, 5), F(3, 10), F(1, 10)]
    >>> [str(v) for v in fault_law(FAULTS["resample-from-target"], p, q, 1)]
    ['7/25', '23/50', '13/50']
    """
    law = [p[0] * 0] * len(p)
    try:
        for x, w in draws(q, candidates, fault.draw or draw):
            law = [a + w * b for a, b in zip(law, fault.given(p, q, x), strict=True)]
    except _DoesNotApply:
        return None
    return law


def draws(q: Law, candidates: int, draw: str) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Every sequence of candidates and its probability."""
    V = range(len(q))
    if draw in ("top-k", "greedy"):
        yield tuple(sorted(V, key=lambda x: -q[x])[:candidates]), q[0] * 0 + 1
        return
    if draw == "filtered":
        kept = sorted(V, key=lambda x: -q[x])[:2]
        mass = sum(q[x] for x in kept)
        q = [q[x] / mass if x in kept else q[x] * 0 for x in V]
    if draw == "distinct":
        candidates = min(candidates, sum(v > 0 for v in q))
    for x in itertools.product(V, repeat=candidates):
        if draw == "distinct" and len(set(x)) < len(x):
            continue
        w, left = q[0] * 0 + 1, q[0] * 0 + 1
        for token in x:
            if q[token] <= 0:
                w = q[0] * 0
                break
            w = w * (q[token] / left)
            left = left - q[token] if draw == "distinct" else left
        if w > 0:
            yield x, w


class _DoesNotApply(Exception):
    pass


def ratio(p: Law, q: Law, x: int) -> Any:
    """`min(1, p/q)` as the test `u q(x) < p(x)` has it, also for a candidate that the draft cannot have drawn."""
    return min(1, p[x] / q[x]) if q[x] > 0 else q[x] * 0 + (p[x] > 0)


def residual(p: Law, q: Law, x: int) -> Law:
    return normalised([max(a - b, a * 0) for a, b in zip(p, q, strict=True)], p)


def normalised(mass: Law, otherwise: Law) -> Law:
    whole = sum(mass)
    return [m / whole for m in mass] if whole > 0 else otherwise


def same(q: Law, x: int) -> Law:
    return q


def without(q: Law, x: int) -> Law:
    rest = [v * (y != x) for y, v in enumerate(q)]
    return normalised(rest, rest)


def steps(
    accept: Callable[[Law, Law, int], Any] = ratio,
    reject: Callable[[Law, Law, int], Law] = residual,
    following: Callable[[Law, int], Law] = same,
    last: Callable[[Law, Law, int], Law] | None = None,
) -> Given:
    """A verifier that tests its candidates in turn; `last`, where given, is the residual after the last candidate."""

    def given(p: Law, q: Law, candidates: Sequence[int]) -> Law:
        law, w = [p[0] * 0] * len(p), p[0] * 0 + 1
        for i, x in enumerate(candidates):
            a = accept(p, q, x)
            law[x] = law[x] + w * a
            w = w * (1 - a)
            if w == 0:
                return law
            p = (last if last and i == len(candidates) - 1 else reject)(p, q, x)
            q = following(q, x)
        return [v + w * u for v, u in zip(law, p, strict=True)]

    return given


def _drafted_only(p: Law, q: Law, x: int) -> Law:
    return normalised([max(v - q[x], v * 0) if y == x else v for y, v in enumerate(p)], p)


def _softmax(p: Law, q: Law, x: int) -> Law:
    weights = [math.exp(max(float(a - b), 0.0)) for a, b in zip(p, q, strict=True)]
    return normalised(weights, p)


def _absolute(p: Law, q: Law, x: int) -> Law:
    return normalised([abs(a - b) for a, b in zip(p, q, strict=True)], p)


def _reversed(p: Law, q: Law, x: int) -> Law:
    return residual(q, p, x)


def _leftover_on_last(p: Law, q: Law, x: int) -> Law:
    mass = [max(a - b, a * 0) for a, b in zip(p, q, strict=True)]
    return [*mass[:-1], mass[-1] + 1 - sum(mass)]


def _greedy(p: Law, q: Law, x: int) -> Law:
    r = residual(p, q, x)
    best = max(range(len(r)), key=lambda y: r[y])
    return [v * 0 + (y == best) for y, v in enumerate(r)]


def _same_uniform(p: Law, q: Law, x: int) -> Law:
    """The residual by inverse CDF with a uniform known to lie in `[a, 1)`: it failed the acceptance test."""
    a, r, start = ratio(p, q, x), residual(p, q, x), p[0] * 0
    law = []
    for mass in r:
        end = start + mass
        law.append(max(end - max(start, a), p[0] * 0) / (1 - a))
        start = end
    return law


def _same_race(p: Law, q: Law, x: int) -> Law:
    """The residual by a race of the clocks `E_y` that drew `x`, given that `x` rang first in the draft's race.

    That ring came at time `t`, exponential of rate 1; the others have `E_y = q_y t + e_y` with fresh `e_y`. In the
    residual's race clock `y` of rate `r_y` therefore starts at `t q_y / r_y`: between two starts the race is ordinary.
    """
    r = residual(p, q, x)
    zero = p[0] * 0
    starts = sorted((q[y] / r[y], y) for y in range(len(r)) if r[y] > 0)
    law, rate, rung = [zero] * len(r), zero, zero
    running: list[int] = []
    for i, (start, y) in enumerate(starts):
        running.append(y)
        rate = rate + r[y]
        if i + 1 < len(starts):
            after = rung + rate * (starts[i + 1][0] - start)
            chance = 1 / (1 + rung) - 1 / (1 + after)
        else:
            after, chance = rung, 1 / (1 + rung)
        for z in running:
            law[z] = law[z] + chance * r[z] / rate
        rung = after
    return law


def _one_race(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    if len(candidates) != 1:
        raise _DoesNotApply
    return steps(last=_same_race)(p, q, candidates)


def _no_residual(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    if len(candidates) < 2:
        raise _DoesNotApply  # there it is resample-from-target
    return steps(reject=lambda p, q, x: p)(p, q, candidates)


def _one_uniform(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    """One uniform for all candidates: the i-th is accepted if it lies between the best so far and `a_i`."""
    law, reached = [p[0] * 0] * len(p), p[0] * 0
    for x in candidates:
        a = ratio(p, q, x)
        law[x] = law[x] + max(a - reached, a * 0)
        reached = max(reached, a)
        if reached == 1:
            return law
        p = residual(p, q, x)
    return [v + (1 - reached) * u for v, u in zip(law, p, strict=True)]


def _sorted(p: Law, q: Law, candidates: Sequence[int]) -> Law:
    return steps(following=without)(p, q, sorted(candidates, key=lambda x: -q[x]))


def _tempered(power: int | float) -> Given:
    def given(p: Law, q: Law, candidates: Sequence[int]) -> Law:
        weights = [float(v) ** power if v > 0 else 0.0 for v in p]
        return normalised(weights, weights)

    return given


def _lenient(factor: float) -> Callable[[Law, Law, int], Any]:
    return lambda p, q, x: min(1, factor * p[x] / q[x]) if q[x] > 0 else ratio(p, q, x)


def _known() -> Iterator[Fault]:
    yield Fault(
        "resample-from-target",
        "after a rejection the token is drawn from the target instead of the residual",
        "draw from (p - q)+ normalised, not from p",
        steps(last=lambda p, q, x: p),
    )
    yield Fault(
        "no-residual",
        "every candidate is tested against the target itself, and after the last rejection the token is drawn from it",
        "replace the target by the residual (p - q)+, normalised, after each rejection",
        _no_residual,
    )
    yield Fault(
        "residual-of-the-drafted-token-only",
        "the residual lowers only the drafted token: q is subtracted at it and nowhere else",
        "subtract the whole row q, not a one-hot of it",
        steps(reject=_drafted_only),
    )
    yield Fault(
        "softmax-of-the-residual",
        "the positive part of p - q goes through a softmax instead of being divided by its sum",
        "divide by the sum",
        steps(reject=_softmax),
    )
    yield Fault(
        "always-accept",
        "the first candidate is emitted, whatever the target says",
        "accept with probability min(1, p/q)",
        steps(accept=lambda p, q, x: p[0] * 0 + 1),
    )
    yield Fault(
        "acceptance-uniform-reused",
        "the uniform of the acceptance test is used again to draw from the residual",
        "draw a fresh uniform for the residual",
        steps(last=_same_uniform),
    )
    yield Fault(
        "one-uniform-for-all-candidates",
        "all candidates are tested against one uniform",
        "draw a uniform for each candidate",
        _one_uniform,
    )
    yield Fault(
        "draft-noise-reused",
        "the exponential (or Gumbel) noise that drew the candidate is used again for the residual",
        "draw fresh noise for the residual",
        _one_race,
        draw="independent",
    )
    yield Fault(
        "residual-not-updated",
        "later candidates are tested against the original target instead of the residual",
        "replace the target by the residual after each rejection",
        steps(reject=lambda p, q, x: p, last=residual),
    )
    yield Fault(
        "residual-not-normalised",
        "the residual is sampled without normalising it: what its sum lacks falls on the last token",
        "divide the residual by its sum, or scale the uniform by it",
        steps(last=_leftover_on_last),
    )
    yield Fault(
        "absolute-difference",
        "the residual is |p - q| instead of the positive part of p - q",
        "clamp p - q at 0",
        steps(reject=_absolute),
    )
    yield Fault(
        "residual-reversed",
        "the residual is (q - p)+ instead of (p - q)+",
        "exchange the two laws in the residual",
        steps(reject=_reversed),
    )
    yield Fault(
        "resample-from-draft",
        "after a rejection the token is drawn from the draft",
        "draw from (p - q)+ normalised",
        steps(last=lambda p, q, x: q),
    )
    yield Fault(
        "greedy-residual",
        "after a rejection the likeliest token of the residual is emitted, not a draw from it",
        "draw from the residual",
        steps(last=_greedy),
    )
    yield Fault(
        "accept-with-target-probability",
        "a candidate is accepted with probability p(x) instead of min(1, p(x)/q(x))",
        "divide by the draft probability",
        steps(accept=lambda p, q, x: p[x]),
    )
    yield Fault(
        "ratio-inverted",
        "a candidate is accepted with probability min(1, q/p)",
        "exchange the two laws in the acceptance test",
        steps(accept=lambda p, q, x: min(1, q[x] / p[x]) if p[x] > 0 else p[x] * 0 + 1),
    )
    yield Fault(
        "greedy-draft-softmax-q",
        "candidates are the draft's likeliest tokens, but the test uses their softmax probabilities",
        "a deterministic candidate has a one-hot draft law: zero it in p and renormalise",
        steps(),
        draw="greedy",
    )
    yield Fault(
        "filtered-draft-raw-q",
        "candidates are drawn from the draft's two likeliest tokens, but the test uses the unfiltered draft law",
        "use in the test the law that candidates are drawn from",
        steps(),
        draw="filtered",
    )
    yield Fault(
        "distinct-candidates-raw-q",
        "candidates are drawn without replacement, but the draft law is not renormalised after a rejection",
        "zero the rejected token in q and renormalise",
        steps(),
        draw="distinct",
    )
    yield Fault(
        "distinct-candidates-sorted",
        "candidates drawn without replacement are verified in order of draft probability, not of their draw",
        "keep the order in which the candidates were drawn",
        _sorted,
        draw="distinct",
    )
    for power in (0.5, 2):
        yield Fault(
            f"target-temperature-{1 / power:g}",
            f"the target is used at {1 / power:g} times its temperature",
            "apply the sampling settings to both models",
            _tempered(power),
        )
    for factor in (1.01, 1.1, 1.5, 2.0):
        yield Fault(
            f"acceptance-ratio-times-{factor:g}",
            f"the acceptance ratio is {factor:g} times p/q",
            "accept with probability min(1, p/q)",
            steps(accept=_lenient(factor)),
        )


FAULTS: dict[str, Fault] = {fault.name: fault for fault in _known()}


def known_laws(p: Law, q: Law, candidates: int, *, draw: str, kind: str, only: str | None = None) -> dict[str, Law]:
    """The law of every known fault in this case, and of every rule of the registry that is not exact.

    `only` names one of them.

    A verifier is handed its candidates, so faults about their draw are left out unless that is how they are drawn.
    """
    found = {}
    for name, fault in FAULTS.items():
        if only not in (None, name):
            continue
        fits = fault.draw in (None, draw) or (fault.draw, draw) == ("greedy", "top-k")
        if kind == "verifier" and (not fits or name == "draft-noise-reused"):
            continue
        law = fault_law(fault, p, q, candidates, draw=draw)
        if law is not None:
            found[name] = law
    for name in verifier_names():
        rule = get_verifier(name)
        if only in (None, name) and not rule.exact and rule.replacement == (draw == "independent"):
            found[name] = list(emitted_law(rule, p, q, candidates=candidates).law)
    return found


def describe(name: str) -> tuple[str, str]:
    """Description and remedy of a fault, or of a rule of the registry."""
    if name in FAULTS:
        return FAULTS[name].description, FAULTS[name].remedy
    rule = get_verifier(name)
    return f"the rule {name!r} ({rule.source}), which is not exact", "use an exact rule, such as resispec"
