"""`resispec decode --tables`: accepted length and bias of every rule over the paper's trees and temperatures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np

from resispec_ref.commands.display.numbers import decimal_text, with_interval
from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import progress_bar
from resispec_ref.commands.parts.two_models import load, prompt_tokens
from resispec_ref.measurements.accepted_length import Text, pooled, write_text
from resispec_ref.measurements.tree_tables import (
    N_GRAM_DRAFTS,
    TEMPERATURES,
    TREES,
    VOCABULARY,
    Row,
    depth_and_branching,
    model_rows,
    ngram_rows,
    table_rules,
)
from resispec_ref.models.language_model import LanguageModel, parse_layers
from resispec_ref.models.pairs import load_pairs
from resispec_ref.models.recording import PROMPTS
from resispec_ref.rule.registry import get_verifier
from resispec_ref.sequence.decoding import CachedModel

TABLE_DRAFTS = ("14-17", "16-21")
"""Layers left out of SmolLM2-135M, which has 30, for two drafts of different quality."""
TEXT_LENGTH = 32


def run(args: argparse.Namespace) -> int:
    """`resispec decode --tables`."""
    rules = args.verifier or table_rules()
    trees = TREES if args.tree is None else (args.tree,)
    temperatures = TEMPERATURES if args.temperature is None else (args.temperature,)
    skipped = TABLE_DRAFTS if args.skip_layers is None else (args.skip_layers,)
    for name in rules:
        get_verifier(name)
    for tree in trees:
        depth_and_branching(tree)
    if args.texts < 2:
        raise ValueError(f"texts: {args.texts}; an interval over texts needs 2 or more")
    if args.draft is not None:
        raise ValueError("draft: the tables are of one model and itself without some layers; give --skip-layers")
    model, characters = load(args.target, args), "\n".join(load_pairs().metadata["texts"])
    rows: list[Row] = []
    with progress_bar("tables") as progress:
        done, each = 0, len(trees) * len(rules)
        wanted = len(temperatures) * (args.texts * (1 + len(skipped) * each) + N_GRAM_DRAFTS * each)

        def one_more() -> None:
            nonlocal done
            done += 1
            progress(done, wanted)

        for temperature in temperatures:
            texts = _texts(args, model, temperature, skipped, one_more)
            rows += model_rows(texts, temperature, trees, rules, seed=args.seed, progress=one_more)
        for temperature in temperatures:
            rows += ngram_rows(characters, temperature, trees, rules, progress=one_more)
    if args.json:
        print(json.dumps([asdict(r) for r in rows], indent=2))
        return 0
    _print_rows(rows)
    print(
        "\nLanguage models: expected accepted length of a step that starts at any position of "
        f"{args.texts} texts of {TEXT_LENGTH} tokens\nwritten by {model.name}; ±: 95%, over texts. The drafts are the "
        "same model without the layers named.\n"
        f"The {VOCABULARY - 1} most probable tokens of a position are told apart, all others are one.\n"
        "n-grams: exact; characters in 8 groups, a trigram target.\nBias: total "
        "variation of the emitted law from the target, mean over positions; noise: what sampled paths\nmay have "
        "added. - : too many rejected paths to enumerate."
    )
    return 0


def _texts(
    args: argparse.Namespace,
    model: LanguageModel,
    temperature: float,
    skipped: Sequence[str],
    progress: Callable[[], None],
) -> dict[str, list[tuple[Text, np.ndarray]]]:
    """For every draft, texts by the target, prompts in turn, and the draft's laws on them."""
    settings = {"temperature": temperature, "top_k": args.top_k, "top_p": args.top_p}
    target = CachedModel(model, **settings)
    drafts = {f"without {layers}": parse_layers(layers, model.layers) for layers in skipped}
    prompts = args.prompt or PROMPTS
    found: dict[str, list[tuple[Text, np.ndarray]]] = {name: [] for name in drafts}
    for n in range(args.texts):
        rng = np.random.default_rng([args.seed, n])
        text = write_text(
            target, prompt_tokens(model, prompts[n % len(prompts)]), TEXT_LENGTH, rng, model.tokenizer.eos_token_id
        )
        for name, layers in drafts.items():
            laws = CachedModel(model, skipped=layers, **settings).laws(text.prompt, text.tokens)
            found[name].append(pooled(text, laws, VOCABULARY))
        progress()
    return found


def _print_rows(rows: Sequence[Row]) -> None:
    columns = ["draft", "T", "tree", "rule", "claims", "accepted length", "ratio", "bias (TV)"]
    print_table(
        columns,
        [
            [
                r.models,
                f"{r.temperature:g}",
                r.tree,
                r.rule,
                "exact" if r.exact else "biased",
                "-" if r.accepted_length is None else with_interval(r.accepted_length, r.half_width),
                "-" if r.ratio is None else with_interval(r.ratio, r.ratio_half_width),
                _bias(r),
            ]
            for r in rows
        ],
        right=columns[5:],
    )


def _bias(r: Row) -> str:
    if r.bias is None:
        return "-"
    interval = "" if r.exact or not r.bias_half_width else f" ± {r.bias_half_width:.3f}"
    return decimal_text(r.bias) + interval + (f" (noise {r.bias_noise:.3f})" if r.bias_noise else "")
