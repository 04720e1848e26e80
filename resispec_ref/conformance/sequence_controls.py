"""Negative controls of chains and trees: the oracle's faults of a chain, and a right verifier given the wrong rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from resispec_ref.conformance.probes import Point
from resispec_ref.oracle.faults.parts import drawn
from resispec_ref.oracle.faults.sequences import CHAIN_FAULTS

if TYPE_CHECKING:
    from resispec_ref.conformance.sequences import Case

Rows = list[Any]
"""The law after the root, and after each node."""
Tokens = tuple[int, ...]
_Emit = Callable[["Case", Rows, Rows, Point, tuple[Tokens, Tokens]], Tokens | None]
"""What a fault emits, given what is right; None where it says nothing."""


def sequence_controls(
    case: Case, rows: Sequence[tuple[Rows, Rows]], points: Sequence[Point], right: Sequence[Any]
) -> dict[str, dict[str, Any]]:
    """What each control emits at the points of a record; none that is right at all of them."""
    found = {}
    for name, emit in _controls(case).items():
        answers = [emit(case, p, q, point, answer) for (p, q), point, answer in zip(rows, points, right, strict=True)]
        if None not in answers and any(tokens != answer[0] for tokens, answer in zip(answers, right, strict=True)):
            found[name] = {"emitted": [list(tokens or ()) for tokens in answers]}
    return found


def _controls(case: Case) -> dict[str, _Emit]:
    found: dict[str, _Emit] = {
        "always-accept": _always_accept,
        "resample-from-target": _resampled,
        "row-of-the-parent": _row_of_the_parent,
        "one-uniform-for-all-depths": _one_uniform,
    }
    if case.kind == "block":
        found["product-not-clipped"] = _not_clipped
    if case.end is not None:
        found["end-token-ignored"] = lambda case, p, q, point, right: case.run(p, q, *point, None).tokens
    if case.absent:
        found["absent-is-the-last-token"] = _absent_as_last
    if case.kind == "chain" and case.rule == "recursive-rejection" and not case.absent and case.end is None:
        for name, fault in CHAIN_FAULTS.items():
            found[name] = _chain_fault(fault.walk)
    return found


def _always_accept(case: Case, p: Rows, q: Rows, point: Point, right: tuple[Tokens, Tokens]) -> Tokens:
    """The first child of each node, down to a leaf, and a draw from the target's row there."""
    node, tokens = -1, list[int]()
    while (children := case.tree.children(node)) and point.tokens[children[0]] >= 0:
        node = children[0]
        tokens.append(point.tokens[node])
        if tokens[-1] == case.end:
            return tuple(tokens)
    return (*tokens, drawn(p[node + 1], point.uniforms[-1]))


def _resampled(case: Case, p: Rows, q: Rows, point: Point, right: tuple[Tokens, Tokens]) -> Tokens:
    """The extra token is drawn from the target's row where the path ends, not from what the rule has left there."""
    tokens, path = right
    if len(tokens) == len(path):
        return tokens
    width = case.noise[1]
    last = (len(path) + 1) * width - 1 if case.kind in ("chain", "tree") else -1
    return (*tokens[:-1], drawn(p[path[-1] + 1 if path else 0], point.uniforms[last]))


def _row_of_the_parent(case: Case, p: Rows, q: Rows, point: Point, right: tuple[Tokens, Tokens]) -> Tokens:
    """The target's rows are read one too early: each node's is that of its parent."""
    late = [p[0], *(p[parent + 1] for parent in case.parents)]
    return case.run(late, q, *point, case.end).tokens


def _one_uniform(case: Case, p: Rows, q: Rows, point: Point, right: tuple[Tokens, Tokens]) -> Tokens:
    """The first row of uniforms is used for every depth."""
    rows, width = case.noise
    return case.run(p, q, point.tokens, point.uniforms[:width] * rows, case.end).tokens


def _absent_as_last(case: Case, p: Rows, q: Rows, point: Point, right: tuple[Tokens, Tokens]) -> Tokens | None:
    """The mark -1 is read as an index from the end of the vocabulary: the last token, accepted if the draft has it."""
    tokens, path = right
    children = case.tree.children(path[-1] if path else -1)
    if not children or point.tokens[children[0]] >= 0:
        return tokens
    return (*tokens[: len(path)], len(p[0]) - 1, drawn(p[children[0] + 1], point.uniforms[-1]))


def _not_clipped(case: Case, p: Rows, q: Rows, point: Point, right: tuple[Tokens, Tokens]) -> Tokens:
    """Block verification whose last prefix passes by the product of all ratios, not by the clipped one."""
    x, u = point.tokens, point.uniforms
    n = len(x)
    ratio = u[0] * 0 + 1
    for i in range(n):
        if x[i] < 0 or (i and x[i - 1] == case.end):
            return right[0]
        ratio = ratio * p[i][x[i]] / q[i][x[i]]
    if not u[n - 1] < ratio:
        return right[0]
    return x if x[-1] == case.end else (*x, drawn(p[n], u[n]))


def _chain_fault(walk: Any) -> _Emit:
    def emit(case: Case, p: Rows, q: Rows, point: Point, right: tuple[Tokens, Tokens]) -> Tokens:
        u = [point.uniforms[i : i + 2] for i in range(0, len(point.uniforms), 2)]
        return tuple(walk.emit(p, q[: len(point.tokens)], point.tokens, u))

    return emit
