"""What each rule would gain on recorded pairs: acceptance, its distance to the bound, and bias."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from resispec_ref.bounds import optimal_acceptance_for
from resispec_ref.distributions import law_from_logits
from resispec_ref.law import emitted_law, estimated_law
from resispec_ref.measurements import parallel
from resispec_ref.measurements.parallel import Progress
from resispec_ref.models.pairs import Pairs, Path, iterate_pairs, pairs_shape
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier
from resispec_ref.validation import check_candidates

BASELINE = {"independent": "recursive-rejection", "distinct": "recursive-rejection-without-replacement"}
"""The rule from which the gap to the bound is counted, by how candidates are drawn."""

_CHUNK_ENTRIES = 2**16  # positions × width held at a time: the arrays of sampled paths are `paths` times as large


@dataclass(frozen=True)
class RuleMeasurement:
    """One rule on all positions: means over the positions, probabilities in `[0, 1]`."""

    rule: str
    exact: bool
    """What the rule claims; nothing sampled is a proof of it."""
    drafting: str
    """How its candidates are drawn: "independent" or "distinct", or in a way of the rule's own."""
    sampled: bool
    """Whether rejected paths were sampled; then the errors below are not 0."""
    acceptance_rate: float
    acceptance_rate_error: float
    """Standard error that the sampled paths leave, for these positions."""
    acceptance_per_candidate: list[float]
    acceptance_per_candidate_error: list[float]
    optimal_acceptance: float
    """The bound for this kind of candidates, averaged over the positions."""
    gap_closed: float | None
    """`(acceptance − baseline) / (bound − baseline)`, the baseline being recursive rejection of the same kind."""
    waste: float
    """`min(1, bound + total variation) − acceptance`, averaged: what a rule of this bias could accept more (T17)."""
    total_variation_mean: float
    total_variation_worst: float
    total_variation_noise: float
    """Where paths are sampled: about the mean total variation that sampling alone gives an exact rule."""


@dataclass(frozen=True)
class Measurement:
    """All rules on one recording."""

    source: str
    positions: int
    width: int
    candidates: int
    temperature: float
    paths: int
    seed: int
    rules: list[RuleMeasurement]
    metadata: dict[str, Any] = field(repr=False)

    def __getitem__(self, rule: str) -> RuleMeasurement:
        return next(r for r in self.rules if r.rule == rule)


class _Rows(NamedTuple):
    """One rule on some positions, an entry or row of each array a position."""

    rate: np.ndarray
    rate_error: np.ndarray
    per_candidate: np.ndarray
    per_candidate_error: np.ndarray
    tv: np.ndarray
    tv_noise: np.ndarray


def measure(
    pairs: Path | Pairs | None = None,
    *,
    candidates: int,
    temperature: float = 1.0,
    verifiers: Iterable[str | Verifier] | None = None,
    positions: int | None = None,
    paths: int = 16,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Measurement:
    """Acceptance, share of the gap to the bound, and bias of verification rules on recorded pairs.

    Path-independent rules are computed; for path-dependent ones `paths` rejected paths a position are sampled, with
    standard errors (`estimated_law`). The same arguments give the same answer, to the bit, whichever other rules are
    measured and whatever the executor.

    Args:
        pairs: a file of `resispec record`, `Pairs` in memory, or None for the embedded recording. Files are streamed.
        candidates: `K ≥ 1` candidates a position.
        temperature: of both laws, which are the softmax of the recorded logits over it.
        verifiers: rules, by name or as objects; by default all that take `K` candidates. Recursive rejection of the
            same kinds is measured in any case.
        positions: only the first so many.
        paths: sampled paths a position, 2 or more.
        seed: of the sampled paths.
        executor: computes the parts of the recording; any of `concurrent.futures`, or a cluster's. By default this
            process does.
        progress: called with the number of positions done and wanted.

    Raises:
        ValueError: an unknown rule, no candidates, a bad file (`iterate_pairs`), a bad temperature.

    >>> pairs = Pairs(np.log([[0.5, 0.3, 0.2]]), np.log([[0.6, 0.35, 0.05]]), np.array([[0, 1, 2]]))
    >>> found = measure(pairs, candidates=2, verifiers=["resispec"])
    >>> round(found["resispec"].acceptance_rate, 4), round(found["resispec"].optimal_acceptance, 4)
    (0.8975, 0.8975)
    """
    K = check_candidates(candidates)
    if K < 1:
        raise ValueError("candidates: 0 candidates accept nothing; give 1 or more")
    if positions is not None and positions < 1:
        raise ValueError(f"positions: {positions} leaves nothing to measure; give 1 or more")
    recorded, width = pairs_shape(pairs)
    wanted = min(recorded, positions or recorded)
    given = map(get_verifier, verifier_names() if verifiers is None else verifiers)
    rules = {rule.name: rule for rule in given if verifiers is not None or takes(rule, K)}
    kinds = {rule.drafting: rule for rule in rules.values()}
    rules = {name: get_verifier(name) for kind, name in BASELINE.items() if kind in kinds} | rules

    metadata: dict[str, Any] = {}
    work = partial(
        _measure_part, rules=list(rules.values()), kinds=kinds, K=K, temperature=temperature, paths=paths, seed=seed
    )
    parts, bounds, done = [], [], 0
    for rows, bound in parallel.in_order(work, _parts(pairs, width, wanted, metadata), executor):
        parts.append(rows)
        bounds.append(bound)
        done += len(next(iter(bound.values())))
        if progress is not None:
            progress(done, wanted)

    rows_of = {name: _Rows(*map(np.concatenate, zip(*(part[name] for part in parts), strict=True))) for name in rules}
    bound_of = {kind: np.concatenate([bound[kind] for bound in bounds]) for kind in kinds}
    baseline = {kind: float(np.mean(rows_of[name].rate)) for kind, name in BASELINE.items() if kind in kinds}
    found = [
        _summary(rule, rows_of[name], bound_of[rule.drafting], baseline.get(rule.drafting))
        for name, rule in rules.items()
    ]
    source = (
        "pairs in memory" if isinstance(pairs, Pairs) else "the embedded recording" if pairs is None else str(pairs)
    )
    return Measurement(source, done, width, K, float(temperature), paths, seed, found, metadata)


def takes(rule: Verifier, candidates: int) -> bool:
    """Whether `rule` is for so many candidates; a rule may refuse others by a `ValueError`."""
    try:
        emitted_law(rule, [0.5, 0.5], [0.5, 0.5], candidates=candidates)
    except ValueError as error:
        if not str(error).startswith("candidates:"):
            raise
        return False
    return True


def _parts(pairs: Path | Pairs | None, width: int, wanted: int, metadata: dict[str, Any]) -> Iterator[Pairs]:
    """The first `wanted` positions, a few at a time, which depends on nothing but the width; fills in `metadata`."""
    for part in iterate_pairs(pairs, chunk=max(1, _CHUNK_ENTRIES // width)):
        metadata.update(part.metadata)
        yield _first(part, wanted)
        wanted -= part.positions
        if wanted <= 0:
            return


def _measure_part(
    part: Pairs,
    rules: Sequence[Verifier],
    kinds: dict[str, Verifier],
    K: int,
    temperature: float,
    paths: int,
    seed: int,
) -> tuple[dict[str, _Rows], dict[str, np.ndarray]]:
    """Every rule, and the bound for every kind of candidates, on the positions of one part."""
    p = law_from_logits(part.target_logits, temperature=temperature)
    q = law_from_logits(part.draft_logits, temperature=temperature)
    rows = {}
    for rule in rules:
        if rule.path_dependent:
            rng = np.random.default_rng([seed, part.first_row, zlib.crc32(rule.name.encode())])
            e = estimated_law(rule, p, q, candidates=K, paths=paths, rng=rng)
            rows[rule.name] = _Rows(
                *(e.acceptance_rate, e.acceptance_rate_error),
                *(e.acceptance_per_candidate, e.acceptance_per_candidate_error),
                *(e.total_variation, e.total_variation_noise),
            )
        else:
            c = emitted_law(rule, p, q, candidates=K)
            values = c.acceptance_rate, c.acceptance_per_candidate, c.total_variation
            rows[rule.name] = _Rows(*(x for value in values for x in (value, value * 0)))
    return rows, {kind: optimal_acceptance_for(rule, p, q, candidates=K) for kind, rule in kinds.items()}


def _summary(rule: Verifier, rows: _Rows, bounds: np.ndarray, baseline: float | None) -> RuleMeasurement:
    n, rate, bound = len(rows.rate), float(np.mean(rows.rate)), float(np.mean(bounds))
    gap = 0.0 if baseline is None else bound - baseline
    return RuleMeasurement(
        rule=rule.name,
        exact=rule.exact,
        drafting=rule.drafting,
        sampled=rule.path_dependent,
        acceptance_rate=rate,
        acceptance_rate_error=float(np.sum(rows.rate_error**2) ** 0.5 / n),
        acceptance_per_candidate=np.mean(rows.per_candidate, axis=0).tolist(),
        acceptance_per_candidate_error=(np.sum(rows.per_candidate_error**2, axis=0) ** 0.5 / n).tolist(),
        optimal_acceptance=bound,
        gap_closed=None if baseline is None or gap <= 1e-12 else (rate - baseline) / gap,
        waste=float(np.mean(np.minimum(1, bounds + (0 if rule.exact else rows.tv)) - rows.rate)),
        total_variation_mean=float(np.mean(rows.tv)),
        total_variation_worst=float(np.max(rows.tv)),
        total_variation_noise=float(np.mean(rows.tv_noise)),
    )


def _first(part: Pairs, count: int) -> Pairs:
    return part if part.positions <= count else next(iterate_pairs(part, chunk=count))
