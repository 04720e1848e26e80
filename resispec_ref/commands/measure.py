"""`resispec measure`: what each rule would gain on recorded pairs."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from resispec_ref.commands.display.numbers import decimal_text
from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import describe, progress_bar
from resispec_ref.commands.parts import executors
from resispec_ref.measurements.measure import Measurement, RuleMeasurement, measure


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
    executors.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--plot", metavar="FILE", help="draw it too (.png, .svg, .pdf); needs the extra `plot`")


def run(args: argparse.Namespace) -> int:
    """`resispec measure`."""
    if args.plot is not None:
        from resispec_ref.commands.display import measure_plot as plots

        plots.check_available()
    with executors.chosen(args) as executor, progress_bar("measuring") as progress:
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
    columns = ["rule", "candidates", "claims", "accepts", *each, "bound", "gap closed", "waste", "mean TV", "worst TV"]
    print_table(columns, map(_row, found.rules), right=columns[3:])
    models = (
        f" (target {found.metadata['target']}; draft {found.metadata['draft']})" if "draft" in found.metadata else ""
    )
    print(
        f"\n{found.source}{models}: {found.positions} positions, {found.width} tokens a row, "
        f"{found.candidates} candidates, temperature {found.temperature:g}."
    )
    print("waste: what a rule of the same bias could accept more, min(1, bound + TV) - accepts, mean over positions.")
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
        decimal_text(r.waste, 4),
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
