"""Close to the bound of distinct candidates: the candidate picked by weights, then one speculative step."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, total
from resispec_ref.arrays.convert import from_host, rows_on_host
from resispec_ref.picking.weights import weights_without_replacement
from resispec_ref.rule.verifier import State
from resispec_ref.verifiers.weighted import WeightedSelection


@dataclass(frozen=True)
class OptimalWithoutReplacement(WeightedSelection):
    """A pick by weights among the candidates of the higher class, if there are any, else among all.

        s(x) = Σ_{S ∋ x} P(S) v(x) / v(S ∩ class),    m = min(p, s),    residual (p − s)+ / |(p − s)+|.

    The higher class is what lies outside the set `H` that minimises the bound, the weights are fitted until `s ≥ p` on
    `H` and `s ≤ p` off it. Exact for all classes and weights. Small vocabularies: sets are enumerated, rational laws
    exactly. Large ones, in floats: weights for some 90 groups of tokens, and `s` by a quadrature that is accurate to
    1e-10.

    The weights are found by NumPy: laws of other array libraries are taken to the host for it, so this rule raises
    under `jax.jit` and `jax.vmap`. A row of a large vocabulary costs tens of milliseconds to half a second, by the
    tokens of its draft (docs/findings/speed.md).

    Source: this project (T12 of the mathematics), for the bound of Hu et al. 2025 (arXiv 2502.18779). Theorem:
    `weights_exact` (proofs/optimal.v).
    """

    name = "optimal-without-replacement"
    source = "this project; bound of Hu et al. 2025"
    exact = True
    on_host = True
    replacement = False

    def start(self, p: Array, q: Array, candidates: int) -> State:
        p, q = p + q * 0, q + p * 0
        if candidates == 0:
            return State(p, q)
        rows_p, rows_q = rows_on_host(self.name, p, q)
        there = total(array_namespace(q).where(q > 0, q * 0 + 1, q * 0))
        found = weights_without_replacement(rows_p, rows_q, candidates)
        return State(p, from_host(found.law, p), (from_host(found.weight, p), from_host(found.level, p), there))

    def shares(self, state: State, candidates: int) -> Array:
        xp = array_namespace(state.target)
        present = xp.minimum(state.memory[2], state.memory[2] * 0 + candidates)
        index = xp.concat([present * 0 + i for i in range(candidates)], axis=-1)
        return xp.where(index < present, 1 / present, present * 0)
