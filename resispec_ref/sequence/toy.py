"""Models as functions from the tokens so far to the law of the next: small tables, and n-grams of a text.

Everything in this package asks a model two things only: `law(prefix)` and `state(prefix)`. A language model, a table
of rationals and an n-gram of characters are therefore decoded by the same code.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from resispec_ref.arrays.arithmetic import Array, one_hot
from resispec_ref.validation import check_law

Tokens = tuple[int, ...]


class Model(Protocol):
    """An autoregressive model."""

    def law(self, prefix: Tokens) -> Array:
        """The law of the next token, `(vocab,)`."""

    def state(self, prefix: Tokens) -> Hashable:
        """What the model still knows of `prefix`: equal states have equal laws from there on."""


@dataclass(frozen=True, eq=False)
class ToyModel:
    """Tables of conditional laws: `tables[d]` has shape `(vocab,) * (d + 1)`, the law of token `d` after `d` tokens.

    After the token `end`, if there is one, only `end` follows, so that sequences of fixed length have a law.

    >>> from fractions import Fraction as F
    >>> model = ToyModel([[F(1, 2), F(1, 2)], [[F(1), F(0)], [F(1, 3), F(2, 3)]]])
    >>> model.depth, [str(v) for v in model.law((1,))]
    (2, ['1/3', '2/3'])

    Raises:
        ValueError: a row that is not a law, a table of another shape, no tables, `end` outside the vocabulary; later,
            a prefix longer than the tables.
    """

    tables: Sequence[Any]
    end: int | None = None

    def __post_init__(self) -> None:
        checked = tuple(check_law(table, name=f"tables[{d}]") for d, table in enumerate(self.tables))
        if not checked:
            raise ValueError("tables: none given; tables[0] is the law of the first token")
        vocab = checked[0].shape[-1]
        for d, table in enumerate(checked):
            if tuple(table.shape) != (vocab,) * (d + 1):
                raise ValueError(f"tables[{d}]: shape {tuple(table.shape)}; it has to be {(vocab,) * (d + 1)}")
        if self.end is not None and not 0 <= self.end < vocab:
            raise ValueError(f"end: {self.end} is not a token id of a vocabulary of {vocab}")
        object.__setattr__(self, "tables", checked)

    @property
    def vocab(self) -> int:
        return int(self.tables[0].shape[-1])

    @property
    def depth(self) -> int:
        """The longest sequence that the tables give a law to."""
        return len(self.tables)

    def law(self, prefix: Tokens) -> Array:
        if len(prefix) >= self.depth:
            raise ValueError(f"prefix: {len(prefix)} tokens; these tables give laws after {self.depth - 1} at most")
        if self.end in prefix:
            first = self.tables[0]
            return first * 0 + one_hot(np.asarray(self.end), self.vocab)
        return self.tables[len(prefix)][tuple(prefix)]

    def state(self, prefix: Tokens) -> Hashable:
        return tuple(prefix)


@dataclass(frozen=True, eq=False)
class NGram:
    """A law for each of the last `order` tokens: `table` has shape `(vocab,) * (order + 1)`.

    Prefixes shorter than `order` are read as if token 0 stood before them.

    >>> NGram([[0.5, 0.5], [1.0, 0.0]]).law((0, 0, 1)).tolist()
    [1.0, 0.0]
    """

    table: Any

    def __post_init__(self) -> None:
        checked = check_law(self.table, name="table")
        if len(set(checked.shape)) != 1:
            raise ValueError(f"table: shape {tuple(checked.shape)}; all axes have the length of the vocabulary")
        object.__setattr__(self, "table", checked)

    @property
    def order(self) -> int:
        return int(self.table.ndim) - 1

    def law(self, prefix: Tokens) -> Array:
        return self.table[self.state(prefix)]

    def state(self, prefix: Tokens) -> tuple[int, ...]:
        return ((0,) * self.order + tuple(prefix))[len(prefix) :]


def counted(tokens: Sequence[int], vocab: int, order: int, *, smoothing: float = 0.0) -> NGram:
    """The n-gram of a sequence: `count + smoothing · P(shorter)`, normalised, down to the law of single tokens.

    `smoothing` is in counts and must be positive wherever a state may not have been seen.

    Raises:
        ValueError: a state that was never seen and no smoothing.

    >>> counted([0, 1, 0, 0, 1], 2, 1).table.tolist()
    [[0.3333333333333333, 0.6666666666666666], [1.0, 0.0]]
    """
    text = np.asarray(tokens)
    law = np.ones(vocab) / vocab
    for n in range(order + 1):
        counts = np.zeros((vocab,) * (n + 1))
        np.add.at(counts, tuple(text[i : len(text) - n + i] for i in range(n + 1)), 1.0)
        weights = counts + smoothing * law
        seen = weights.sum(axis=-1, keepdims=True)
        if np.any(seen == 0):
            raise ValueError("smoothing: 0, but some states never occur in tokens; give a positive number of counts")
        law = weights / seen
    return NGram(law)


def joint_law(model: Model, length: int, prefix: Tokens = ()) -> dict[Tokens, Any]:
    """The probability of every sequence of `length` tokens after `prefix`; sequences of probability 0 are left out.

    >>> joint_law(NGram([[0.5, 0.5], [1.0, 0.0]]), 2)
    {(0, 0): 0.25, (0, 1): 0.25, (1, 0): 0.5}
    """
    found: dict[Tokens, Any] = {(): 1}
    for _ in range(length):
        found = {
            (*tokens, x): chance * mass
            for tokens, chance in found.items()
            for x, mass in enumerate(model.law(prefix + tokens).tolist())
            if mass > 0
        }
    return found
