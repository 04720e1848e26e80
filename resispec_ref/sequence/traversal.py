"""Several paths at once: a candidate tree verified from its leaves up, so that a path passes or fails as a whole.

A node is *attempted* with a weight `a`: it may emit only the share `a` of what the target would emit from there, and
otherwise gives back to its parent, which goes on with its next candidate. Giving back is one more token `⊥` of the
node's laws, with target probability `1 − a` and draft probability 0:

    P = (a p, 1 − a),    Q = (q, 0).

On these laws any exact sequential rule of the registry is run, but "accept `x` with probability `b(x)`" becomes
"attempt the child with weight `b(x)`", and the residual draw may come out as `⊥`. A leaf only draws from `P`.

*Exact, by induction on the height.* Claim: an attempt with weight `a` emits each continuation with `a` times its
probability under the target, and gives back with probability `1 − a`. A leaf does. If the claim holds for the
children, the attempt of child `x` is, for its parent, an acceptance with probability `b(x)` followed by a continuation
with the target's law; so the parent's first token, `⊥` included, has the law that the rule emits for `(P, Q)`, which is
`P`. The root has weight 1 and nothing to give back.

With recursive rejection and one child a node this is block verification; on trees without replacement it is traversal
verification. Lifting every other sequential rule is this project's own. A node reached with weight `b` emits the share
`b` only, so its candidates have to cover less of the target: given that a child is kept, its own children are accepted
at least as often as by the walk from the root, `|min(b p, q)| / b ≥ |min(p, q)|` for recursive rejection. On every
random model tried, recursive rejection of either kind and `resispec` accept at least as much as by the walk (a test,
not a proof, beyond chains). A last draw that lands on a candidate counts as the extra token here, since what is below
that candidate was looked at before.

What is open: rules that pick among all candidates at once, and which rule is best over a whole tree.

Source: Sun et al. 2024 (arXiv 2403.10444); Weng et al. 2025 (arXiv 2505.12398), for recursive rejection.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from resispec_ref.arrays.arithmetic import Array, total
from resispec_ref.arrays.draw import accepts, draw
from resispec_ref.rule.registry import get_verifier
from resispec_ref.rule.verifier import State, Verifier
from resispec_ref.sequence.law import WalkLaw
from resispec_ref.sequence.node import ABSENT, Siblings, check_siblings
from resispec_ref.sequence.toy import Model, Tokens
from resispec_ref.sequence.tree import ROOT, Emission, Tree, check_drafted, check_noise
from resispec_ref.validation import check_pair, check_tokens, check_uniforms


def verify_traversal(
    verifier: str | Verifier,
    target_rows: Any,
    draft_rows: Any,
    tree: Tree,
    tokens: Any,
    uniforms: Any,
    *,
    siblings: Siblings | None = None,
    end: int | None = None,
) -> Emission:
    """Attempt the root of a drafted tree with weight 1.

    Args:
        verifier: a rule that looks at one candidate after the other.
        target_rows, draft_rows, tree, tokens, siblings, end: as for `verify_tree`.
        uniforms: `(nodes + 1,)` in `[0, 1)`, row 0 for the root; each draws from the last residual of its node.

    Raises:
        ValueError: as `verify_tree`; a rule that looks at all candidates at once.

    >>> from resispec_ref.sequence.chain import chain_tree
    >>> p, q = [[0.2, 0.8]] * 3, [[0.6, 0.4]] * 3
    >>> verify_traversal("recursive-rejection", p, q, chain_tree(2), [0, 1], [0.0, 0.0, 0.3])
    Emission(tokens=(0, 1, 1), path=(0, 1))
    """
    rule, kind = _sequential(verifier, siblings)
    x = check_drafted(tokens, tree)
    u = check_noise("uniforms", uniforms, (len(tree) + 1,))

    def attempt(node: int, weight: Any, token: int) -> tuple[Tokens, tuple[int, ...]] | None:
        p, q = check_pair(target_rows[node + 1], draft_rows[node + 1] if tree.children(node) else target_rows[node + 1])
        noise = check_uniforms(u[node + 1 : node + 2], p, needed=1)
        if token == end:
            taken = accepts(weight * 0 + 1, weight, np.array(0), noise[0])
            return ((), ()) if taken else None
        offered = x[list(tree.children(node))]
        check_tokens(offered, q if kind != "deterministic" else _spread(q), distinct=kind == "distinct")
        state = _start(rule, p, q, weight, len(offered), kind)
        for child, candidate in zip(tree.children(node), offered, strict=True):
            if candidate == ABSENT:
                break
            b = min(rule.accepted(state)[candidate] / state.proposal[candidate], 1)  # m ≤ q, up to rounding
            found = attempt(child, total(p) * 0 + b, int(candidate))
            if found is not None:
                return (int(candidate), *found[0]), (child, *found[1])
            state = rule.reject(state, np.asarray(candidate))
        extra = int(draw(state.target, noise))
        return None if extra == p.shape[-1] else ((extra,), ())

    found = attempt(ROOT, total(check_pair(target_rows[0], target_rows[0])[0]) * 0 + 1, ABSENT)
    if found is None:
        raise ArithmeticError("the root gave back, which has probability 0")
    return Emission(*found)


def traversal_law(
    verifier: str | Verifier,
    target: Model,
    draft: Model,
    tree: Tree,
    *,
    siblings: Siblings | None = None,
    prefix: Tokens = (),
    end: int | None = None,
) -> WalkLaw:
    """The law of `verify_traversal` on a freshly drafted tree, like `walk_law`: by enumeration, for small vocabularies.

    >>> from resispec_ref.sequence.chain import chain_tree
    >>> from resispec_ref.sequence.toy import NGram
    >>> law = traversal_law("recursive-rejection", NGram([1 / 3, 2 / 3]), NGram([2 / 3, 1 / 3]), chain_tree(2))
    >>> round(sum(accepted * chance for (_, accepted), chance in law.items()), 4)  # 11/9; node by node 10/9
    1.2222
    """
    rule, kind = _sequential(verifier, siblings)
    if kind == "deterministic":
        raise ValueError("siblings: the law of a traversal is enumerated over random candidates only")

    def attempt(node: int, emitted: Tokens, weight: Any) -> WalkLaw:
        if emitted and emitted[-1] == end:
            return {((), 0): weight}
        children = tree.children(node)
        p = target.law(prefix + emitted)
        p, q = check_pair(p, draft.law(prefix + emitted) if children else p)
        found: WalkLaw = {}

        def offer(i: int, state: State, reached: Any) -> None:
            if i == len(children) or not total(state.proposal)[0] > 0:
                for y, m in enumerate(state.target[:-1].tolist()):
                    found[(y,), 0] = found.get(((y,), 0), 0) + reached * m
                return
            m, failed = rule.accepted(state), []
            for x, chance in enumerate(state.proposal.tolist()):
                passed = 0
                if chance > 0 and m[x] > 0:
                    for (tokens, accepted), mass in attempt(children[i], (*emitted, x), min(m[x] / chance, 1)).items():
                        key = ((x, *tokens), accepted + 1)
                        found[key] = found.get(key, 0) + reached * chance * mass
                        passed += chance * mass
                failed.append(chance - passed)
            if not rule.path_dependent:
                failed = [sum(failed)]
            for x, mass in enumerate(failed):
                if mass > 0:
                    offer(i + 1, rule.reject(state, np.asarray(x)), reached * mass)

        offer(0, _start(rule, p, q, total(p) * 0 + weight, len(children), kind), 1)
        return found

    return {key: mass for key, mass in attempt(ROOT, (), 1).items() if mass > 0}


def _start(rule: Verifier, p: Array, q: Array, weight: Array, K: int, siblings: Siblings) -> State:
    """The rule's first state on the vocabulary with `⊥` as its last token."""
    q = _spread(q) if siblings == "deterministic" else q
    return rule.start(np.concatenate([weight * p, 1 - weight]), np.concatenate([q, weight * 0]), K)


def _spread(q: Array) -> Array:
    """Target matching looks at the draft for nothing but being positive."""
    return (q * 0 + 1) / q.shape[-1]


def _sequential(verifier: str | Verifier, siblings: Siblings | None) -> tuple[Verifier, Siblings]:
    rule = get_verifier(verifier)
    if not rule.sequential:
        raise ValueError(
            f"verifier: {rule.name} looks at all candidates at once; a traversal offers one after the other"
        )
    return rule, check_siblings(siblings, rule)
