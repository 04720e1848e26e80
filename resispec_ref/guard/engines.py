"""The settings of four engines that decide whether speculative decoding keeps the target's law, one function each.

A sentence is quoted from the documentation of the version that is named with it. What no sentence covers is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from resispec_ref.guard.finding import Finding, Says
from resispec_ref.guard.rules import ForcedAcceptance, TargetMatchThresholds
from resispec_ref.verifiers.lossy.mixture import Mixture
from resispec_ref.verifiers.lossy.typical_acceptance import TypicalAcceptance

Settings = Mapping[str, Any]

_VLLM = "vLLM at 002e77c, vllm/config/speculative.py, SpeculativeConfig"
_VLLM_LOSSLESS = Says(
    "Speculative decoding sampling is theoretically lossless up to the precision limits of hardware numerics.",
    "docs.vllm.ai, v0.17.0, Speculative Decoding, Lossless guarantees",
)
_SGLANG = "SGLang 0.5, server arguments"
_TENSORRT = "TensorRT-LLM 1, tensorrt_llm/llmapi/llm_args.py"
_TRANSFORMERS = "transformers 5.24, GenerationConfig"

_DISJOINT = [Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]


def vllm(s: Settings) -> list[Finding]:
    """`speculative_config` of vLLM."""
    method = s.get("rejection_sample_method", "standard")
    older = s.get("acceptance_method", s.get("spec_decoding_acceptance_method", "rejection_sampler"))
    found = []
    if older == "typical_acceptance_sampler":
        epsilon = _number(s, ("posterior_threshold", "typical_acceptance_sampler_posterior_threshold"), 0.09)
        delta = _number(s, ("posterior_alpha", "typical_acceptance_sampler_posterior_alpha"), 0.3)
        says = Says(
            "A threshold value that sets a lower bound on the posterior probability of a token in target model for it "
            "to be accepted.",
            "docs.vllm.ai, v0.9.0, TypicalAcceptanceSampler, posterior_threshold",
        )
        found.append(_typical(f"acceptance_method={older}", says, epsilon, delta))
    elif older != "rejection_sampler":
        found.append(Finding("unknown", f"acceptance_method={older}", None))
    if method == "synthetic":
        rate = _first_rate(s)
        says = Says(
            "'synthetic' accepts draft tokens with a decaying probability calibrated to synthetic_acceptance_rate.",
            f"{_VLLM}, rejection_sample_method",
        )
        setting = f"rejection_sample_method=synthetic, first token accepted with probability {rate}"
        found.append(_forced(setting, says, rate))
    elif method == "block":
        sentence = "'block' uses block verification (Sun et al.), which jointly verifies the draft tokens as a block"
        found.append(
            Finding("lossless", "rejection_sample_method=block", Says(f"{sentence} instead of one at a time.", _VLLM))
        )
    elif method == "standard" and not found:
        found.append(Finding("lossless", f"rejection_sample_method={method}", _VLLM_LOSSLESS))
    elif method != "standard":
        found.append(Finding("unknown", f"rejection_sample_method={method}", None))
    drafted = s.get("draft_sample_method", "greedy")
    says = Says(
        "'greedy' always picks the argmax token, and the draft probabilities are treated as one-hot during rejection "
        "sampling. 'probabilistic' samples stochastically from the draft distribution and uses the full draft logits "
        "for the probability ratio test during rejection sampling.",
        f"{_VLLM}, draft_sample_method",
    )
    if drafted in ("greedy", "probabilistic"):
        return [*found, Finding("lossless", f"draft_sample_method={drafted}", says)]
    return [*found, Finding("unknown", f"draft_sample_method={drafted}", None)]


def sglang(s: Settings) -> list[Finding]:
    """Server arguments of SGLang."""
    single = _number(s, ("speculative_accept_threshold_single",), 1)
    accumulated = _number(s, ("speculative_accept_threshold_acc",), 1)
    by_single = Says(
        "Accept a draft token if its probability in the target model is greater than this threshold.",
        f"{_SGLANG}, --speculative-accept-threshold-single",
    )
    by_accumulated = Says(
        "The accept probability of a draft token is raised from its target probability p to min(1, p / threshold_acc).",
        f"{_SGLANG}, --speculative-accept-threshold-acc",
    )
    found = []
    for name, value, says in (("single", single, by_single), ("acc", accumulated, by_accumulated)):
        setting = f"speculative_accept_threshold_{name}={value}"
        if value == 1:
            found.append(Finding("lossless", setting, says))
            continue
        t = max(value, Fraction(1, 100))
        rule = TargetMatchThresholds(*((value, 1) if name == "single" else (1, value)))
        emitted = f"1 where p(x) >= {value}, else p(x)" if name == "single" else f"min(1, p(x) / ({value}))"
        found.append(
            Finding(
                "lossy",
                setting,
                says,
                rule,
                1 - value,
                value > 0,
                ([t, 1 - t], [Fraction(1), Fraction(0)]),
                f"the candidate x with the probability {emitted}; else the target off x, renormalised",
            )
        )
    return found


def tensorrt_llm(s: Settings) -> list[Finding]:
    """`speculative_config` of TensorRT-LLM's LLM API."""
    kind = str(s.get("decoding_type", "")).lower()
    top_k, delta = _number(s, ("relaxed_topk",), 1, any_number=True), _number(s, ("relaxed_delta",), 0, any_number=True)
    found = []
    if s.get("use_relaxed_acceptance_for_thinking", False):
        setting = f"use_relaxed_acceptance_for_thinking=true, relaxed_topk={top_k}, relaxed_delta={delta}"
        says = Says(
            "Enable relaxed acceptance during thinking phase for reasoning models. Accepts draft tokens matching any "
            "top-K candidate instead of exact top-1.",
            f"{_TENSORRT}, MTPDecodingConfig",
        )
        if top_k > 1 and delta > 0:
            gap = min(delta, Fraction(1)) / 4
            near = [Fraction(1, 2) + gap, Fraction(1, 2) - gap], [Fraction(0), Fraction(1)]
            emitted = (
                "the draft's token if among the target's top K within delta, else the likeliest; the target is greedy"
            )
            found.append(Finding("lossy", setting, says, None, Fraction(1), True, near, emitted))
        else:
            found.append(Finding("lossless", setting, says))
    if kind in ("eagle", "eagle3") and not s.get("greedy_sampling", True):
        epsilon = _number(s, ("posterior_threshold",), 0.09)
        root = Fraction(str(round(float(epsilon) ** 0.5, 6)))  # as Medusa has it, and no setting here
        says = Says(
            "Whether to use greedy sampling (Top-1 with token equality acceptance) or typical acceptance with "
            "multinomial sampling.",
            f"{_TENSORRT}, EagleDecodingConfig, greedy_sampling",
        )
        found.append(_typical(f"greedy_sampling=false, posterior_threshold={epsilon}", says, epsilon, root))
    if kind in ("medusa", "lookahead", "user_provided", ""):
        found.append(Finding("unknown", f"decoding_type={s.get('decoding_type')}", None))
    elif not any(f.judgement == "lossy" for f in found):
        says = Says(
            "If true, enables rejection sampling for one-model speculative decoding paths when the batch contains any "
            "non-greedy request. [...] Set to false (default) to use exact-match verification on non-greedy batches.",
            f"{_TENSORRT}, use_rejection_sampling",
        )
        setting = f"use_rejection_sampling={str(s.get('use_rejection_sampling', False)).lower()}"
        found.append(Finding("lossless", setting, says))
    return found


def transformers(s: Settings) -> list[Finding]:
    """`GenerationConfig` of transformers, and what is passed to `generate`."""
    weight = s.get("assistant_ensemble_weight")
    says = Says(
        "[If set,] the verifier accepts tokens against the mixture `w * p_target + (1 - w) * q_draft` instead of "
        "`p_target`, trading a controlled distributional bias for a higher acceptance rate. Defaults to `None`, which "
        "keeps decoding lossless.",
        f"{_TRANSFORMERS}, assistant_ensemble_weight",
    )
    if weight is None:
        return [Finding("lossless", "assistant_ensemble_weight=None", says)]
    w = _number(s, ("assistant_ensemble_weight",), 1)
    if not 0 < w < 1:
        raise ValueError(f"assistant_ensemble_weight: {weight} is not between 0 and 1; the engine refuses it too")
    emitted = f"w p + (1 - w) q with w = {w}; at the token after the last draft p"
    rule = Mixture(1 - w)  # type: ignore[arg-type]
    return [Finding("lossy", f"assistant_ensemble_weight={w}", says, rule, 1 - w, True, _DISJOINT, emitted)]


ENGINES: dict[str, Callable[[Settings], list[Finding]]] = {
    "vllm": vllm,
    "sglang": sglang,
    "tensorrt-llm": tensorrt_llm,
    "transformers": transformers,
}
READ: dict[str, tuple[str, ...]] = {
    "vllm": (
        "rejection_sample_method",
        "draft_sample_method",
        "acceptance_method",
        "spec_decoding_acceptance_method",
        "posterior_threshold",
        "posterior_alpha",
        "typical_acceptance_sampler_posterior_threshold",
        "typical_acceptance_sampler_posterior_alpha",
        "synthetic_acceptance_rate",
        "synthetic_acceptance_rates",
        "synthetic_acceptance_length",
    ),
    "sglang": ("speculative_accept_threshold_single", "speculative_accept_threshold_acc"),
    "tensorrt-llm": (
        "decoding_type",
        "use_relaxed_acceptance_for_thinking",
        "relaxed_topk",
        "relaxed_delta",
        "greedy_sampling",
        "posterior_threshold",
        "use_rejection_sampling",
        "acceptance_rate_threshold",
        "acceptance_rate_window_size",
        "acceptance_length_threshold",
        "acceptance_window",
    ),
    "transformers": ("assistant_ensemble_weight", "assistant_confidence_threshold"),
}
"""The settings that are understood; those of when to speculate do not touch the law and are here too."""


def _typical(setting: str, says: Says, epsilon: Fraction, delta: Fraction) -> Finding:
    """Typical acceptance. Over many almost equally likely tokens the likeliest is accepted whenever it is drafted."""
    target = [Fraction(1 + (x == 0), 101) for x in range(100)]
    drafted = [Fraction(int(x == 0)) for x in range(100)]
    rule = TypicalAcceptance(epsilon, delta)  # type: ignore[arg-type]
    emitted = f"1 at the candidate x where p(x) > min({epsilon}, {delta} exp(-entropy of p)), else 0"
    return Finding("lossy", setting, says, rule, Fraction(1), False, (target, drafted), emitted)


def _forced(setting: str, says: Says, rate: Fraction) -> Finding:
    """Acceptance by a constant rate, with the residual after a rejection, which then comes too often or too seldom."""
    near = [Fraction(1, 100), Fraction(99, 100)], [Fraction(0), Fraction(1)]
    often = rate >= Fraction(1, 2)
    emitted = f"r q + (1 - r) (p - q)+ / |(p - q)+| with r = {rate}"
    rule = ForcedAcceptance(float(rate))
    return Finding("lossy", setting, says, rule, max(rate, 1 - rate), often, _DISJOINT if often else near, emitted)


def _first_rate(s: Settings) -> Fraction:
    """How often the first drafted token is accepted when acceptance is synthetic."""
    rates, length = s.get("synthetic_acceptance_rates"), s.get("synthetic_acceptance_length")
    if isinstance(rates, list) and rates:
        return _number({"synthetic_acceptance_rates": rates[0]}, ("synthetic_acceptance_rates",), 1)
    if length is not None:
        return min(Fraction(1), _number(s, ("synthetic_acceptance_length",), 1, any_number=True) - 1)
    return _number(s, ("synthetic_acceptance_rate",), 1)


def _number(s: Settings, names: tuple[str, ...], default: float, *, any_number: bool = False) -> Fraction:
    """A setting as the decimal that it is written as, in `[0, 1]` unless any number will do."""
    name = next((name for name in names if s.get(name) is not None), None)
    value = default if name is None else s[name]
    try:
        found = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name}: {value!r} is not a number") from None
    if not any_number and not 0 <= found <= 1:
        raise ValueError(f"{name}: {value} is not in [0, 1]")
    return found
