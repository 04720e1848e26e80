"""The command `resispec`: one line a subcommand, each a module with `add_arguments(parser)` and `run(args) -> int`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import resispec_ref

COMMANDS = {
    "audit": ("resispec_ref.audit_rules", "are the built-in rules, or your implementation, exact? how good are they?"),
    "law": ("resispec_ref.law_command", "the law that one rule emits for one pair of laws, in exact rationals"),
    "measure": ("resispec_ref.measure", "what each rule would gain on recorded pairs"),
    "map": ("resispec_ref.map", "acceptance against bias of every rule, and how acceptance decays with depth"),
    "record": ("resispec_ref.record", "record (target, draft) pairs from two causal language models"),
    "decode": ("resispec_ref.decode", "decode with two language models and a candidate tree; compare the rules"),
    "bench": ("resispec_ref.bench", "speed on this machine, as ratios"),
}
"""Name -> module, imported when it is the one called, and a help line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `resispec` with these arguments, by default the process's; returns the exit code.

    2 for what the user can put right (bad input, a missing file or extra), with the reason on stderr.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    args = _parser(arguments).parse_args(arguments)
    try:
        return importlib.import_module(COMMANDS[args.command][0]).run(args)
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, OSError) and error.filename:
            error = OSError(f"{error.filename}: {error.strerror}")
        print(f"resispec: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="resispec",
        description="A reference and correctness oracle for multi-candidate speculative sampling.",
        epilog="`resispec COMMAND --help` has the options and examples of a command.",
    )
    parser.add_argument("--version", action="version", version=f"resispec-ref {resispec_ref.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, words) in COMMANDS.items():
        command = commands.add_parser(name, help=words)
        if name in arguments[:1]:
            importlib.import_module(module).add_arguments(command)
    return parser
