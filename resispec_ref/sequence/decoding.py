"""Decoding step by step, with any two models: language models with a key-value cache among them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from resispec_ref.arrays.arithmetic import Array
from resispec_ref.distributions import law_from_logits
from resispec_ref.models.language_model import LanguageModel, without_layers
from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import Verifier
from resispec_ref.sequence.node import Siblings
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import Emission, Tree, speculate, verification_noise
from resispec_ref.sequence.whole_tree.speculate import speculate_whole_tree

WHOLE_TREE = "whole-tree"
"""What `decode` verifies with in place of a rule, to have trees verified as a whole."""


class CachedModel:
    """A causal language model as a `Model`: laws at one temperature, a draft with some layers skipped if so wished.

    Any prefixes may be asked for in any order. The key-value cache holds the prefix of the last call; what differs from
    it is cut off and read anew, so that a walk down a tree reads one token a node. A cache that does not hold a key for
    every token of the prefix (recurrent layers; a sliding window that is full) cannot be cut: from then on each prefix
    is read from its start, without a cache, and one line on stderr says so, once a language model.
    """

    def __init__(self, model: LanguageModel, *, skipped: Iterable[int] = (), **settings: Any) -> None:
        """`settings` are those of `law_from_logits`: temperature, top_k, top_p, min_p."""
        self._model, self._skipped, self._settings = model, tuple(skipped), settings
        parameters = inspect.signature(model.model.forward).parameters
        # what a cache is called: in transformers from 5.24 on, and before
        known = [name for name in ("cache", "past_key_values") if name in parameters]
        self._argument = known[0] if known else None
        self._read: Tokens = ()
        self._cache: Any = None

    def law(self, prefix: Tokens) -> Array:
        return law_from_logits(self.logits(prefix), **self._settings)

    def state(self, prefix: Tokens) -> Hashable:
        return tuple(prefix)

    def logits(self, prefix: Tokens) -> np.ndarray:
        """`(vocab,)`: logits of the token after `prefix`, which has one token at least."""
        if not prefix:
            raise ValueError("prefix: empty; a language model needs a token to start from, such as its start token")
        if self._argument is not None and not self._model.rereads:
            row = self._continued(tuple(prefix), self._argument)
            if _holds_every_token(self._cache, len(prefix)):
                return row
        self._read, self._cache = (), None
        if not self._model.rereads:
            self._model.rereads = True
            print(
                f"resispec: {self._model.name}: its cache cannot be cut back to a shorter text (recurrent layers, or a "
                "full sliding window), so each text is read from its start, which is slower",
                file=sys.stderr,
            )
        with without_layers(self._model, self._skipped):
            return self._model.logits(list(prefix))[-1]

    def _continued(self, prefix: Tokens, argument: str) -> np.ndarray:
        """The same from the cache, and what it does not hold read into it."""
        torch, network = self._model.torch, self._model.model
        same = 0
        for old, new in zip(self._read, prefix[:-1], strict=False):  # the last token is read again for its logits
            if old != new:
                break
            same += 1
        with torch.inference_mode(), without_layers(self._model, self._skipped):
            if self._cache is not None and same < len(self._read):
                self._cache.crop(same - len(self._read))
            new = torch.tensor([prefix[same:]], device=network.device)
            answer = network(input_ids=new, use_cache=True, **{argument: self._cache})
        self._cache, self._read = answer.get(argument), prefix
        return answer.logits[0, -1].double().cpu().numpy()

    def laws(self, prefix: Tokens, tokens: Tokens) -> np.ndarray:
        """`(len(tokens), vocab)`: the law at each of `tokens` after `prefix` and those before it, read in one go."""
        with without_layers(self._model, self._skipped):
            rows = self._model.logits([*prefix, *tokens[:-1]])
        return law_from_logits(rows[len(prefix) - 1 :], **self._settings)


def _holds_every_token(cache: Any, count: int) -> bool:
    """Whether each layer keeps a key for each of `count` tokens and nothing that sums them up: only then is it cut."""
    layers = getattr(cache, "layers", ())
    kept = [getattr(layer, "keys", None) for layer in layers]
    plain = getattr(cache, "is_croppable", True)  # false where there are recurrent states beside the keys
    return bool(plain and kept) and all(keys is not None and keys.shape[-2] == count for keys in kept)


def decode(
    verifier: str | Verifier,
    target: Model,
    draft: Model,
    tree: Tree,
    prefix: Tokens,
    rng: np.random.Generator,
    *,
    siblings: Siblings | None = None,
    end: int | None = None,
) -> Iterator[Emission]:
    """Speculative decoding: one `Emission` a step, for as long as it is asked for or until the token `end`.

    `verifier` is a rule, which is applied node by node, or `WHOLE_TREE` for `verify_whole_tree`. Node by node,
    candidates are drawn along the walk only (`speculate`), which leaves the law of the text and the accepted lengths
    as they are and reads as many tokens a step as it accepts, and one.
    """
    rule = None if verifier == WHOLE_TREE else get_verifier(verifier)
    noise = (2,) if rule is None else verification_noise(rule, tree)
    while not prefix or prefix[-1] != end:
        v, u = rng.random(len(tree)), rng.random(noise)
        if rule is None:
            kind = siblings or "independent"
            step = speculate_whole_tree(target, draft, tree, v, u, siblings=kind, prefix=prefix, end=end)
        else:
            step = speculate(rule, target, draft, tree, v, u, siblings=siblings, prefix=prefix, end=end)
        prefix += step.tokens
        yield step


class Acceptance(NamedTuple):
    """What a run of steps accepted."""

    lengths: np.ndarray
    """Accepted length of each step."""
    offered: np.ndarray
    """Per depth: how often candidates of that depth were looked at."""
    accepted: np.ndarray
    """Per depth: how often one of them was accepted."""


def acceptance(steps: Sequence[Emission], depth: int) -> Acceptance:
    """Accepted lengths, and acceptance per depth, of steps over a complete tree: every emitted token is one node's.

    >>> acceptance([Emission((5, 6), (0,)), Emission((7,), ())], 2)
    Acceptance(lengths=array([1, 0]), offered=array([2, 1]), accepted=array([1, 0]))
    """
    lengths = np.array([step.accepted for step in steps], dtype=np.int64)
    looked_at = np.array([len(step.tokens) for step in steps], dtype=np.int64)
    levels = np.arange(depth)
    return Acceptance(lengths, np.sum(looked_at[:, None] > levels, axis=0), np.sum(lengths[:, None] > levels, axis=0))
