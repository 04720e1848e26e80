"""`resispec audit` without an argument: is every built-in rule what it declares itself to be?

For each rule: its emitted law against the target, `==` in rationals, on random pairs; the smallest pair on which they
differ, by shrinking; the worst total variation, by hill climbing; its acceptance against the bound on recorded pairs.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from resispec_ref import parallel
from resispec_ref._terminal import Progress, decimal_text, describe, law_text, print_table, progress_bar
from resispec_ref.law import EmittedLaw, emitted_law
from resispec_ref.measure import Measurement, RuleMeasurement, measure, takes
from resispec_ref.pairs import Pairs, load_pairs
from resispec_ref.search import Case, climb, random_cases, search, shrink, size
from resispec_ref.verifiers import Verifier, get_verifier, verifier_names

CASES = 300
"""Random rational pairs tried for each rule, the same ones for all."""

_CLIMBS = ((3, 1), (4, 2), (5, 3))  # tokens and candidates; larger vocabularies are worse still, but slower
_ROUNDING = 1e-9  # a float climb above this is looked at in rationals, where the answer is yes or no
_EVERY = 8  # recorded positions between those that are measured
_CANDIDATES = 3


@dataclass(frozen=True)
class RuleAudit:
    """What was found out about one rule."""

    rule: str
    replacement: bool
    declared_exact: bool
    exact: bool
    """Whether no case was found on which the emitted law differs from the target."""
    cases: int
    """Rational cases on which the two were compared with `==`."""
    cases_biased: int
    worst_total_variation: Fraction
    worst_case: Case | None
    counterexample: Case | None
    """The smallest case found on which they differ: target, draft, candidates."""
    counterexample_law: tuple[Fraction, ...] | None
    measured: RuleMeasurement

    @property
    def as_declared(self) -> bool:
        return self.exact == self.declared_exact


def audit_rule(rule: Verifier, measured: RuleMeasurement, *, seed: int = 0, cases: int = CASES) -> RuleAudit:
    """Look for a case on which `rule` does not emit the target's law; `seed` fixes the cases tried."""

    def law_of(case: Case) -> EmittedLaw:
        return emitted_law(rule, case.target, case.draft, candidates=case.candidates)

    def biased(case: Case) -> bool:
        return case.candidates in allowed and tuple(law_of(case).law) != case.target

    def score(p: np.ndarray, q: np.ndarray, K: int) -> np.ndarray:
        return np.asarray(emitted_law(rule, p, q, candidates=K).total_variation)

    allowed = [K for K in range(5) if takes(rule, K)]
    drawn = itertools.islice(random_cases(np.random.default_rng(seed), candidates=max(allowed)), cases)
    tried = [case for case in drawn if case.candidates in allowed]
    faults = search(biased, tried)
    rng = np.random.default_rng([seed, 1])
    climbs = [climb(score, rng, vocab=V, candidates=K, flat=_ROUNDING) for V, K in _CLIMBS if K in allowed]
    suspects = [case for worst, case in climbs if worst > _ROUNDING and biased(case)]
    tried, found = tried + suspects, faults + suspects
    smallest = min((shrink(biased, case) for case in found[:3]), key=size, default=None)
    total_variations = [(Fraction(law_of(case).total_variation), case) for case in found]
    worst, worst_case = max(total_variations, key=lambda pair: pair[0], default=(Fraction(0), None))
    return RuleAudit(
        rule=rule.name,
        replacement=rule.replacement,
        declared_exact=rule.exact,
        exact=not found,
        cases=len(tried),
        cases_biased=len(found),
        worst_total_variation=worst,
        worst_case=worst_case,
        counterexample=smallest,
        counterexample_law=None if smallest is None else tuple(law_of(smallest).law),
        measured=measured,
    )


def audit_rules(
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    cases: int = CASES,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> tuple[list[RuleAudit], Measurement]:
    """The audit of the rules called `names`, all by default, and the measurement on recorded pairs beside it.

    An `executor` (of `concurrent.futures`, or a cluster's) audits a rule a part; the answer is the same.
    """
    rules = list(map(get_verifier, verifier_names() if names is None else names))
    step = progress or (lambda done, wanted: None)
    measurement = measure(_some_pairs(), candidates=_CANDIDATES, verifiers=rules, seed=seed, executor=executor)
    step(1, len(rules) + 1)
    found = []
    work = partial(_audit_measured, seed=seed, cases=cases)
    for audited in parallel.in_order(work, [(rule, measurement[rule.name]) for rule in rules], executor):
        found.append(audited)
        step(len(found) + 1, len(rules) + 1)
    return found, measurement


def _audit_measured(rule: tuple[Verifier, RuleMeasurement], seed: int, cases: int) -> RuleAudit:
    return audit_rule(*rule, seed=seed, cases=cases)


def _some_pairs() -> Pairs:
    pairs = load_pairs()
    f_p, f_q, ids = (x[::_EVERY] for x in (pairs.target_logits, pairs.draft_logits, pairs.token_ids))
    return replace(pairs, target_logits=f_p, draft_logits=f_q, token_ids=ids)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec audit`: this module's, and those of the audit of foreign code."""
    describe(
        parser,
        "Without an argument: audit the built-in verification rules. For each, whether the emitted token has the\n"
        "target's law, `==` in rationals over random pairs; the worst total variation (TV) found; the smallest\n"
        "counterexample, found by search and shrinking; the acceptance rate against the bound on recorded pairs.\n"
        "With FILE:FUNCTION: audit an implementation of your own.\n\n"
        "exit code: 0 every rule is what it declares itself to be (or: no fault found); 1 not so; 2 could not run",
        [
            "resispec audit",
            "resispec audit --verifier resispec-published --seed 7 --json",
            "resispec audit my_engine.py:verify --workers 8    or --scheduler tcp://HOST:8786, a Dask cluster",
            "resispec audit --example --kind tree > my_engine.py    an implementation to start from",
        ],
    )
    parser.add_argument("implementation", nargs="?", metavar="FILE:FUNCTION", help="default: the built-in rules")
    parser.add_argument("--verifier", action="append", metavar="RULE", help="only this built-in rule; may be repeated")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the search; default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parallel.add_arguments(parser)
    importlib.import_module("resispec_ref.oracle.command").add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """`resispec audit`."""
    if args.implementation is not None or args.example:
        return importlib.import_module("resispec_ref.oracle.command").run(args)
    with parallel.chosen(args) as executor, progress_bar("auditing") as progress:
        found, measurement = audit_rules(args.verifier, seed=args.seed, executor=executor, progress=progress)
    if args.json:
        print(json.dumps(_as_json(found, measurement), indent=2, ensure_ascii=False))
    else:
        _print(found, measurement)
    liars = [r for r in found if not r.as_declared]
    for r in liars:
        print(f"resispec: {r.rule} declares itself {_word(r.declared_exact)}, but {_evidence(r)}", file=sys.stderr)
    return 1 if liars else 0


def _word(exact: bool) -> str:
    return "exact" if exact else "biased"


def _evidence(r: RuleAudit) -> str:
    if r.counterexample is None:
        return f"emits the target's law on all {r.cases} pairs tried"
    return f"for {_counterexample(r)}"


def _counterexample(r: RuleAudit) -> str:
    if r.counterexample is None or r.counterexample_law is None:
        return "none"
    p, q, K = r.counterexample
    return f"p = {law_text(p)}, q = {law_text(q)}, K = {K}: emits {law_text(r.counterexample_law)}"


def _worst(r: RuleAudit) -> str:
    if r.worst_case is None:
        return "0"
    return f"{decimal_text(r.worst_total_variation)} ({len(r.worst_case.target)} tokens, K = {r.worst_case.candidates})"


def _print(found: list[RuleAudit], measurement: Measurement) -> None:
    def row(r: RuleAudit) -> list[str]:
        error = f" ± {r.measured.acceptance_rate_error:.4f}" if r.measured.sampled else ""
        return [
            r.rule,
            "with" if r.replacement else "without",
            _word(r.exact),
            f"{r.cases - r.cases_biased} of {r.cases}",
            _worst(r),
            _counterexample(r),
            decimal_text(r.measured.acceptance_rate, 4) + error,
            decimal_text(r.measured.optimal_acceptance, 4),
        ]

    columns = ["rule", "replacement", "verdict", "law = target", "worst TV found", "smallest counterexample"]
    print_table([*columns, "accepts", "bound"], map(row, found))
    about = measurement.metadata
    print(
        "\nlaw = target: with == in rationals, on random pairs p, q of 1 to 6 tokens with K = 0 to 4 candidates."
        "\naccepts: acceptance rate on recorded pairs, "
        f"{measurement.candidates} candidates, temperature {measurement.temperature:g}, mean over "
        f"{measurement.positions} positions; ± is the standard error where\nrejected paths are sampled. "
        f"Target: {about['target']}; draft: {about['draft']}."
        "\nbound: the most that any exact rule can accept of such candidates; a rule that accepts more is biased."
    )


def _as_json(found: list[RuleAudit], measurement: Measurement) -> dict[str, Any]:
    def case(c: Case | None) -> dict[str, Any] | None:
        if c is None:
            return None
        return {"target": list(map(str, c.target)), "draft": list(map(str, c.draft)), "candidates": c.candidates}

    def rule(r: RuleAudit) -> dict[str, Any]:
        example = case(r.counterexample)
        if example is not None and r.counterexample_law is not None:
            example["law"] = list(map(str, r.counterexample_law))
        plain: Callable[[Any], dict[str, Any]] = asdict
        return plain(replace(r, worst_case=None, counterexample=None, counterexample_law=None)) | {
            "as_declared": r.as_declared,
            "worst_total_variation": str(r.worst_total_variation),
            "worst_case": case(r.worst_case),
            "counterexample": example,
        }

    recorded = {k: v for k, v in asdict(measurement).items() if k not in ("rules", "metadata")}
    return {"rules": list(map(rule, found)), "recorded": recorded}
