"""The public surface: what it is, that it is documented, and that importing it is quick and light."""

import dataclasses
import inspect
import os
import subprocess
import sys

import pytest

import resispec_ref as rs

HEAVY = ("jax", "torch", "scipy", "matplotlib", "transformers", "hypothesis", "rich", "networkx", "pandas")


def test_all_is_the_public_surface():
    """`__all__` lists every class and function that the package has under a public name, sorted, once each."""
    assert rs.__all__ == sorted(set(rs.__all__))
    own = {name for name, value in vars(rs).items() if getattr(value, "__module__", "").startswith("resispec_ref")}
    assert {name for name in own if not name.startswith("_")} == set(rs.__all__)


@pytest.mark.parametrize("name", rs.__all__)
def test_everything_public_is_documented(name):
    """A docstring on each object, every field of a record or method of a class said in words; examples on functions."""
    value = getattr(rs, name)
    doc = inspect.getdoc(value)
    assert doc
    if inspect.isfunction(value):
        assert ">>> " in doc, "an example that runs under --doctest-modules"
        assert inspect.signature(value).return_annotation is not inspect.Signature.empty
    if inspect.isclass(value):
        methods = [f for n, f in vars(value).items() if inspect.isfunction(f) and not n.startswith("_")]
        assert all(inspect.getdoc(f) for f in methods)


@pytest.mark.parametrize("name", rs.verifier_names())
def test_every_rule_says_what_it_is(name):
    rule = rs.get_verifier(name)
    assert rule.name == name
    assert "Source:" in inspect.getdoc(type(rule))
    assert rule.source
    assert dataclasses.is_dataclass(rule)
    assert rule == rs.get_verifier(name)
    assert hash(rule) == hash(rs.get_verifier(name))
    assert rs.get_verifier(rule) is rule
    for field in dataclasses.fields(rule):
        assert f"`{field.name}`" in inspect.getdoc(type(rule)), field.name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(rule, field.name, None)


def test_keyword_only_options():
    """Laws are positional, everything else is said by name."""
    for name in ("emitted_law", "estimated_law", "optimal_acceptance", "schedule"):
        kind = inspect.signature(getattr(rs, name)).parameters["candidates"].kind
        assert kind is inspect.Parameter.KEYWORD_ONLY, name


def in_a_fresh_process(program):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def test_the_import_is_light():
    loaded = in_a_fresh_process("import sys, resispec_ref; print(*sys.modules)").split()
    assert "resispec_ref.law" in loaded
    assert {name.split(".")[0] for name in loaded}.isdisjoint(HEAVY)


def test_a_law_loads_nothing_heavy_either():
    program = """
import sys, resispec_ref as rs
for name in rs.verifier_names():
    rs.emitted_law(name, [0.5, 0.5], [0.25, 0.75], candidates=2)
rs.optimal_acceptance([0.5, 0.5], [0.25, 0.75], candidates=2, replacement=False)
print(*sys.modules)
"""
    assert {name.split(".")[0] for name in in_a_fresh_process(program).split()}.isdisjoint(HEAVY)


def test_the_import_takes_less_than_half_a_second():
    """Of processor time, best of five, so that a busy machine does not fail it."""
    program = "import time; t = time.process_time(); import resispec_ref; print(time.process_time() - t)"
    assert min(float(in_a_fresh_process(program)) for _ in range(5)) < 0.5
