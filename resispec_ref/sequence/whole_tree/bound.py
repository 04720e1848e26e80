"""The bound over whole trees: the most that any exact verifier can accept, as a linear program with a certificate.

Let `a(s)` be the probability that the accepted path goes through the string `s`. The output has the target's joint law
if and only if `a(s) = g(s) P(s)` with `g(∅) = 1` and `g(sy) ≤ g(s)` (T13). So the largest expected accepted length is

    maximise  Σ_{t, s} |s| x(t, s)   subject to   Σ_s x(t, s) = Pr(t),   a(s) = Σ_{t, s' ≥ s} x(t, s'),
                                                  a(sy) / P(sy) ≤ a(s) / P(s),   x ≥ 0,

where `x(t, s)` is the probability of the tree `t` and of the path that ends at its node `s` (T14). Its dual has a price
`z(sy) ≥ 0` for each of the inequalities, and *any* prices give a bound: with `u(s) = (z(s) − Σ_y z(sy)) / P(s)` no
exact verifier accepts more than

    Σ_y z(y) + Σ_t Pr(t) max over s in t of  |s| − Σ over ∅ ≠ s' ≤ s of u(s').

That is computed in rationals, whatever the solver did.

Trees enter by the set of their strings only. SciPy is imported when a program is solved; it comes with the extra
`oracle`. Source: section 8 of the mathematics, T14. Theorem: `linear_program_attained`
(proofs/tree_attained.v).
"""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np

from resispec_ref.sequence.node import Siblings
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import Tree
from resispec_ref.sequence.whole_tree.random_trees import DraftedTrees, RandomTrees, enumerate_trees, instances
from resispec_ref.validation import check_law

MAX_VARIABLES = 400_000
"""Pairs of a tree and one of its strings that are written down at most."""
_BITS = 40  # of a price after the point


class Bound(NamedTuple):
    """The bound over whole trees."""

    length: float
    """The largest expected accepted length of an exact verifier, as the solver has it."""
    certified: Any
    """What no exact verifier exceeds, by the prices: a rational where the laws are."""
    by_depth: list[float]
    """The accepted mass of each depth in the solution found, which is not the only one as a rule."""
    prices: dict[Tokens, Any]
    """`z`, for each string that can be accepted."""


def whole_tree_bound(
    target: Model,
    draft: Model,
    tree: Tree,
    *,
    siblings: Siblings = "independent",
    prefix: Tokens = (),
    end: int | None = None,
) -> Bound:
    """The largest expected accepted length of any exact verifier of freshly drafted trees, on toy models.

    Verifiers in this sense know both models, also at tokens that were not drawn.

    Args:
        target, draft, tree, siblings, prefix, end: as for `whole_tree_law`.

    Returns:
        `Bound(length, certified, by_depth, prices)`. In rationals `certified` is exact, and above `length` by what the
        solver's tolerance and the rounding of prices to 2^-40 leave, about 1e-9.

    Raises:
        ValueError: more than `MAX_VARIABLES` variables; laws that are no laws.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.chain import chain_tree
    >>> bound = whole_tree_bound(NGram([Fraction(1, 3), Fraction(2, 3)]), NGram([Fraction(2, 3), Fraction(1, 3)]),
    ...                          chain_tree(2))
    >>> round(bound.length, 6), 0 <= bound.certified - Fraction(11, 9) < 1e-9
    (1.222222, True)
    """
    trees = DraftedTrees(draft, tree, siblings=siblings, prefix=prefix, end=end)
    return bound_on_trees(target, trees, prefix=prefix)


def bound_on_trees(target: Model, trees: RandomTrees, *, prefix: Tokens = ()) -> Bound:
    """`whole_tree_bound` for trees of any known law.

    >>> from resispec_ref.sequence.toy import NGram
    >>> from resispec_ref.sequence.tree import complete_tree
    >>> coin = NGram([0.5, 0.5])
    >>> trees = DraftedTrees(coin, complete_tree((2,)), siblings="distinct")
    >>> bound_on_trees(coin, trees).length
    1.0
    """
    drawn = string_sets(trees)
    strings = sorted({s for tree in drawn for s in tree}, key=lambda s: (len(s), s))
    chance = target_chances(target, strings, prefix)
    possible = [s for s in strings if chance[s] > 0]
    if sum(len(tree) for tree in drawn) > MAX_VARIABLES:
        raise ValueError(f"tree: {len(drawn)} trees make more than {MAX_VARIABLES} variables; use a smaller one")
    prices, length, by_depth = _solved(drawn, possible, chance)
    return Bound(length, certified_length(drawn, chance, prices), by_depth, prices)


def string_sets(trees: RandomTrees) -> dict[frozenset[Tokens], Any]:
    """The probability of every set of strings that a tree can have, the empty string among them."""
    found: dict[frozenset[Tokens], Any] = {}
    for revealed, m in enumerate_trees(trees).items():
        key = frozenset(s for d in range(len(revealed)) for s in instances(revealed[:d]))
        found[key] = found.get(key, 0) + m
    return found


def target_chances(target: Model, strings: list[Tokens], prefix: Tokens) -> dict[Tokens, Any]:
    """`P(s)` of strings that come after all that they begin with."""
    chance: dict[Tokens, Any] = {(): 1}
    rows: dict[Tokens, list[Any]] = {}
    for s in strings:
        if s:
            if s[:-1] not in rows:
                rows[s[:-1]] = check_law(target.law(prefix + s[:-1]), name="target").tolist()
            chance[s] = chance[s[:-1]] * rows[s[:-1]][s[-1]]
    return chance


def certified_length(drawn: dict[frozenset[Tokens], Any], chance: dict[Tokens, Any], prices: dict[Tokens, Any]) -> Any:
    """What no exact verifier exceeds, for any prices `z ≥ 0`: `Σ_y z(y) + Σ_t Pr(t) max_{s in t} value(s)`.

    Args:
        drawn: the probability of every set of strings that a tree can have, the empty string among them.
        chance: the target's probability of each of these strings.
        prices: `z`, for each string that can be accepted.

    Raises:
        ValueError: a price below 0.

    A coin that the draft gets wrong, one candidate: a price of 1 on the side drafted too often.

    >>> F = Fraction
    >>> drawn = {frozenset({(), (0,)}): F(2, 3), frozenset({(), (1,)}): F(1, 3)}
    >>> chance = {(): F(1), (0,): F(1, 3), (1,): F(2, 3)}
    >>> [str(certified_length(drawn, chance, {(0,): z, (1,): F(0)})) for z in (F(0), F(1, 3))]
    ['1', '2/3']
    """
    if any(z < 0 for z in prices.values()):
        raise ValueError(f"prices: {min(prices.values())} is negative")
    after: dict[Tokens, Any] = {}
    for s, z in prices.items():
        after[s[:-1]] = after.get(s[:-1], 0) + z
    value: dict[Tokens, Any] = {(): after.get((), 0)}
    for s in sorted(chance, key=len):
        if s and chance[s] > 0:
            value[s] = value[s[:-1]] + 1 - (prices.get(s, 0) - after.get(s, 0)) / chance[s]
    return sum(m * max(value[s] for s in tree if s in value) for tree, m in drawn.items())


def _solved(
    drawn: dict[frozenset[Tokens], Any], strings: list[Tokens], chance: dict[Tokens, Any]
) -> tuple[dict[Tokens, Any], float, list[float]]:
    """Prices, the optimum and its accepted mass by depth, for `strings` of positive target probability.

    Variables are `g`, for all strings but the empty one, and `x`.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    number = {s: i for i, s in enumerate(strings[1:])}
    n = len(number)
    if n == 0:
        return {}, 0.0, []
    pairs = [(i, s) for i, tree in enumerate(drawn) for s in tree if s in chance and chance[s] > 0]
    equal = [(i, n + column, 1.0) for column, (i, _) in enumerate(pairs)]
    for column, (_, s) in enumerate(pairs):
        equal += [(len(drawn) + number[s[:d]], n + column, 1.0) for d in range(1, len(s) + 1)]
    equal += [(len(drawn) + i, i, -float(chance[s])) for s, i in number.items()]
    below = [(i, i, 1.0) for i in number.values()]
    below += [(i, number[s[:-1]], -1.0) for s, i in number.items() if len(s) > 1]
    width = n + len(pairs)
    found = linprog(
        -np.array([0.0] * n + [float(len(s)) for _, s in pairs]),
        A_eq=csr_array(_coordinates(equal), shape=(len(drawn) + n, width)),
        b_eq=np.array([float(m) for m in drawn.values()] + [0.0] * n),
        A_ub=csr_array(_coordinates(below), shape=(n, width)),
        b_ub=np.array([float(len(s) == 1) for s in number]),
        bounds=(0, None),
    )
    if found.status != 0:
        raise ArithmeticError(f"the linear program over whole trees was not solved: {found.message}")
    g = dict(zip(number, found.x[:n].tolist(), strict=True))
    depth = max(map(len, strings))
    by_depth = [sum(g[s] * float(chance[s]) for s in number if len(s) == d) for d in range(1, depth + 1)]
    rounded = [Fraction(round(max(-z, 0.0) * 2**_BITS), 2**_BITS) for z in found.ineqlin.marginals.tolist()]
    exact = all(isinstance(m, Rational) for m in drawn.values())
    prices = {s: z if exact else float(z) for s, z in zip(number, rounded, strict=True)}
    return prices, -float(found.fun), by_depth


def _coordinates(entries: list[tuple[int, int, float]]) -> tuple[list[float], tuple[list[int], list[int]]]:
    return [v for _, _, v in entries], ([i for i, _, _ in entries], [j for _, j, _ in entries])
