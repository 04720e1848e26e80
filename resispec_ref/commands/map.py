"""`resispec map`: what every rule gains and costs on recorded pairs, and how acceptance decays with depth."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from resispec_ref.commands.display.numbers import decimal_text
from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import describe, progress_bar
from resispec_ref.commands.measure import NOISE_NOTE, total_variation_text
from resispec_ref.measurements.depth import Depth, depth_curves
from resispec_ref.measurements.measure import Measurement, RuleMeasurement, measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec map`."""
    describe(
        parser,
        "Every verification rule on recorded pairs, exact or biased, on one map: total variation (TV) from the target\n"
        "against acceptance rate. Exact rules lie at TV 0 and below the bound; what lies above the bound is biased.\n"
        "With --depth: acceptance by number of candidates, and its decay from candidate to candidate.",
        [
            "resispec map                                       the recording that comes with the package",
            "resispec map --candidates 2 3 4 7 --temperature 1 0.6",
            "resispec map --candidates 3 --plot map.png",
            "resispec map --depth 16 --verifier recursive-rejection --verifier resispec --plot depth.png",
        ],
    )
    parser.add_argument("pairs", nargs="?", metavar="PAIRS", help="an .npz of `resispec record`; default: embedded")
    parser.add_argument("--candidates", type=int, nargs="+", default=[3], metavar="K", help="default: 3")
    parser.add_argument("--temperature", type=float, nargs="+", default=[1.0], metavar="T", help="default: 1")
    parser.add_argument("--depth", type=int, metavar="K", help="curves for 1 to K candidates instead of the map")
    parser.add_argument("--verifier", action="append", metavar="RULE", help="only this rule; may be repeated")
    parser.add_argument("--positions", type=int, metavar="N", help="only the first N positions")
    parser.add_argument("--paths", type=int, default=16, metavar="N", help="sampled paths; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sampled paths; default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--plot", metavar="FILE", help="draw it too (.png, .svg, .pdf); needs the extra `plot`")


def run(args: argparse.Namespace) -> int:
    """`resispec map`."""
    if args.plot is not None:
        from resispec_ref.commands.display import map_plot as map_plots
        from resispec_ref.commands.display import measure_plot as plots

        plots.check_available()
    common = {"verifiers": args.verifier, "positions": args.positions, "paths": args.paths, "seed": args.seed}
    if args.depth is not None:
        if len(args.temperature) > 1:
            raise ValueError("temperature: depth curves are drawn for one temperature at a time")
        with progress_bar("measuring") as progress:
            curves = depth_curves(
                args.pairs, depth=args.depth, temperature=args.temperature[0], progress=progress, **common
            )
        if args.plot is not None:
            map_plots.plot_depth(curves, args.plot)
        if args.json:
            print(json.dumps([vars(c) for c in curves], indent=2))
        else:
            _print_depth(curves)
        return 0
    with progress_bar("measuring") as progress:
        wanted = [(T, K) for T in args.temperature for K in args.candidates]
        found = []
        for T, K in wanted:
            found.append(measure(args.pairs, candidates=K, temperature=T, **common))
            progress(len(found), len(wanted))
    if args.plot is not None:
        map_plots.plot_map(found, args.plot)
    if args.json:
        print(json.dumps(list(map(_as_json, found)), indent=2))
    else:
        _print_map(found)
    return 0


def _as_json(found: Measurement) -> dict[str, Any]:
    rules = [vars(rule) for rule in found.rules]
    return {"candidates": found.candidates, "temperature": found.temperature, "rules": rules}


def _print_map(found: Sequence[Measurement]) -> None:
    for i, m in enumerate(found):
        print(f"{'' if i == 0 else chr(10)}temperature {m.temperature:g}, {m.candidates} candidates")
        rules = sorted(m.rules, key=lambda r: (r.drafting != "independent", r.drafting, r.acceptance_rate))
        columns = ["rule", "candidates", "claims", "accepts", "bound", "accepts / bound", "mean TV"]
        print_table(columns, map(_map_row, rules), right=columns[3:])
    print(
        f"\n{found[0].positions} positions, {found[0].width} tokens a row.\n"
        f"±: standard error of sampled paths, which alone give a TV.\n{NOISE_NOTE}\n"
        "No exact rule accepts more than the bound of its kind of candidates: what does is biased."
    )


def _map_row(r: RuleMeasurement) -> list[str]:
    return [
        r.rule,
        r.drafting,
        "exact" if r.exact else "biased",
        decimal_text(r.acceptance_rate, 4) + (f" ± {r.acceptance_rate_error:.4f}" if r.sampled else ""),
        decimal_text(r.optimal_acceptance, 4),
        f"{r.acceptance_rate / r.optimal_acceptance:.2%}",
        total_variation_text(r),
    ]


def _print_depth(curves: Sequence[Depth]) -> None:
    numbers = [str(K + 1) for K in range(len(curves[0].acceptance_rate))]
    print("acceptance rate by number of candidates")
    names = {c.rule: c.rule + (" *" if c.sampled else "") for c in curves}
    print_table(["rule", *numbers], [[names[c.rule], *(f"{v:.3f}" for v in c.acceptance_rate)] for c in curves])
    print("\nacceptance of candidate i where those before it were rejected, of as many candidates as there are columns")
    decays = [[names[c.rule], *(f"{v:.3f}" for v in c.decay)] for c in curves if c.decay is not None]
    print_table(["rule", *numbers], decays)
    errors = [error for c in curves if c.sampled for error in c.acceptance_rate_error]
    if errors:
        print(
            "\n* the state after a rejection depends on the rejected token: estimated from sampled paths, acceptance\n"
            f"rates with standard errors up to {max(errors):.4f}. All others are computed exactly."
        )
