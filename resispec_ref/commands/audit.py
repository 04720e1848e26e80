"""`resispec audit`: are the built-in rules what they declare themselves to be, or is an implementation exact?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from resispec_ref.commands import audit_engine
from resispec_ref.commands.display.numbers import decimal_text, law_text
from resispec_ref.commands.display.tables import growing_table
from resispec_ref.commands.display.terminal import describe, progress_bar
from resispec_ref.commands.parts import executors
from resispec_ref.measurements.measure import Measurement
from resispec_ref.measurements.rule_audit import RuleAudit, audit_rules
from resispec_ref.measurements.search import Case
from resispec_ref.rule.registry import verifier_names

COLUMNS = [
    *("rule", "replacement", "verdict", "law = target", "worst TV found", "smallest counterexample"),
    *("accepts", "bound"),
]


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
    executors.add_arguments(parser)
    audit_engine.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """`resispec audit`."""
    if args.implementation is not None or args.example:
        return audit_engine.run(args)
    with executors.chosen(args) as executor, progress_bar("auditing") as progress:
        audit = partial(audit_rules, args.verifier, seed=args.seed, executor=executor, progress=progress)
        if args.json:
            found, measurement = audit()
        else:
            with growing_table(COLUMNS, _widest(args.verifier or verifier_names())) as show:
                found, measurement = audit(done=lambda audited: show(_row(audited)))
    if args.json:
        print(json.dumps(_as_json(found, measurement), indent=2, ensure_ascii=False))
    else:
        _explain(measurement)
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


def _row(r: RuleAudit) -> list[str]:
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


def _widest(rules: Sequence[str]) -> list[list[str]]:
    """Rows as wide as any will be, but for counterexamples, which may be wrapped."""
    example = "p = (1/2, 1/2, 0), q = (1/2, 0, 1/2), K = 1: emits (1/2, 1/2, 0)"
    rest = ["without", "biased", "300 of 300", "0.333 (5 tokens, K = 3)", example, "0.5128 ± 0.0051", "0.9305"]
    return [[rule, *rest] for rule in rules]


def _explain(measurement: Measurement) -> None:
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
