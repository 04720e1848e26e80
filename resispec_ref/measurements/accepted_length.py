"""Expected accepted length of complete trees on a real pair of models, from texts that the target wrote.

An exact rule emits text with the target's law, whatever it accepts. So let the target write the text `x_1 x_2 …`, and
ask at each position how likely it is that a step emits `x_t` as an accepted candidate rather than as the extra token:

    a_t = M_t(x_t) / p_t(x_t),    M_t(x) = probability that some candidate of the node is accepted and is x.

A step that starts at `t` down a tree of depth `D` accepts `Σ_{d ≤ D} Π_{i < d} a_{t+i}` tokens in expectation, given
the text; the last factor of each product may be replaced by its mean over `x_t`, the acceptance rate `|M_t|`, which
varies less. One text with the laws of both models thus serves all trees, rules and numbers of candidates, without any
tree being drawn. Where a rule is not exact the same sum is its expected accepted length along the path that it takes
itself, since `M/p` is then an importance weight, which may exceed 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from resispec_ref.arrays.draw import draw
from resispec_ref.distributions import tv
from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import Verifier
from resispec_ref.sequence.node import check_siblings, node_law
from resispec_ref.sequence.toy import Model, Tokens


class Text(NamedTuple):
    """A text that the target wrote after a prompt, and the target's law at each of its tokens."""

    prompt: Tokens
    tokens: Tokens
    target: np.ndarray
    """`(tokens, vocab)`."""
    wanted: int
    """How many tokens were asked for; a text that met its end token has fewer."""


class Terms(NamedTuple):
    """What a rule does at each position of a text."""

    chance: np.ndarray
    """`a_t`, `(tokens,)`: that the token there is an accepted candidate."""
    rate: np.ndarray
    """`|M_t|`, `(tokens,)`: that any candidate is accepted there."""
    bias: np.ndarray
    """`(tokens,)`: total variation of the emitted law from the target."""


def write_text(target: Model, prompt: Tokens, length: int, rng: np.random.Generator, end: int | None = None) -> Text:
    """`length` tokens drawn from the target after `prompt`, fewer where the token `end` comes."""
    tokens, rows = list[int](), []
    while len(tokens) < length and (not tokens or tokens[-1] != end):
        rows.append(np.asarray(target.law(prompt + tuple(tokens))))
        tokens.append(int(draw(rows[-1], rng.random(1))))
    return Text(prompt, tuple(tokens), np.stack(rows), length)


def pooled(text: Text, draft: np.ndarray, size: int) -> tuple[Text, np.ndarray]:
    """Text and draft on a smaller vocabulary: the `size − 1` tokens most probable under either law, and all others.

    Those others become one token, the last; which they are differs from position to position. Exact rules stay exact.
    The bound on the acceptance rate rises, by no more than the target's probability of the others.

    >>> text, draft = pooled(Text((), (3,), np.array([[0.6, 0.1, 0.2, 0.1]]), 1), np.array([[0.2, 0.1, 0.5, 0.2]]), 3)
    >>> text.tokens, sorted(text.target[0].round(6).tolist()), draft[0, -1].round(6).item()
    ((2,), [0.2, 0.2, 0.6], 0.3)
    """
    p, q = text.target, draft
    if p.shape[-1] <= size:
        return text, draft
    order = np.argpartition(-np.maximum(p, q), size - 1, axis=-1)

    def pool(law: np.ndarray) -> np.ndarray:
        law = np.take_along_axis(law, order, axis=-1)
        return np.concatenate([law[:, : size - 1], law[:, size - 1 :].sum(axis=-1, keepdims=True)], axis=-1)

    places = np.argmax(order == np.array(text.tokens)[:, None], axis=-1)
    return text._replace(tokens=tuple(np.minimum(places, size - 1).tolist()), target=pool(p)), pool(q)


def terms(
    verifier: str | Verifier,
    text: Text,
    draft: np.ndarray,
    candidates: int,
    *,
    paths: int = 1,
    rng: np.random.Generator | None = None,
) -> Terms:
    """`a_t`, `|M_t|` and bias of a rule at every position; `draft` has the draft's law there, `(tokens, vocab)`.

    Computed where the rule is path-independent. Otherwise `paths` rejected paths a position are sampled from `rng`:
    `a_t` and `|M_t|` are then unbiased, and independent between positions, so that their products are unbiased too; the
    bias is overstated by what the sampling adds.
    """
    rule = get_verifier(verifier)
    p, x = text.target, np.array(text.tokens)[:, None]
    found = node_law(rule, p, draft, candidates, check_siblings(None, rule), paths=paths, rng=rng)
    M = np.sum(found.accepted, axis=-2)
    chance = np.take_along_axis(M, x, -1) / np.take_along_axis(p, x, -1)
    return Terms(chance[:, 0], np.sum(M, axis=-1), tv(M + found.extra, p))


def step_lengths(found: Terms, depth: int, *, wanted: int) -> np.ndarray:
    """The expected accepted length of a step of `depth` levels from each position at least `depth` before the last.

    The last is the last of the `wanted` tokens: after an end token nothing is accepted, and a step may start as late in
    a text that ends as in one that does not.

    >>> step_lengths(Terms(np.array([0.5, 1.0]), np.array([0.6, 0.7]), np.zeros(2)), 2, wanted=2)
    array([0.95])
    """
    beyond = np.zeros(min(depth - 1, wanted - len(found.chance)))
    a, rate = np.concatenate([found.chance, beyond]), np.concatenate([found.rate, beyond])
    starts = len(a) - depth + 1
    if starts < 1:
        return np.zeros(0)
    length, reached = np.zeros(starts), np.ones(starts)
    for d in range(depth):
        length = length + reached * rate[d : d + starts]
        reached = reached * a[d : d + starts]
    return length


def mean_over_texts(values: list[np.ndarray]) -> tuple[float, float]:
    """Mean over all positions and the half-width of its 95% interval, texts being independent and positions not."""
    return ratio_over_texts([v.sum() for v in values], [v.size for v in values])


def ratio_over_texts(tops: Sequence[float], bottoms: Sequence[float]) -> tuple[float, float]:
    """The ratio of two sums over independent texts and the half-width of its 95% interval.

    The standard error is that of a ratio of sums, to first order, times Student's quantile for so many texts. At least
    two are needed. Where the same texts made both sums large or small, as those of two rules, the ratio varies less.

    >>> tuple(round(x, 3) for x in ratio_over_texts([2.0, 3.0], [1.0, 2.0]))
    (1.667, 2.824)
    """
    a, b = np.array(tops, dtype=float), np.array(bottoms, dtype=float)
    n, ratio = len(a), a.sum() / b.sum()
    spread = np.sum((a - ratio * b) ** 2) / (n - 1)
    return float(ratio), float(_student(n - 1) * np.sqrt(n * spread) / b.sum())


def _student(freedom: int) -> float:
    """The 97.5% quantile of Student's t: tabulated up to 4 degrees of freedom, then by Fisher's expansion, to 0.1%."""
    if freedom <= 4:
        return (12.706, 4.303, 3.182, 2.776)[freedom - 1]
    z = 1.959964
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2 + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / freedom**3
