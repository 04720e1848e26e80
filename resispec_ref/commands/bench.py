"""`resispec bench`: what the rules cost on this machine, as ratios to one softmax over the same vocabulary."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import describe, progress_bar
from resispec_ref.measurements.bound_speed import findings
from resispec_ref.measurements.speed import LIMITS, VOCAB, machine, timings
from resispec_ref.rule.registry import verifier_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec bench`."""
    describe(
        parser,
        "Speed on this machine: each time as a multiple of one softmax over the same vocabulary, and as a share of\n"
        "the time that one core may take by this project's own limits. Set OMP_NUM_THREADS=1 for one core.\n\n"
        "exit code: 0 all within their limits, 1 not so",
        ["resispec bench", "resispec bench --json", "resispec bench --bound"],
    )
    parser.add_argument("--bound", action="store_true", help="how near the rules come to their bounds, in what time")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """`resispec bench`."""
    if args.bound:
        return _bound(args.json)
    with progress_bar("timing") as progress:
        found = []
        for timing in timings():
            found.append(timing)
            progress(len(found), 2 * len(verifier_names()) + 4)
    if args.json:
        print(json.dumps({"machine": machine(), "timings": list(map(asdict, found))}, indent=2))
    else:
        print_table(
            ["what", "work", "softmaxes", "share of limit"],
            (
                [t.what, t.work, f"{t.ratio:.1f}", "-" if t.share_of_limit is None else f"{t.share_of_limit:.0%}"]
                for t in found
            ),
            right=["softmaxes", "share of limit"],
        )
        limits = "; ".join(f"{name} {seconds:g} s" for name, seconds in LIMITS.items())
        print(f"\nsoftmaxes: times one softmax of {VOCAB:,} logits. Limits for one position: {limits}.\n{machine()}")
    return 1 if any(t.share_of_limit is not None and t.share_of_limit > 1 for t in found) else 0


def _bound(as_json: bool) -> int:

    with progress_bar("measuring") as progress:
        found = []
        for finding in findings():
            found.append(finding)
            progress(len(found), max(len(found), 90))
    if as_json:
        print(json.dumps({"machine": machine(), "findings": list(map(asdict, found))}, indent=2))
    else:
        rows = (
            [f.what, f"{f.found:.4g}", "-" if f.limit is None else f"{f.limit:g}", "yes" if f.kept else "NO"]
            for f in found
        )
        print_table(["what", "found", "limit", "kept"], rows, right=["found", "limit"])
        print(f"\nTimes: processor time, of one core with OMP_NUM_THREADS=1.\n{machine()}")
    return 0 if all(f.kept for f in found) else 1
