"""A pure-math reference for multi-candidate speculative sampling, at the level of distributions.

Laws are arrays `(..., vocab)` of any array-API library, or object arrays of exact rationals; the last axis is the
vocabulary and leading axes are batch axes. `emitted_law` says what a verification rule emits, `optimal_acceptance`
what any exact rule can accept at most, `verify` runs a rule on given uniforms.
"""

from resispec_ref.acceptance import Verification, accepts, draw, uniforms_needed, verify
from resispec_ref.bounds import optimal_acceptance
from resispec_ref.distributions import kl_divergence, law_from_logits, overlap, total_variation
from resispec_ref.law import EmittedLaw, EstimatedLaw, emitted_law, estimated_law
from resispec_ref.measure import Measurement, RuleMeasurement, measure
from resispec_ref.pairs import Pairs, iterate_pairs, load_pairs, save_pairs
from resispec_ref.proposal import Schedule, future_capacity, published_proxy, schedule
from resispec_ref.residual import published_residual, shaped_residual, standard_residual
from resispec_ref.validation import check_law, valid_rows
from resispec_ref.verifiers import State, Verifier, get_verifier, verifier_names

__version__ = "0.1.0"

__all__ = [
    "EmittedLaw",
    "EstimatedLaw",
    "Measurement",
    "Pairs",
    "RuleMeasurement",
    "Schedule",
    "State",
    "Verification",
    "Verifier",
    "accepts",
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
