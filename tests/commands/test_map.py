"""`resispec map`: tables, JSON and pictures, and what the numbers must say."""

import json

import numpy as np
import pytest

import resispec_ref as rs
from resispec_ref.commands.cli import main
from resispec_ref.commands.display.rule_map import draw_map
from resispec_ref.measurements.depth import depth_curves
from resispec_ref.measurements.measure import Measurement, RuleMeasurement


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


PLACES = [
    ("naive", "independent", True, 0.4587, 0), ("gumbel-list-coupling", "independent", True, 0.7905, 0),
    ("recursive-rejection", "independent", True, 0.798, 0), ("importance-weighted", "independent", True, 0.8179, 0),
    ("k-seq", "independent", True, 0.8216, 0), ("spechub", "hubs", True, 0.856, 0),
    ("resispec", "independent", True, 0.8583, 0), ("optimal", "independent", True, 0.8699, 0),
    ("recursive-rejection-without-replacement", "distinct", True, 0.8348, 0),
    ("resispec-without-replacement", "distinct", True, 0.8761, 0),
    ("optimal-without-replacement", "distinct", True, 0.9097, 0),
    ("target-match-top-k", "independent", False, 0.7593, 0.2662),
    ("constant-threshold", "independent", False, 0.8189, 0.024), ("ears", "independent", False, 0.8355, 0.0495),
    ("mixture", "independent", False, 0.8839, 0.0343), ("lenience", "independent", False, 0.9047, 0.1571),
    ("frontier", "independent", False, 0.9049, 0.035), ("cactus", "independent", False, 0.9403, 0.2424),
    ("typical-acceptance", "independent", False, 0.9095, 0.2636),
    ("resispec-published", "independent", False, 0.9502, 0.1952), ("reflective", "independent", False, 0.9802, 0.3009),
]  # fmt: skip
"""Where the rules lie on the embedded recording, three candidates."""


def measured_at(places):
    bounds = {"independent": 0.8699, "distinct": 0.912, "hubs": 0.856}
    rules = [
        RuleMeasurement(name, exact, kind, False, rate, 0, [], [], bounds[kind], None, 0, tv, tv, 0)
        for name, kind, exact, rate, tv in places
    ]
    return Measurement("by hand", 1, 1, 3, 1.0, 16, 0, rules, {})


@pytest.mark.parametrize("size", [(7.6, 6), (7.6, 6.2)], ids=str)
def test_no_name_lies_on_another_or_on_a_point(size):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    colours = dict.fromkeys(("ink", "quiet", "page", "accepted", "missing", "target"), "#000000")
    draw_map(figure, figure, colours, measured_at(PLACES))
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [text.get_window_extent() for text in axes.texts]
        assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
        points = [axes.transData.transform(p) for c in axes.collections for p in c.get_offsets()]
        assert not [(box, p) for box in boxes for p in points if box.contains(*p)]
        frame = axes.get_window_extent()
        assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 + 1 for box in boxes)


@pytest.mark.parametrize("kept", [["optimal"], ["ears", "naive"], ["optimal-without-replacement"], ["spechub"]])
def test_a_map_of_few_rules(kept):
    from matplotlib.figure import Figure

    figure = Figure()
    colours = dict.fromkeys(("ink", "quiet", "page", "accepted", "missing", "target"), "#000000")
    draw_map(figure, figure, colours, measured_at([place for place in PLACES if place[0] in kept]))
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert all(any(name in text for text in texts) for name in kept)
