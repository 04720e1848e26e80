"""Auditing a sampler of whole sequences against a target of whole sequences: kind "generate".

A sampler that comes nearer with the number of its draws, such as importance resampling, is no exact sampler of the
target, and is called faulty as soon as the draws can tell.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from resispec_ref.oracle.report.record import CaseResult, Counterexample, Finding
from resispec_ref.oracle.report.report import Report
from resispec_ref.oracle.statistics.confidence import round_error, smallest_tv_found, tv_observed, tv_upper
from resispec_ref.oracle.statistics.evidence import Evidence
from resispec_ref.oracle.subjects.calls import CallError, Clock, guarded
from resispec_ref.sequence.samplers.importance import complete_sequences
from resispec_ref.sequence.targets import SequenceTarget
from resispec_ref.sequence.toy import Tokens

_FIRST_ROUND = 256

Generate = Callable[[Callable[[Tokens], np.ndarray], int, np.random.Generator], Any]


def audit_generate(
    implementation: Generate,
    target: SequenceTarget | None,
    *,
    budget: float,
    draws: int,
    false_alarm_rate: float,
    confidence: float,
    tolerance: float,
    call_limit: float,
    seed: int,
) -> Report:
    """Test the joint law of whole sequences, which `f(law, length, rng)` returns one a call, against the target's.

    `law(prefix)` is the law of the next token of the target's own model, float64 `(vocab,)`. A sequence that the target
    gives probability 0 is a proof by itself. Rounds double, from 256 draws on, until a fault is proved or the budget is
    spent; sizes depend on the clock and `draws` alone.
    """
    if not isinstance(target, SequenceTarget):
        raise ValueError("target: kind 'generate' needs one of resispec_ref.sequence.power or tilted")
    if not callable(implementation):
        raise ValueError(f"implementation: {implementation!r} is not a function; kind 'generate' needs one")
    began = time.monotonic()
    name = getattr(implementation, "__qualname__", None) or type(implementation).__qualname__
    report = Report(name, "generate", "could not run", false_alarm_rate, confidence, tolerance=tolerance)
    right = {s: float(m) for s, m in complete_sequences(target, target).items()}
    sequences = [*sorted(right), "any other"]
    cells = {s: i for i, s in enumerate(sequences)}
    evidence = Evidence(np.array([*(right[s] for s in sorted(right)), 0.0]), tolerance)
    rng, rounds, threshold = np.random.default_rng(seed), 0, math.log(1 / false_alarm_rate)
    proved, size = False, min(_FIRST_ROUND, draws)
    while size and not proved:
        began_round = time.monotonic()
        job = partial(_draw, implementation, target, size, rng, began + budget)
        try:
            drawn = guarded(job, call_limit)
        except CallError as error:
            report.findings.append(Finding("problem", error.problem, error.message, error.given))
            break
        rounds += 1
        evidence.add(np.array([cells.get(s, len(right)) for s in drawn]), {})
        proved = evidence.log_e() >= threshold
        seconds = time.monotonic() - began_round
        left = int((began + budget - time.monotonic()) / max(seconds / len(drawn), 1e-9))
        size = min(evidence.draws, draws - evidence.draws, left)
        size = 0 if size < evidence.draws // 4 and size < draws - evidence.draws else size
    if evidence.draws:
        _summarise(report, evidence, sequences, proved, round_error(1 - confidence, 1, rounds), target)
    report.seconds = time.monotonic() - began
    return report


def _draw(
    implementation: Generate, target: SequenceTarget, n: int, rng: np.random.Generator, end: float, clock: Clock
) -> list[Tokens]:
    """Up to `n` sequences, as far as the time goes; the first of a round always."""

    def law(prefix: Tokens) -> np.ndarray:
        return np.array([float(m) for m in target.model.law(tuple(prefix)).tolist()])

    vocab, found = len(law(())), list[Tokens]()
    while len(found) < n and (not found or time.monotonic() < end):
        given = {"length": target.length}
        clock.start(given)
        try:
            answer = implementation(law, target.length, rng)
        except (Exception, SystemExit) as error:  # a call of sys.exit would end the audit as if all were well
            raise CallError("exception", f"{type(error).__name__}: {error}", given) from error
        found.append(_checked(answer, vocab, target))
    return found


def _checked(answer: Any, vocab: int, target: SequenceTarget) -> Tokens:
    try:
        tokens = tuple(int(x) for x in np.asarray(answer).reshape(-1))
    except (TypeError, ValueError) as error:
        raise CallError("dtype", f"returned {answer!r}; token ids are needed") from error
    if not all(0 <= x < vocab for x in tokens):
        raise CallError("token out of range", f"returned {tokens} with a vocabulary of {vocab}")
    if not target.done(tokens) or any(target.done(tokens[:i]) for i in range(len(tokens))):
        ends = "" if target.end is None else f", or fewer of which the last is {target.end}"
        raise CallError("shape", f"returned {tokens}; a sequence has {target.length} tokens{ends}")
    return tokens


def _summarise(
    report: Report, evidence: Evidence, sequences: list[Any], proved: bool, error: float, target: SequenceTarget
) -> None:
    law, counts, logs = evidence.law, evidence.counts, evidence.logs()
    inputs = {"length": target.length, "alpha": target.alpha} | ({} if target.end is None else {"end": target.end})
    off, detectable = tv_observed(counts, law), 1.0
    if not proved:
        share = math.log(1 / report.false_alarm_rate) + math.log(len(logs))
        detectable = smallest_tv_found(law[law > 0], evidence.draws, share)
    report.draws, report.log10_e = evidence.draws, evidence.log_e() / math.log(10)
    report.tv_upper, report.tv_detectable = tv_upper(counts, law, error), detectable
    report.cases.append(
        CaseResult(
            "whole sequences", inputs, evidence.draws, off, report.tv_upper, detectable, report.log10_e,
            {name: value / math.log(10) for name, value in logs.items()},
            right_law=law.tolist(), observed_law=(counts / evidence.draws).tolist(),
        )
    )  # fmt: skip
    if proved:
        outcomes = [s if isinstance(s, str) else " ".join(map(str, s)) for s in sequences]
        report.counterexample = Counterexample(
            inputs, [f"{m:.6g}" for m in law], (counts / evidence.draws).tolist(), evidence.draws, off, report.log10_e,
            outcomes=outcomes, shrunk=False,
        )  # fmt: skip
    failed = any(f.level == "problem" for f in report.findings)
    report.verdict = "fault found" if proved else "could not run" if failed else "no fault found"
