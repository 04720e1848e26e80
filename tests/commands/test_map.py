"""`resispec map`: tables, JSON and pictures, and what the numbers must say."""

import json

import numpy as np
import pytest

import resispec_ref as rs
from resispec_ref.commands.cli import main
from resispec_ref.measurements.depth import depth_curves


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    rng = np.random.default_rng(0)
    f_p = rng.normal(size=(4, 12)) * 2
    pairs = rs.Pairs(f_p, f_p + rng.normal(size=f_p.shape), np.tile(np.arange(12), (4, 1)))
    path = tmp_path_factory.mktemp("map") / "pairs.npz"
    rs.save_pairs(path, pairs)
    return str(path)


def test_map_has_a_table_for_each_setting(small, capsys):
    assert main(["map", small, "--candidates", "2", "3", "--temperature", "1", "0.6"]) == 0
    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if line.startswith("temperature")] == [
        f"temperature {T}, {K} candidates" for T in ("1", "0.6") for K in (2, 3)
    ]
    for name in rs.verifier_names():
        assert text.count(f"| {name} ") == 4


def test_rules_are_ordered_and_only_biased_ones_exceed_the_bound(small, capsys):
    assert main(["map", small, "--candidates", "3", "--json", "--paths", "64"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    rate = {r["rule"]: r["acceptance_rate"] for r in found["rules"]}
    assert rate["recursive-rejection"] <= rate["k-seq"] <= rate["resispec"] <= rate["optimal"] + 1e-12
    for r in found["rules"]:
        slack = 5 * r["acceptance_rate_error"] + 1e-9
        if r["exact"]:
            assert r["acceptance_rate"] <= r["optimal_acceptance"] + slack, r["rule"]
        if r["rule"] in ("optimal", "spechub"):
            assert r["acceptance_rate"] >= r["optimal_acceptance"] - 1e-9


@pytest.mark.parametrize("arguments", [["--candidates", "2"], ["--depth", "3"]])
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures(small, tmp_path, capsys, arguments, ending):
    path = tmp_path / f"picture.{ending}"
    assert main(["map", small, *arguments, "--verifier", "resispec", "--verifier", "ears", "--plot", str(path)]) == 0
    assert path.stat().st_size > 1000


def test_depth_by_hand(small):
    """One candidate: the overlap; the decay adds up to the acceptance rate; rules that see all candidates have none."""
    names = ["recursive-rejection", "resispec", "optimal"]
    curves = {c.rule: c for c in depth_curves(small, depth=4, verifiers=names)}
    pairs = rs.load_pairs(small)
    overlap = np.mean(rs.overlap(rs.law_from_logits(pairs.target_logits), rs.law_from_logits(pairs.draft_logits)))
    for name, c in curves.items():
        assert c.acceptance_rate[0] == pytest.approx(overlap, abs=1e-12)
        assert c.acceptance_rate == sorted(c.acceptance_rate)
        if name != "optimal":
            assert 1 - np.prod([1 - d for d in c.decay]) == pytest.approx(c.acceptance_rate[-1], abs=1e-12)
    assert curves["optimal"].decay is None
    assert curves["optimal"].acceptance_rate == pytest.approx(curves["optimal"].bound, abs=1e-9)


def test_depth_prints_tables(small, capsys):
    assert main(["map", small, "--depth", "2", "--verifier", "resispec"]) == 0
    assert capsys.readouterr().out.count("| resispec |") == 2
    assert main(["map", small, "--depth", "2", "--temperature", "1", "2"]) == 2
    assert "one temperature at a time" in capsys.readouterr().err
    assert main(["map", small, "--depth", "0"]) == 2
    assert "depth: 0" in capsys.readouterr().err
