"""The pages on claims and systems: what the commands print is what the pages say, and every name in them exists."""

import subprocess
import sys
from fractions import Fraction as F

import pytest
from sphinx_and_chromium import DOCS, ROOT

sys.path.insert(0, str(DOCS))
import claims
import systems

PAGES = {
    "hierarchical": "hierarchical", "cactus": "cactus", "regeneration": "selective-regeneration",
    "pruning": "pruning", "temperature": "temperature", "graphs": "graphs",
}  # fmt: skip
PRINTED = {
    "hierarchical": ["(1/9, 2/9, 2/9, 4/9)", "(1/9, 2/9, 1/3, 1/3) 1/9", "11/9", "4/3", "verification: True"],
    "cactus": ["(1/2, 1/2, 0), KL 0.4055 = 6.49 δ", "87.34"],
    "regeneration": ["2.77 2 0.25 = δ", "7/8 5 13/16", "3/4 5 13/16"],
    "pruning": ["(3/4, 2/9, 1/36) 1/4 (1/2, 1/3, 1/6)"],
    "temperature": ["(1/3, 2/3)", "1/6 from the power", "(20/27, 7/27) for (4/5, 1/5), TV 8/135", "E[Ẑ] == Z: True"],
    "graphs": ["1/9 = 0.1111 0", "37/243"],
}


@pytest.mark.parametrize("name", claims.CLAIMS)
def test_a_claim_prints_its_numbers(name, capsys):
    claims.CLAIMS[name]()
    printed = " ".join(capsys.readouterr().out.split())
    for number in PRINTED[name]:
        assert number in printed, printed


@pytest.mark.parametrize("name", claims.CLAIMS)
def test_every_claim_has_a_page_that_names_its_command(name):
    page = (DOCS / "findings" / f"claims-{PAGES[name]}.md").read_text()
    assert f"`python docs/claims.py {name}`" in page
    assert "**What is right.**" in page
    assert page.index("**What is right.**") < page.index("```{code-cell} python\n:tags")


def test_the_command():
    command = [sys.executable, "docs/claims.py", "pruning"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert "1/36" in found.stdout


@pytest.mark.parametrize("system", systems.SYSTEMS, ids=lambda s: s.name)
def test_every_system_is_what_the_table_says(system):
    """Exact ones are 0 away in rationals, all others are not; what is named exists."""
    away = system.bias()
    assert isinstance(away, (F, int))
    assert (away == 0) == (system.exact is True)
    assert all(systems.resolve(name) for name in system.where)
    assert not system.page or (DOCS / "findings" / f"{system.page}.md").exists()


def test_the_numbers_of_the_table():
    away = {system.where[0]: system.bias() for system in systems.SYSTEMS if system.exact is not True}
    assert away["resispec-published"] == F(5, 21)
    assert away["hierarchical_law"] == F(1, 9)
    assert away["law_if_believed"] == F(1, 4)
