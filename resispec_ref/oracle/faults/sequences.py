"""Known faults of chains, as joint laws of what is emitted, completed by the target.

A chain fault is a step's fault made at every position, or a fault of the walk: which tokens count, which row is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from resispec_ref.oracle.cases.tables import Tables
from resispec_ref.oracle.faults.parts import Law, drawn, lenient, like, ratio, residual

Walk = Callable[[list[Law], list[Law], Sequence[int]], Iterator[tuple[tuple[int, ...], Any]]]
"""`(target rows, draft rows, drafted) -> emitted prefixes and their probabilities`."""


@dataclass(frozen=True)
class ChainFault:
    name: str
    description: str
    remedy: str
    walk: Walk


def chain_laws(target: Tables, draft: Tables) -> dict[str, np.ndarray]:
    """The joint law of every known fault, `(V^(K+1),)`.

    >>> p = (np.array([[0.25, 0.75]]), np.full((2, 2), 0.5))
    >>> chain_laws(p, (np.array([[0.75, 0.25]]),))["always-accept"].tolist()
    [0.375, 0.375, 0.125, 0.125]
    """
    return {name: chain_law(fault.walk, target, draft) for name, fault in CHAIN_FAULTS.items()}


def chain_law(walk: Walk, target: Tables, draft: Tables) -> np.ndarray:
    """What `walk` emits, averaged over drafted tokens and completed by the target."""
    V, K = target[0].shape[-1], len(draft)
    law = np.zeros(V ** (K + 1))
    for x in itertools.product(range(V), repeat=K):
        prefix, weight, p, q = 0, 1.0, [], []
        for i in range(K):
            p.append(target[i][prefix].tolist())
            q.append(draft[i][prefix].tolist())
            weight *= q[-1][x[i]]
            prefix = prefix * V + x[i]
        p.append(target[K][prefix].tolist())
        if weight == 0:
            continue
        for emitted, chance in walk(p, q, x):
            law += weight * chance * _completed(emitted, target)
    return law


def _completed(emitted: tuple[int, ...], target: Tables) -> np.ndarray:
    V, law, prefix = target[0].shape[-1], np.ones(1), 0
    for i, table in enumerate(target):
        if i < len(emitted):
            row = np.zeros((len(law), V))
            row[prefix, emitted[i]] = 1.0
            law, prefix = (law[:, None] * row).reshape(-1), prefix * V + emitted[i]
        else:
            law = (law[:, None] * table).reshape(-1)
    return law


@dataclass(frozen=True)
class Tokenwise:
    """Token by token; rows are shifted by the given offsets, and `goes_on` keeps what was drafted after a rejection.

    Called, it walks; `emit` runs it on given uniforms, `(n + 1, 2)` as `verify_chain` takes them.
    """

    accept: Callable[[Law, Law, int], Any] = ratio
    reject: Callable[[Law, Law, int], Law] = residual
    test_row: int = 0
    residual_row: int = 0
    bonus_row: int = 0
    goes_on: bool = False

    def __call__(self, p: list[Law], q: list[Law], x: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Any]]:
        w = 1.0
        for i in range(len(x)):
            a = self._test(p, q, x, i)
            rest = tuple(x[i + 1 :]) if self.goes_on else ()
            for y, mass in enumerate(self._residual(p, q, x, i)):
                if mass and a < 1:
                    yield (*x[:i], y, *rest), w * (1 - a) * mass
            w = w * a
        for y, mass in enumerate(_row(p, len(x) + self.bonus_row)):
            if mass and w:
                yield (*x, y), w * mass

    def emit(self, p: list[Law], q: list[Law], x: Sequence[int], uniforms: Sequence[Sequence[Any]]) -> tuple[int, ...]:
        for i in range(len(x)):
            if not uniforms[i][0] < self._test(p, q, x, i):
                rest = tuple(x[i + 1 :]) if self.goes_on else ()
                return (*x[:i], drawn(self._residual(p, q, x, i), uniforms[i][1]), *rest)
        return (*x, drawn(_row(p, len(x) + self.bonus_row), uniforms[len(x)][0]))

    def _test(self, p: list[Law], q: list[Law], x: Sequence[int], i: int) -> Any:
        return self.accept(_row(p, i + self.test_row), q[i], x[i])

    def _residual(self, p: list[Law], q: list[Law], x: Sequence[int], i: int) -> Law:
        return self.reject(_row(p, i + self.residual_row), q[i], x[i])


def _row(p: list[Law], i: int) -> Law:
    return p[min(max(i, 0), len(p) - 1)]


class AllPassingCount:
    """The number of accepted tokens is that of all passing positions, though an earlier one failed."""

    def __call__(self, p: list[Law], q: list[Law], x: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Any]]:
        a = [ratio(p[i], q[i], x[i]) for i in range(len(x))]
        for passes in itertools.product((True, False), repeat=len(x)):
            w = 1.0
            for ok, chance in zip(passes, a, strict=True):
                w = w * (chance if ok else 1 - chance)
            n = sum(passes)
            for y, mass in enumerate(self._last(p, q, x, n)):
                if mass and w:
                    yield (*x[:n], y), w * mass

    def emit(self, p: list[Law], q: list[Law], x: Sequence[int], uniforms: Sequence[Sequence[Any]]) -> tuple[int, ...]:
        n = sum(uniforms[i][0] < ratio(p[i], q[i], x[i]) for i in range(len(x)))
        return (*x[:n], drawn(self._last(p, q, x, n), uniforms[n][0 if n == len(x) else 1]))

    def _last(self, p: list[Law], q: list[Law], x: Sequence[int], n: int) -> Law:
        return p[n] if n == len(x) else residual(p[n], q[n], x[n])


@dataclass(frozen=True)
class Ensemble:
    """Drafted positions are verified for a mixture of both models, with this weight for the draft."""

    weight: float

    def __call__(self, p: list[Law], q: list[Law], x: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Any]]:
        return Tokenwise()(self._mixed(p, q), q, x)

    def emit(self, p: list[Law], q: list[Law], x: Sequence[int], uniforms: Sequence[Sequence[Any]]) -> tuple[int, ...]:
        return Tokenwise().emit(self._mixed(p, q), q, x, uniforms)

    def _mixed(self, p: list[Law], q: list[Law]) -> list[Law]:
        share = like(self.weight, p[0][0])
        mixed = [[(1 - share) * a + share * b for a, b in zip(*rows, strict=True)] for rows in zip(p, q, strict=False)]
        return [*mixed, p[-1]]


def _known() -> Iterator[ChainFault]:
    fresh = "draw from (p - q)+ of the rejected position, normalised"
    yield ChainFault(
        "resample-from-target",
        "after a rejection the token is drawn from the target instead of the residual",
        fresh,
        Tokenwise(reject=lambda p, q, x: p),
    )
    yield ChainFault(
        "always-accept",
        "all drafted tokens are emitted, whatever the target says",
        "accept with probability min(1, p/q)",
        Tokenwise(accept=lambda p, q, x: 1.0),
    )
    yield ChainFault(
        "all-passing-positions-count",
        "the accepted length is the number of all positions that pass, not of those before the first that fails",
        "stop at the first rejection (a cumulative product of the passes)",
        AllPassingCount(),
    )
    yield ChainFault(
        "goes-on-after-rejection",
        "what was drafted after a rejected token is kept",
        "drop the drafted tokens after the first rejection",
        Tokenwise(goes_on=True),
    )
    yield ChainFault(
        "bonus-from-previous-row",
        "the extra token is drawn from the target's row of the last drafted token, one too early",
        "draw the extra token from row K",
        Tokenwise(bonus_row=-1),
    )
    yield ChainFault(
        "residual-from-next-row",
        "the residual uses the target's row after the rejected token",
        fresh,
        Tokenwise(residual_row=1),
    )
    yield ChainFault(
        "rows-shifted",
        "drafted tokens are tested against the target's row after them",
        "row i of the target predicts drafted token i",
        Tokenwise(test_row=1, residual_row=1),
    )
    yield ChainFault(
        "absolute-difference",
        "the residual is |p - q| instead of the positive part of p - q",
        "clamp p - q at 0",
        Tokenwise(reject=_absolute),
    )
    yield ChainFault(
        "resample-from-draft",
        "after a rejection the token is drawn from the draft",
        fresh,
        Tokenwise(reject=lambda p, q, x: q),
    )
    for weight in (0.1, 0.2):
        yield ChainFault(
            f"ensemble-with-draft-{weight:g}",
            f"drafted positions are verified for an ensemble of both models, with the weight {weight:g} for the draft",
            "verify for the target alone, or accept the bias",
            Ensemble(weight),
        )
    for factor in (1.01, 1.1, 1.5, 2.0):
        yield ChainFault(
            f"acceptance-ratio-times-{factor:g}",
            f"the acceptance ratio is {factor:g} times p/q",
            "accept with probability min(1, p/q)",
            Tokenwise(accept=lenient(factor)),
        )


def _absolute(p: Law, q: Law, x: int) -> Law:
    mass = [abs(a - b) for a, b in zip(p, q, strict=True)]
    return [m / sum(mass) for m in mass] if sum(mass) else p


CHAIN_FAULTS: dict[str, ChainFault] = {fault.name: fault for fault in _known()}


def describe(name: str) -> tuple[str, str]:
    return CHAIN_FAULTS[name].description, CHAIN_FAULTS[name].remedy
