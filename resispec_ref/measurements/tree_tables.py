"""The paper's tables again: accepted length of trees by rule, with the bias beside each number.

Trees `dDbB` have `D` levels and `B` children a node. On real models accepted lengths are estimated from texts that the
target wrote (`accepted_length.py`); on n-grams of characters they are computed exactly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.bounds import optimal_acceptance
from resispec_ref.distributions import tv
from resispec_ref.law import MAX_PATHS, estimated_law
from resispec_ref.measurements.accepted_length import Text, mean_over_texts, ratio_over_texts, step_lengths, terms
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier
from resispec_ref.sequence.node import check_siblings, node_law
from resispec_ref.sequence.toy import NGram, counted

TREES = ("d5b3", "d7b2", "d4b5", "d3b11")
TEMPERATURES = (1.0, 0.6)
BASELINE = "recursive-rejection"
N_GRAM_DRAFTS = 2
VOCABULARY = 8192
"""Tokens of a language model that are told apart at a position: the most probable ones, and one for all others."""
_WANTED = (
    BASELINE,
    "recursive-rejection-without-replacement",
    "resispec-published",
    "resispec",
    "resispec-without-replacement",
    "optimal",
)
_GROUPED = 256  # ratios of the optimal rule at a full vocabulary: a fraction of the time, 99.99% of the bound
_BIAS_POSITIONS, _BIAS_PATHS = 144, 32  # about so many positions of a path-dependent rule that is not exact
_GROUPS = 8  # of characters, in the n-grams: few enough to enumerate five candidates


@dataclass(frozen=True)
class Row:
    """One rule on one tree."""

    models: str
    temperature: float
    tree: str
    rule: str
    exact: bool
    """What the rule claims."""
    accepted_length: float | None
    """None where it could be neither computed nor estimated."""
    half_width: float
    """Of the 95% interval over texts; 0 where the length is exact."""
    ratio: float | None
    """To recursive rejection of independent candidates on the same tree."""
    ratio_half_width: float
    """Of its 95% interval: both lengths are of the same texts, so it is the narrower one to compare rules by."""
    bias: float | None
    """Total variation of the emitted law from the target, averaged over positions; None where it was not computed."""
    bias_half_width: float
    """Of its 95% interval over texts; 0 where it is exact."""
    bias_noise: float
    """What sampled paths may have added to it."""


def table_rules() -> tuple[str, ...]:
    """The rules of the tables, as far as the registry has them, recursive rejection first."""
    return tuple(name for name in _WANTED if name in verifier_names())


def at_full_vocabulary(name: str) -> Verifier:
    """The rule as it is used on language models: `optimal` with pooled groups, the others as they are."""
    return get_verifier(name, groups=_GROUPED) if name == "optimal" else get_verifier(name)


def parse_tree(text: str) -> tuple[int, ...]:
    """The branching of `dDbB`, or of numbers of children from the root down.

    >>> parse_tree("d2b3"), parse_tree("3,2,1")
    ((3, 3), (3, 2, 1))
    """
    found = re.fullmatch(r"d([1-9]\d*)b([1-9]\d*)", text)
    if found:
        return (int(found[2]),) * int(found[1])
    if re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text):
        return tuple(map(int, text.split(",")))
    raise ValueError(f"tree: {text!r}; write d5b3 (5 levels, 3 children a node) or 3,2,1 (children at each depth)")


def depth_and_branching(tree: str) -> tuple[int, int]:
    """`D` and `B` of `dDbB`, the trees of the tables, whose nodes all have as many children.

    >>> depth_and_branching("d5b3")
    (5, 3)
    """
    branching = parse_tree(tree)
    if len(set(branching)) > 1:
        raise ValueError(f"tree: {tree!r}; the tables are of trees with as many children at each depth, such as d5b3")
    return len(branching), branching[0]


def model_rows(
    drafts: Mapping[str, Sequence[tuple[Text, np.ndarray]]],
    temperature: float,
    trees: Sequence[str] = TREES,
    rules: Sequence[str] | None = None,
    seed: int = 0,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Row]:
    """The table of one target at one temperature.

    Args:
        drafts: by name, two texts or more that the target wrote, each with the draft's laws at its positions.
        temperature: for the record; the laws have it already.
        trees, rules: by name.
        seed: of the rejected paths that are sampled.
        progress: called after every text of every rule, tree and draft.

    Raises:
        ArithmeticError: a rule that claims to be exact and accepts more than the bound at some node.
    """
    for draft, pairs in drafts.items():
        for tree in trees:
            depth, K = depth_and_branching(tree)
            bounds = [optimal_acceptance(text.target, q, candidates=K) for text, q in pairs]
            base: list[float] | None = None
            for name in rules or table_rules():
                rule, rng = at_full_vocabulary(name), np.random.default_rng(seed)
                lengths, biases = [], []
                for (text, q), bound in zip(pairs, bounds, strict=True):
                    found = terms(rule, text, q, K, rng=rng)
                    if rule.exact and rule.replacement and not rule.path_dependent:
                        _check_bound(name, found.rate, bound)
                    lengths.append(step_lengths(found, depth, wanted=text.wanted))
                    biases.append(found.bias)
                    progress()
                mean, half = mean_over_texts(lengths)
                sums = [float(each.sum()) for each in lengths]
                base = sums if name == BASELINE else base
                noise = 0.0
                if rule.path_dependent and not rule.exact:
                    biases, noise = _estimated_biases(rule, pairs, K, rng)
                # exact rules that depend on the path are so by theorem: one sampled path shows no law
                bias, bias_half = (0.0, 0.0) if rule.path_dependent and rule.exact else mean_over_texts(biases)
                ratio, ratio_half = ratio_over_texts(sums, base) if base else (None, 0.0)
                yield Row(
                    draft, temperature, tree, name, rule.exact, mean, half, ratio, ratio_half, bias, bias_half, noise
                )


def character_models(text: str) -> tuple[NGram, dict[str, NGram], np.ndarray]:
    """An n-gram target, drafts that know less, and how often each state of the target occurs, `(vocab, vocab)`.

    Characters are pooled into groups: the most frequent ones, and one for all others. The target looks two back; the
    drafts one back, and none.
    """
    common = [c for c, _ in Counter(text).most_common(_GROUPS - 1)]
    tokens = [common.index(c) if c in common else _GROUPS - 1 for c in text]
    target = counted(tokens, _GROUPS, 2, smoothing=1.0)
    drafts = {
        "bigram": counted(tokens, _GROUPS, 1, smoothing=1.0),
        "unigram": counted(tokens, _GROUPS, 0, smoothing=1.0),
    }
    states = np.zeros((_GROUPS, _GROUPS))
    np.add.at(states, (np.array(tokens[:-1]), np.array(tokens[1:])), 1.0)
    return target, drafts, states / states.sum()


def ngram_rows(
    text: str,
    temperature: float,
    trees: Sequence[str] = TREES,
    rules: Sequence[str] | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Row]:
    """The same table for n-grams of the characters of `text`, where every length and bias is exact.

    Rules with too many rejected paths to enumerate are left out of a tree.
    """
    target, drafts, states = character_models(text)
    p = _tempered(target.table, temperature)
    for draft, model in drafts.items():
        q = np.broadcast_to(_tempered(model.table, temperature), p.shape)
        for tree in trees:
            (depth, K), base = depth_and_branching(tree), None
            for name in rules or table_rules():
                rule, mean, bias = get_verifier(name), None, None
                if not rule.path_dependent or _GROUPS ** (K + 1) <= MAX_PATHS:
                    laws = [node_law(rule, p[a], q[a], K, check_siblings(None, rule)) for a in range(_GROUPS)]
                    M = np.stack([law.accepted.sum(axis=-2) for law in laws])
                    lengths = np.zeros(states.shape)
                    for _ in range(depth):
                        lengths = np.sum(M * (1 + lengths), axis=-1)  # from (a, b), the token x leads to (b, x)
                    mean = float(np.sum(states * lengths))
                    bias = float(np.sum(states * tv(M + np.stack([law.extra for law in laws]), p)))
                base = mean if name == BASELINE else base
                ratio = mean / base if mean is not None and base else None
                yield Row(draft, temperature, tree, name, rule.exact, mean, 0.0, ratio, 0.0, bias, 0.0, 0.0)
                progress()


def _check_bound(rule: str, rate: np.ndarray, bound: np.ndarray) -> None:
    """Rounding: both are sums over the vocabulary, each entry good to a few units in the last place."""
    excess = float(np.max(rate - bound))
    if excess > 1e-12:
        raise ArithmeticError(f"{rule} accepts {excess:.1e} more than the bound at some node: it cannot be exact")


def _estimated_biases(
    rule: Verifier, pairs: Sequence[tuple[Text, np.ndarray]], K: int, rng: np.random.Generator
) -> tuple[list[np.ndarray], float]:
    """Total variation at a few positions spread over each text, and what the sampling may have added to their mean."""
    found, noise = [], []
    for text, q in pairs:
        count = min(len(q), -(-_BIAS_POSITIONS // len(pairs)))
        chosen = np.linspace(0, len(q) - 1, count).astype(int)
        each = [estimated_law(rule, text.target[i], q[i], candidates=K, paths=_BIAS_PATHS, rng=rng) for i in chosen]
        found.append(np.array([float(e.total_variation) for e in each]))
        noise += [float(e.total_variation_noise) for e in each]
    return found, float(np.mean(noise))


def _tempered(law: Array, temperature: float) -> Array:
    powers = law ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


__all__ = [
    "BASELINE",
    "N_GRAM_DRAFTS",
    "TEMPERATURES",
    "TREES",
    "VOCABULARY",
    "Row",
    "at_full_vocabulary",
    "depth_and_branching",
    "model_rows",
    "ngram_rows",
    "parse_tree",
    "table_rules",
]
