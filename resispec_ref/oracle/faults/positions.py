"""Known faults at one position, as laws: what each faulty verifier would emit, exactly.

A fault is a function of target, draft and the candidates drawn that gives the law of the emitted token; averaged over
the candidates it is what an audit would see. Plain Python over numbers of any kind, so rational in, rational out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from resispec_ref.law import emitted_law
from resispec_ref.oracle.faults.parts import (
    DoesNotApply,
    Given,
    Law,
    OfSeveral,
    OneUniform,
    Sorted,
    Steps,
    UniformReused,
    absolute_difference,
    drafted_only,
    for_draw,
    greedy_residual,
    leftover_on_last,
    lenient,
    one_race,
    residual,
    reversed_residual,
    softmax_residual,
    tempered,
    without,
)
from resispec_ref.rule.registry import get_verifier, verifier_names


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
    except DoesNotApply:
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


def _known() -> Iterator[Fault]:
    yield Fault(
        "resample-from-target",
        "after a rejection the token is drawn from the target instead of the residual",
        "draw from (p - q)+ normalised, not from p",
        Steps(last=lambda p, q, x: p),
    )
    yield Fault(
        "last-draw-from-the-original-target",
        "candidates are tested against the residuals, but the last draw is from the target as it was at first",
        "draw from the last residual",
        OfSeveral(original=True),
    )
    yield Fault(
        "no-residual",
        "every candidate is tested against the target itself, and after the last rejection the token is drawn from it",
        "replace the target by the residual (p - q)+, normalised, after each rejection",
        OfSeveral(reject=lambda p, q, x: p),
    )
    yield Fault(
        "residual-of-the-drafted-token-only",
        "the residual lowers only the drafted token: q is subtracted at it and nowhere else",
        "subtract the whole row q, not a one-hot of it",
        Steps(reject=drafted_only),
    )
    yield Fault(
        "softmax-of-the-residual",
        "the positive part of p - q goes through a softmax instead of being divided by its sum",
        "divide by the sum",
        Steps(reject=softmax_residual),
    )
    yield Fault(
        "always-accept",
        "the first candidate is emitted, whatever the target says",
        "accept with probability min(1, p/q)",
        Steps(accept=lambda p, q, x: p[0] * 0 + 1),
    )
    yield Fault(
        "acceptance-uniform-reused",
        "the uniform of the acceptance test is used again to draw from the residual",
        "draw a fresh uniform for the residual",
        UniformReused(),
    )
    yield Fault(
        "one-uniform-for-all-candidates",
        "all candidates are tested against one uniform",
        "draw a uniform for each candidate",
        OneUniform(),
    )
    yield Fault(
        "draft-noise-reused",
        "the exponential (or Gumbel) noise that drew the candidate is used again for the residual",
        "draw fresh noise for the residual",
        one_race,
        draw="independent",
    )
    yield Fault(
        "residual-not-updated",
        "later candidates are tested against the original target instead of the residual",
        "replace the target by the residual after each rejection",
        Steps(reject=lambda p, q, x: p, last=residual),
    )
    yield Fault(
        "residual-not-normalised",
        "the residual is sampled without normalising it: what its sum lacks falls on the last token",
        "divide the residual by its sum, or scale the uniform by it",
        Steps(last=leftover_on_last),
    )
    yield Fault(
        "absolute-difference",
        "the residual is |p - q| instead of the positive part of p - q",
        "clamp p - q at 0",
        Steps(reject=absolute_difference),
    )
    yield Fault(
        "residual-reversed",
        "the residual is (q - p)+ instead of (p - q)+",
        "exchange the two laws in the residual",
        Steps(reject=reversed_residual),
    )
    yield Fault(
        "resample-from-draft",
        "after a rejection the token is drawn from the draft",
        "draw from (p - q)+ normalised",
        Steps(last=lambda p, q, x: q),
    )
    yield Fault(
        "greedy-residual",
        "after a rejection the likeliest token of the residual is emitted, not a draw from it",
        "draw from the residual",
        Steps(last=greedy_residual),
    )
    yield Fault(
        "accept-with-target-probability",
        "a candidate is accepted with probability p(x) instead of min(1, p(x)/q(x))",
        "divide by the draft probability",
        Steps(accept=lambda p, q, x: p[x]),
    )
    yield Fault(
        "ratio-inverted",
        "a candidate is accepted with probability min(1, q/p)",
        "exchange the two laws in the acceptance test",
        Steps(accept=lambda p, q, x: min(1, q[x] / p[x]) if p[x] > 0 else p[x] * 0 + 1),
    )
    yield Fault(
        "greedy-draft-softmax-q",
        "candidates are the draft's likeliest tokens, but the test uses their softmax probabilities",
        "a deterministic candidate has a one-hot draft law: zero it in p and renormalise",
        Steps(),
        draw="greedy",
    )
    yield Fault(
        "filtered-draft-raw-q",
        "candidates are drawn from the draft's two likeliest tokens, but the test uses the unfiltered draft law",
        "use in the test the law that candidates are drawn from",
        Steps(),
        draw="filtered",
    )
    yield Fault(
        "distinct-candidates-raw-q",
        "candidates are drawn without replacement, but the draft law is not renormalised after a rejection",
        "zero the rejected token in q and renormalise",
        Steps(),
        draw="distinct",
    )
    yield Fault(
        "distinct-candidates-sorted",
        "candidates drawn without replacement are verified in order of draft probability, not of their draw",
        "keep the order in which the candidates were drawn",
        Sorted(following=without),
        draw="distinct",
    )
    for power in (0.5, 2):
        yield Fault(
            f"target-temperature-{1 / power:g}",
            f"the target is used at {1 / power:g} times its temperature",
            "apply the sampling settings to both models",
            tempered(power),
        )
    for factor in (1.01, 1.1, 1.5, 2.0):
        yield Fault(
            f"acceptance-ratio-times-{factor:g}",
            f"the acceptance ratio is {factor:g} times p/q",
            "accept with probability min(1, p/q)",
            Steps(accept=lenient(factor)),
        )


FAULTS: dict[str, Fault] = {fault.name: fault for fault in _known()}


def known_laws(p: Law, q: Law, candidates: int, *, draw: str, kind: str, only: str | None = None) -> dict[str, Law]:
    """The law of every known fault in this case, and of every rule of the registry that is not exact.

    `only` names one of them.

    A fault is that of a verifier which is right otherwise for candidates drawn so (`for_draw`). A verifier is handed
    its candidates, so faults about their draw are left out unless that is how they are drawn.
    """
    found = {}
    for name, fault in FAULTS.items():
        if only not in (None, name):
            continue
        fits = fault.draw in (None, draw) or (fault.draw, draw) == ("greedy", "top-k")
        if kind == "verifier" and (not fits or name == "draft-noise-reused"):
            continue
        if fault.draw is None:
            fault = replace(fault, given=for_draw(fault.given, draw))
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
