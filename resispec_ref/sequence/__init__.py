"""Whole sequences: chains, trees and graphs of candidates, on toy models exactly and on language models.

Every rule of the registry is lifted from one position to a tree by one walk: verify the candidates of a node, go on at
the one accepted, emit one extra token from the last residual target. `verify_whole_tree` looks at the tree level by
level instead and keeps more. A model is anything with `law(prefix)` and `state(prefix)`.

Targets that are laws of whole sequences (`power`, `tilted`) are such models too; samplers that aim at them are judged
by the exact law that they emit.
"""

from resispec_ref.sequence.chain import chain_tree, verify_block, verify_chain
from resispec_ref.sequence.dag import Graph, draft_graph, verify_graph
from resispec_ref.sequence.dag_as_released import released_graph_law, verify_graph_as_released
from resispec_ref.sequence.divergence import expected_reward, sequence_divergence, sequence_total_variation
from resispec_ref.sequence.hierarchical import hierarchical_law
from resispec_ref.sequence.law import completed, expected_accepted_length, walk_law
from resispec_ref.sequence.node import NodeLaw, node_law
from resispec_ref.sequence.samplers import (
    Regenerated,
    SampledLaw,
    best_of,
    best_of_at_cost,
    draws_needed,
    flow_imbalance,
    importance_law,
    particle_law,
    policy_law,
    selective_regeneration_law,
)
from resispec_ref.sequence.targets import SequenceTarget, TokenTemperature, power, tilted, token_temperature
from resispec_ref.sequence.toy import Model, NGram, ToyModel, counted, joint_law
from resispec_ref.sequence.traversal import traversal_law, verify_traversal
from resispec_ref.sequence.tree import Emission, Tree, complete_tree, draft_tree, speculate, verify_tree
from resispec_ref.sequence.whole_tree import verify_whole_tree, whole_tree_bound, whole_tree_law

__all__ = [
    "Emission",
    "Graph",
    "Model",
    "NGram",
    "NodeLaw",
    "Regenerated",
    "SampledLaw",
    "SequenceTarget",
    "TokenTemperature",
    "ToyModel",
    "Tree",
    "best_of",
    "best_of_at_cost",
    "chain_tree",
    "complete_tree",
    "completed",
    "counted",
    "draft_graph",
    "draft_tree",
    "draws_needed",
    "expected_accepted_length",
    "expected_reward",
    "flow_imbalance",
    "hierarchical_law",
    "importance_law",
    "joint_law",
    "node_law",
    "particle_law",
    "policy_law",
    "power",
    "released_graph_law",
    "selective_regeneration_law",
    "sequence_divergence",
    "sequence_total_variation",
    "speculate",
    "tilted",
    "token_temperature",
    "traversal_law",
    "verify_block",
    "verify_chain",
    "verify_graph",
    "verify_graph_as_released",
    "verify_traversal",
    "verify_tree",
    "verify_whole_tree",
    "walk_law",
    "whole_tree_bound",
    "whole_tree_law",
]
