"""The verdict on an engine's settings: lossless, lossy with its bias, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from resispec_ref.guard.engines import ENGINES, READ
from resispec_ref.guard.finding import Finding, Judgement, OnPair
from resispec_ref.measurements.measure import measure
from resispec_ref.rule.verifier import Verifier

_ABOUT_ACCEPTANCE = (
    *("accept", "lenien", "relax", "thresh", "typical", "posterior", "ensemble"),
    *("synthetic", "simulat", "reject", "toler", "epsilon", "delta"),
)
"""Pieces of names of settings that may decide what is accepted."""
_NESTED = ("speculative_config", "spec_config", "generation_config")


@dataclass(frozen=True)
class Verdict:
    """What settings mean for the law of the text."""

    engine: str
    judgement: Judgement
    findings: list[Finding]
    """One a setting that matters; it rests on documentation, not on the code."""
    on_pair: dict[str, OnPair] = field(default_factory=dict)
    """For each lossy setting that is modelled, its rule on the recorded pair of models."""
    not_looked_at: list[str] = field(default_factory=list)
    """Settings that are not known here, and whose names say nothing of acceptance."""

    @property
    def exit_code(self) -> int:
        """0 lossless, 1 lossy, 3 unknown."""
        return {"lossless": 0, "lossy": 1, "unknown": 3}[self.judgement]

    @property
    def worst_bias(self) -> Fraction:
        """The largest total variation from the target that a lossy setting has; 0 where none is lossy."""
        return max((f.worst_bias for f in self.findings if f.worst_bias is not None), default=Fraction(0))

    @property
    def importance_ratio(self) -> str:
        """What the denominator of an importance ratio has to be, for training on this text."""
        if self.judgement == "lossless":
            return (
                "the text has the law of the target as it was sampled. Use the target's log-probabilities with "
                "temperature, top-k, top-p and penalties applied; raw ones belong to another law."
            )
        if self.judgement == "unknown":
            return "the law of the text is not known. Audit the engine, or decode rollouts without speculation."
        laws = "; ".join(f.emitted for f in self.findings if f.judgement == "lossy")
        return (
            "the text does not have the target's law, and the target's log-probabilities, which engines report, make a "
            f"biased ratio. Use the probability of what is emitted, at each drafted position: {laws}. Where the "
            "probabilities p and q of both models are not kept, decode rollouts without the lossy setting."
        )


def lossless(settings: Mapping[str, Any], *, engine: str | None = None, pair: bool = True) -> Verdict:
    """Whether text that an engine writes with these settings has the target's law.

    Args:
        settings: the engine's own names and values, dashes or underscores; those of `speculative_config` may be nested.
            The key `engine` may name the engine.
        engine: "vllm", "sglang", "tensorrt-llm" or "transformers".
        pair: whether lossy rules are run on the recorded pair of models, which takes a few seconds.

    Returns:
        A `Verdict`. It rests on the engine's documentation, quoted with each setting: that the code does what it says
        is what `resispec audit` is for. A setting that is not known and whose name is about acceptance makes it
        unknown.

    Raises:
        ValueError: no engine, an unknown one, settings that are not a mapping, or a value out of range.

    The worst bias is over all pairs of laws, for one drafted token. Source: section 9 of the mathematics (T17) for what
    a lossy rule can accept at most.

    >>> found = lossless({"assistant_ensemble_weight": 0.8}, engine="transformers", pair=False)
    >>> found.judgement, str(found.worst_bias), found.exit_code
    ('lossy', '1/5', 1)
    >>> lossless({"engine": "vllm", "method": "eagle3"}).judgement
    'lossless'
    """
    if not isinstance(settings, Mapping):
        raise ValueError(f"settings: {type(settings).__name__} is no mapping of names to values")
    flat = _flat(settings)
    name = str(engine or flat.pop("engine", "")).lower().replace("_", "-")
    flat.pop("engine", None)
    if name not in ENGINES:
        raise ValueError(f"engine: {name or 'none'!r} is not one of {', '.join(ENGINES)}")
    others = [key for key in flat if key not in READ[name]]
    strange = [key for key in others if any(piece in key for piece in _ABOUT_ACCEPTANCE)]
    findings = ENGINES[name](flat) + [Finding("unknown", f"{key}={flat[key]}", None) for key in strange]
    kinds = {f.judgement for f in findings}
    judgement: Judgement = "lossy" if "lossy" in kinds else "unknown" if "unknown" in kinds else "lossless"
    measured = {f.setting: on_pair(f.rule) for f in findings if f.rule is not None} if pair else {}
    return Verdict(name, judgement, findings, measured, [key for key in others if key not in strange])


def on_pair(rule: Verifier) -> OnPair:
    """One candidate a position on the recorded pair, at temperature 1."""
    found = measure(candidates=1, verifiers=[rule])[rule.name]
    return OnPair(
        found.total_variation_mean,
        found.total_variation_worst,
        found.acceptance_rate,
        found.optimal_acceptance,
        found.acceptance_rate + found.waste,
    )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Names with underscores and without leading dashes, nested settings of speculation among them."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        name = str(key).strip("-").replace("-", "_").lower()
        if name in _NESTED and isinstance(value, Mapping):
            found |= _flat(value)
        else:
            found[name] = value
    return found
