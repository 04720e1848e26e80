"""Conformance vectors of resispec-ref as a test for pytest: replace the three verifiers by calls of your own.

Needs NumPy and pytest, and `vectors.jsonl` beside this file: `python -m pytest test_vectors.py`. Copy it freely.
"""

import json
from pathlib import Path

import numpy as np
import pytest

DTYPE = "float64"  # or "float32": the laws are handed over in it


def position(target, draft, tokens, uniforms):
    """Laws (V,), candidates (K,), uniforms (K + 1,): the token emitted, and which candidate was accepted (K: none)."""
    for i, x in enumerate(tokens):
        if x < 0:  # absent, and so are those after it
            break
        if uniforms[i] * draft[x] < target[x]:
            return x, i
        residual = np.maximum(target - draft, 0)
        target = residual / residual.sum()
    return first_beyond(target, uniforms[-1]), len(tokens)


def tree(target, draft, parents, tokens, uniforms, end):
    """Rows (N + 1, V), the root's first, of a tree of N nodes: the tokens emitted. Uniforms have a row for each depth.

    A chain is a tree in which node i is the parent of node i + 1.
    """
    node, emitted = -1, []
    while True:
        children = np.flatnonzero(parents == node)
        u = uniforms[len(emitted)]
        noise = [*u[: len(children)], u[len(children)]]
        token, index = position(target[node + 1], draft[node + 1], tokens[children], noise)
        emitted.append(token)
        if index == len(children) or token == end:
            return emitted
        node = children[index]


def first_beyond(law, uniform):
    """The first token whose running sum exceeds `uniform`, and never one without mass."""
    running = np.cumsum(law)
    beyond = (running > uniform * running[-1]) & (law > 0)
    return int(np.argmax(beyond)) if beyond.any() else int(np.flatnonzero(law > 0)[-1])


VERIFIERS = {
    ("position", "recursive-rejection"): position,
    ("chain", "recursive-rejection"): tree,
    ("tree", "recursive-rejection"): tree,
}
"""What is checked, by kind of record and rule. Other kinds: block, traversal, whole-tree (see the documentation)."""


# What follows needs no change.


def load(path):
    """The records that `VERIFIERS` has something to say about."""
    with path.open(encoding="utf-8") as lines:
        header, *records = map(json.loads, lines)
    assert header["format"] == 1, "vectors of another format: take the test from the same release"
    wanted = [r for r in records if (r["kind"], r["rule"]) in VERIFIERS]
    return [r for r in wanted if DTYPE == "float64" or r.get("precision") != "float64"]


def rows(record, name, tokens):
    """The laws after the root and after each node, (N + 1, V); zeros where the record has none."""
    tables = [np.array(table, dtype=DTYPE) for table in record[name][DTYPE]]
    numbers, depths = [0], [0]
    found = np.zeros((len(tokens) + 1, record["vocab"]), dtype=DTYPE)
    for node, parent in enumerate(record["parents"]):
        absent = tokens[node] < 0 or numbers[parent + 1] is None
        numbers.append(None if absent else numbers[parent + 1] * record["vocab"] + tokens[node])
        depths.append(depths[parent + 1] + 1)
    for i, (number, depth) in enumerate(zip(numbers, depths, strict=True)):
        if number is not None and depth < len(tables):
            found[i] = tables[depth][number]
    return found


def answer(record, i, verifier):
    """What a verifier answers to check `i`, as the record has it; a path or index that is None is not compared."""
    tokens = np.array(record["tokens"][i], dtype=np.int64)
    uniforms = np.array(record["uniforms"][i], dtype=DTYPE)
    if record["kind"] == "position":
        laws = [np.array(record[name][DTYPE], dtype=DTYPE) for name in ("target", "draft")]
        token, index = verifier(*laws, tokens, uniforms)
        return {"token": int(token), "accepted_index": record["accepted_index"][i] if index is None else int(index)}
    both = [rows(record, name, tokens) for name in ("target", "draft")]
    parents = np.array(record["parents"], dtype=np.int64)
    uniforms = uniforms.reshape(-1, record["uniforms_in_a_row"])
    return {"emitted": [int(token) for token in verifier(*both, parents, tokens, uniforms, record["end"])]}


def differences(record, answers):
    """Where `answers(i)`, a dictionary, is not what the record says, in words."""
    found = []
    for i, tokens in enumerate(record["tokens"]):
        try:
            given = answers(i)
        except Exception as error:  # of a verifier that is being checked
            given = {"error": f"{type(error).__name__}: {error}"}
        right = {key: record[key][i] for key in ("token", "accepted_index", "emitted") if key in record}
        if "error" in given or any(given[key] != right[key] for key in given):
            found.append(f"candidates {tokens}, uniforms {record['uniforms'][i]}: {given}, not {right}")
    return found


RECORDS = load(Path(__file__).with_name("vectors.jsonl")) if Path(__file__).with_name("vectors.jsonl").exists() else []


def test_there_are_vectors():
    assert RECORDS, "vectors.jsonl has to lie beside this file: `resispec vectors DIR` writes both"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_answers(record):
    verifier = VERIFIERS[record["kind"], record["rule"]]
    found = differences(record, lambda i: answer(record, i, verifier))
    total = len(record["tokens"])
    assert not found, f"{len(found)} of {total} answers differ\n" + "\n".join(found[:5])


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_known_faults_are_noticed(record):
    for name, control in record["controls"].items():
        faulty = differences(record, lambda i, c=control: {k: c[k][i] for k in c if k != "law"})
        assert faulty, f"what {name} answers passes"
