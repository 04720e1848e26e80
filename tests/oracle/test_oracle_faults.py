"""The exact laws of known faults: the values of practice, and that no sound rule looks like a fault."""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from intervals import law_of
from mutants import chains, positions
from subjects_list import FAULTY

import resispec_ref as rs
from resispec_ref.oracle.cases.tables import chain_cases, joint_law, memoryless, tree_cases
from resispec_ref.oracle.faults.chains import WORDS, all_chain_laws
from resispec_ref.oracle.faults.parts import DoesNotApply, Steps, for_draw, without
from resispec_ref.oracle.faults.positions import FAULTS, draws, fault_law, known_laws
from resispec_ref.oracle.faults.sequences import CHAIN_FAULTS, Tokenwise, chain_law, chain_laws
from resispec_ref.oracle.faults.trees import ROWS, tree_law, tree_laws


def law(text):
    return [F(v) for v in text.split()]


SIX = law("1/5 2/5 2/5"), law("3/5 3/10 1/10"), 1
SIBLINGS = law("1/5 1/10 3/10 2/5"), law("1/2 3/10 1/10 1/10"), 2


@pytest.mark.parametrize(
    ("fault", "case", "emitted"),
    [
        ("residual-of-the-drafted-token-only", SIX, "1/5 1/2 3/10"),
        ("resample-from-target", SIX, "7/25 23/50 13/50"),
        ("always-accept", SIX, "3/5 3/10 1/10"),
        ("acceptance-uniform-reused", SIX, "1/5 3/10 1/2"),
        ("draft-noise-reused", SIX, "1/5 16/45 4/9"),
        ("distinct-candidates-raw-q", SIBLINGS, "1/5 1/10 867/2800 1093/2800"),
        ("distinct-candidates-sorted", SIBLINGS, "104/315 16/315 271/1050 379/1050"),
        ("greedy-draft-softmax-q", SIBLINGS, "2/5 0 9/40 3/8"),
        ("greedy-draft-softmax-q", (law("3/5 2/5"), law("4/5 1/5"), 1), "3/4 1/4"),
        ("filtered-draft-raw-q", (law("1/5 3/10 1/2 0"), law("2/5 3/10 1/5 1/10"), 1), "2/7 3/7 2/7 0"),
    ],
)
def test_values_from_practice(fault, case, emitted):
    assert fault_law(FAULTS[fault], *case) == law(emitted)


def test_softmax_of_the_residual():
    found = fault_law(FAULTS["softmax-of-the-residual"], *SIX)
    assert found == pytest.approx([0.3158, 0.4279, 0.2563], abs=5e-5)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_steps_without_a_fault_are_the_library_s_exact_rules(K):
    p, q, _ = SIBLINGS
    right = type(FAULTS["always-accept"])("", "", "", Steps())
    assert fault_law(right, p, q, K) == p
    renormalised = type(right)("", "", "", Steps(following=without), draw="distinct")
    assert fault_law(renormalised, p, q, K) == p


def test_published_rule_is_a_known_fault_by_its_registry_name():
    third = [F(1, 3)] * 3
    found = known_laws(third, [F(1, 2), F(1, 2), F(0)], 1, draw="independent", kind="verifier")
    assert found["resispec-published"] == law("19/42 19/42 2/21")


def test_every_fault_is_wrong_somewhere_and_a_law_everywhere():
    for name, fault in FAULTS.items():
        laws = [(case[0], fault_law(fault, *case)) for case in (SIX, SIBLINGS, (SIBLINGS[0], SIBLINGS[1], 3))]
        found = [(p, f) for p, f in laws if f is not None]
        assert all(float(sum(f)) == pytest.approx(1) for _, f in found)
        if name not in ("one-uniform-for-all-candidates",):
            assert any(max(abs(a - b) for a, b in zip(p, f, strict=True)) > 1e-4 for p, f in found), name


def test_chain_walk_without_a_fault_has_the_joint_law():
    for case in chain_cases([1, 2]):
        found = chain_law(Tokenwise(), case.target, case.draft)
        assert found == pytest.approx(joint_law(case.target), abs=1e-12)


def test_every_chain_fault_is_wrong_somewhere():
    wrong = set()
    for case in chain_cases([2]):
        for name, f in chain_laws(case.target, case.draft).items():
            assert f.sum() == pytest.approx(1)
            if np.abs(f - joint_law(case.target)).sum() > 1e-3:
                wrong.add(name)
    assert wrong == set(CHAIN_FAULTS)


def test_every_known_fault_has_a_mutant():
    registry = set(rs.verifier_names())
    planted = {m.diagnosis for m in FAULTY if m.diagnosis} - registry
    families = ("target-temperature", "acceptance-ratio-times", "ensemble-with-draft")
    assert {n for n in planted if not n.startswith(families)} == {
        n for n in {*FAULTS, *CHAIN_FAULTS, *WORDS, *(row.name for row in ROWS)} if not n.startswith(families)
    }


@pytest.mark.parametrize("draw", ["independent", "distinct", "top-k"])
def test_a_tree_walk_without_a_fault_has_the_joint_law(draw):
    for case in tree_cases([1, 2, 3]):
        if len(case.parents) <= 5:
            found = tree_law(case, draw, for_draw(Steps(), draw))
            assert found == pytest.approx(joint_law(case.target), abs=1e-12)


def test_tree_faults_are_wrong_somewhere_and_laws_everywhere():
    wrong = set()
    for case in tree_cases([1, 2]):
        if len(case.parents) <= 5:
            for name, f in tree_laws(case, "independent").items():
                assert f.sum() == pytest.approx(1)
                wrong |= {name} if np.abs(f - joint_law(case.target)).sum() > 1e-3 else set()
    assert wrong >= {row.name for row in ROWS}


def test_a_path_is_a_chain():
    """A tree of one path has the laws of a chain, by a walk that shares no code with it."""
    tree = next(case for case in tree_cases([1]) if case.branching == (1, 1))
    chain = all_chain_laws(tree.target, tree.draft[:2], "independent")
    for name in ("always-accept", "greedy-residual", "resample-from-draft", "acceptance-ratio-times-1.5"):
        assert tree_laws(tree, "independent")[name] == pytest.approx(chain[name], abs=1e-12)


def test_values_of_chains_from_practice():
    """One uniform for all rows of a block; and drafts that are the argmax of their row."""
    case = memoryless("", [[1 / 3, 2 / 3]] * 3, [[2 / 3, 1 / 3]] * 2)
    block = all_chain_laws(case.target, case.draft, "independent")["one-uniform-for-the-block"]
    assert block.reshape(4, 2).sum(1) == pytest.approx([2 / 9, 1 / 9, 2 / 9, 4 / 9], abs=1e-12)
    pair = memoryless("", [[0.6, 0.4]] * 2, [[0.8, 0.2]])
    greedy = all_chain_laws(pair.target, pair.draft, "top-k")["greedy-draft-softmax-q"]
    assert greedy.reshape(2, 2).sum(1) == pytest.approx([0.75, 0.25], abs=1e-12)


def test_every_inexact_rule_of_the_registry_has_a_mutant():
    inexact = {n for n in rs.verifier_names() if not rs.get_verifier(n).exact}
    assert inexact <= {m.diagnosis for m in FAULTY}


def test_mutants_share_no_code_with_the_laws():
    for module in (positions, chains):
        assert not any("resispec_ref" in str(getattr(v, "__module__", "")) for v in vars(module).values())


PAIRS = [SIX[:2], SIBLINGS[:2], (law("0 1/2 1/6 1/3 0"), law("1/4 1/4 0 1/4 1/4"))]
EMITTING = [name for name, fault in FAULTS.items() if hasattr(fault.given, "emit")]


@pytest.mark.parametrize("name", EMITTING)
def test_a_fault_run_on_uniforms_has_the_law_that_is_said(name):
    """Over all uniforms and for every list of candidates, `==` where the fault's parts are rational."""
    given = FAULTS[name].given
    for p, q in PAIRS:
        for K in (1, 2):
            for x, _ in draws(q, K, "distinct" if FAULTS[name].draw == "distinct" else "independent"):
                try:
                    said = given(p, q, x)
                except DoesNotApply:
                    continue
                emitted = [F(0)] * len(p)
                for (token, index), chance in law_of(lambda u, x=x, p=p, q=q: given.emit(p, q, x, u), K + 1).items():
                    emitted[token] += chance
                    assert index == K or x[index] == token
                assert emitted == (pytest.approx(said) if name == "softmax-of-the-residual" else said)


def test_the_faults_without_a_run_are_those_of_noise_and_settings():
    assert set(FAULTS) - set(EMITTING) == {"draft-noise-reused", "target-temperature-2", "target-temperature-0.5"}


@pytest.mark.parametrize("name", CHAIN_FAULTS)
def test_a_chain_s_fault_run_on_uniforms_has_the_law_that_is_said(name):
    walk = CHAIN_FAULTS[name].walk
    p = [law("1/5 2/5 2/5"), law("1/2 1/4 1/4"), law("1/6 1/3 1/2")]
    q = [law("3/5 3/10 1/10"), law("1/4 1/4 1/2")]
    for x in itertools.product(range(3), repeat=2):
        said = {}
        for tokens, chance in walk(p, q, x):
            said[tokens] = said.get(tokens, 0) + chance
        assert law_of(lambda u, x=x: walk.emit(p, q, x, u), (3, 2)) == pytest.approx(said)
