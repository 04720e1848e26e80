"""The runners: silent on right verifiers, and each of ten planted faults is found, in Python, C++ and Rust.

The example verifiers are compiled and run as the documentation says, and once more for each fault.
"""

import importlib.util
import json
import shutil
import subprocess
import sys

import planted_faults
import pytest

import resispec_ref as rs
from resispec_ref.conformance import write_vectors
from resispec_ref.conformance.write import WRITTEN, YOURS
from resispec_ref.sequence import Tree, verify_block, verify_chain, verify_traversal, verify_tree, verify_whole_tree
from resispec_ref.sequence.whole_tree import target_weights

COMPILERS = {"verifier.cpp": ["g++", "-std=c++17", "-o"], "verifier.rs": ["rustc", "-o"]}
WARNINGS = {"verifier.cpp": ["-Wall", "-Wextra", "-Werror", "-pedantic"], "verifier.rs": ["-D", "warnings"]}
FAULTS = {"verifier.cpp": planted_faults.CPP, "verifier.rs": planted_faults.RUST}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("vectors")
    write_vectors(found)
    return found


def python_runner(folder, tmp_path, name, change=None):
    """The module that is written for pytest, with or without a fault, beside the vectors."""
    source = (folder / "test_vectors.py").read_text()
    file = tmp_path / f"{name.replace('-', '_').replace('.', '_')}.py"
    file.write_text(planted_faults.planted(source, change) if change else source)
    shutil.copy(folder / "vectors.jsonl", tmp_path)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wrong(module):
    """The records at which a verifier's answers differ."""
    found = []
    for record in module.RECORDS:
        verifier = module.VERIFIERS[record["kind"], record["rule"]]
        if module.differences(record, lambda i, r=record, v=verifier: module.answer(r, i, v)):
            found.append(record["id"])
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_python_is_silent_on_the_right_verifier(folder, tmp_path, dtype):
    change = ('DTYPE = "float64"', f'DTYPE = "{dtype}"')
    module = python_runner(folder, tmp_path, dtype, change)
    assert len(module.RECORDS) > 25
    assert wrong(module) == []


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("fault", planted_faults.PYTHON)
def test_python_finds(fault, folder, tmp_path):
    assert wrong(python_runner(folder, tmp_path, fault, planted_faults.PYTHON[fault]))


def test_python_as_it_is_run(folder, tmp_path):
    """By pytest, in a process of its own: passes as written, fails with a fault, and says what differs."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:resispec", "test_vectors.py"]
    right = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert right.returncode == 0, right.stdout
    shutil.copy(folder / "vectors.jsonl", tmp_path)
    source = (folder / "test_vectors.py").read_text()
    (tmp_path / "test_vectors.py").write_text(planted_faults.planted(source, planted_faults.PYTHON["always-accept"]))
    faulty = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert faulty.returncode == 1
    assert "answers differ" in faulty.stdout
    assert "'token': 1" in faulty.stdout


def of_the_library(kind, rule, record):
    """The library's verifier for a record, called as the runner calls one."""
    if kind == "position":
        return lambda p, q, x, u: rs.verify(rule, p, q, x, u)
    tree = Tree(record["parents"])

    def sequence(p, q, parents, x, u, end):
        if kind == "chain":
            return verify_chain(rule, p, q[:-1], x, u, end=end).tokens
        if kind == "block":
            return verify_block(p, q[:-1], x, u[:, 0], end=end).tokens
        options = {"siblings": record["siblings"], "end": end}
        if kind == "whole-tree":
            return verify_whole_tree(p, q, tree, x, u[:, 0], weights=target_weights, **options).tokens
        if kind == "traversal":
            return verify_traversal(rule, p, q, tree, x, u[:, 0], **options).tokens
        return verify_tree(rule, p, q, tree, x, u, **options).tokens

    return sequence


@pytest.mark.parametrize("kind", ["position", "chain", "block", "tree", "traversal", "whole-tree"])
def test_every_sound_verifier_passes_and_every_control_fails(kind, folder, tmp_path):
    """All records through the Python runner: the library's verifiers, and what each known fault answers."""
    module = python_runner(folder, tmp_path, "all")
    header, *records = map(json.loads, (folder / "vectors.jsonl").read_text().splitlines())
    records = [record for record in records if record["kind"] == kind]
    assert len(records) == header["records"][kind]
    for record in records:
        verifier = of_the_library(kind, record["rule"], record)
        assert module.differences(record, lambda i, r=record, v=verifier: module.answer(r, i, v)) == []
        for name, control in record["controls"].items():
            answers = {k: v for k, v in control.items() if k != "law"}
            assert module.differences(record, lambda i, a=answers: {k: v[i] for k, v in a.items()}), name


def test_a_verifier_that_is_yours_is_not_replaced(tmp_path):
    write_vectors(tmp_path)
    for name in WRITTEN:
        (tmp_path / name).write_text("mine")
    write_vectors(tmp_path)
    assert {name for name in WRITTEN if (tmp_path / name).read_text() == "mine"} == set(YOURS)


def test_all_languages_have_the_same_faults():
    assert list(planted_faults.PYTHON) == list(planted_faults.CPP) == list(planted_faults.RUST)
    assert len(planted_faults.PYTHON) == 10


def compiled(folder, tmp_path, name, change=None):
    """The program made of an example verifier, with or without a fault."""
    for file in folder.glob("resispec_vectors.*"):
        shutil.copy(file, tmp_path)
    source = (folder / name).read_text()
    (tmp_path / name).write_text(planted_faults.planted(source, change) if change else source)
    program = tmp_path / "verifier"
    options = (
        COMPILERS[name] if change is None else [o for o in COMPILERS[name] if o not in ("-Werror", "-D", "warnings")]
    )
    done = subprocess.run([*options, program, tmp_path / name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.languages
@pytest.mark.parametrize("name", COMPILERS)
def test_a_program_is_silent_on_the_right_verifier(name, folder, tmp_path):
    program = compiled(folder, tmp_path, name)
    for decimals in (), ("--float32",):
        found = run(program, folder / "vectors.jsonl", *decimals)
        assert (found.returncode, found.stderr) == (0, "")
        right, checks = found.stdout.split(" answers")[0].split(" of ")
        assert found.stdout.count("\n") == 1
        assert right == checks
        assert int(checks) > 500
    (tmp_path / "other.jsonl").write_text('{"kind":"header","format":2}\n')
    (tmp_path / "empty.jsonl").write_text("")
    for file, words in (("none.jsonl", "none.jsonl"), ("other.jsonl", "another format"), ("empty.jsonl", "no record")):
        found = run(program, tmp_path / file)
        assert found.returncode == 2
        assert words in found.stderr


@pytest.mark.languages
@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name in COMPILERS for fault in FAULTS[name]])
def test_a_program_finds(name, fault, folder, tmp_path):
    found = run(compiled(folder, tmp_path, name, FAULTS[name][fault]), folder / "vectors.jsonl")
    assert found.returncode == 1
    assert ", not " in found.stdout
