"""`resispec audit` without an argument: is every built-in rule what it declares itself to be?

For each rule: its emitted law against the target, `==` in rationals, on random pairs; the smallest pair on which they
differ, by shrinking; the worst total variation, by hill climbing; its acceptance against the bound on recorded pairs.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from resispec_ref.law import emitted_law
from resispec_ref.measurements import parallel
from resispec_ref.measurements.measure import Measurement, RuleMeasurement, measure, takes
from resispec_ref.measurements.parallel import Progress
from resispec_ref.measurements.search import Case, Law, climb, random_cases, search, shrink, size
from resispec_ref.models.pairs import Pairs, load_pairs
from resispec_ref.rule.registry import get_verifier, verifier_names
from resispec_ref.rule.verifier import Verifier

CASES = 300
"""Random rational pairs tried for each rule, the same ones for all."""

_CLIMBS = ((3, 1), (4, 2), (5, 3))  # tokens and candidates; larger vocabularies are worse still, but slower
_ROUNDING = 1e-9  # a float climb above this is looked at in rationals, where the answer is yes or no
_EVERY = 8  # recorded positions between those that are measured
_CANDIDATES = 3


@dataclass(frozen=True)
class RuleAudit:
    """What was found out about one rule."""

    rule: str
    replacement: bool
    declared_exact: bool
    exact: bool
    """Whether no case was found on which the emitted law differs from the target."""
    cases: int
    """Rational cases on which the two were compared with `==`."""
    cases_biased: int
    worst_total_variation: Fraction
    worst_case: Case | None
    counterexample: Case | None
    """The smallest case found on which they differ: target, draft, candidates."""
    counterexample_law: tuple[Fraction, ...] | None
    measured: RuleMeasurement

    @property
    def as_declared(self) -> bool:
        return self.exact == self.declared_exact


def audit_rule(rule: Verifier, measured: RuleMeasurement, *, seed: int = 0, cases: int = CASES) -> RuleAudit:
    """Look for a case on which `rule` does not emit the target's law; `seed` fixes the cases tried."""

    laws = dict[Case, Law]()

    def law_of(case: Case) -> Law:
        if case not in laws:
            laws.update(_laws(rule, [case]))
        return laws[case]

    def biased(case: Case) -> bool:
        return case.candidates in allowed and law_of(case) != case.target

    def score(p: np.ndarray, q: np.ndarray, K: int) -> np.ndarray:
        return np.asarray(emitted_law(rule, p, q, candidates=K).total_variation)

    allowed = [K for K in range(5) if takes(rule, K)]
    drawn = itertools.islice(random_cases(np.random.default_rng(seed), candidates=max(allowed)), cases)
    tried = [case for case in drawn if case.candidates in allowed]
    laws.update(_laws(rule, tried))
    faults = search(biased, tried)
    rng = np.random.default_rng([seed, 1])
    climbs = [climb(score, rng, vocab=V, candidates=K, flat=_ROUNDING) for V, K in _CLIMBS if K in allowed]
    suspects = [case for worst, case in climbs if worst > _ROUNDING and biased(case)]
    tried, found = tried + suspects, faults + suspects
    smallest = min((shrink(biased, case) for case in found[:3]), key=size, default=None)
    total_variations = [(_total_variation(law_of(case), case.target), case) for case in found]
    worst, worst_case = max(total_variations, key=lambda pair: pair[0], default=(Fraction(0), None))
    return RuleAudit(
        rule=rule.name,
        replacement=rule.replacement,
        declared_exact=rule.exact,
        exact=not found,
        cases=len(tried),
        cases_biased=len(found),
        worst_total_variation=worst,
        worst_case=worst_case,
        counterexample=smallest,
        counterexample_law=None if smallest is None else law_of(smallest),
        measured=measured,
    )


def audit_rules(
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    cases: int = CASES,
    executor: Executor | None = None,
    progress: Progress | None = None,
    done: Callable[[RuleAudit], None] | None = None,
) -> tuple[list[RuleAudit], Measurement]:
    """The audit of the rules called `names`, all by default, and the measurement on recorded pairs beside it.

    An `executor` (of `concurrent.futures`, or a cluster's) audits a rule a part; the answer is the same. `done` is
    given each audit as soon as it and those before it are there.
    """
    rules = list(map(get_verifier, verifier_names() if names is None else names))
    step = progress or (lambda done, wanted: None)
    measurement = measure(_some_pairs(), candidates=_CANDIDATES, verifiers=rules, seed=seed, executor=executor)
    step(1, len(rules) + 1)
    found = []
    work = partial(_audit_measured, seed=seed, cases=cases)
    for audited in parallel.in_order(work, [(rule, measurement[rule.name]) for rule in rules], executor):
        found.append(audited)
        if done is not None:
            done(audited)
        step(len(found) + 1, len(rules) + 1)
    return found, measurement


def _laws(rule: Verifier, cases: Sequence[Case]) -> dict[Case, Law]:
    """What `rule` emits in each case, exactly: alike cases in one batch, unless it follows every rejected path."""
    batches = defaultdict[tuple[int, ...], list[Case]](list)
    for i, case in enumerate(cases):
        alone = i if rule.path_dependent else 0
        batches[len(case.target), case.candidates, alone].append(case)
    found = dict[Case, Law]()
    for (_, candidates, _), batch in batches.items():
        laws = (np.array(x[0] if len(x) == 1 else x, dtype=object) for x in list(zip(*batch, strict=True))[:2])
        emitted = emitted_law(rule, *laws, candidates=candidates).law
        found.update(zip(batch, map(tuple, np.reshape(emitted, (len(batch), -1))), strict=True))
    return found


def _total_variation(law: Law, target: Law) -> Fraction:
    return sum((abs(a - b) for a, b in zip(law, target, strict=True)), start=Fraction(0)) / 2


def _audit_measured(rule: tuple[Verifier, RuleMeasurement], seed: int, cases: int) -> RuleAudit:
    return audit_rule(*rule, seed=seed, cases=cases)


def _some_pairs() -> Pairs:
    pairs = load_pairs()
    f_p, f_q, ids = (x[::_EVERY] for x in (pairs.target_logits, pairs.draft_logits, pairs.token_ids))
    return replace(pairs, target_logits=f_p, draft_logits=f_q, token_ids=ids)
