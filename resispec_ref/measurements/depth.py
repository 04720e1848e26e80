"""`resispec map`: what every rule gains and costs on recorded pairs, and how acceptance decays with depth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resispec_ref.measurements.measure import Measurement, RuleMeasurement, measure
from resispec_ref.measurements.parallel import Progress
from resispec_ref.models.pairs import Pairs, Path
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier


@dataclass(frozen=True)
class Depth:
    """How one rule's acceptance grows with the number of candidates `K = 1 … depth`."""

    rule: str
    exact: bool
    sampled: bool
    acceptance_rate: list[float]
    """With `K` candidates, verified as `K`."""
    acceptance_rate_error: list[float]
    bound: list[float]
    decay: list[float] | None
    """Of `depth` candidates: the probability that candidate `i` is accepted where those before it were rejected."""


def depth_curves(
    pairs: Path | Pairs | None = None,
    *,
    depth: int,
    temperature: float = 1.0,
    verifiers: Iterable[str | Verifier] | None = None,
    positions: int | None = None,
    paths: int = 16,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Depth]:
    """The acceptance of rules by number of candidates, up to `depth`, and its decay along the candidates.

    Arguments as in `measure`. Path-independent rules are computed, others estimated from sampled paths. The decay is
    what the paper calls residual drift (arXiv 2608.24411, Figure 1); rules that look at all candidates at once have
    none.

    >>> import numpy as np
    >>> pairs = Pairs(np.log([[0.5, 0.3, 0.2]]), np.log([[0.6, 0.35, 0.05]]), np.array([[0, 1, 2]]))
    >>> (curve,) = depth_curves(pairs, depth=2, verifiers=["recursive-rejection"])
    >>> [round(rate, 4) for rate in curve.acceptance_rate], [round(rate, 4) for rate in curve.decay]
    ([0.85, 0.8575], [0.85, 0.05])
    """
    if depth < 1:
        raise ValueError(f"depth: {depth} candidates accept nothing; give 1 or more")
    rules = [get_verifier(rule) for rule in (verifier_names() if verifiers is None else verifiers)]
    found: list[Measurement] = []
    for K in range(1, depth + 1):
        found.append(
            measure(
                pairs,
                candidates=K,
                temperature=temperature,
                verifiers=rules,
                positions=positions,
                paths=paths,
                seed=seed,
            )
        )
        if progress is not None:
            progress(K, depth)
    return [_depth(rule, [by_number[rule.name] for by_number in found]) for rule in rules]


def _depth(rule: Verifier, rows: Sequence[RuleMeasurement]) -> Depth:
    decay, reached = list[float](), 1.0
    for rate in rows[-1].acceptance_per_candidate:
        decay.append(rate / reached if reached > 1e-12 else 0.0)
        reached -= rate
    return Depth(
        rule.name,
        rule.exact,
        rule.path_dependent,
        [row.acceptance_rate for row in rows],
        [row.acceptance_rate_error for row in rows],
        [row.optimal_acceptance for row in rows],
        decay if rule.sequential else None,
    )
