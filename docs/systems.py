"""The table of the systems around ResiSpec: what each is, whether it is exact, where it is in the code, and the proof.

What can be computed in a moment is computed when the page is built: a counterexample's total variation in rationals, or
that a law is the target's with `==`.
"""

import importlib
from collections.abc import Callable
from fractions import Fraction as F
from typing import TYPE_CHECKING, NamedTuple

import resispec_ref as rs
from resispec_ref.sequence import (
    NGram,
    ToyModel,
    complete_tree,
    completed,
    hierarchical_law,
    importance_law,
    joint_law,
    particle_law,
    policy_law,
    power,
    released_graph_law,
    selective_regeneration_law,
    sequence_total_variation,
    tilted,
    token_temperature,
    traversal_law,
    walk_law,
    whole_tree_law,
)
from resispec_ref.sequence.whole_tree import DraftedTrees, KeptTrees, law_if_believed, law_on_trees

if TYPE_CHECKING:
    from IPython.display import Markdown

DIE, HALF = [F(1, 3)] * 3, [F(1, 2), F(1, 2), F(0)]
FAIR, SURE = [F(1, 2), F(1, 2)], [F(0), F(1)]
ONE, OTHER = NGram([F(1, 3), F(2, 3)]), NGram([F(2, 3), F(1, 3)])
SURER = ToyModel([FAIR, [FAIR, SURE]])
THREE = NGram([F(1, 2), F(1, 3), F(1, 6)])


class System(NamedTuple):
    name: str
    what: str
    exact: bool | None
    """None: it samples towards a target, and is not exact for a finite number of draws."""
    where: tuple[str, ...]
    """Registry names of rules, or functions of `resispec_ref.sequence`."""
    bias: Callable[[], F]
    """The total variation of a small example, from the target."""
    theorem: str
    page: str = ""


def rule(name: str, candidates: int = 2, **options: F) -> Callable[[], F]:
    """On the die of which the draft knows two sides."""
    return lambda: rs.emitted_law(rs.get_verifier(name, **options), DIE, HALF, candidates=candidates).total_variation


def walked(law: Callable[[], dict], model=ONE, tokens: int = 3) -> Callable[[], F]:
    return lambda: sequence_total_variation(completed(law(), model, tokens), joint_law(model, tokens))


def sampled(law: Callable[[], dict], target) -> Callable[[], F]:
    return lambda: sequence_total_variation(law(), joint_law(target, target.length))


TREE = complete_tree((2, 1))
PRUNED = KeptTrees(
    DraftedTrees(THREE, complete_tree((2,)), siblings="independent"), lambda tree: tuple(sorted(tree)[:1])
)
POWER, TILTED = power(SURER, 2, 2), tilted(SURER, lambda s: F(1 + s[1]), 2)
TIERS = {"keep": 1, "refine": 1, "cut": 1}

SYSTEMS = (
    System("ResiSpec, as published {cite}`resispec`", "the residual after a rejection is shaped like the draft", False,
           ("resispec-published",), rule("resispec-published", 1), "T4 to T7", "published-rule"),
    System("ResiSpec, exact", "the same with the floor put back", True, ("resispec",), rule("resispec"),
           "T8; T9: the best sequential rule for independent candidates"),
    System("speculative sampling, recursive rejection {cite}`leviathan,specinfer`", "one residual after the other",
           True, ("recursive-rejection",), rule("recursive-rejection"), "T1, T3"),
    System("optimal transport {cite}`spectr,hu`", "one of all candidates is picked, then one step", True,
           ("optimal", "optimal-without-replacement"), rule("optimal"), "T10 to T12: the bound is attained"),
    System("block verification {cite}`block`", "a chain is kept or given back as a whole", True, ("verify_block",),
           walked(lambda: traversal_law("recursive-rejection", ONE, OTHER, complete_tree((1, 1)))),
           "T15 with one child a node"),
    System("hierarchical speculative decoding {cite}`hierarchical`", "block verification, by another name", True,
           ("hierarchical_law",), walked(lambda: hierarchical_law(ONE, OTHER, 2)), "capped ratio = clipped weight",
           "claims-hierarchical"),
    System("its published listing", "the whole draft is kept with a product that is not capped", False,
           ("hierarchical_law",), walked(lambda: hierarchical_law(ONE, OTHER, 2, as_listed=True)), "two drafted tokens",
           "claims-hierarchical"),
    System("traversal verification {cite}`traversal`", "a tree from its leaves up", True, ("verify_traversal",),
           walked(lambda: traversal_law("recursive-rejection", ONE, OTHER, TREE)), "by induction on the height"),
    System("whole trees", "a tree level by level, one pick a level", True, ("verify_whole_tree",),
           walked(lambda: whole_tree_law(ONE, OTHER, TREE)), "T13 to T16"),
    System("graph-structured decoding {cite}`gsd`, exact", "drafts that share tokens are merged", True,
           ("verify_graph",), walked(lambda: walk_law("recursive-rejection", ONE, OTHER, TREE)),
           "the walk has the tree's law", "claims-graphs"),
    System("its published code, sampling", "every edge by itself, the longest path kept", False,
           ("verify_graph_as_released",), walked(lambda: released_graph_law(ONE, OTHER, (2, 1))),
           "no residual, and the longest path", "claims-graphs"),
    System("pruned or sorted trees, by the draft's law", "kept by score, tested as if drawn", False,
           ("law_if_believed",), walked(lambda: law_if_believed("recursive-rejection", THREE, THREE, PRUNED), THREE, 2),
           "the likelier of two draws", "claims-pruning"),
    System("pruned or sorted trees, by the law of what is kept", "just another random tree", True, ("law_on_trees",),
           walked(lambda: law_on_trees(THREE, PRUNED), THREE, 2), "T15 for any law of trees", "claims-pruning"),
    System("Cactus {cite}`cactus`", "a target for each candidate, within a divergence", False, ("cactus",),
           rule("cactus", 1, delta=F(1, 16)), "T18; KL without bound in δ", "claims-cactus"),
    System("reflective verification {cite}`reflective`", "a second law that has seen the candidate, mixed in", False,
           ("reflective",), rule("reflective", 1, weight=F(1, 4)), "T18"),
    System("EARS {cite}`ears`", "a tolerance where the target is unsure", False, ("ears",), rule("ears", 1),
           "T1 fails"),
    System("typical acceptance {cite}`medusa`", "a threshold by the entropy", False, ("typical-acceptance",),
           rule("typical-acceptance", 1), "T1 fails"),
    System("lenience; mixtures (ensembles)", "the target raised, or mixed with the draft", False,
           ("lenience", "mixture"), rule("mixture", 1), "T1 fails"),
    System("the frontier", "the most acceptance for a given bias", False, ("frontier",),
           rule("frontier", 1, bias=F(1, 7)), "T17: attained"),
    System("token temperature, for the power of sequences", "every conditional law to the power", False,
           ("token_temperature",), sampled(lambda: joint_law(token_temperature(SURER, 2), 2), POWER),
           "it leaves out what is to come", "claims-temperature"),
    System("power target, next token by next token {cite}`power`", "with the value of all completions", True,
           ("power",), sampled(lambda: policy_law(POWER, POWER), POWER), "π(x given s) = P^α ζ(sx)/ζ(s)",
           "claims-temperature"),
    System("importance resampling, 2 draws", "whole sequences, one of them by weight", None, ("importance_law",),
           sampled(lambda: importance_law(POWER, 2).law, POWER), "E[Ẑ] = Z; TV falls with N", "claims-temperature"),
    System("APPS {cite}`apps`, after: 2 particles", "blocks, weights, resampling, a look ahead", None,
           ("particle_law",), sampled(lambda: particle_law(POWER, 2).law, POWER), "E[Ẑ] = Z; TV falls with N",
           "claims-temperature"),
    System("amortised inference {cite}`gflownet`", "a policy from the rewards' flow", True,
           ("policy_law", "flow_imbalance"), sampled(lambda: policy_law(TILTED, TILTED), TILTED),
           "exact where the flow balances"),
    System("selective regeneration {cite}`srd`, after", "drafts ranked, kept, rewritten or discarded", False,
           ("selective_regeneration_law",), sampled(lambda: selective_regeneration_law(TILTED, 2, **TIERS).law, TILTED),
           "a search for reward, no sampler", "claims-selective-regeneration"),
)  # fmt: skip


def resolve(name: str) -> object:
    """What `where` names: a rule, or a function."""
    if name in rs.verifier_names():
        return rs.get_verifier(name)
    for module in ("resispec_ref.sequence", "resispec_ref.sequence.whole_tree"):
        if hasattr(importlib.import_module(module), name):
            return getattr(importlib.import_module(module), name)
    raise LookupError(name)


def systems_table() -> "Markdown":
    from IPython.display import Markdown

    lines = ["| system | what it is | exact | in the code | small example: TV | theorem or reason |"]
    lines.append("|---|---|---|---|--:|---|")
    for s in SYSTEMS:
        claims = {True: "yes", False: "**no**", None: "in the limit"}[s.exact]
        code = ", ".join(f"`{name}`" for name in s.where)
        reason = f"[{s.theorem}]({s.page}.md)" if s.page else s.theorem
        tv = s.bias()
        tv = str(tv) if isinstance(tv, (F, int)) else f"{float(tv):.4g}"
        lines.append(f"| {s.name} | {s.what} | {claims} | {code} | {tv} | {reason} |")
    return Markdown("\n".join(lines))
