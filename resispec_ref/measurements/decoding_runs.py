"""Decoding the same prompts with several rules: accepted length of each, and how often each depth accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from resispec_ref.measurements.accepted_length import mean_over_texts, ratio_over_texts
from resispec_ref.measurements.parallel import Progress
from resispec_ref.measurements.tree_tables import BASELINE, at_full_vocabulary
from resispec_ref.rule.registry import get_verifier
from resispec_ref.sequence.decoding import WHOLE_TREE, CachedModel, acceptance, decode
from resispec_ref.sequence.toy import Tokens
from resispec_ref.sequence.tree import Emission, complete_tree


@dataclass(frozen=True)
class Run:
    """One rule on all prompts."""

    rule: str
    exact: bool
    steps: int
    tokens: int
    accepted_length: float
    half_width: float
    """Of the 95% interval over prompts; NaN for a single prompt."""
    ratio: float | None
    """To the baseline's, where it was run before: of the means over prompts of the accepted length."""
    ratio_half_width: float
    """Of its 95% interval, the prompts being the same; NaN for a single prompt."""
    per_depth: list[float]
    """How often a candidate of that depth was accepted when some were looked at."""


def steps(
    rule: str,
    models: tuple[CachedModel, CachedModel],
    prefix: Tokens,
    branching: Sequence[int],
    *,
    tokens: int,
    end: int | None,
    seed: Sequence[int],
) -> Iterator[Emission]:
    """The steps of `rule` after `prefix` until `tokens` tokens are there, or the token `end`; target and draft."""
    rng, left = np.random.default_rng(seed), tokens
    verifier = rule if rule == WHOLE_TREE else at_full_vocabulary(rule)
    for step in decode(verifier, *models, complete_tree(branching), prefix, rng, end=end):
        yield step
        left -= len(step.tokens)
        if left <= 0:
            return


def compare(
    rules: Sequence[str],
    models: tuple[CachedModel, CachedModel],
    prefixes: Sequence[Tokens],
    branching: Sequence[int],
    *,
    tokens: int,
    end: int | None,
    seed: int,
    progress: Progress,
) -> list[Run]:
    """Each rule on the same prompts with the same seeds; `WHOLE_TREE` is one of them."""
    runs: list[Run] = []
    base: list[float] | None = None
    for name in rules:
        lengths, all_steps = [], list[Emission]()
        for i, prefix in enumerate(prefixes):
            one = list(steps(name, models, prefix, branching, tokens=tokens, end=end, seed=[seed, i]))
            lengths.append(acceptance(one, len(branching)).lengths.astype(float))
            all_steps += one
            progress(len(runs) * len(prefixes) + i + 1, len(rules) * len(prefixes))
        found = acceptance(all_steps, len(branching))
        mean, half = mean_over_texts(lengths) if len(prefixes) > 1 else (float(found.lengths.mean()), float("nan"))
        means = [float(x.mean()) for x in lengths]
        base = means if name == BASELINE else base
        ratio, ratio_half = None, float("nan")
        if base is not None and len(prefixes) > 1:
            ratio, ratio_half = ratio_over_texts(means, base)
        elif base is not None:
            ratio = means[0] / base[0]
        per_depth = (found.accepted / np.maximum(found.offered, 1)).tolist()
        emitted = sum(len(step.tokens) for step in all_steps)
        exact = name == WHOLE_TREE or get_verifier(name).exact
        runs.append(Run(name, exact, len(all_steps), emitted, mean, half, ratio, ratio_half, per_depth))
    return runs
