"""The vectors: `==` with the second route, the same in floats, valid by their schema, and the released copy is they."""

import itertools
import json
import re
from fractions import Fraction as F
from pathlib import Path

import jsonschema
import numpy as np
import optimal_routes
import plain_rules
import plain_whole_tree
import pytest
import routes
from intervals import law_of

import resispec_ref as rs
from resispec_ref import acceptance
from resispec_ref.bounds import optimal_acceptance_for
from resispec_ref.commands.cli import main
from resispec_ref.conformance.edges import edge_records
from resispec_ref.conformance.positions import candidate_lists, position_records
from resispec_ref.conformance.sequences import CASES, sequence_record
from resispec_ref.conformance.vectors import RELEASED, as_lines, header, released_vectors
from resispec_ref.oracle.faults.positions import FAULTS

HEADER, *RECORDS = released_vectors()
POSITIONS = [r for r in RECORDS if r["kind"] == "position"]
SEQUENCES = [r for r in RECORDS if r["kind"] != "position"]
PICKING = ("optimal", "frontier", "importance-weighted", "optimal-without-replacement", "gumbel-list-coupling")
VIRTUAL = "resispec-without-replacement"


def fractions(values):
    return [F(v) for v in values]


def decimals(values):
    return [F(str(v)) if len(str(v)) < 12 else F(v) for v in values]


def each(records):
    return pytest.mark.parametrize("record", records, ids=lambda r: r["id"])


def test_the_released_copy_is_what_is_computed():
    """Header, positions and edges, to the byte; sequences one by one, below."""
    computed = [*position_records(), *edge_records()]
    assert as_lines([header(RECORDS), *computed, *SEQUENCES]) == (RELEASED / "vectors.jsonl").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_released_sequences_are_what_is_computed(case):
    (released,) = (record for record in SEQUENCES if record["id"] == case.name)
    assert as_lines([sequence_record(case)]) == as_lines([released])


def test_every_line_is_valid_and_counted():
    schema = json.loads((RELEASED / "vectors.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for record in [HEADER, *RECORDS]:
        validator.validate(record)
    assert HEADER["checks"] == sum(len(r["tokens"]) for r in RECORDS)
    assert [r["id"] for r in SEQUENCES] == [case.name for case in CASES]
    assert len({r["id"] for r in RECORDS}) == len(RECORDS) == sum(HEADER["records"].values())
    for spoiled in ({"kind": "position"}, POSITIONS[0] | {"token": [-1]}, SEQUENCES[0] | {"more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(spoiled)


def test_every_rule_and_kind_is_there():
    assert {r["rule"] for r in POSITIONS} == set(rs.verifier_names())
    assert {r["kind"] for r in SEQUENCES} == {"chain", "block", "tree", "traversal", "whole-tree"}
    assert (RELEASED / "vectors.jsonl").stat().st_size < 600_000


@each(POSITIONS)
def test_the_law_and_the_rates_by_the_second_route(record):
    """Of gumbel-list-coupling with two candidates only the law, which is the target's, has a second route; of the rules
    that pick by ranks the law of the pick is the rule's, whose own tests enumerate it.
    """
    name, K = record["rule"], record["candidates"]
    p, q = fractions(record["target"]["exact"]), fractions(record["draft"]["exact"])
    law, rates, rate = (record[k] for k in ("law", "acceptance_per_candidate", "acceptance_rate"))
    law, rates, rate = fractions(law), fractions(rates), F(rate)
    assert F(record["total_variation"]) == sum(abs(a - b) for a, b in zip(law, p, strict=True)) / 2
    assert (record["claims"] == "exact") == rs.get_verifier(name).exact
    if record["claims"] == "exact":
        assert law == p
    if name in PICKING:
        emitted, accepted = picked(name, p, q, K)
        assert law == emitted
        assert accepted in (None, rate)
    elif name == VIRTUAL:
        u = routes.shaped_residuals(p, q, K, routes.least_root(p, q, K))
        assert (law, rates) == optimal_routes.virtual_draws(p, q, K, u)
        assert sum(rates) == rate
    else:
        step, following, first = second_route(record, p, q, K)
        assert (law, rates) == routes.emitted(step, first, following, K)
        assert sum(rates) == rate


def second_route(record, p, q, K):
    if record["rule"] == "k-seq":
        from rules import exact

        from resispec_ref.verifiers.independent.k_seq import least_rho

        step, following = routes.sequential("k-seq", p, q, K, least_rho(exact(p), exact(q), K)[0])
        return step, following, p
    return plain_rules.rule_of(record["rule"], p, q, K)


def picked(name, p, q, K):
    """The law and the acceptance rate of a rule that picks: the pick enumerated, what it chose freely taken from it."""
    from rules import exact

    state = rs.get_verifier(name).start(exact(p), exact(q), K)
    s = list(state.proposal)
    if name == "gumbel-list-coupling":
        both = [x for x in range(len(p)) if p[x] and q[x]]
        rate = sum((1 / sum(max(a / p[x], b / q[x]) for a, b in zip(p, q, strict=True)) for x in both), F(0))
        return p, rate if K == 1 else None
    if name in ("optimal", "frontier"):
        excess = [max(b - a, F(0)) for a, b in zip(p, s, strict=True)]
        whole = sum(excess)
        paid = min(F(1, 20), whole) if name == "frontier" else F(0)
        m = [min(a, b) + (e * paid / whole if whole else 0) for a, b, e in zip(p, s, excess, strict=True)]
        left = [max(a - b, F(0)) for a, b in zip(p, s, strict=True)]
        rest = routes.normalised(left) if any(left) else p
        return [a + (1 - sum(m)) * b for a, b in zip(m, rest, strict=True)], sum(m)
    following = routes.distinct(q) if name.endswith("replacement") else routes.independent(q)
    v, level = (list(x) for x in state.memory[:2])
    if name == "importance-weighted":
        v = [min(max(a / b, F(1, 2**10)), F(2**10)) if b else F(1) for a, b in zip(p, q, strict=True)]
    found = optimal_routes.picked_by_weight(q, following, K, v, level)
    assert found == s
    return optimal_routes.one_step(p, s, found)


@each([r for r in POSITIONS if r["rule"] not in (*PICKING, VIRTUAL)])
def test_every_answer_by_the_second_route(record):
    p, q, K = fractions(record["target"]["exact"]), fractions(record["draft"]["exact"]), record["candidates"]
    step, following, first = second_route(record, p, q, K)
    for x, u, token, index in zip(*(record[k] for k in ("tokens", "uniforms", "token", "accepted_index")), strict=True):
        assert plain_rules.verified(step, first, following, x, decimals(u)) == (token, index)


@each([r for r in POSITIONS if r["rule"] in (*PICKING, VIRTUAL) and r["rule"] not in ("optimal", "frontier")])
def test_the_procedure_that_answered_has_the_law(record, monkeypatch):
    """Over all uniforms and candidates, for rules whose decisions are all comparisons with thresholds."""
    monkeypatch.setattr(acceptance, "check_uniforms", lambda u, p, needed: np.asarray(u))
    rule, K = rs.get_verifier(record["rule"]), record["candidates"]
    p, q = fractions(record["target"]["exact"]), fractions(record["draft"]["exact"])
    law = dict.fromkeys(range(len(p)), F(0))
    for x, chance in routes.candidate_tuples((routes.independent if rule.replacement else routes.distinct)(q), K):
        padded = [*x, *[-1] * (K - len(x))]

        def procedure(u, padded=padded):
            return int(rs.verify(rule, p, q, padded, u).token)

        for token, mass in law_of(procedure, (rs.uniforms_needed(rule, K),)).items():
            law[token] += chance * mass
    assert list(law.values()) == fractions(record["law"])


@each(POSITIONS)
def test_the_bound_by_the_second_route(record):
    p, q, K = fractions(record["target"]["exact"]), fractions(record["draft"]["exact"]), record["candidates"]
    rule = rs.get_verifier(record["rule"])
    if record["rule"] == "spechub":
        bound = optimal_routes.bound_by_flow(p, plain_rules.hubs(q, K))
    else:
        bound = routes.optimal_by_flow(p, q, K, rule.replacement)
    assert F(record["bound"]) == bound == optimal_acceptance_for(rule, p, q, candidates=K)


@each(POSITIONS)
@pytest.mark.parametrize("number", ["float64", "float32"])
def test_floats_give_the_same_answers(record, number):
    if number == "float32" and record.get("precision") == "float64":
        return
    p, q = (np.array(record[k][number], dtype=number) for k in ("target", "draft"))
    right = [np.dtype(number).type(F(v)) for v in record["target"]["exact"]]
    assert p.tolist() == np.array(right).tolist()
    tokens = np.array(record["tokens"], dtype=np.int64).reshape(len(record["tokens"]), -1)
    u = np.array(record["uniforms"], dtype=number)
    found = rs.verify(record["rule"], p, q, tokens, u)
    assert found.token.tolist() == record["token"]
    assert found.accepted_index.tolist() == record["accepted_index"]
    lists = candidate_lists(rs.get_verifier(record["rule"]), fractions(record["draft"]["exact"]), record["candidates"])
    if record["group"] == "law":
        assert {tuple(x) for x in record["tokens"]} <= set(lists)


@each(SEQUENCES)
def test_what_a_sequence_emits_by_the_second_route(record):
    """Of whole trees with the stops in the order in which the rule meets them, level by level; siblings of one token
    are told apart by the rule only.
    """
    p, q = (tables(record, k) for k in ("target", "draft"))
    parents, end = record["parents"], record["end"]
    for x, u, emitted, path in zip(*(record[k] for k in ("tokens", "uniforms", "emitted", "path")), strict=True):
        rows = [[law_after(t, parents, x, node) for node in range(-1, len(parents))] for t in (p, q)]
        u = decimals(u)
        width = record["uniforms_in_a_row"]
        by_row = [u[i : i + width] for i in range(0, len(u), width)]
        if record["kind"] in ("chain", "tree"):
            found = plain_rules.walked(record["rule"], *rows, parents, x, by_row, record["siblings"], end)
        elif record["kind"] == "block":
            found = plain_rules.block(*rows, x, u, end)
        elif record["kind"] == "traversal":
            found = plain_rules.traversed(record["rule"], *rows, parents, x, u, record["siblings"], end)
        else:
            tokens, length = plain_rules.whole_tree(p, q, parents, x, u, record["siblings"], end, lookup)
            assert [parents[node] for node in path] == [-1, *path][: len(path)]
            assert ([x[node] for node in path], len(path)) == (emitted[: len(path)], length)
            found = tokens, tuple(path)
        assert found == (tuple(emitted), tuple(path))


def tables(record, name):
    return [[fractions(row) for row in table] for table in record[name]["exact"]]


def law_after(tables, parents, x, node):
    """The row after a node: its prefix counted in base `vocab`; None where the tables end or a node is absent."""
    path = []
    while node >= 0:
        path, node = [x[node], *path], parents[node]
    if len(path) >= len(tables) or min(path, default=0) < 0:
        return None
    number = 0
    for token in path:
        number = number * len(tables[0][0]) + token
    return tables[len(path)][number]


@each([r for r in SEQUENCES if r["law"]])
def test_the_law_of_a_sequence(record, monkeypatch):
    """Completed by the target it is the target's joint law; and by enumeration of all drafts and all uniforms."""
    target, draft = (tables(record, k) for k in ("target", "draft"))
    law = dict(zip(
        zip(map(tuple, record["law"]["emitted"]), record["law"]["accepted"], strict=True),
        fractions(record["law"]["probability"]),
        strict=True,
    ))  # fmt: skip
    assert sum(law.values()) == 1
    assert F(record["expected_accepted_length"]) == sum(n * m for (_, n), m in law.items())
    if record["claims"] == "exact":
        assert F(record["expected_accepted_length"]) <= F(record["bound"]) + F(1, 10**6)
        assert after_end(law, target, record["end"])
    if record["kind"] == "whole-tree":
        plain = plain_whole_tree.plain_law(
            lambda path: lookup(target, path),
            lambda path: lookup(draft, path),
            record["parents"],
            record["siblings"],
            lambda t, x: t[x],
            record["end"],
        )
        assert {k: v for k, v in plain.items() if v} == law


def lookup(tables, path):
    number = 0
    for token in path:
        number = number * len(tables[0][0]) + token
    return tables[len(path)][number]


def after_end(law, target, end):
    """Whether the emitted sequences, completed by the target, have its joint law, sequences ending with `end`."""
    depth, joint, emitted = len(target), {}, {}

    def follow(found, path, chance):
        if chance == 0:
            return
        if len(path) == depth or (path and path[-1] == end):
            found[path] = found.get(path, 0) + chance
            return
        for y, m in enumerate(lookup(target, path)):
            follow(found, (*path, y), chance * m)

    follow(joint, (), F(1))
    for (tokens, _), chance in law.items():
        follow(emitted, tokens, chance)
    return emitted == joint


def test_every_known_fault_is_a_negative_control_somewhere():
    """But those of the draw, of noise and of settings, which change nothing once the inputs are given."""
    seen = set(itertools.chain.from_iterable(r["controls"] for r in RECORDS))
    of_the_inputs = {"draft-noise-reused", "greedy-draft-softmax-q", "filtered-draft-raw-q"}
    assert set(FAULTS) - seen == of_the_inputs | {"target-temperature-2", "target-temperature-0.5"}


@each(RECORDS)
def test_every_record_can_fail(record):
    """Each of its controls differs from what is right; every record has one."""
    assert record["controls"]
    for control in record["controls"].values():
        assert any(control[k] != record[k] for k in control if k != "law")
        assert all(len(v) == len(record["tokens"]) for k, v in control.items() if k != "law")


KINDS = ("header", "position", "sequence", "counts-header", "counts", "joint-counts")


def test_every_field_is_on_the_page():
    """Fields of the schema in back quotes, and nothing that is no field in the first column of a table."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "vectors.md").read_text(encoding="utf-8")
    schema = json.loads((RELEASED / "vectors.schema.json").read_text())["$defs"]
    fields = {name for kind in KINDS for name in schema[kind]["properties"]}
    assert {name for name in fields if f"`{name}`" not in page} == set()
    first = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(.*?)`", row)}
    assert first <= fields


def test_the_command_writes_the_released_files(tmp_path, capsys):
    assert main(["vectors", str(tmp_path / "new")]) == 0
    for name in ("vectors.jsonl", "vectors.schema.json"):
        assert (tmp_path / "new" / name).read_bytes() == (RELEASED / name).read_bytes()
        assert name in capsys.readouterr().out or name != "vectors.jsonl"
    (tmp_path / "file").write_text("")
    assert main(["vectors", str(tmp_path / "file")]) == 2
    assert "file: File exists" in capsys.readouterr().err
