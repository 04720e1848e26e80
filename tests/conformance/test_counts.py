"""The statistical vectors: their regions by a second route, their false alarms added up, and what they find."""

import json
import math
import random
from fractions import Fraction as F

import jsonschema
import numpy as np
import pytest
from scipy.stats import binom

import resispec_ref as rs
from resispec_ref.conformance.counts import count_records
from resispec_ref.conformance.runners import counts as example
from resispec_ref.conformance.vectors import RELEASED, as_lines

HEADER, *RECORDS = map(json.loads, (RELEASED / "counts.jsonl").read_text().splitlines())
POSITIONS = [r for r in RECORDS if r["kind"] == "counts"]
each = pytest.mark.parametrize("record", RECORDS, ids=lambda r: r["id"])
at_one_position = pytest.mark.parametrize("record", POSITIONS, ids=lambda r: r["id"])


def test_the_released_copy_is_what_is_computed():
    assert as_lines(count_records()) == (RELEASED / "counts.jsonl").read_text()


def test_every_line_is_valid():
    validator = jsonschema.Draft202012Validator(json.loads((RELEASED / "vectors.schema.json").read_text()))
    for record in [HEADER, *RECORDS]:
        validator.validate(record)
    assert F(HEADER["false_alarm_rate"]) == sum(F(r["false_alarm_rate"]) for r in RECORDS)


def log_e(count, n, p):
    """The e-process of one cell in plain Python: beta-binomial over binomial, averaged over 13 concentrations."""
    logs = []
    for c in (4.0**k for k in range(13)):
        cells = (p, count), (1 - p, n - count)
        terms = [math.lgamma(c * m + k) - math.lgamma(c * m) - k * math.log(m) for m, k in cells]
        logs.append(math.lgamma(c) - math.lgamma(c + n) + sum(terms))
    return max(logs) + math.log(sum(math.exp(v - max(logs)) for v in logs) / len(logs))


@each
def test_the_region_is_where_the_evidence_is_small(record):
    share = float(F(record["false_alarm_rate"]) / (len(record["probability"]) + ("accepted_high" in record)))
    for n, low, high in zip(record["draws"], record["low"], record["high"], strict=True):
        for p, a, b in zip(map(F, record["probability"]), low, high, strict=True):
            if p in (0, 1):
                assert a == b == n * p
                continue
            assert a <= n * p <= b
            for count, inside in ((a, True), (b, True), (a - 1, False), (b + 1, False)):
                if 0 <= count <= n:
                    assert (log_e(count, n, float(p)) < -math.log(share)) is inside


@at_one_position
def test_acceptance_beyond_the_bound_is_evidence(record):
    p, q = (list(map(F, record[k]["exact"])) for k in ("target", "draft"))
    K = record["candidates"]
    distinct = record["drafting"] == "distinct"
    assert F(record["bound"]) == rs.optimal_acceptance(p, q, candidates=K, replacement=not distinct)
    share = float(F(record["false_alarm_rate"]) / (len(p) + 1))
    bound = float(F(record["bound"]))
    for n, most in zip(record["draws"], record["accepted_high"], strict=True):
        assert n * bound <= most + 1
        for count in (most, most + 1):
            if bound < 1 and count <= n:
                rates = [bound + (1 - bound) * 0.5**k for k in range(21)]
                logs = [
                    count * math.log(r / bound) + ((n - count) * math.log((1 - r) / (1 - bound)) if count < n else 0)
                    for r in rates
                    if r < 1 or count == n
                ]
                e = max(logs) + math.log(sum(math.exp(v - max(logs)) for v in logs) / len(rates))
                assert (e < -math.log(share)) is (count == most)


@each
def test_false_alarms_add_up_to_less_than_said(record):
    """By the exact tails of the binomial law of each count, over all cells and numbers of draws."""
    p = np.array([float(F(v)) for v in record["probability"]])
    rate = 0.0
    for n, low, high in zip(record["draws"], record["low"], record["high"], strict=True):
        rate += float(np.sum(binom.cdf(np.array(low) - 1, n, p) + binom.sf(np.array(high), n, p)))
    if "accepted_high" in record:
        bound = float(F(record["bound"]))
        rate += sum(binom.sf(m, n, bound) for n, m in zip(record["draws"], record["accepted_high"], strict=True))
    assert rate <= float(F(record["false_alarm_rate"]))


@each
def test_a_fault_is_found_where_it_is_said(record):
    """In 200 experiments a fault is missed by more than 5 with probability below 1e-7 each, of some 400 faults."""
    rng = np.random.default_rng(5)
    for name, control in record["controls"].items():
        law = np.array(control["law"]) / sum(control["law"])
        if control["found_at"] is None:
            continue
        step = record["draws"].index(control["found_at"])
        seen = rng.multinomial(control["found_at"], law, size=200)
        outside = ((seen < record["low"][step]) | (seen > record["high"][step])).any(-1)
        assert outside.sum() >= 195, name


@at_one_position
def test_the_twenty_lines_pass_the_right_engine(record):
    random.seed(1)
    assert example.outside(record, example.engine, 16_000) is None


@at_one_position
def test_the_twenty_lines_find_faults(record):
    """An engine that emits the law of a fault, for every fault said to be found after at most 4000 draws."""
    random.seed(2)
    for name, control in record["controls"].items():
        if control["found_at"] in (1_000, 4_000):
            tokens = range(len(control["law"]))

            def faulty(*_, law=control["law"], tokens=tokens):
                return random.choices(tokens, law)[0], False

            assert example.outside(record, faulty, 4_000), name

    def accepts_all(*arguments):
        return example.engine(*arguments)[0], True

    assert F(record["bound"]) > F(9, 10) or "accepted" in example.outside(record, accepts_all, 1_000)


def test_the_controls_are_those_of_the_oracle():
    names = set().union(*(r["controls"] for r in POSITIONS))
    assert {"always-accept", "draft-noise-reused", "greedy-draft-softmax-q", "target-temperature-2"} <= names
    found = [c["found_at"] for r in RECORDS for c in r["controls"].values()]
    assert sum(v is not None for v in found) > 0.8 * len(found)
