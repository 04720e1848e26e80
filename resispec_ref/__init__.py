"""A pure-math reference for multi-candidate speculative sampling, at the level of distributions.

Laws are arrays `(..., vocab)` of any array-API library, or object arrays of exact rationals; the last axis is the
vocabulary and leading axes are batch axes. `emitted_law` says what a verification rule emits, `optimal_acceptance`
what any exact rule can accept at most, `verify` runs a rule on given uniforms.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from resispec_ref.acceptance import Verification, accepts, draw, uniforms_needed, verify
from resispec_ref.bounds import optimal_acceptance, optimal_acceptance_for
from resispec_ref.candidates.several_drafts import PerCandidate
from resispec_ref.distributions import kl_divergence, law_from_logits, overlap, total_variation
from resispec_ref.law import EmittedLaw, EstimatedLaw, emitted_law, estimated_law
from resispec_ref.measurements.linear_programs import best_sequential_acceptance
from resispec_ref.measurements.measure import Measurement, RuleMeasurement, measure
from resispec_ref.models.pairs import Pairs, iterate_pairs, load_pairs, save_pairs
from resispec_ref.proposal import Schedule, future_capacity, published_proxy, schedule
from resispec_ref.residual import published_residual, shaped_residual, standard_residual
from resispec_ref.validation import check_law, valid_rows
from resispec_ref.verifiers import Selection, State, Verifier, get_verifier, verifier_names

if TYPE_CHECKING:
    from resispec_ref.oracle.report.report import Report

__version__ = "0.1.0"

__all__ = [
    "EmittedLaw",
    "EstimatedLaw",
    "Measurement",
    "Pairs",
    "PerCandidate",
    "RuleMeasurement",
    "Schedule",
    "Selection",
    "State",
    "Verification",
    "Verifier",
    "accepts",
    "audit",
    "best_sequential_acceptance",
    "check_law",
    "draw",
    "emitted_law",
    "estimated_law",
    "future_capacity",
    "get_verifier",
    "iterate_pairs",
    "kl_divergence",
    "law_from_logits",
    "load_pairs",
    "measure",
    "optimal_acceptance",
    "optimal_acceptance_for",
    "overlap",
    "published_proxy",
    "published_residual",
    "save_pairs",
    "schedule",
    "shaped_residual",
    "standard_residual",
    "total_variation",
    "uniforms_needed",
    "valid_rows",
    "verifier_names",
    "verify",
]

for _name in ("candidates.several_drafts", "measurements.linear_programs", "measurements.measure", "models.pairs"):
    # where these public names were imported from before their modules had rooms
    sys.modules[f"{__name__}.{_name.rpartition('.')[2]}"] = sys.modules[f"{__name__}.{_name}"]


def audit(implementation: Any, *, kind: str, **options: Any) -> Report:
    """Is this implementation of speculative sampling exact? An audit with a stated error rate; `print` the answer.

    The implementation is run on built-in cases with several numbers of candidates. Everything that it emits is tested
    against the target's law by e-processes, merged under one false-alarm rate that holds whenever the audit stops;
    acceptance above the optimal-transport bound proves a fault too. On a fault the smallest counterexample is searched
    and compared with the exact laws of known faults. Needs the extra `oracle`.

    Args:
        implementation: a function that follows the protocol of `kind`; laws are `(vocab,)` probabilities, a batch has a
            leading axis, `rng` is a `numpy.random.Generator` (a `torch.Generator`, a JAX key); a function without the
            parameter `rng` draws from the library's global generator, which is seeded.
        kind: "verifier": `f(target, draft, candidates, rng) -> token`, candidates `(K,)` drawn by the oracle;
            "sampler": `f(target, draft, k, rng, n) -> tokens`, drawing its own candidates, `n` times;
            "chain": `f(target, draft, drafted, rng) -> tokens`, rows `(K + 1, vocab)` and `(K, vocab)` of both models
            along the drafted tokens `(K,)`, 1 to `K + 1` emitted tokens (a batch is padded with -1);
            "tree": `f(target, draft, tokens, parents, rng) -> tokens`, a candidate tree of nodes `(N,)` with
            the numbers of their parents (-1: the root) and rows `(N + 1, vocab)`, the root's first;
            "law": `f(target, draft) -> (m, R)`, accepted mass `(vocab,)` and residuals `(vocab,)` or `(vocab, vocab)`
            by rejected token, checked exactly; or a `Verifier`. A pair `(token, accepted_index)` may be returned
            instead of the token, and is checked; or `(accepted_index, law)`, of a chain or tree `(accepted, law)`,
            from whose law `(vocab,)` the next token is then drawn;
            "generate": `f(law, length, rng) -> tokens`, a whole sequence a call, against `target`; `law(prefix)` is the
            next-token law of the target's model.
        target: for kind "generate": what `resispec_ref.sequence.power` or `tilted` returns. Of the options below it
            takes `budget`, `draws`, `false_alarm_rate`, `confidence`, `tolerance`, `call_limit` and `seed`.
        candidates: number or numbers of candidates, of drafted tokens, or of children of a tree's root; 1, 2 and 3 by
            default. Of `cases`, those with so many are taken.
        draw: how candidates are drawn: "independent", "distinct" (without replacement), "top-k" (in a chain: the
            likeliest token of each row), or a function `(draft, k, rng, n) -> (n, k)` tokens, called for each row.
        library, dtype, inputs: what arrays it takes: "numpy", "torch", "jax"; "float64", "float32", "float16",
            "bfloat16"; "probabilities" or "logits".
        noise: the noise it takes in place of `rng`, such as "uniform:K+1" or "uniform:K,exponential:V" (one argument
            each). Its law is then also computed by quasi-Monte Carlo, to about 1e-4 (`resolution`) in total variation.
        batched: whether it takes a batch; found out by default.
        cases: the pairs to audit, instead of the built-in ones (`resispec_ref.oracle.fraction_case`).
        budget: seconds; `draws`: at most, a case. The audit ends early when a fault is proved.
        false_alarm_rate: at most this often is an exact implementation called faulty (1e-4).
        confidence: of all upper bounds on total variation together (0.99).
        tolerance: total variation that is no fault: 0, or the spacing of 16-bit types.
        lossy: for a rule that is lossy by design: the audit goes on after a proof, and measures the worst total
            variation with an interval, beside the acceptance that such a bias can buy (T17); the verdict is "measured".
        call_limit: seconds that one call may take.
        search, checks, seed, progress: whether to search the smallest counterexample, whether to run deterministic
            checks, the seed of all draws, and a function called with the share done and what is going on.
        executor: of `concurrent.futures`, or a cluster's: makes the rounds of draws, to whose processes the
            implementation is pickled. Draws depend on the seed and the case alone; how many of them the budget allows
            depends on the clock, unless `draws` is what limits them. Of kind "law" nothing is drawn.

    Returns:
        A `Report`: `verdict` ("no fault found", "fault found", "could not run"), `tv_upper`, `counterexample`,
        `diagnosis`, `findings`, `cases`, `exit_code`, `to_json()`, `to_html()`, `to_markdown()`. Inputs at which a call
        fails are a finding with its traceback, and the other cases are audited: `exit_code` is then 2.

    Raises:
        ValueError: an unknown kind or option, one that this kind has no use for, or a value out of range. What the
            implementation raises is a finding.

    Source: section 7 of the mathematics.

    >>> def accept_always(target, draft, candidates, rng):
    ...     return candidates[0]
    >>> report = audit(accept_always, kind="verifier", candidates=1, search=False)
    >>> report.verdict, report.diagnosis.name
    ('fault found', 'always-accept')
    """
    from resispec_ref.oracle import audit as run

    return run(implementation, kind=kind, **options)  # type: ignore[arg-type]
