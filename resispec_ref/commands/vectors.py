"""`resispec vectors`: conformance vectors, for engines in any language."""

from __future__ import annotations

import argparse
from pathlib import Path

from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import describe
from resispec_ref.conformance.write import WRITTEN, write_vectors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec vectors`."""
    describe(
        parser,
        "Write conformance vectors to a folder: inputs, the exact answers of right verifiers, and what known faults\n"
        "answer, as JSON Lines with a JSON Schema; and what reads them: a test for pytest, a header for C++, a module\n"
        "for Rust. By default the copy that is released with this package. Files into which you put your verifier are\n"
        "not replaced.",
        [
            "resispec vectors conformance && python -m pytest conformance",
            "resispec vectors conformance && g++ -std=c++17 -o verifier conformance/verifier.cpp",
            "resispec vectors conformance && rustc -O -o verifier conformance/verifier.rs",
            "resispec vectors conformance --compute    anew, half a minute: the same bytes (needs the extra `oracle`)",
        ],
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="made if it is not there")
    parser.add_argument("--compute", action="store_true", help="compute the vectors anew")


def run(args: argparse.Namespace) -> int:
    """`resispec vectors`."""
    paths = write_vectors(args.directory, compute=args.compute)
    print_table(["written", "what it is"], [[str(path), WRITTEN[path.name][1]] for path in paths])
    return 0
