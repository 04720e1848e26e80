"""A report says where an implementation is wrong, and carries a replay that shows it again."""

import numpy as np
import pytest
from mutants import chains, positions, trees

import resispec_ref as rs
from resispec_ref.oracle import fraction_case
from resispec_ref.oracle.cases.tables import chain_cases, memoryless, tree_cases
from resispec_ref.oracle.counterexamples.where import where
from resispec_ref.oracle.statistics.evidence import Evidence

BUDGET = 600.0


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        (positions.accepts_always, "verifier", "too often"),
        (chains.bonus_from_previous_row, "chain", "the extra token, the ones before it being right"),
        (chains.resamples_from_draft, "chain", "the first token: "),
        (trees.bonus_from_the_root, "tree", "the second token (level 2 of the tree), the ones before it being right"),
    ],
)
def test_where_it_is_wrong_and_a_replay(function, kind, words):
    report = rs.audit(function, kind=kind, candidates=1, budget=BUDGET)
    found = report.counterexample
    assert words in found.where
    assert f"wrong: {found.where}" in str(report)
    again = {}
    text = found.replay.replace("print(rs.audit(...", "again = (rs.audit(function")
    exec(text, again | {"function": function}, again)
    assert again["again"].verdict == "fault found"
    assert found.replay.splitlines()[0] in str(report)


def test_outcomes_that_are_furthest_off():
    evidence = Evidence(np.array([0.5, 0.3, 0.2]))
    evidence.add(np.repeat([0, 1, 2], [300, 500, 200]), {})
    case = fraction_case(["1/2", "3/10", "1/5"], ["1/3", "1/3", "1/3"], 1)
    assert where(case, evidence) in ("token 0 too seldom; token 1 too often", "token 1 too often; token 0 too seldom")


def test_what_is_right_is_nowhere_wrong():
    case = memoryless("", [[0.5, 0.5]] * 2, [[0.25, 0.75]])
    evidence = Evidence(np.full(4, 0.25))
    evidence.add(np.repeat(range(4), 100), {})
    assert where(case, evidence) == ""


def test_figures_are_of_like_cases():
    """Recorded rows and batches of 3 have figures of their own; the headline is that of the small cases."""

    def verify(target, draft, candidates, rng):
        running = np.cumsum(target, axis=1)
        return (rng.random((len(target), 1)) * running[:, -1:] >= running).sum(1)

    report = rs.audit(verify, kind="verifier", candidates=1, draws=2_000, search=False, budget=BUDGET)
    small = [c for c in report.cases if "pair" not in c.inputs and "batches of 3" not in c.name]
    assert report.tv_upper == max(c.tv_upper for c in small)
    assert "cases in batches of 3" in str(report)
    assert "recorded rows, tokens pooled" in str(report)
    assert len(chain_cases([1])) < len(tree_cases()) < 30
