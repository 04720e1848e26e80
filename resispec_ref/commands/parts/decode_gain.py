"""`resispec decode --whole-trees`: whole trees beside rules node by node, on the same drafted trees."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

import numpy as np

from resispec_ref.commands.display.numbers import with_interval
from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import progress_bar
from resispec_ref.commands.parts.two_models import load, pair, prompt_tokens
from resispec_ref.measurements.accepted_length import write_text
from resispec_ref.measurements.tree_tables import parse_tree
from resispec_ref.measurements.whole_tree_gain import WALKS, whole_tree_gain
from resispec_ref.models.recording import PROMPTS
from resispec_ref.sequence.decoding import WHOLE_TREE
from resispec_ref.sequence.toy import Tokens

RULES = ("recursive-rejection", "resispec-published", "resispec", "optimal")
LONGEST = 24
"""Tokens that the target writes before a tree is drafted, at most."""


def run(args: argparse.Namespace) -> int:
    """`resispec decode --whole-trees`."""
    args.tree, args.temperature = args.tree or "d3b3", 1.0 if args.temperature is None else args.temperature
    branching, rules = parse_tree(args.tree), [name for name in args.verifier or RULES if name != WHOLE_TREE]
    if args.texts < 2:
        raise ValueError(f"texts: {args.texts}; an interval over texts needs 2 or more")
    model = load(args.target, args)
    target, draft = pair(args, model)
    prompts, end = args.prompt or PROMPTS, model.tokenizer.eos_token_id
    prefixes = list[Tokens]()
    with progress_bar("texts") as progress:
        while len(prefixes) < args.texts:
            rng = np.random.default_rng([args.seed, len(prefixes)])
            prompt = prompt_tokens(model, prompts[len(prefixes) % len(prompts)])
            text = write_text(target, prompt, int(rng.integers(1, LONGEST + 1)), rng, end)
            prefixes.append(prompt + (text.tokens[:-1] if text.tokens[-1] == end else text.tokens))
            progress(len(prefixes), args.texts)
    with progress_bar("trees") as progress:
        found = whole_tree_gain(rules, (target, draft), prefixes, branching, seed=args.seed, end=end, progress=progress)
    if args.json:
        print(json.dumps([asdict(r) for r in found], indent=2))
        return 0
    columns = ["rule", "claims", "accepted length", "whole tree : this"]
    rows = [
        [
            r.rule,
            "exact" if r.exact else "biased",
            with_interval(r.accepted_length, r.half_width),
            with_interval(r.gain, r.gain_half_width),
        ]
        for r in found
    ]
    print_table(columns, rows, right=columns[2:])
    print(
        f"\nA tree {args.tree} drafted at one place in each of {args.texts} texts by {model.name}, temperature "
        f"{args.temperature:g}, seed {args.seed}.\nWhole trees: the mean given the tree; rules node by node: the mean "
        f"of {WALKS} walks on it. ±: 95%, over texts."
    )
    return 0
