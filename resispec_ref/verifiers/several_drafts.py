"""The forms of rules by which `PerCandidate` drafts are verified: a law for each candidate, `(..., K, vocab)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, divide, is_rational, normalise, positive_part, total
from resispec_ref.arrays.convert import from_host, number_type, objects, rows_on_host
from resispec_ref.candidates.several_drafts import independent_sets, tight_levels
from resispec_ref.picking.weights import weights_of_sets
from resispec_ref.proposal import capacities, capacity_weights
from resispec_ref.residual import floor
from resispec_ref.rule.verifier import State, Verifier
from resispec_ref.verifiers.independent.naive import Naive
from resispec_ref.verifiers.independent.recursive_rejection import RecursiveRejection
from resispec_ref.verifiers.weighted import WeightedSelection


class _OneLawAfterTheOther(Verifier):
    """A rule whose steps know only their own proposal, with the laws of later candidates as its memory."""

    def start(self, p: Array, q: Array, candidates: int) -> State:
        if candidates == 0:
            return State(p, p * 0)
        laws = tuple(q[..., i, :] + p * 0 for i in range(candidates))
        return State(p + laws[0] * 0, laws[0], laws[1:])

    def reject(self, state: State, token: Array) -> State:
        after = super().reject(state, token)  # type: ignore[safe-super]
        return after._replace(proposal=state.memory[0], memory=_next(state.memory)) if state.memory else after


@dataclass(frozen=True)
class RecursiveRejectionOfSeveral(_OneLawAfterTheOther, RecursiveRejection):
    """`recursive-rejection`, each step with the law of its own candidate."""


@dataclass(frozen=True)
class NaiveOfSeveral(_OneLawAfterTheOther, Naive):
    """`naive`, each step with the law of its own candidate."""


@dataclass(frozen=True)
class ResiSpecOfSeveral(Verifier):
    """`resispec` where each candidate has its own law: reserved is the capacity of the candidates still to come.

        r = max((p_i − q_i)+, min(p_i, C_i / w_i)),    C_i = Σ_{j>i} w_j q_j,

    with the weights `w` at a fixed point (`future_capacity`). Exact for all capacities; for rational laws the fixed
    point is approached in floats.

    Source: section 4 of the mathematics. Theorem: `capacity_step_exact` (proofs/resispec.v).
    """

    name = "resispec"
    source = "this project, after arXiv 2608.24411"
    exact = True

    def start(self, p: Array, q: Array, candidates: int) -> State:
        if candidates == 0:
            return State(p, p * 0)
        floats = [x.astype(np.float64) if is_rational(x) else x for x in (p, q)]
        w = capacity_weights(*floats)
        if is_rational(q):
            number = number_type(q)
            w = [objects([number(Fraction(v)) for v in x.reshape(-1).tolist()], x.shape) for x in w]
        laws = tuple(q[..., i, :] + p * 0 for i in range(candidates))
        ahead = tuple(C + p * 0 for C in capacities(w, q))
        return State(p + laws[0] * 0, laws[0], (total(p) + ahead[0][..., :1] * 0, *ahead, *_next(laws)))

    def accepted(self, state: State) -> Array:
        return positive_part(state.target - _reserved(state))

    def reject(self, state: State, token: Array) -> State:
        w, *ahead = state.memory
        K = len(ahead) // 2
        r = _reserved(state)
        memory = (w * total(r), *_next(ahead[:K]), *_next(ahead[K:]))
        return State(normalise(r, otherwise=state.target), ahead[K], memory)


def _next(arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The arrays of the candidates from the next one on; what is beyond the last is 0."""
    return (*arrays[1:], arrays[0] * 0)


def _reserved(state: State) -> Array:
    w, C, *_ = state.memory
    xp = array_namespace(w)
    level = divide(C, w, C * 0)
    return xp.minimum(xp.maximum(floor(state.target, state.proposal), xp.minimum(state.target, level)), state.target)


@dataclass(frozen=True)
class OptimalOfSeveral(WeightedSelection):
    """`optimal` where each candidate has its own law: a pick by weights, as in `optimal-without-replacement`.

    The law of the set of candidates is enumerated, so this is for small vocabularies. It is given as many uniforms as
    `optimal`, of which the first one picks.

    Source: T12 of the mathematics. Theorem: `weights_exact` (proofs/optimal.v).
    """

    name = "optimal"
    source = "this project; bound of Khisti et al. 2025"
    exact = True

    def start(self, p: Array, q: Array, candidates: int) -> State:
        if candidates == 0:
            return State(p, p * 0)
        p = p + q[..., 0, :] * 0
        laws = q + p[..., None, :] * 0
        rows_p, *rows = rows_on_host(self.name, p, *(laws[..., i, :] for i in range(candidates)))
        stacked = np.stack(rows, axis=-2)
        sets = independent_sets(stacked)
        chance = np.concatenate(list(sets.values()), axis=-1)
        found = weights_of_sets(rows_p, list(sets), chance, tight_levels(rows_p, stacked))
        return State(p, from_host(found.law, p), (from_host(found.weight, p), from_host(found.level, p)))

    def picks(self, candidates: int) -> int:
        return candidates

    def pick(self, state: State, tokens: Array, uniforms: Array) -> Array:
        return super().pick(state, tokens, uniforms[..., :1])
