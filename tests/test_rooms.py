"""The house: few files at the root, rooms of a dozen, and public names where they were; `lint-imports` has the rest."""

import importlib
import tomllib
from pathlib import Path

import pytest

import resispec_ref as rs

HOUSE = Path(rs.__file__).parent
ROOMS = sorted({path.parent for path in HOUSE.rglob("*.py")} - {HOUSE})
ROOT_FILES, ROOM_FILES = 10, 13


def test_the_root_has_ten_files_at_most():
    assert len([path for path in HOUSE.iterdir() if path.is_file()]) <= ROOT_FILES


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(HOUSE)))
def test_a_room_says_what_it_is_and_has_a_dozen_files_or_so(room):
    name = ".".join(["resispec_ref", *room.relative_to(HOUSE).parts])
    assert importlib.import_module(name).__doc__
    assert len([path for path in room.glob("*.py") if path.name != "__init__.py"]) <= ROOM_FILES


def test_every_room_is_packaged_and_nothing_else():
    settings = tomllib.loads((HOUSE.parent / "pyproject.toml").read_text())
    named = {name for name in settings["tool"]["setuptools"]["packages"] if name != "resispec_gpu"}
    assert named == {".".join(["resispec_ref", *room.relative_to(HOUSE).parts]) for room in [HOUSE, *ROOMS]}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("several_drafts", "PerCandidate"),
        ("linear_programs", "best_sequential_acceptance"),
        ("measure", "Measurement"),
        ("measure", "RuleMeasurement"),
        ("measure", "measure"),
        ("pairs", "Pairs"),
        ("pairs", "iterate_pairs"),
        ("pairs", "load_pairs"),
        ("pairs", "save_pairs"),
        ("verifiers", "Selection"),
        ("verifiers", "State"),
        ("verifiers", "Verifier"),
        ("verifiers", "get_verifier"),
        ("verifiers", "verifier_names"),
    ],
)
def test_public_names_are_found_where_they_were(module, name):
    assert getattr(importlib.import_module(f"resispec_ref.{module}"), name) is getattr(rs, name)
