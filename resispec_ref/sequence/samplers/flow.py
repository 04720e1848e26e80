"""Amortised inference: a policy that writes sequences by itself, and how far it is from the reward's flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from resispec_ref.sequence.samplers.importance import complete_sequences
from resispec_ref.sequence.targets import SequenceTarget
from resispec_ref.sequence.toy import Model, Tokens

Flow = Callable[[Tokens], Any]


def policy_law(policy: Model, target: SequenceTarget) -> dict[Tokens, Any]:
    """The law of complete sequences that a forward policy writes; that of `target`, as a policy, is the target's own.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.targets import tilted
    >>> from resispec_ref.sequence.toy import NGram
    >>> target = tilted(NGram([F(1, 2), F(1, 2)]), lambda s: s.count(1), 2)
    >>> {s: str(v) for s, v in policy_law(target, target).items()}
    {(0, 1): '1/4', (1, 0): '1/4', (1, 1): '1/2'}
    """
    return complete_sequences(policy, target)


def flow_imbalance(policy: Model, flow: Flow, target: SequenceTarget) -> Any:
    """The largest violation of sub-trajectory balance, as a ratio from 1: 0 exactly where the policy follows the flow.

        F(s) π(s' | s) = F(s') Π P(x|·)^α    for every prefix `s` and its extension `s'`;

    the logarithm of the quotient of both sides, squared and summed, is the sub-trajectory balance loss with rewards for
    flows of complete sequences (a tree of prefixes has one way back, so no backward policy is needed). Quotients
    multiply along a path, so looking at single steps finds every violation.

    Args:
        policy: a model, the forward policy.
        flow: a positive number for each prefix that is not complete; of complete ones the target's reward is taken.
        target: `target.value` is the flow that has no violation, with `target` as the policy.

    Source: Hu et al. 2024 (arXiv 2310.04363), sub-trajectory balance.

    >>> from resispec_ref.sequence.targets import power
    >>> from resispec_ref.sequence.toy import NGram
    >>> target = power(NGram([0.75, 0.25]), 2, 2)
    >>> flow_imbalance(target, target.value, target) < 1e-12, flow_imbalance(target.model, target.value, target)
    (True, 1.5)
    """

    def at(s: Tokens) -> Any:
        return target.value(s) if target.done(s) else flow(s)

    def worst(s: Tokens) -> Any:
        if target.done(s):
            return 0
        found: Any = 0
        for x, (mass, factor) in enumerate(zip(policy.law(s).tolist(), target.factors(s), strict=True)):
            inflow, outflow = at(s) * mass, factor * at((*s, x))
            if not inflow and not outflow:
                continue
            if not outflow:
                return float("inf")
            found = max(found, abs(inflow / outflow - 1), worst((*s, x)))
        return found

    return worst(())
