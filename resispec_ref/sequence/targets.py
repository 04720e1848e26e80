"""Targets of whole sequences: power and tilted laws, by the value of what may still come after a prefix."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from numbers import Rational
from typing import Any

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, is_rational, normalise
from resispec_ref.arrays.convert import objects
from resispec_ref.sequence.toy import Model, Tokens

Reward = Callable[[Tokens], Any]
"""Of a sequence that is complete: `length` tokens, or fewer where the last is `end`. At least 0."""


@dataclass(frozen=True, eq=False)
class SequenceTarget:
    """The law `π(s) ∝ P(s)^α R(s)` over sequences of `length` tokens, as a model of the next token.

        F(s) = Σ_x P(x|s)^α F(sx),    F(complete s) = R(s),    π(x|s) = P(x|s)^α F(sx) / F(s).

    `value(prefix)` is `F`; `value(())` the normalising constant. Made by `power` and `tilted`; all completions of a
    prefix are enumerated once.
    """

    model: Model
    length: int
    alpha: Any = 1
    reward: Reward | None = None
    end: int | None = None
    _values: dict[Tokens, Any] = field(default_factory=dict, repr=False)

    def factors(self, prefix: Tokens) -> list[Any]:
        """`P(x|prefix)^α` for every token `x`."""
        return [mass**self.alpha if mass else mass for mass in self.model.law(prefix).tolist()]

    def done(self, prefix: Tokens) -> bool:
        """Whether a sequence is complete."""
        return len(prefix) >= self.length or (self.end is not None and self.end in prefix)

    def value(self, prefix: Tokens, horizon: int | None = None) -> Any:
        """`F(prefix)`; with a `horizon`, what is more than so many tokens away counts as 1."""
        if self.done(prefix):
            return self._leaf(prefix)
        if horizon == 0:
            return 1
        if horizon is None and prefix in self._values:
            return self._values[prefix]
        further = None if horizon is None else horizon - 1
        factors = self.factors(prefix)
        found = sum(f * self.value((*prefix, x), further) for x, f in enumerate(factors) if f)
        if horizon is None:
            self._values[prefix] = found
        return found

    def law(self, prefix: Tokens) -> Array:
        """The law of the next token, `(vocab,)`; where `π(prefix)` is 0, or the sequence complete, the model's own."""
        whole = 0 if self.done(prefix) else self.value(prefix)
        own = self.model.law(prefix)
        if not whole:
            return own
        masses = [f * self.value((*prefix, x)) / whole if f else f for x, f in enumerate(self.factors(prefix))]
        return objects(masses, own.shape) if is_rational(own) else array_namespace(own).asarray(masses, dtype=own.dtype)

    def state(self, prefix: Tokens) -> Hashable:
        return tuple(prefix)

    def _leaf(self, prefix: Tokens) -> Any:
        if self.reward is None:
            return 1
        found = self.reward(prefix)
        if not found >= 0:
            raise ValueError(f"reward: {found} for {prefix}; a reward is 0 or more")
        return found


def power(model: Model, alpha: Any, length: int, *, end: int | None = None) -> SequenceTarget:
    """The power target `π(s) ∝ P(s)^α` over sequences of `length` tokens, or up to the token `end`.

    It is not token temperature: that raises every conditional law to the power and renormalises it, which leaves out
    `ζ(sx)`, what the power makes of the completions.

    Args:
        model: of which `P` is; in rationals `alpha` is a whole number.
        alpha: positive.
        length: 1 or more.
        end: a sequence ends with this token.

    Raises:
        ValueError: `alpha` not positive, or not whole for a rational model; no tokens.

    Source: section 9 of the mathematics; arXiv 2601.21590.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.toy import ToyModel
    >>> fair = [F(1, 2), F(1, 2)]
    >>> model = ToyModel([fair, [fair, [F(0), F(1)]]])
    >>> [str(x) for x in power(model, 2, 2).law(())]
    ['1/3', '2/3']
    """
    return SequenceTarget(model, _checked(length), alpha=_checked_power(model, alpha), end=end)


def tilted(model: Model, reward: Reward, length: int, *, end: int | None = None) -> SequenceTarget:
    """The tilted target `π(s) ∝ P(s) R(s)` over sequences of `length` tokens, or up to the token `end`.

    Args:
        model: of which `P` is.
        reward: `R`, of a complete sequence, 0 or more.
        length: 1 or more.
        end: a sequence ends with this token.

    Raises:
        ValueError: no tokens; a negative reward, or none positive.

    Source: section 9 of the mathematics; the flow of arXiv 2310.04363.

    >>> from resispec_ref.sequence.toy import NGram
    >>> tilted(NGram([0.5, 0.5]), lambda s: s.count(1), 2).law(()).tolist()
    [0.25, 0.75]
    """
    found = SequenceTarget(model, _checked(length), reward=reward, end=end)
    if not found.value(()):
        raise ValueError("reward: 0 for every sequence of positive probability")
    return found


@dataclass(frozen=True, eq=False)
class TokenTemperature:
    """Every conditional law of a model raised to a power and normalised: `P(x|s)^α / Σ_y P(y|s)^α`."""

    model: Model
    alpha: Any

    def law(self, prefix: Tokens) -> Array:
        own = self.model.law(prefix)
        raised = own**self.alpha
        return normalise(raised, otherwise=raised)

    def state(self, prefix: Tokens) -> Hashable:
        return self.model.state(prefix)


def token_temperature(model: Model, alpha: Any) -> TokenTemperature:
    """The model at temperature `1/α`, token by token, as engines decode it: not the power target of sequences.

    The power target weighs a token also by what the power makes of its completions, `ζ(sx)`; where `ζ` is the same for
    all tokens the two agree. Root fair, after 0 fair, after 1 certain, `α = 2`: the first token has (1/3, 2/3) under
    the power, and (1/2, 1/2) at the temperature.

    Raises:
        ValueError: as `power`.

    Source: section 9 of the mathematics.

    >>> from fractions import Fraction as F
    >>> from resispec_ref.sequence.toy import ToyModel
    >>> fair = [F(1, 2), F(1, 2)]
    >>> model = ToyModel([fair, [fair, [F(0), F(1)]]])
    >>> [str(x) for x in token_temperature(model, 2).law(())], [str(x) for x in power(model, 2, 2).law(())]
    (['1/2', '1/2'], ['1/3', '2/3'])
    """
    return TokenTemperature(model, _checked_power(model, alpha))


def _checked_power(model: Model, alpha: Any) -> Any:
    if not alpha > 0:
        raise ValueError(f"alpha: {alpha} is not positive")
    if is_rational(model.law(())) and not (isinstance(alpha, Rational) and alpha.denominator == 1):
        raise ValueError(f"alpha: {alpha} is not whole, and a power of rationals by it is not rational; use floats")
    return int(alpha) if alpha == int(alpha) else alpha


def _checked(length: int) -> int:
    if length < 1:
        raise ValueError(f"length: {length}; sequences have 1 token or more")
    return length
