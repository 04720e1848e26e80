"""The command `resispec`: one line a subcommand, each a module with `add_arguments(parser)` and `run(args) -> int`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

import resispec_ref

COMMANDS = {
    "audit": "are the built-in rules, or your implementation, exact? how good are they?",
    "law": "the law that one rule emits for one pair of laws, in exact rationals",
    "measure": "what each rule would gain on recorded pairs",
    "map": "acceptance against bias of every rule, and how acceptance decays with depth",
    "record": "record (target, draft) pairs from two causal language models",
    "decode": "decode with two language models and a candidate tree; compare the rules",
    "vectors": "conformance vectors, for engines in any language",
    "lossless": "do an engine's settings keep the target's law?",
    "badge": "what an audit found, as a badge or as a summary for the page of a CI job",
    "bench": "speed on this machine, as ratios",
}
"""Name -> help line; the module of that name here is imported when it is the one called."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `resispec` with these arguments, by default the process's; returns the exit code.

    2 for whatever stopped it: bad input, a missing file or extra, or something that a model or an implementation
    raised, in one sentence on stderr; with `--debug` the traceback comes before it.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    args = _parser(arguments).parse_args(arguments)
    try:
        return _module(args.command).run(args)
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        print(f"resispec: error: {_sentence(error)}", file=sys.stderr)
        return 2


def _sentence(error: Exception) -> str:
    """What happened and what to do; what is no fault of the input also says where it was raised."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, ValueError | OSError | ImportError):
        return str(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    said = " ".join(str(error).split()) or "no message"
    return (
        f"{type(error).__name__}: {said} (raised at {last.filename}:{last.lineno}); "
        "run it again with --debug for the traceback, and mend or report what it shows"
    )


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"resispec_ref.commands.{name}")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="resispec",
        description="A reference and correctness oracle for multi-candidate speculative sampling.",
        epilog="`resispec COMMAND --help` has the options and examples of a command.",
    )
    parser.add_argument("--version", action="version", version=f"resispec-ref {resispec_ref.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, words in COMMANDS.items():
        command = commands.add_parser(name, help=words)
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
        if name in arguments[:1]:
            _module(name).add_arguments(command)
    return parser
