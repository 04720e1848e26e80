"""The audit of the built-in rules: it finds the published rule's bias by itself, and a rule that lies about itself."""

import itertools
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from resispec_ref import emitted_law, get_verifier, verifier_names
from resispec_ref.commands.cli import main
from resispec_ref.measurements.rule_audit import CASES, audit_rule
from resispec_ref.measurements.search import Case, climb, random_cases, search, shrink, size
from resispec_ref.rule import registry
from resispec_ref.verifiers.independent.recursive_rejection import RecursiveRejection
from resispec_ref.verifiers.independent.resispec import ResiSpec
from resispec_ref.verifiers.lossy.resispec_published import ResiSpecPublished

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def audit():
    """Exit code and standard output of `resispec audit`."""
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(["audit"])
    return code, out.getvalue()


def rows_of(output):
    return {cells[0]: cells[1:] for cells in table(output)[2:]}


def table(output):
    lines = [line for line in output.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_built_in_rule_is_what_it_declares(audit):
    code, output = audit
    rows = rows_of(output)
    assert code == 0
    assert tuple(rows) == verifier_names()
    for name, (replacement, verdict, equal, worst, counterexample, *_) in rows.items():
        rule = get_verifier(name)
        assert replacement == ("with" if rule.replacement else "without")
        assert verdict == ("exact" if rule.exact else "biased")
        if rule.exact:
            assert (equal, worst, counterexample) == (f"{CASES} of {CASES}", "0", "none")


def test_the_published_rule_is_found_biased_on_three_tokens_and_one_candidate(audit):
    _, verdict, equal, worst, counterexample, accepts, bound = rows_of(audit[1])["resispec-published"]
    right, tried = map(int, equal.split(" of "))
    assert verdict == "biased"
    assert right < tried
    assert float(worst.split()[0]) > 0.5
    assert float(accepts.split()[0]) > float(bound)
    p, q, K, law = read(counterexample)
    assert (len(p), K) == (3, 1)
    assert law != p
    assert law == published_by_hand(p, q)


def read(counterexample):
    p, q, K, law = re.fullmatch(r"p = \((.*)\), q = \((.*)\), K = (\d+): emits \((.*)\)", counterexample).groups()
    p, q, law = (tuple(map(Fraction, x.split(", "))) for x in (p, q, law))
    return p, q, int(K), law


def published_by_hand(p, q):
    """Algorithm 1 with one candidate and proportional spread, written out once more in plain Python."""
    law = [min(a, b) for a, b in zip(p, q, strict=True)]
    for x in range(len(p)):
        if q[x] > p[x]:
            Z = q[x] - p[x]
            r = [0 if y == x else min(Z * q[y], p[y]) for y in range(len(p))]
            spare = [0 if y == x else p[y] - r[y] for y in range(len(p))]
            lost = Z - sum(r)
            law = [a + b + lost * c / sum(spare) for a, b, c in zip(law, r, spare, strict=True)]
    return tuple(law)


def test_nothing_smaller_than_the_counterexample_shown_is_biased(audit):
    """All pairs of two tokens up to denominator 7, and of three tokens of smaller denominators, by the other route."""
    p, q, K, _ = read(rows_of(audit[1])["resispec-published"][4])
    shown = size(Case(p, q, K))

    def laws(vocab, denominator):
        for n in itertools.product(range(denominator + 1), repeat=vocab):
            if sum(n) == denominator:
                yield tuple(Fraction(x, denominator) for x in n)

    smaller = [(a, b) for d in range(1, 8) for e in range(1, 8) for a in laws(2, d) for b in laws(2, e)]
    smaller += [
        (a, b)
        for d, e in itertools.product(range(1, shown[2]), repeat=2)
        for a in laws(3, d)
        for b in laws(3, e)
        if size(Case(a, b, 1)) < shown
    ]
    assert len(smaller) > 1000
    assert all(published_by_hand(a, b) == a for a, b in smaller)


def test_the_readme_shows_the_table_as_printed(audit):
    """If this fails: put what `resispec audit` prints in the place of the table in README.md."""
    printed = [line for line in audit[1].splitlines() if line.startswith("|")]
    shown = README.read_text(encoding="utf-8").split("<!-- resispec audit -->")[1].strip().splitlines()
    assert shown == printed


@dataclass(frozen=True)
class Liar(ResiSpecPublished):
    name = "liar"
    exact = True


@dataclass(frozen=True)
class Modest(ResiSpec):
    name = "modest"
    exact = False


@dataclass(frozen=True)
class SlightlyWrong(RecursiveRejection):
    """Rejects correctly, and then draws token 0 a little too often: a total variation of at most 1/1000."""

    name = "slightly-wrong"
    exact = True

    def reject(self, state, token):
        after = super().reject(state, token)
        first = np.arange(after.target.shape[-1]) == 0
        return after._replace(target=(after.target * 999 + first) / 1000)


@pytest.mark.parametrize("rule", [Liar, Modest, SlightlyWrong], ids=lambda rule: rule.name)
def test_a_rule_that_declares_itself_wrongly_is_found(rule, monkeypatch, capsys):
    monkeypatch.setitem(registry._BY_NAME, rule.name, rule)
    assert main(["audit", "--verifier", rule.name, "--json"]) == 1
    out, err = capsys.readouterr()
    (found,) = json.loads(out)["rules"]
    assert not found["as_declared"]
    assert found["exact"] == (not rule.exact)
    assert f"{rule.name} declares itself {'exact' if rule.exact else 'biased'}, but" in err
    if rule.exact:
        p, q, law = (tuple(map(Fraction, found["counterexample"][k])) for k in ("target", "draft", "law"))
        assert law != p
        assert law == tuple(emitted_law(rule(), p, q, candidates=found["counterexample"]["candidates"]).law)


@pytest.mark.parametrize("arguments", [["engine.py:verify"], ["--example"]])
def test_an_implementation_and_the_example_go_to_the_audit_of_foreign_code(monkeypatch, arguments):
    monkeypatch.setattr("resispec_ref.commands.audit_engine.run", lambda args: 40)
    assert main(["audit", *arguments]) == 40


def test_what_cannot_run_ends_with_2(monkeypatch, capsys):
    assert main(["audit", "--verifier", "resispek"]) == 2
    assert "'resispek' is not one of naive, " in capsys.readouterr().err


def test_without_the_extra_the_example_is_printed_and_the_audit_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("resispec_ref.oracle.find_spec", lambda name: None)
    assert main(["audit", "--example"]) == 0
    (tmp_path / "engine.py").write_text(capsys.readouterr().out)
    assert main(["audit", f"{tmp_path}/engine.py:verify"]) == 2
    assert "pip install 'resispec-ref[oracle]'" in capsys.readouterr().err


@pytest.mark.parametrize("spread", ["proportional", "water-filling"])
@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_finds_the_bias_too_with_either_spread(seed, spread):
    rule = get_verifier("resispec-published", spread=spread)
    found = audit_rule(rule, measured=None, seed=seed, cases=40)
    assert not found.exact
    assert (len(found.counterexample.target), found.counterexample.candidates) == (3, 1)
    assert size(found.counterexample) == (3, 1, 4, 2)
    law = emitted_law(rule, *found.worst_case[:2], candidates=found.worst_case.candidates)
    assert law.total_variation == found.worst_total_variation


def test_shrinking_needs_only_a_predicate():
    """Faults that have nothing to do with a rule; the smallest case is known beforehand."""

    def three_in_the_draft(case):
        return sum(x > 0 for x in case.draft) >= 3 and case.candidates >= 1

    cases = random_cases(np.random.default_rng(3))
    start = next(case for case in cases if size(case) > (6, 2) and three_in_the_draft(case))
    smallest = shrink(three_in_the_draft, start)
    assert (len(smallest.target), smallest.candidates, smallest.draft) == (3, 1, (Fraction(1, 3),) * 3)
    assert size(smallest) == (3, 1, 4, 3)  # and the target is a point mass
    assert shrink(three_in_the_draft, start, tries=0) == start
    assert search(three_in_the_draft, [start, smallest, Case((Fraction(1),), (Fraction(1),), 1)]) == [start, smallest]


def test_random_cases_have_the_coincidences_that_hide_faults():
    cases = list(itertools.islice(random_cases(np.random.default_rng(0)), 400))
    assert all(sum(law) == 1 and min(law) >= 0 for case in cases for law in case[:2])
    assert {len(case.target) for case in cases} == {1, 2, 3, 4, 5, 6}
    assert {case.candidates for case in cases} == {0, 1, 2, 3, 4}
    assert all(len(case.target) ** case.candidates <= 125 for case in cases)
    large = [case for case in cases if len(case.target) > 2]
    for kind in (
        lambda p, q: p == q,
        lambda p, q: not any(a and b for a, b in zip(p, q, strict=True)),
        lambda p, q: max(p) == 1,
        lambda p, q: max(q) == 1,
        lambda p, q: len(set(p)) < len(p),
        lambda p, q: min(p) > 0 and min(q) > 0,
    ):
        assert sum(kind(case.target, case.draft) for case in large) >= 5


def test_a_climb_reaches_a_known_maximum_and_repeats():
    """`p(0) q(1)` is at most 1, at two point masses."""
    found = [
        climb(lambda p, q, K: p[:, 0] * q[:, 1] * K, np.random.default_rng(5), vocab=3, candidates=1) for _ in range(2)
    ]
    assert found[0] == found[1]
    worst, case = found[0]
    assert worst == float(case.target[0] * case.draft[1]) > 0.95
