"""The reference is complete: every public name is on a page, and every public function shows an example that runs."""

import inspect
import re
import types

import pytest
from sphinx_and_chromium import DOCS

import resispec_gpu
import resispec_ref
import resispec_ref.conformance
import resispec_ref.guard
import resispec_ref.oracle
import resispec_ref.sequence
import resispec_ref.sequence.whole_tree

MODULES = [
    resispec_gpu,
    resispec_ref,
    resispec_ref.sequence,
    resispec_ref.sequence.whole_tree,
    resispec_ref.oracle,
    resispec_ref.conformance,
    resispec_ref.guard,
]
PUBLIC = [(module.__name__, name) for module in MODULES for name in module.__all__]
FUNCTIONS = [(m.__name__, n) for m in MODULES for n in m.__all__ if not isinstance(getattr(m, n), types.GenericAlias)]
TEXT = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
DOCUMENTED = {name.split(".")[-1] for name in re.findall(r"auto(?:function|class|data):: ([\w.]+)", TEXT)}


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_name_is_in_the_reference(module, name):
    assert name in DOCUMENTED, f"{module}.{name} is on no page of docs/reference"


@pytest.mark.parametrize(("module", "name"), FUNCTIONS)
def test_every_public_function_has_an_example(module, name):
    thing = getattr(next(m for m in MODULES if m.__name__ == module), name)
    assert inspect.getdoc(thing), f"{module}.{name} has no docstring"
    if inspect.isfunction(thing) and "The full documentation is that of" not in inspect.getdoc(thing):
        assert ">>>" in inspect.getdoc(thing), f"{module}.{name} has no example"


@pytest.mark.parametrize("module", [m.__name__ for m in MODULES if m is not resispec_gpu])
def test_examples_see_every_public_module(module):
    assert f"\nfrom {module} import *\n" in (DOCS / "conf.py").read_text(), "doctest_global_setup"
