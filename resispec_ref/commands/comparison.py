"""The oracle beside a ratio test like those in engines' own suites: `python -m resispec_ref.commands.comparison`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from resispec_ref.commands.display.tables import print_table
from resispec_ref.oracle import comparison
from resispec_ref.oracle.comparison import compare


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m resispec_ref.commands.comparison", description=comparison.__doc__)
    parser.add_argument("--runs", type=int, default=100, help="of a correct and of a faulty verifier (default: 100)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    rows = []
    for row in compare(args.runs, seed=args.seed):
        cells = [row["test"]]
        for label in ("fails a correct one", "finds the faulty one"):
            low, high = row[f"{label}, 95%"]
            cells.append(f"{row[label]} of {row['runs']} ({low:.1%} to {high:.1%})")
        rows.append((*cells, f"{row['seconds a run']:.2f}"))
    print_table(
        ("test", "fails a correct verifier", "finds a ratio 1% too high", "seconds a run"),
        rows,
        right=("seconds a run",),
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
