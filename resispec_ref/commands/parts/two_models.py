"""The two language models of a command: read where its arguments say, and the tokens of a prompt."""

from __future__ import annotations

import argparse
import os

from resispec_ref.commands.display.terminal import progress_bar
from resispec_ref.models.language_model import LanguageModel, check_same_vocabulary, parse_layers
from resispec_ref.sequence.decoding import CachedModel
from resispec_ref.sequence.toy import Tokens


def load(name: str, args: argparse.Namespace) -> LanguageModel:
    """A model where and in the numbers that the arguments say."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # the loaders' own bars; read when tqdm is first imported
    with progress_bar(f"reading {name}"):
        return LanguageModel(name, args.device, args.dtype)


def pair(args: argparse.Namespace, model: LanguageModel) -> tuple[CachedModel, CachedModel]:
    """Target and draft: a second model, or the target without some layers."""
    if args.draft is not None and args.skip_layers is not None:
        raise ValueError("draft: give either a draft model or --skip-layers (a draft that is the target without them)")
    settings = {"temperature": args.temperature, "top_k": args.top_k, "top_p": args.top_p}
    target = CachedModel(model, **settings)
    if args.draft is None:
        return target, CachedModel(model, skipped=parse_layers(args.skip_layers or "14-17", model.layers), **settings)
    other = load(args.draft, args)
    check_same_vocabulary(model, other)
    return target, CachedModel(other, **settings)


def prompt_tokens(model: LanguageModel, prompt: str) -> Tokens:
    """The tokens of a prompt, one at least."""
    tokens = tuple(model.tokenizer(prompt)["input_ids"])
    if not tokens:
        raise ValueError(f"prompt: {prompt!r} has no tokens; a model needs something to go on from")
    return tokens
