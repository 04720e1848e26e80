"""Records of chains, blocks, trees, traversals and whole trees: models as tables, drafted tokens, what is emitted.

A row of a table is the law of the next token after a prefix, prefixes counted in base `vocab`; whoever reads a record
looks the rows of a drafted tree up and hands them to a verifier.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from resispec_ref.conformance.numbers import written
from resispec_ref.conformance.positions import Record
from resispec_ref.conformance.probes import Point, probes
from resispec_ref.conformance.sequence_controls import Rows, sequence_controls
from resispec_ref.rule.registry import get_verifier
from resispec_ref.sequence.chain import chain_tree, verify_block, verify_chain
from resispec_ref.sequence.law import WalkLaw, walk_law
from resispec_ref.sequence.node import Siblings
from resispec_ref.sequence.toy import ToyModel
from resispec_ref.sequence.traversal import traversal_law, verify_traversal
from resispec_ref.sequence.tree import Emission, Tree, draft_tree, verification_noise, verify_tree
from resispec_ref.sequence.whole_tree import target_weights, verify_whole_tree, whole_tree_bound, whole_tree_law

Tables = list[Any]
"""Entry `d` is a nested list, `(vocab,) * (d + 1)`: the law of token `d` after each prefix."""
_LISTS, _SEARCHES = 12, 18


@dataclass(frozen=True)
class Case:
    """What a record is about."""

    name: str
    kind: str
    parents: tuple[int, ...]
    vocab: int = 3
    rule: str = "recursive-rejection"
    siblings: Siblings = "independent"
    end: int | None = None
    absent: tuple[int, ...] = ()
    """Nodes that were not drafted, nor what is below them."""

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.parents)

    @cached_property
    def tables(self) -> tuple[Tables, Tables]:
        """Target and draft."""
        rng = random.Random(self.name)
        depth = self.tree.depth
        return tuple([random_table(rng, self.vocab, d) for d in range(n)] for n in (depth + 1, depth))  # type: ignore

    @cached_property
    def models(self) -> tuple[ToyModel, ToyModel]:
        target, draft = self.tables
        return ToyModel(target), ToyModel(draft)

    @property
    def noise(self) -> tuple[int, int]:
        """How many rows of uniforms are taken, and how many uniforms are in a row."""
        if self.kind in ("chain", "tree"):
            return verification_noise(get_verifier(self.rule), self.tree)
        return {"block": len(self.parents) + 1, "traversal": len(self.parents) + 1, "whole-tree": 2}[self.kind], 1

    def run(self, p: Rows, q: Rows, x: Sequence[int], uniforms: Any, end: int | None) -> Emission:
        """The right verifier, on rows of the root and of each node."""
        u = np.array(uniforms).reshape(self.noise)
        if self.kind == "chain":
            return verify_chain(self.rule, p, q[:-1], list(x), u, end=end)
        if self.kind == "block":
            return verify_block(p, q[:-1], list(x), u[:, 0], end=end)
        if self.kind == "whole-tree":
            return verify_whole_tree(
                *(p, q, self.tree, list(x), u[:, 0]), siblings=self.siblings, weights=target_weights, end=end
            )
        verify: Callable[..., Emission] = verify_tree if self.kind == "tree" else verify_traversal
        noise = u if self.kind == "tree" else u[:, 0]
        return verify(self.rule, p, q, self.tree, list(x), noise, siblings=self.siblings, end=end)

    def law(self) -> WalkLaw:
        """Of what is emitted, and how much of it was accepted, over all drafts."""
        given: Any = {"siblings": self.siblings, "end": self.end}
        if self.kind in ("chain", "tree"):
            return walk_law(self.rule, *self.models, self.tree, **given)
        if self.kind == "whole-tree":
            return whole_tree_law(*self.models, self.tree, weights=target_weights, **given)
        return traversal_law(self.rule, *self.models, self.tree, **given)

    def bound(self) -> str:
        """The largest expected accepted length of exact verifiers: of one child a node exactly, else to six digits."""
        if self.tree.branching == 1:
            best = traversal_law("recursive-rejection", *self.models, chain_tree(len(self.parents)), end=self.end)
            return str(expected_length(best))
        found = whole_tree_bound(*self.models, self.tree, siblings=self.siblings, end=self.end)
        return f"{float(found.certified):.6f}"


_TWO_LEVELS = (-1, -1, 0, 0, 1, 1)
CASES = (
    Case("chain/recursive-rejection/1", "chain", (-1,)),
    Case("chain/recursive-rejection/2", "chain", (-1, 0)),
    Case("chain/recursive-rejection/3", "chain", (-1, 0, 1), vocab=2),
    Case("chain/recursive-rejection/end token", "chain", (-1, 0), end=2),
    Case("chain/recursive-rejection/a short draft", "chain", (-1, 0, 1), vocab=2, absent=(1,)),
    Case("chain/recursive-rejection/nothing drafted", "chain", (-1, 0), absent=(0,)),
    Case("chain/resispec/2", "chain", (-1, 0), rule="resispec"),
    Case("chain/naive/2", "chain", (-1, 0), rule="naive"),
    Case("chain/resispec-published/2", "chain", (-1, 0), rule="resispec-published"),
    Case("block/1", "block", (-1,)),
    Case("block/2", "block", (-1, 0)),
    Case("block/3", "block", (-1, 0, 1), vocab=2),
    Case("block/end token", "block", (-1, 0), end=2),
    Case("block/a short draft", "block", (-1, 0, 1), vocab=2, absent=(2,)),
    Case("tree/recursive-rejection/two levels", "tree", _TWO_LEVELS),
    Case("tree/recursive-rejection/ragged", "tree", (-1, -1, 0, 0, 0, 1), vocab=2),
    Case("tree/recursive-rejection/end token", "tree", _TWO_LEVELS, end=0),
    Case("tree/recursive-rejection/absent nodes", "tree", _TWO_LEVELS, absent=(1, 3)),
    Case(
        *("tree/recursive-rejection-without-replacement/two levels", "tree", _TWO_LEVELS),
        rule="recursive-rejection-without-replacement",
        siblings="distinct",
    ),
    Case("tree/resispec/two levels", "tree", _TWO_LEVELS, rule="resispec"),
    Case("tree/naive/deterministic candidates", "tree", _TWO_LEVELS, rule="naive", siblings="deterministic"),
    Case("traversal/recursive-rejection/two levels", "traversal", _TWO_LEVELS, vocab=2),
    Case(
        *("traversal/recursive-rejection-without-replacement/two levels", "traversal", (-1, -1, 0, 1)),
        rule="recursive-rejection-without-replacement",
        siblings="distinct",
    ),
    Case("whole-tree/one level", "whole-tree", (-1, -1)),
    Case("whole-tree/two levels", "whole-tree", _TWO_LEVELS, vocab=2),
    Case("whole-tree/distinct candidates", "whole-tree", (-1, -1, 0, 1), siblings="distinct"),
    Case("whole-tree/ragged, end token", "whole-tree", (-1, -1, 0, 0), vocab=2, end=1),
    Case("whole-tree/a chain", "whole-tree", (-1, 0)),
)


def sequence_records() -> Iterator[Record]:
    """A record for each of `CASES`."""
    return map(sequence_record, CASES)


def sequence_record(case: Case) -> Record:
    """The record of one case."""
    rng = random.Random(f"points of {case.name}")
    target, draft = case.tables
    lists = _drafted(case, rng)
    rows, width = case.noise
    points = sorted(
        probes(lambda some: answers(case, _floats(target), _floats(draft), some), lists, rows * width, _SEARCHES, rng)
    )
    right = answers(case, target, draft, points)
    law = None if case.absent else case.law()
    return {
        "kind": case.kind,
        "id": case.name,
        "group": "edge" if case.absent or case.end is not None else "law",
        "rule": case.rule if case.kind in ("chain", "tree", "traversal") else case.kind,
        "claims": "exact" if get_verifier(case.rule).exact else "biased",
        "siblings": case.siblings,
        "vocab": case.vocab,
        "end": case.end,
        "parents": list(case.parents),
        "target": written([flat_table(table, d) for d, table in enumerate(target)]),
        "draft": written([flat_table(table, d) for d, table in enumerate(draft)]),
        "law": law
        and {
            "emitted": [list(tokens) for tokens, _ in law],
            "accepted": [accepted for _, accepted in law],
            "probability": [str(chance) for chance in law.values()],
        },
        "expected_accepted_length": law and str(expected_length(law)),
        "bound": None if case.absent else case.bound(),
        "uniforms_in_a_row": width,
        "tokens": [list(x) for x, _ in points],
        "uniforms": [[float(v) for v in u] for _, u in points],
        "emitted": [list(tokens) for tokens, _ in right],
        "path": [list(path) for _, path in right],
        "controls": sequence_controls(
            case, [(rows_of(target, case.tree, x), rows_of(draft, case.tree, x)) for x, _ in points], points, right
        ),
    }


def answers(
    case: Case, target: Tables, draft: Tables, points: Sequence[Point]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Tokens emitted and nodes accepted at every point, in the number type of the tables."""
    number = type(flat_table(target[0], 0)[0][0])
    found = []
    for x, u in points:
        p, q = rows_of(target, case.tree, x), rows_of(draft, case.tree, x)
        emission = case.run(p, q, x, [number(v) for v in u], case.end)
        found.append((emission.tokens, emission.path))
    return found


def rows_of(tables: Tables, tree: Tree, x: Sequence[int]) -> Rows:
    """The laws after the root and after each node; that of the root where a node is absent, or too deep for them."""
    paths: list[tuple[int, ...] | None] = [()]
    rows = [tables[0]]
    for node, parent in enumerate(tree.parents):
        above = paths[parent + 1]
        path = None if above is None or x[node] < 0 else (*above, x[node])
        paths.append(path)
        row = tables[0]
        if path is not None and len(path) < len(tables):
            row = tables[len(path)]
            for token in path:
                row = row[token]
        rows.append(row)
    return rows


def expected_length(law: WalkLaw) -> Any:
    return sum(accepted * chance for (_, accepted), chance in law.items())


def _drafted(case: Case, rng: random.Random) -> list[tuple[int, ...]]:
    """Different lists of drafted tokens, as the draft draws them; what comes after an end token was drafted too."""
    found = dict[tuple[int, ...], None]()
    for _ in range(3 * _LISTS):
        u = [Fraction(rng.randrange(1000), 1000) for _ in case.parents]
        x = draft_tree(case.models[1], case.tree, u, siblings=case.siblings).tolist()
        for node, parent in enumerate(case.parents):
            if node in case.absent or (parent >= 0 and x[parent] < 0):
                x[node] = -1
        found[tuple(x)] = None
    return list(found)[:_LISTS]


def random_table(rng: random.Random, vocab: int, depth: int) -> Any:
    if depth:
        return [random_table(rng, vocab, depth - 1) for _ in range(vocab)]
    weights = [rng.choice((0, 1, 1, 2, 3, 5)) for _ in range(vocab)]
    weights[rng.randrange(vocab)] += 1
    return [Fraction(w, sum(weights)) for w in weights]


def flat_table(table: Any, depth: int) -> list[Any]:
    """`(vocab ** depth, vocab)` rows, prefixes counted in base `vocab`."""
    rows = [table]
    for _ in range(depth):
        rows = [row for nested in rows for row in nested]
    return rows


def _floats(tables: Tables) -> Tables:
    def change(x: Any) -> Any:
        return [change(v) for v in x] if isinstance(x, list) else float(x)

    return [change(table) for table in tables]
