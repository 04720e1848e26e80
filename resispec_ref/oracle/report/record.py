"""The record of an audit: verdict, what was ruled out, the counterexample, the diagnosis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

Verdict = Literal["no fault found", "fault found", "could not run", "measured"]
EXIT_CODES: dict[str, int] = {"no fault found": 0, "fault found": 1, "could not run": 2, "measured": 0}


@dataclass(frozen=True)
class Finding:
    """Something that a check saw, with the input that shows it.

    `fault` findings prove a fault and decide the verdict; `note` findings are deviations at single points or in
    degenerate cases; a `problem` is a call that failed, so that a case could not be audited.
    """

    level: Literal["fault", "note", "problem"]
    check: str
    message: str
    given: dict[str, Any] = field(default_factory=dict)
    trace: str = ""
    """Of an exception: the traceback within the implementation."""
    inputs: int = 1
    """How many inputs show the same."""


def gathered(findings: list[Finding]) -> list[Finding]:
    """Findings of failed calls, those of one kind and cause as one, with the first input."""
    found = dict[Any, Finding]()
    for i, f in enumerate(findings):
        cause = (f.level, f.check, f.trace) if f.trace else i
        found[cause] = replace(found[cause], inputs=found[cause].inputs + f.inputs) if cause in found else f
    return list(found.values())


@dataclass(frozen=True)
class CaseResult:
    """What the draws of one case showed."""

    name: str
    inputs: dict[str, Any]
    draws: int
    tv_observed: float
    """Distance of the frequencies from the right law; sampling noise alone makes it positive."""
    tv_upper: float
    """The total variation of the implementation is below this, in all cases together with the report's confidence."""
    tv_detectable: float
    """A fault of this total variation would have been found with probability 0.99."""
    log10_e: float
    """Evidence against the case, as a power of ten: a sound implementation exceeds `x` with probability `10^-x`."""
    tests: dict[str, float]
    """The same for each test: law, pairs, rounds, acceptance."""
    acceptance: float | None = None
    acceptance_bound: float | None = None
    right_law: list[float] = field(default_factory=list)
    observed_law: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class HighResolution:
    """The law of one case by randomised quasi-Monte Carlo over the noise, with all candidates enumerated."""

    name: str
    inputs: dict[str, Any]
    points: int
    tv: float
    tv_upper: float
    """`tv` plus the half-widths of all cells (Student's t over independent scramblings: approximate)."""
    right_law: list[float]
    observed_law: list[float]
    fault: bool


@dataclass(frozen=True)
class Lossy:
    """How far the law of a rule that is lossy by design is from the target's, and what that bought."""

    tv_lower: float
    tv_upper: float
    """The worst total variation of the audited cases lies between the two, with the report's confidence."""
    case: str
    """The case of the largest lower bound."""
    inputs: dict[str, Any]
    acceptance: float | None = None
    """In that case."""
    exact_bound: float | None = None
    """What an exact rule accepts there at most."""
    frontier: float | None = None
    """What a rule of the bias met there accepts at most (T17); the rest is waste."""


@dataclass(frozen=True)
class Counterexample:
    """The smallest case found in which the implementation is wrong."""

    inputs: dict[str, Any]
    right_law: list[str]
    """What an exact implementation emits: for one position the target itself."""
    observed_law: list[float]
    draws: int
    tv_observed: float
    log10_e: float
    """Evidence from draws made after the case was chosen."""
    fault_law: list[str] | None = None
    """What the diagnosed fault would emit here, exactly."""
    outcomes: list[str] = field(default_factory=list)
    """The names of the entries of the laws: tokens, sequences of tokens, or cells of pooled tokens."""
    shrunk: bool = True
    """Whether the search found it; else it is the built-in case that showed the fault best."""
    where: str = ""
    """Which emitted token is wrong, and which outcomes are furthest off."""
    replay: str = ""
    """Lines of Python to paste, that audit the implementation on this case alone."""


@dataclass(frozen=True)
class Diagnosis:
    """The known fault that explains what was observed best."""

    name: str
    description: str
    remedy: str
    matches: bool
    """Whether all that was observed is consistent with the fault's exact law."""
    also: list[str] = field(default_factory=list)
    """Other known faults that are consistent too."""


@dataclass
class Record:
    """What an audit found; a `Report` is one that can be printed and written."""

    subject: str
    kind: str
    verdict: Verdict
    false_alarm_rate: float
    """A sound implementation is called faulty with at most this probability, however long the audit."""
    confidence: float
    """All `tv_upper` hold together with this probability."""
    log10_e: float = 0.0
    """Evidence of all tests and cases together: a fault is found at `-log10(false_alarm_rate)`."""
    tv_upper: float | None = None
    """The largest `tv_upper` of the small cases, which are alike: what a pass rules out.

    Recorded rows and batches of 3 get fewer draws, and have figures of their own (`cases`).
    """
    tv_detectable: float | None = None
    """The largest `tv_detectable` of the same cases."""
    tolerance: float = 0.0
    counterexample: Counterexample | None = None
    diagnosis: Diagnosis | None = None
    findings: list[Finding] = field(default_factory=list)
    cases: list[CaseResult] = field(default_factory=list)
    high_resolution: list[HighResolution] = field(default_factory=list)
    lossy: Lossy | None = None
    """Where the audit measured a lossy rule, and judged none."""
    cases_in_all: int = 0
    cases_cleared: int = 0
    """Those that were drawn from without a call that failed."""
    draws: int = 0
    seconds: float = 0.0

    @property
    def raised(self) -> int:
        """The inputs at which a call failed."""
        return sum(f.inputs for f in self.findings if f.trace or f.level == "problem")
