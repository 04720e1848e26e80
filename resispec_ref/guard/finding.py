"""What one setting means: a verdict, the sentence it rests on, and for a lossy one its bias."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from resispec_ref.rule.verifier import Verifier

Judgement = Literal["lossless", "lossy", "unknown"]


@dataclass(frozen=True)
class Says:
    """A sentence of an engine's documentation, and where it stands."""

    sentence: str
    where: str


@dataclass(frozen=True)
class OnPair:
    """A lossy rule with one candidate on the recorded pair of models: means over the positions."""

    total_variation_mean: float
    total_variation_worst: float
    acceptance_rate: float
    optimal_acceptance: float
    """The bound of exact rules."""
    frontier: float
    """`min(1, bound + total variation)`: what a rule of this bias can accept at most (T17)."""


@dataclass(frozen=True)
class Finding:
    """What one setting means."""

    judgement: Judgement
    setting: str
    """Name and value, as given."""
    says: Says | None
    """What the verdict rests on; None where nothing is known."""
    rule: Verifier | None = None
    """The rule that a lossy setting makes, for one candidate; None where it is outside of what is modelled here."""
    worst_bias: Fraction | None = None
    """The largest total variation of the emitted token from the target, over all pairs of laws."""
    attained: bool = True
    """Whether a pair has that bias, or only comes as close as one likes."""
    witness: tuple[list[Fraction], list[Fraction]] | None = None
    """A target and a draft that show it: at the worst bias, or near it."""
    emitted: str = ""
    """The law of the emitted token at a drafted position, in words and symbols."""

    def as_json(self) -> dict[str, Any]:
        """The finding as `resispec lossless --json` prints it."""
        found: dict[str, Any] = {"judgement": self.judgement, "setting": self.setting}
        if self.says:
            found |= {"sentence": self.says.sentence, "where": self.says.where}
        if self.judgement == "lossy":
            found |= {"worst_bias": str(self.worst_bias), "attained": self.attained, "emitted": self.emitted}
            if self.witness:
                found |= {"target": [str(v) for v in self.witness[0]], "draft": [str(v) for v in self.witness[1]]}
        return found
