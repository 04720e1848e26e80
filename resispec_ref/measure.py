"""What each rule would gain on recorded pairs: acceptance, its distance to the bound, and bias."""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from resispec_ref import parallel
from resispec_ref._terminal import Progress, decimal_text, describe, print_table, progress_bar
from resispec_ref.bounds import optimal_acceptance_for
from resispec_ref.distributions import law_from_logits
from resispec_ref.law import emitted_law, estimated_law
from resispec_ref.pairs import Pairs, Path, iterate_pairs, pairs_shape
from resispec_ref.validation import check_candidates
from resispec_ref.verifiers import Verifier, get_verifier, verifier_names

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
    bound_of = {kind: float(np.mean(np.concatenate([bound[kind] for bound in bounds]))) for kind in kinds}
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


def _summary(rule: Verifier, rows: _Rows, bound: float, baseline: float | None) -> RuleMeasurement:
    n, rate = len(rows.rate), float(np.mean(rows.rate))
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
        total_variation_mean=float(np.mean(rows.tv)),
        total_variation_worst=float(np.max(rows.tv)),
        total_variation_noise=float(np.mean(rows.tv_noise)),
    )


def _first(part: Pairs, count: int) -> Pairs:
    return part if part.positions <= count else next(iterate_pairs(part, chunk=count))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec measure`."""
    describe(
        parser,
        "What each verification rule would gain on recorded pairs of laws: acceptance rate, in total and per\n"
        "candidate; the share of the gap between recursive rejection and the bound (optimal transport) that it\n"
        "closes; bias, as total variation. Rules without replacement are compared with their own bound.\n"
        "Rules whose state depends on the rejected token are estimated from sampled paths: ± is a standard error.",
        [
            "resispec measure                                    the recording that comes with the package",
            "resispec measure pairs.npz --candidates 4 --temperature 0.7 --plot measure.png",
            "resispec measure pairs.npz --workers 8              or --scheduler tcp://HOST:8786, a Dask cluster",
            "resispec measure --verifier resispec --verifier resispec-published --json",
        ],
    )
    parser.add_argument("pairs", nargs="?", metavar="PAIRS", help="an .npz of `resispec record`; default: embedded")
    parser.add_argument("--candidates", type=int, default=3, metavar="K", help="a position; default: %(default)s")
    parser.add_argument("--temperature", type=float, default=1.0, metavar="T", help="default: %(default)s")
    parser.add_argument("--verifier", action="append", metavar="RULE", help="only this rule; may be repeated")
    parser.add_argument("--positions", type=int, metavar="N", help="only the first N positions")
    parser.add_argument(
        "--paths", type=int, default=16, metavar="N", help="sampled paths a position; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sampled paths; default: %(default)s")
    parallel.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--plot", metavar="FILE", help="draw it too (.png, .svg, .pdf); needs the extra `plot`")


def run(args: argparse.Namespace) -> int:
    """`resispec measure`."""
    if args.plot is not None:
        from resispec_ref import plots

        plots.check_available()
    with parallel.chosen(args) as executor, progress_bar("measuring") as progress:
        found = measure(
            args.pairs,
            candidates=args.candidates,
            temperature=args.temperature,
            verifiers=args.verifier,
            positions=args.positions,
            paths=args.paths,
            seed=args.seed,
            executor=executor,
            progress=progress,
        )
    if args.plot is not None:
        plots.plot_measurement(found, args.plot)
    if args.json:
        print(json.dumps(asdict(found), indent=2, ensure_ascii=False))
    else:
        _print(found)
    return 0


_ORDINAL = {1: "st", 2: "nd", 3: "rd"}


def _print(found: Measurement) -> None:
    each = [f"{n}{_ORDINAL.get(n, 'th')}" for n in range(1, found.candidates + 1)]
    columns = ["rule", "candidates", "claims", "accepts", *each, "bound", "gap closed", "mean TV", "worst TV"]
    print_table(columns, map(_row, found.rules), right=columns[3:])
    models = (
        f" (target {found.metadata['target']}; draft {found.metadata['draft']})" if "draft" in found.metadata else ""
    )
    print(
        f"\n{found.source}{models}: {found.positions} positions, {found.width} tokens a row, "
        f"{found.candidates} candidates, temperature {found.temperature:g}."
    )
    if any(r.sampled for r in found.rules):
        print(
            f"±: standard error of {found.paths} sampled paths a position (seed {found.seed}), which alone give a TV.\n"
            f"{NOISE_NOTE}\nNothing sampled proves a rule exact or biased; that is what `resispec audit` is for."
        )


def _row(r: RuleMeasurement) -> list[str]:
    def rate(value: float, error: float) -> str:
        return decimal_text(value, 4) + (f" ± {error:.4f}" if r.sampled else "")

    return [
        r.rule,
        r.drafting,
        "exact" if r.exact else "biased",
        rate(r.acceptance_rate, r.acceptance_rate_error),
        *map(rate, r.acceptance_per_candidate, r.acceptance_per_candidate_error),
        decimal_text(r.optimal_acceptance, 4),
        "-" if r.gap_closed is None else f"{r.gap_closed:.1%}",
        total_variation_text(r),
        "-" if _only_noise(r) else decimal_text(r.total_variation_worst),
    ]


NOISE_NOTE = (
    "`noise`: the rule claims to be exact, and its TV is no more than sampling explains (--json has the number);\n"
    "`(noise ...)`: about how much of the TV beside it is sampling."
)


def total_variation_text(r: RuleMeasurement) -> str:
    """The mean total variation; `noise` where it is sampling noise alone, of a rule that claims to be exact."""
    noise = r.total_variation_noise
    if _only_noise(r):
        return "noise"
    return decimal_text(r.total_variation_mean) + (f" (noise {noise:.3f})" if noise > 1e-12 else "")


def _only_noise(r: RuleMeasurement) -> bool:
    """Within three times the noise, which is an estimate; a claim of exactness that is false by more is not hidden."""
    return r.exact and 1e-12 < r.total_variation_mean <= 3 * r.total_variation_noise
