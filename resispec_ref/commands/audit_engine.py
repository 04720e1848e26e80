"""`resispec audit FILE.py:FUNCTION --kind ...`: the audit of an implementation of one's own, from the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import progress_bar
from resispec_ref.commands.parts import executors
from resispec_ref.oracle import audit
from resispec_ref.oracle.report.page import case_table
from resispec_ref.oracle.report.report import Report
from resispec_ref.oracle.subjects.convert import Dtype, Inputs, Library
from resispec_ref.oracle.subjects.examples import example
from resispec_ref.oracle.subjects.load import load, there
from resispec_ref.oracle.subjects.subject import Draw, Kind

PROTOCOLS = """\
needs the extra "oracle": pip install "resispec-ref[oracle]"

--kind names how your function is called; V tokens, K candidates, the laws are arrays of probabilities:
  verifier  f(target, draft, candidates, rng) -> token
            laws (V,), candidates (K,) drawn by the audit
  sampler   f(target, draft, k, rng, n) -> tokens
            draws its own k candidates, n times; tokens (n,)
  chain     f(target, draft, drafted, rng) -> tokens
            rows (K + 1, V) and (K, V) of both models along the drafted tokens (K,); 1 to K + 1 tokens
  tree      f(target, draft, tokens, parents, rng) -> tokens
            nodes (N,) and the numbers of their parents, -1 below the root; rows (N + 1, V), the root's first
  law       f(target, draft) -> (m, R)
            accepted mass (V,), residual (V,) or a row for each rejected token (V, V); checked exactly
--example prints one of the kind asked for."""


_FORMATS = {".html": Report.to_html, ".md": Report.to_markdown, ".json": Report.to_json}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the audit of foreign code; the positional `implementation` is the caller's."""
    group = parser.add_argument_group("an implementation of your own", PROTOCOLS)
    group.add_argument("--kind", choices=get_args(Kind), default="verifier", help="its protocol (default: verifier)")
    group.add_argument(
        "--candidates",
        type=int,
        nargs="+",
        metavar="K",
        help="numbers of candidates, drafted tokens, or children of a tree's root (default: 1 2 3)",
    )
    group.add_argument(
        "--draw",
        choices=get_args(Draw),
        default="independent",
        help="how the candidates that it is handed are drawn (default: independent)",
    )
    group.add_argument("--library", choices=get_args(Library), default="numpy", help="whose arrays it takes")
    group.add_argument("--dtype", choices=get_args(Dtype), help="default: float64 for NumPy, else float32")
    group.add_argument("--inputs", choices=get_args(Inputs), default="probabilities", help="what the laws are given as")
    group.add_argument(
        "--noise",
        metavar="KIND:SIZE,...",
        help="it takes noise, not a generator: e.g. uniform:K+1 or uniform:K,gumbel:V",
    )
    group.add_argument("--batched", action=argparse.BooleanOptionalAction, help="default: found out by a small call")
    group.add_argument("--budget", type=float, default=60.0, metavar="SECONDS", help="default: 60")
    group.add_argument("--draws", type=int, default=1_000_000, help="at most, for each case (default: 1000000)")
    group.add_argument("--false-alarm-rate", type=float, default=1e-4, metavar="RATE", help="default: 1e-4")
    group.add_argument("--tolerance", type=float, metavar="TV", help="total variation that is no fault (default: 0)")
    group.add_argument(
        "--lossy",
        action="store_true",
        help="it is lossy by design: measure its worst total variation, beside what such a bias can buy",
    )
    group.add_argument("--call-limit", type=float, default=10.0, metavar="SECONDS", help="for one call (default: 10)")
    group.add_argument("--no-search", action="store_true", help="no search for the smallest counterexample")
    group.add_argument("--report", type=Path, metavar="FILE", help="write the report: .html, .md or .json")
    group.add_argument("--cases", action="store_true", help="print a table of the cases as well")
    group.add_argument("--example", action="store_true", help="print an implementation of this kind to start from")
    for option, settings in (
        ("--seed", {"type": int, "default": 0, "help": "seed of the draws"}),
        ("--json", {"action": "store_true", "help": "print JSON"}),
    ):
        if option not in parser._option_string_actions:
            group.add_argument(option, **settings)  # type: ignore[arg-type]


def run(args: argparse.Namespace) -> int:
    """Audit `args.implementation`; returns 0, 1 or 2: no fault found, fault found, could not run."""
    if args.example:
        print(example(args.kind, args.library), end="")
        return 0
    if args.report:
        check_place(args.report)
    implementation = load(args.implementation, kind=args.kind)
    with executors.chosen(args) as executor, progress_bar(f"auditing {args.implementation}") as bar:
        report = audit(
            implementation if executor is None or args.kind == "law" else there(args.implementation),
            kind=args.kind,
            candidates=args.candidates,
            draw=args.draw,
            library=args.library,
            dtype=args.dtype,
            inputs=args.inputs,
            noise=args.noise,
            batched=args.batched,
            budget=args.budget,
            draws=args.draws,
            false_alarm_rate=args.false_alarm_rate,
            tolerance=args.tolerance,
            lossy=args.lossy,
            call_limit=args.call_limit,
            search=not args.no_search,
            seed=args.seed,
            executor=executor,
            progress=lambda share, what: bar(round(1000 * min(share, 1.0)), 1000),
        )
    report.subject = args.implementation
    if args.report:
        write(report, args.report)
    if args.json:
        print(report.to_json())
    else:
        print(report)
        if args.cases:
            _print_cases(report)
    return report.exit_code


def check_place(path: Path) -> None:
    """Whether `write` can write there, which is asked before the audit.

    Raises:
        ValueError: a suffix that says no format, or no such folder.
    """
    if path.suffix not in _FORMATS:
        raise ValueError(f"report: {path.name}; the suffix says what is written: {', '.join(_FORMATS)}")
    if not path.parent.is_dir():
        raise ValueError(f"report: there is no folder {path.parent}; make it, or name another")


def write(report: Report, path: Path) -> None:
    """The report as the file's suffix says."""
    path.write_text(_FORMATS[path.suffix](report) + "\n", encoding="utf-8")


def _print_cases(report: Report) -> None:
    head, *rows = case_table(report.cases)
    print_table(head, rows, right=head[1:])
