"""Whole trees: the exact rule that keeps more than any rule node by node, its law, and the bound over whole trees.

Node by node the bound of one position is attained. Over a whole tree it can be beaten: what lies below a candidate is
seen too, and a bad subtree gives its probability back to its siblings and to the places where the path may stop.

What is whose, as far as their abstracts say. The best rule for one child a node: block verification, Sun et al. 2024
(arXiv 2403.10444). From the leaves up, with recursive rejection: traversal verification, Weng et al. 2025 (arXiv
2505.12398). One path of the tree verified as a block: greedy multi-path block verification (arXiv 2602.16961). Local
transport plans scaled by how likely a prefix is accepted: UniVer (arXiv 2605.04543). Any rule for one position lifted
to a tree by scores of its nodes, layer after layer, mass being coordinated between the nodes of a layer: Layer
Verification (Cha, Cho, Yun 2026). Trees that branch late: Delayed Tree Expansion (arXiv 2602.16994). Going level by
level with a share for each node is thus theirs too. This project's own: one pick among all children of a level by
weights, exact for any of them (T15); the form of the bound, and its certificate (T13, T14).
"""

from resispec_ref.sequence.whole_tree.believed import law_if_believed
from resispec_ref.sequence.whole_tree.bound import Bound, bound_on_trees, certified_length, whole_tree_bound
from resispec_ref.sequence.whole_tree.law import accepted_masses, law_on_trees, whole_tree_law
from resispec_ref.sequence.whole_tree.level import Level, Weights
from resispec_ref.sequence.whole_tree.random_trees import DraftedTrees, KeptTrees, RandomTrees, enumerate_trees
from resispec_ref.sequence.whole_tree.speculate import speculate_whole_tree
from resispec_ref.sequence.whole_tree.verify import path_law, verify_whole_tree
from resispec_ref.sequence.whole_tree.weights import best_weights, equal_weights, target_weights

__all__ = [
    "Bound",
    "DraftedTrees",
    "KeptTrees",
    "Level",
    "RandomTrees",
    "Weights",
    "accepted_masses",
    "best_weights",
    "bound_on_trees",
    "certified_length",
    "enumerate_trees",
    "equal_weights",
    "law_if_believed",
    "law_on_trees",
    "path_law",
    "speculate_whole_tree",
    "target_weights",
    "verify_whole_tree",
    "whole_tree_bound",
    "whole_tree_law",
]
