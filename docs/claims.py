"""The numbers of the pages on claims that were looked at: `python docs/claims.py [hierarchical | cactus | ...]`.

Every function prints exact rationals where the library has them; `tests/docs/test_claims.py` holds them to the pages.
"""

import math
import sys
from fractions import Fraction as F

from page import readable

import resispec_ref as rs
from resispec_ref.sequence import (
    NGram,
    ToyModel,
    best_of_at_cost,
    chain_tree,
    complete_tree,
    completed,
    draws_needed,
    hierarchical_law,
    importance_law,
    joint_law,
    particle_law,
    power,
    released_graph_law,
    selective_regeneration_law,
    sequence_total_variation,
    tilted,
    token_temperature,
    traversal_law,
    walk_law,
)
from resispec_ref.sequence.whole_tree import DraftedTrees, KeptTrees, law_if_believed, law_on_trees

FAIR, SURE = [F(1, 2), F(1, 2)], [F(0), F(1)]
ONE, OTHER = NGram([F(1, 3), F(2, 3)]), NGram([F(2, 3), F(1, 3)])


def length(law):
    return sum(accepted * chance for (_, accepted), chance in law.items())


def beginning(law, tokens):
    """The law of the first tokens."""
    found = {}
    for s, chance in law.items():
        found[s[:tokens]] = found.get(s[:tokens], 0) + chance
    return found


def in_order(law):
    return readable(law[s] for s in sorted(law))


def hierarchical() -> None:
    """p = (1/3, 2/3) and q = (2/3, 1/3) at every position, two drafted tokens: the law of the first two."""
    target = joint_law(ONE, 2)
    laws = {
        "as defined": hierarchical_law(ONE, OTHER, 2),
        "block verification": traversal_law("recursive-rejection", ONE, OTHER, chain_tree(2)),
        "token by token": walk_law("recursive-rejection", ONE, OTHER, chain_tree(2)),
        "as listed": hierarchical_law(ONE, OTHER, 2, as_listed=True),
    }
    print(f"{'':20} {'(00, 01, 10, 11)':22} {'TV':>4} {'accepted length':>16}")
    print(f"{'target':20} {in_order(target):22}")
    for name, law in laws.items():
        two = beginning(completed(law, ONE, 3), 2)
        print(f"{name:20} {in_order(two):22} {sequence_total_variation(two, target)!s:>4} {length(law)!s:>16}")
    print("as defined == block verification:", laws["as defined"] == laws["block verification"])


def cactus() -> None:
    """A fair die of V sides, a draft that knows half of them, and the least δ at which all of these are accepted."""
    print(f"{'V':>3} {'δ':>6}   KL of h / δ   {'emitted':23} KL of that / δ   2 (V − 1) ln 2")
    for V in (4, 8, 16, 64):
        delta = F(1, 2 * (V - 1))
        emitted = on_the_die(V, V // 2, delta)
        if emitted != [F(2, V)] * (V // 2) + [F(0)] * (V // 2):
            raise AssertionError(f"{V} sides: {emitted}")
        aim = [2 / V] + [(1 - 2 / V) / (V - 1)] * (V - 1)
        each, together = (
            float(rs.kl_divergence([float(m) for m in law], [1 / V] * V)) / float(delta) for law in (aim, emitted)
        )
        half = f"1/{V // 2} on {V // 2} sides, else 0"
        print(f"{V:3} {delta!s:>6} {each:13.3f}   {half:23} {together:14.2f} {2 * (V - 1) * math.log(2):16.2f}")
    emitted = on_the_die(3, 2, F(1, 16))
    divergence = float(rs.kl_divergence([float(m) for m in emitted], [1 / 3] * 3))
    print(
        f"V = 3, two sides drafted, δ = 1/16: emits {readable(emitted)}, KL {divergence:.4f} = {divergence * 16:.2f} δ"
    )


def on_the_die(sides: int, known: int, delta: F) -> list[F]:
    p, q = [F(1, sides)] * sides, [F(1, known)] * known + [F(0)] * (sides - known)
    return list(rs.emitted_law(rs.get_verifier("cactus", delta=delta), p, q, candidates=1).law)


def regeneration() -> None:
    """How many draws are needed, and two drafts of which the worse is rewritten after its first token."""
    print("p of one draw   δ       ln(1/δ)/p   draws needed   failure with them")
    for p, delta in [(F(1, 2), F(1, 4)), (F(3, 4), F(1, 16)), (F(9, 10), F(1, 100)), (F(1, 100), F(1, 100))]:
        n = draws_needed(p, delta)
        print(
            f"{p!s:15} {delta!s:7} {math.log(1 / delta) / p:9.2f} {n:14}   {float((1 - p) ** n):.6g} "
            f"{'= δ' if (1 - p) ** n == delta else '< δ'}"
        )
    print()
    print("the reward is the second token:             reward   tokens   best-of-n at that cost")
    models = {"fair, whatever came first": [FAIR, FAIR], "it repeats the first": [[F(1), F(0)], SURE]}
    for name, table in models.items():
        target = tilted(ToyModel([FAIR, table]), lambda s: s[1], 2)
        found = selective_regeneration_law(target, 2, keep=1, refine=1, cut=1)
        print(f"{name:43} {found.reward!s:8} {found.tokens!s:8} {best_of_at_cost(target, found.tokens).reward}")


def pruning() -> None:
    """p = q = (1/2, 1/3, 1/6), two independent draws."""
    law = NGram([F(1, 2), F(1, 3), F(1, 6)])
    drawn = DraftedTrees(law, complete_tree((2,)), siblings="independent")
    kept = {
        "both, as drawn": drawn,
        "both, the likelier first": KeptTrees(drawn, lambda tree: tuple(sorted(tree))),
        "the likelier only": KeptTrees(drawn, lambda tree: (min(tree),)),
    }
    target = joint_law(law, 1)
    print(f"{'shown to the rule':25} {'tested against q':17} {'TV':4} against the law of what is kept")
    for name, trees in kept.items():
        believed = beginning(completed(law_if_believed("recursive-rejection", law, law, trees), law, 3), 1)
        right = beginning(completed(law_on_trees(law, trees), law, 3), 1)
        away = sequence_total_variation(believed, target)
        print(f"{name:25} {in_order(believed):17} {away!s:4} {in_order(right)}")


def temperature() -> None:
    """Root fair, after 0 fair, after 1 certain, α = 2."""
    model = ToyModel([FAIR, [FAIR, SURE]])
    target, tokens = joint_law(power(model, 2, 2), 2), joint_law(token_temperature(model, 2), 2)
    print("                   first token   (00, 01, 11)")
    for name, law in (("the model", joint_law(model, 2)), ("token temperature", tokens), ("power", target)):
        print(f"{name:18} {in_order(beginning(law, 1)):13} {in_order(law)}")
    print("token temperature is", sequence_total_variation(tokens, target), "from the power target")
    print()
    print("TV from the power target, N sequences or particles")
    print("N  importance resampling   particles               particles, 1 token ahead")
    for n in (1, 2, 3, 4):
        away = [
            sequence_total_variation(found.law, target)
            for found in (
                importance_law(power(model, 2, 2), n),
                particle_law(power(model, 2, 2), n),
                particle_law(power(model, 2, 2), n, horizon=1),
            )
        ]
        print(f"{n}  " + "".join(f"{f'{a} = {float(a):.4f}':24}" for a in away).rstrip())
    print()
    print("three tokens, two particles, by horizon and number of rollouts that estimate the future")
    print("horizon   1 rollout   2 rollouts   known")
    target = power(ToyModel(THREE_TOKENS), 2, 3)
    print(f"0         {'':24} {_away(target)}")
    for horizon in (1, 2):
        row = [_away(target, horizon=horizon, rollouts=rollouts) for rollouts in (1, 2, None)]
        print(f"{horizon}         {row[0]:11} {row[1]:12} {row[2]}")
    print()
    one = power(ToyModel([[F(2, 3), F(1, 3)]]), 2, 1)
    two = importance_law(one, 2)
    print("p = (2/3, 1/3), two draws emit", in_order(two.law), "for", in_order(joint_law(one, 1)), end=", ")
    print("TV", sequence_total_variation(two.law, joint_law(one, 1)))
    print("E[Ẑ] == Z:", two.normaliser == one.value(()))


THREE_TOKENS = [
    FAIR,
    [[F(3, 5), F(2, 5)], [F(1, 10), F(9, 10)]],
    [[FAIR, [F(1, 4), F(3, 4)]], [[F(1, 3), F(2, 3)], SURE]],
]


def _away(target, **options) -> str:
    return f"{float(sequence_total_variation(particle_law(target, 2, **options).law, joint_law(target, 3))):.4f}"


def graphs() -> None:
    """p = (1/3, 2/3) and q = (2/3, 1/3) at every position: TV of the first three tokens from the target's."""
    target = joint_law(ONE, 3)
    print("children a depth   edges by themselves   exact, on the same graphs")
    for branching in ((1,), (2,), (1, 1), (2, 1)):
        law = completed(released_graph_law(ONE, OTHER, branching), ONE, 3)
        exact = completed(walk_law("recursive-rejection", ONE, OTHER, complete_tree(branching)), ONE, 3)
        away = sequence_total_variation(law, target)
        text = f"{away} = {float(away):.4f}"
        print(f"{', '.join(map(str, branching)):18} {text:21} {sequence_total_variation(exact, target)}")


CLAIMS = {f.__name__: f for f in (hierarchical, cactus, regeneration, pruning, temperature, graphs)}

if __name__ == "__main__":
    for name in sys.argv[1:] or CLAIMS:
        print(f"-- {name}: {CLAIMS[name].__doc__}")
        CLAIMS[name]()
        print()
