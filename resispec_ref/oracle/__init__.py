"""Checking other people's verifiers: adapters, statistics with stated guarantees, search, report, pytest plugin.

`resispec_ref.audit` is the entry; `assert_exact` is the same for a test suite. Needs the extra `oracle` (SciPy).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from importlib.util import find_spec
from typing import Any, Literal

from resispec_ref.oracle.auditor import run_audit
from resispec_ref.oracle.cases.positions import PositionCase, fraction_case, position_cases
from resispec_ref.oracle.cases.tables import ChainCase, TreeCase, candidates_of, chain_cases, tree_cases
from resispec_ref.oracle.drawing.rounds import AnyCase, Plan, Progress
from resispec_ref.oracle.generate_kind import audit_generate
from resispec_ref.oracle.law_kind import audit_law
from resispec_ref.oracle.report.record import CaseResult, Counterexample, Diagnosis, Finding, HighResolution, Lossy
from resispec_ref.oracle.report.report import Report
from resispec_ref.oracle.subjects.convert import Dtype, Format, Inputs, Library
from resispec_ref.oracle.subjects.noise import Noise
from resispec_ref.oracle.subjects.subject import Draw, Drawer, Kind, Subject
from resispec_ref.sequence.targets import SequenceTarget

__all__ = [
    "CaseResult",
    "ChainCase",
    "Counterexample",
    "Diagnosis",
    "Finding",
    "HighResolution",
    "Lossy",
    "PositionCase",
    "Report",
    "TreeCase",
    "assert_exact",
    "audit",
    "fraction_case",
]


def audit(
    implementation: Any,
    *,
    kind: Kind | Literal["generate"],
    target: SequenceTarget | None = None,
    candidates: int | Sequence[int] | None = None,
    draw: Draw | Drawer = "independent",
    library: Library = "numpy",
    dtype: Dtype | None = None,
    inputs: Inputs = "probabilities",
    noise: str | None = None,
    batched: bool | None = None,
    cases: Sequence[AnyCase] | None = None,
    budget: float = 60.0,
    draws: int = 1_000_000,
    false_alarm_rate: float = 1e-4,
    confidence: float = 0.99,
    tolerance: float | None = None,
    call_limit: float = 10.0,
    search: bool = True,
    checks: bool = True,
    resolution: float = 1e-4,
    lossy: bool = False,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Report:
    """Is this implementation exact? The full documentation is that of `resispec_ref.audit`."""
    if find_spec("scipy") is None:
        raise ModuleNotFoundError("an audit needs SciPy: pip install 'resispec-ref[oracle]'")
    default = {
        "sampler": (1, 2, 3),
        "verifier": (1, 2, 3),
        "chain": (1, 2, 3),
        "tree": (1, 2, 3),
        "law": (1, 2, 3),
        "generate": (),
    }
    if kind not in default:
        raise ValueError(f"kind: {kind!r} is not one of {', '.join(default)}")
    for name, value, good in (
        ("budget", budget, budget > 0),
        ("draws", draws, draws >= 1),
        ("false_alarm_rate", false_alarm_rate, 0 < false_alarm_rate < 1),
        ("confidence", confidence, 0 < confidence < 1),
        ("tolerance", tolerance, tolerance is None or 0 <= tolerance < 1),
        ("call_limit", call_limit, call_limit > 0),
    ):
        if not good:
            raise ValueError(f"{name}: {value} is out of range")
    counts = [candidates] if isinstance(candidates, int) else list(candidates or default[kind])
    if any(k < 1 for k in counts):
        raise ValueError(f"candidates: {counts}; 1 or more are needed")
    if target is not None and kind != "generate":
        raise ValueError(f"target: kind {kind!r} has targets of its own; it is for kind 'generate'")
    if kind == "generate":
        given: dict[str, Any] = {
            "candidates": candidates,
            "dtype": dtype,
            "noise": noise,
            "batched": batched,
            "cases": cases,
            "lossy": lossy or None,
        }
        given |= {"executor": executor, "draw": None if draw == "independent" else draw}
        given |= {"library": None if library == "numpy" else library}
        refused = [name for name, value in given.items() if value is not None]
        if refused:
            raise ValueError(f"{refused[0]}: kind 'generate' does not take it")
        return audit_generate(
            implementation,
            target,
            budget=budget,
            draws=draws,
            false_alarm_rate=false_alarm_rate,
            confidence=confidence,
            tolerance=tolerance or 0.0,
            call_limit=call_limit,
            seed=seed,
        )
    _refuse_what_is_ignored(kind, draw, noise, batched, lossy)  # type: ignore[arg-type]
    chosen = _chosen(kind, counts, candidates is not None, cases, draw)
    if kind == "law":
        asked = dtype is not None or library != "numpy" or inputs != "probabilities"
        arrays = Format(library, dtype or _default_dtype(library), inputs) if asked else None
        positions = None if cases is None else [case for case in chosen if isinstance(case, PositionCase)]
        return audit_law(
            implementation,
            counts,
            form=arrays,
            cases=positions,
            tolerance=(arrays.tolerance if arrays else 0.0) if tolerance is None else tolerance,
            search=search,
            seconds=min(budget, 20.0),
        )
    dtype = dtype or _default_dtype(library)
    form = Format(library, dtype, inputs)
    parsed = Noise.parse(noise) if noise is not None else None
    subject = Subject(implementation, kind, form, parsed, draw, batched, call_limit)
    plan = Plan(
        budget,
        draws,
        false_alarm_rate,
        confidence,
        form.tolerance if tolerance is None else tolerance,
        search,
        checks,
        resolution,
        seed,
        cases is not None,
        lossy,
    )
    return run_audit(subject, chosen, plan, progress or (lambda share, what: None), executor)


def _default_dtype(library: Library) -> Dtype:
    return "float64" if library == "numpy" else "float32"


def _refuse_what_is_ignored(
    kind: Kind, draw: Draw | Drawer, noise: str | None, batched: bool | None, lossy: bool
) -> None:
    """Options that a kind has no use for are refused, not ignored."""
    if kind in ("sampler", "law") and draw != "independent":
        raise ValueError(f"draw: a {kind} is handed no candidates; leave it out")
    if kind == "chain" and draw == "distinct":
        raise ValueError("draw: 'distinct' is for several candidates at one place; a chain has one: independent, top-k")
    if lossy and kind == "law":
        raise ValueError("lossy: the total variation of a law is computed, not measured; leave it out")
    if kind == "law" and noise is not None:
        raise ValueError("noise: a law is computed, not drawn; leave it out")
    if kind in ("sampler", "law") and batched:
        raise ValueError(f"batched: a {kind} is called with one pair of laws; leave it out")


def _chosen(
    kind: Kind, counts: Sequence[int], said: bool, cases: Sequence[AnyCase] | None, draw: Draw | Drawer
) -> Sequence[AnyCase]:
    """The cases of an audit: those given, with as many candidates as were said, or the built-in ones."""
    if cases is not None:
        if not cases:
            raise ValueError("cases: there is none; give one or more, or leave it out for the built-in ones")
        needed = {"chain": ChainCase, "tree": TreeCase}.get(kind, PositionCase)
        wrong = [case for case in cases if not isinstance(case, needed)]
        if wrong:
            raise ValueError(f"cases: a {kind} is audited on {needed.__name__}, not on {type(wrong[0]).__name__}")
        chosen = [case for case in cases if not said or candidates_of(case) in counts]
        if not chosen:
            raise ValueError(f"cases: none of them has {', '.join(map(str, counts))} candidates")
        return chosen
    if kind == "chain":
        return chain_cases(counts)
    if kind == "tree":
        return tree_cases(counts)
    return position_cases(counts, distinct=draw in ("distinct", "top-k"))


def assert_exact(implementation: Callable[..., Any], *, kind: Kind | Literal["generate"], **options: Any) -> Report:
    """`audit`, raising `AssertionError` with the whole report unless its exit code is 0.

    >>> from resispec_ref.oracle import assert_exact
    >>> def sampler(target, draft, k, rng, n):
    ...     return rng.choice(len(target), size=n, p=target)
    >>> assert_exact(sampler, kind="sampler", draws=2_000).verdict
    'no fault found'
    """
    report = audit(implementation, kind=kind, **options)
    if report.exit_code:
        raise AssertionError(f"\n{report}")
    return report
