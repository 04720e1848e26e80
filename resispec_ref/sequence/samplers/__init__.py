"""Samplers of whole sequences, one a file, each with the exact law that it emits."""

from resispec_ref.sequence.samplers.flow import flow_imbalance, policy_law
from resispec_ref.sequence.samplers.importance import SampledLaw, importance_law
from resispec_ref.sequence.samplers.particles import particle_law
from resispec_ref.sequence.samplers.selective_regeneration import (
    Regenerated,
    best_of,
    best_of_at_cost,
    draws_needed,
    selective_regeneration_law,
)

__all__ = [
    "Regenerated",
    "SampledLaw",
    "best_of",
    "best_of_at_cost",
    "draws_needed",
    "flow_imbalance",
    "importance_law",
    "particle_law",
    "policy_law",
    "selective_regeneration_law",
]
