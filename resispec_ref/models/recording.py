"""Recording pairs from two causal language models, through transformers.

The draft is a second model with the target's vocabulary, or the target with some of its layers skipped. Both read the
same text, and their logits at the same positions become `Pairs`.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from resispec_ref.distributions import law_from_logits, overlap
from resispec_ref.models.language_model import LanguageModel, check_same_vocabulary, parse_layers, without_layers
from resispec_ref.models.pairs import Pairs

__all__ = ["most_probable_union", "record"]

PROMPTS = (
    "The history of the city begins with",
    "To make a good vegetable soup, you first",
    "In mathematics, a prime number is",
    "The train along the coast stops at",
    "Dear neighbours, I am writing to",
    "The difference between weather and climate is",
    "Here is a Python function that counts the words in a text:\n\ndef",
    "Question: Why does the moon change its shape?\nAnswer:",
)
TOKENS_A_TEXT = 32  # sampled after each prompt; short, so that 128 positions come from several texts
WINDOW = 512  # a given text is read in windows of this many tokens, each without the one before

NOTE = (
    "Each row keeps the {width} most probable tokens at most, of {vocabulary}: the largest n with top-n of the "
    "target united with top-n of the draft within the width. Laws are renormalised on the kept tokens; "
    "mass_left_out is the probability at temperature 1 that the others had. Rows with fewer tokens are padded with "
    "-inf logits and token id -1. Each row's largest logit is shifted to 0 before rounding to float16."
)
NOTE_FULL = "Every row holds the whole vocabulary. Each row's largest logit is shifted to 0 before rounding to float16."


def record(
    target: str | os.PathLike[str],
    draft: str | os.PathLike[str] | None = None,
    *,
    skip_layers: str | Iterable[int] | None = None,
    text: str | Path | None = None,
    positions: int = 128,
    width: int = 4096,
    full: bool = False,
    temperature: float = 1.0,
    seed: int = 0,
    device: str = "cpu",
    dtype: str = "float32",
    progress: Callable[[int, int], None] | None = None,
) -> Pairs:
    """Logits of a target and a draft model at the same `positions` of a text, as `Pairs`.

    Give either `draft`, or `skip_layers` for a draft that is the target without these layers: ``"14-17"`` or
    ``"3,14-17"`` (counted from 0, both ends included) or integers. `text` is a string, or a ``Path`` to a UTF-8
    file; without it the text is sampled from the target at `temperature`, reproducibly for a `seed`, 32 tokens after
    each of a few prompts. The logits themselves are always those of temperature 1.

    `width` bounds the tokens kept a row; `full` keeps the vocabulary. `progress` is called with the positions done
    and wanted. Errors: ``ModuleNotFoundError`` naming what to install, ``ValueError`` for an unknown model, layers that
    the model does not have, a text too short, and vocabularies that differ.
    """
    for name, value, least in (("positions", positions, 1), ("width", width, 2)):
        if value < least:
            raise ValueError(f"{name} is {value}; it has to be at least {least}")
    if not (temperature > 0 and np.isfinite(temperature)):
        raise ValueError(f"temperature is {temperature}; to sample a text it has to be positive and finite")
    if (draft is None) == (skip_layers is None):
        raise ValueError("give either a draft model or skip_layers (a draft that is the target without them)")

    model = LanguageModel(target, device, dtype)
    other, skipped = model, tuple[int, ...]()
    if skip_layers is not None:
        skipped = parse_layers(skip_layers, model.layers)
    elif draft is not None:
        other = LanguageModel(draft, device, dtype)
        check_same_vocabulary(model, other)
    width = model.vocabulary if full else min(width, model.vocabulary)

    if text is None:
        windows = _sampled_windows(model, np.random.default_rng(seed), temperature)
    else:
        words = text.read_text(encoding="utf-8") if isinstance(text, Path) else text
        windows = _given_windows(model, words, positions)

    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    texts, left_out, overlaps = [], [], []
    while len(rows) < positions:
        tokens, start = next(windows)
        chosen = slice(start, start + positions - len(rows))
        texts.append(model.tokenizer.decode(tokens))
        f_p = model.logits(tokens)[chosen]
        with without_layers(other, skipped):
            f_q = other.logits(tokens)[chosen]
        p, q = law_from_logits(f_p), law_from_logits(f_q)
        overlaps += list(overlap(p, q))
        for i in range(len(p)):
            kept = most_probable_union(p[i], q[i], width)
            rows.append((_rounded(f_p[i, kept], width), _rounded(f_q[i, kept], width), _padded(kept, width, -1)))
            left_out.append([max(0.0, 1 - p[i, kept].sum()), max(0.0, 1 - q[i, kept].sum())])
        if progress is not None:
            progress(len(rows), positions)

    mass = np.array(left_out)
    libraries = ["numpy", "torch", "transformers"] + ["gguf"] * any("GGUF" in m.weights for m in (model, other))
    metadata: dict[str, Any] = {
        "target": model.name,
        "draft": f"the target without layers {_layers_words(skipped)}" if skipped else other.name,
        "skipped_layers": list(skipped),
        "layers": model.layers,
        "weights": {"target": model.weights, "draft": other.weights},
        "text": "given" if text is not None else "sampled from the target after short prompts",
        "seed": seed if text is None else None,
        "temperature": temperature if text is None else None,
        "vocabulary": model.vocabulary,
        "width": width,
        "overlap": float(np.mean(overlaps)),
        "mass_left_out": {
            name: {"mean": float(mass[:, i].mean()), "worst": float(mass[:, i].max())}
            for i, name in enumerate(("target", "draft"))
        },
        "note": NOTE_FULL if width == model.vocabulary else NOTE.format(width=width, vocabulary=model.vocabulary),
        "versions": {name: importlib.metadata.version(name) for name in libraries},
    }
    if text is None:
        metadata["texts"] = texts
    target_logits, draft_logits, token_ids = (np.stack(column) for column in zip(*rows, strict=True))
    return Pairs(target_logits, draft_logits, token_ids, metadata)


def most_probable_union(target: np.ndarray, draft: np.ndarray, width: int) -> np.ndarray:
    """Token ids, ascending, of top-n of the target united with top-n of the draft, for the largest n that fits.

    Both laws have shape ``(vocab,)``; the answer has `width` ids, or one fewer where the next token of each is new.
    Equal probabilities count in token order.

    >>> most_probable_union(np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.0, 0.2, 0.7]), 3)
    array([0, 3], dtype=int32)
    """
    ranks = [np.empty(len(x), np.int64) for x in (target, draft)]
    for rank, x in zip(ranks, (target, draft), strict=True):
        rank[np.argsort(-x, kind="stable")] = np.arange(len(x))
    best = np.minimum(*ranks)
    sizes = np.cumsum(np.bincount(best, minlength=len(best)))  # sizes[n - 1]: tokens in either top-n
    n = np.searchsorted(sizes, width, side="right")
    return np.flatnonzero(best < n).astype(np.int32)


def _sampled_windows(
    model: LanguageModel, rng: np.random.Generator, temperature: float
) -> Iterator[tuple[list[int], int]]:
    """Texts sampled after each prompt in turn, less the last token, and the row that predicts the first one."""
    while True:
        for prompt in PROMPTS:
            tokens = model.tokenizer(prompt)["input_ids"]
            yield model.sample(tokens, TOKENS_A_TEXT, rng, temperature)[:-1], len(tokens) - 1


def _given_windows(model: LanguageModel, text: str, positions: int) -> Iterator[tuple[list[int], int]]:
    tokens = model.tokenizer(text)["input_ids"]
    if len(tokens) < positions:
        raise ValueError(f"the text has {len(tokens)} tokens, fewer than the {positions} positions asked for")
    return ((tokens[i : i + WINDOW], 0) for i in range(0, len(tokens), WINDOW))


def _rounded(f: np.ndarray, width: int) -> np.ndarray:
    with np.errstate(over="ignore"):  # below -65504, a masked token: -inf is meant
        return _padded((f - f.max()).astype(np.float16), width, -np.inf)


def _padded(x: np.ndarray, width: int, value: float) -> np.ndarray:
    return np.pad(x, (0, width - len(x)), constant_values=value)


def _layers_words(skipped: tuple[int, ...]) -> str:
    runs = skipped == tuple(range(skipped[0], skipped[-1] + 1)) and len(skipped) > 1
    numbers = f"{skipped[0]} to {skipped[-1]}" if runs else ", ".join(map(str, skipped))
    return f"{numbers} (counted from 0, both ends included)"
