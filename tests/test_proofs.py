"""The table of `proofs/README.md`, the development and the docstrings name the same theorems, functions and tests."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "proofs"
ROW = re.compile(r"^\| `(\w+)` \((\w+\.v)\) \| (.+) \| `([\w.]+)` \| `([\w/.]+)::(\w+)` \| (.+) \|$")
MENTION = re.compile(r"`(\w+)`(?:,\s+`(\w+)`)*\s+\(proofs/(\w+\.v)\)")


def rows():
    lines = [line for line in (PROOFS / "README.md").read_text().splitlines() if line.startswith("| `")]
    found = [ROW.match(line) for line in lines]
    assert all(found), f"rows not understood: {[a for a, b in zip(lines, found, strict=True) if not b]}"
    return [match.groups() for match in found]


@cache
def theorems(file):
    """The names of the theorems that a file of the development states."""
    text = re.sub(r"\(\*.*?\*\)", "", (PROOFS / file).read_text(), flags=re.DOTALL)
    return re.findall(r"^Theorem (\w+)", text, flags=re.MULTILINE)


def mentions():
    """`(where, theorem, file)` for every theorem named in a docstring or comment."""
    for path in sorted((ROOT / "resispec_ref").rglob("*.py")) + sorted((ROOT / "gpu").rglob("*.py")):
        text = path.read_text()
        for match in MENTION.finditer(text):
            for name in re.findall(r"`(\w+)`", match[0]):
                yield str(path.relative_to(ROOT)), name, match[3]


TABLE = rows()


def test_the_table_lists_every_theorem_of_every_file():
    stated = {(name, path.name) for path in PROOFS.glob("*.v") for name in theorems(path.name)}
    assert {(name, file) for name, file, *_ in TABLE} == stated
    assert len(TABLE) == len(stated)


def test_no_axioms_are_claimed_or_allowed():
    assert {axioms for *_, axioms in TABLE} == {"none"}
    allowed = (PROOFS / "allowed_axioms").read_text().splitlines()
    assert all(line.startswith("#") for line in allowed)


@pytest.mark.parametrize("name", sorted({row[3] for row in TABLE}))
def test_functions_of_the_table_exist(name):
    module, _, attribute = f"resispec_ref.{name}".rpartition(".")
    assert callable(getattr(importlib.import_module(module), attribute))


@pytest.mark.parametrize(("file", "name"), sorted({row[4:6] for row in TABLE}))
def test_tests_of_the_table_exist(file, name):
    tree = ast.parse((ROOT / "tests" / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_docstrings_name_theorems_that_exist():
    named = list(mentions())
    assert len(named) >= 10
    for where, name, file in named:
        assert (PROOFS / file).exists(), f"{where} names proofs/{file}"
        assert name in theorems(file), f"{where} names `{name}`, which proofs/{file} does not state"


def test_every_mention_of_a_theorem_is_checked():
    """Wherever the code says "Theorem:", the name and the file that follow are read by the test above."""
    for path in (ROOT / "resispec_ref").rglob("*.py"):
        text = path.read_text()
        for match in re.finditer(r"\bTheorems?: ?\s*`\w+`", text):
            start = match.end() - len(match[0].split()[-1])
            assert MENTION.match(text, start), f"{path.relative_to(ROOT)}: {text[match.start() : match.end() + 60]!r}"
        assert text.count("(proofs/") == sum(1 for _ in MENTION.finditer(text)), path


def test_the_paper_names_theorems_that_exist():
    every = {name for name, *_ in TABLE}
    named = set(re.findall(r"`([a-z]\w*_\w{2,})`", (PROOFS / "paper.md").read_text()))
    assert named <= every, named - every
