"""`resispec law`: what one rule emits for one pair of laws typed on the command line."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from typing import Any

import numpy as np

from resispec_ref.bounds import optimal_acceptance_for
from resispec_ref.commands.display.numbers import number_text
from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import describe
from resispec_ref.law import EmittedLaw, emitted_law
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier
from resispec_ref.validation import check_pair

MAX_CANDIDATES = 100
"""Of `resispec law`. Time and digits of an exact law grow with every candidate: on one core 100 of them take the
slowest rule, `resispec`, 7 seconds for eight tokens with denominators of four digits, 12 for three with seventeen."""

_DRAFTING = {"independent": "drawn independently", "distinct": "drawn without replacement"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec law`."""
    describe(
        parser,
        "The law of the token that a verification rule emits, its acceptance rate, and the highest acceptance rate of\n"
        "any exact rule for such candidates. Laws are comma-separated fractions or decimals; decimals are taken as\n"
        "the rationals they are, and the answers are exact.\n\n"
        "JSON keys: verifier, candidates, law, acceptance_rate, acceptance_per_candidate, total_variation,\n"
        'optimal_acceptance, exact (whether this law is the target\'s). Values are strings ("19/42"), or numbers\n'
        "with --float.\n\n"
        f"rules: {', '.join(verifier_names())}",
        [
            "resispec law --verifier resispec --target 1/2,3/10,1/5 --draft 3/5,7/20,1/20 --candidates 2",
            "resispec law --verifier resispec-published --target 1/3,1/3,1/3 --draft 1/2,1/2,0 --json",
            "resispec law --verifier resispec-published --option spread=water-filling --target .5,.5,0 --draft .5,0,.5",
        ],
    )
    parser.add_argument("--verifier", required=True, metavar="RULE", help="the rule's name")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="of the rule; may be repeated"
    )
    parser.add_argument("--target", required=True, metavar="LAW", help="the target law p, such as 1/2,3/10,1/5")
    parser.add_argument("--draft", required=True, metavar="LAW", help="the draft law q over the same tokens")
    words = f"drawn from q, {MAX_CANDIDATES} at most; default: %(default)s"
    parser.add_argument("--candidates", type=int, default=1, metavar="K", help=words)
    parser.add_argument("--float", action="store_true", help="compute in float64, not in rationals")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """`resispec law`."""
    if args.candidates > MAX_CANDIDATES:
        raise ValueError(
            f"candidates: {args.candidates}; this command takes up to {MAX_CANDIDATES}, since time and digits grow "
            "with each; call emitted_law in Python for more, best with floats"
        )
    rule = get_verifier(args.verifier, **dict(map(_option, args.option)))
    p, q = parse_law(args.target, "target"), parse_law(args.draft, "draft")
    if args.float:
        p, q = [float(x) for x in p], [float(x) for x in q]  # type: ignore[misc]
    p, q = check_pair(p, q)
    found = emitted_law(rule, p, q, candidates=args.candidates)
    bound = optimal_acceptance_for(rule, p, q, candidates=args.candidates)
    # float64: each of a few sums over the vocabulary for each candidate rounds by 2^-53 at most a token
    rounding = 8 * len(p) * (args.candidates + 1) * 2.0**-53 if args.float else 0
    exact = bool(found.total_variation <= rounding)
    if args.json:
        print(json.dumps(_as_json(args.verifier, args.candidates, found, bound, exact), indent=2))
    else:
        _print(rule, p, q, args.candidates, found, bound, exact)
    return 0


def parse_law(text: str, name: str) -> list[Fraction]:
    """`"1/2, 0.3, 1/5"` as rationals; a `ValueError` names the argument, the place and the text that is no number.

    >>> [str(x) for x in parse_law("1/2,0.3,1/5", "target")]
    ['1/2', '3/10', '1/5']
    """
    law = []
    for i, entry in enumerate(text.split(",")):
        try:
            law.append(Fraction(entry.strip()))
        except (ValueError, ZeroDivisionError):
            raise ValueError(
                f"{name}, entry {i}: {entry.strip()!r} is not a fraction or a decimal; write 1/2,3/10,1/5 or .5,.3,.2"
            ) from None
    return law


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"option: {text!r} is not NAME=VALUE, such as spread=water-filling")
    for number in (int, Fraction):
        try:
            return name, number(value)
        except (ValueError, ZeroDivisionError):
            continue
    return name, value


def _as_json(name: str, K: int, found: EmittedLaw, bound: Any, exact: bool) -> dict[str, Any]:
    def value(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return [value(y) for y in x]
        return float(x) if isinstance(x, float) else str(x)

    return {
        "verifier": name,
        "candidates": K,
        "law": value(found.law),
        "acceptance_rate": value(found.acceptance_rate),
        "acceptance_per_candidate": value(found.acceptance_per_candidate),
        "total_variation": value(found.total_variation),
        "optimal_acceptance": value(bound),
        "exact": exact,
    }


def _print(rule: Verifier, p: Any, q: Any, K: int, found: EmittedLaw, bound: Any, exact: bool) -> None:
    rows = [[str(x), *map(number_text, (p[x], q[x], found.law[x], found.law[x] - p[x]))] for x in range(len(p))]
    print_table(["token", "target", "draft", "emitted", "emitted - target"], rows, right=["token"])
    each = ", ".join(map(number_text, found.acceptance_per_candidate)) or "no candidate"
    kind = _DRAFTING.get(rule.drafting, f"drawn as {rule.drafting}")
    print(f"\n{rule.name}, {K} candidate{'s' * (K != 1)} {kind}")
    print(f"acceptance rate: {_both(found.acceptance_rate)}; per candidate: {each}")
    print(f"bound on exact rules: {_both(bound)}")
    print(f"total variation from the target: {_both(found.total_variation)}")
    print("the emitted law is the target's" if exact else "the emitted law is not the target's: biased")


def _both(x: Any) -> str:
    """`19/42 (0.452381)`."""
    return (
        number_text(x) if isinstance(x, float) or Fraction(x).denominator == 1 else f"{number_text(x)} ({float(x):.6g})"
    )
