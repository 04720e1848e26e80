"""Measuring rules on recorded pairs: against laws computed directly, the bound, and a picture of it."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import resispec_ref as rs
from resispec_ref.commands.measure import total_variation_text
from resispec_ref.models.pairs import Pairs, save_pairs

measure_module = importlib.import_module("resispec_ref.measurements.measure")


@pytest.fixture(scope="module")
def small():
    """Twelve positions of five tokens, where path-dependent rules can be enumerated."""
    rng = np.random.default_rng(1)
    f_p, f_q = rng.normal(size=(2, 12, 5)) * 1.5
    return Pairs(f_p, f_q, np.tile(np.arange(5), (12, 1)), {"target": "a", "draft": "b"})


@pytest.fixture(scope="module")
def found(small):
    return rs.measure(small, candidates=3, temperature=0.8, paths=400)


def laws(pairs, temperature):
    return tuple(rs.law_from_logits(f, temperature=temperature) for f in (pairs.target_logits, pairs.draft_logits))


def test_on_the_recording_the_exact_shaped_rule_closes_three_quarters_of_the_gap():
    found = rs.measure(candidates=3, temperature=1.0, verifiers=["resispec", "k-seq"])
    assert found.positions == 128
    assert found["resispec"].gap_closed >= 0.75
    assert found["k-seq"].gap_closed < found["resispec"].gap_closed < 1
    assert found["recursive-rejection"].gap_closed == 0
    assert max(r.total_variation_worst for r in found.rules) < 1e-12
    r, readme = found["resispec"], (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for value in (r.acceptance_rate, found["recursive-rejection"].acceptance_rate, r.optimal_acceptance):
        assert f" {value:.3f}" in readme
    assert f"{r.gap_closed:.1%} of the gap" in readme


@pytest.mark.parametrize("name", rs.verifier_names())
def test_means_over_positions_are_those_of_the_emitted_laws(name, small, found):
    """Computed rules to rounding; sampled ones within 5 standard errors (false alarms: 6e-7 a comparison)."""
    direct = rs.emitted_law(name, *laws(small, 0.8), candidates=3)
    r = found[name]
    assert r.sampled == rs.get_verifier(name).path_dependent
    slack = 5 * r.acceptance_rate_error + 1e-12
    assert abs(r.acceptance_rate - direct.acceptance_rate.mean()) <= slack
    each = np.array(r.acceptance_per_candidate) - direct.acceptance_per_candidate.mean(axis=0)
    assert np.all(abs(each) <= 5 * np.array(r.acceptance_per_candidate_error) + 1e-12)
    if r.sampled:
        assert r.acceptance_rate_error < 0.01
        assert abs(r.total_variation_mean - direct.total_variation.mean()) <= 3 * r.total_variation_noise + 1e-12
    else:
        assert abs(r.total_variation_mean - direct.total_variation.mean()) < 1e-12
        assert abs(r.total_variation_worst - direct.total_variation.max()) < 1e-12
        assert (r.acceptance_rate_error, r.total_variation_noise) == (0, 0)


def test_a_rule_is_compared_with_the_bound_and_the_baseline_of_its_own_kind(small, found):
    p, q = laws(small, 0.8)
    for kind, baseline in measure_module.BASELINE.items():
        bound = float(rs.optimal_acceptance(p, q, candidates=3, replacement=kind == "independent").mean())
        base = found[baseline].acceptance_rate
        for r in (r for r in found.rules if r.drafting == kind):
            assert r.optimal_acceptance == pytest.approx(bound, abs=1e-12)
            assert r.gap_closed == pytest.approx((r.acceptance_rate - base) / (bound - base), abs=1e-12)
            if r.exact:
                assert r.acceptance_rate <= bound + 5 * r.acceptance_rate_error + 1e-12
    assert found["recursive-rejection"].acceptance_rate <= found["resispec"].acceptance_rate
    assert found["k-seq"].acceptance_rate <= found["resispec"].acceptance_rate + 1e-12
    assert found["resispec-published"].acceptance_rate > found["resispec-published"].optimal_acceptance


def test_a_file_is_streamed_in_parts_and_gives_what_memory_gives(small, found, tmp_path, monkeypatch):
    path = tmp_path / "pairs.npz"
    save_pairs(path, small)
    seen = []
    monkeypatch.setattr(measure_module, "_CHUNK_ENTRIES", 25)
    again = rs.measure(path, candidates=3, temperature=0.8, paths=400, progress=lambda *done: seen.append(done))
    assert seen == [(5, 12), (10, 12), (12, 12)]
    assert again.source == str(path)
    assert again.metadata == {"target": "a", "draft": "b"}
    for a, b in zip(again.rules, found.rules, strict=True):
        tolerance = 7 * (a.acceptance_rate_error + b.acceptance_rate_error) + 1e-12
        assert abs(a.acceptance_rate - b.acceptance_rate) <= tolerance
    memory = rs.measure(small, candidates=3, temperature=0.8, paths=400)
    assert memory.rules == again.rules


def test_one_rule_alone_gets_the_same_samples_as_among_all(small, found):
    alone = rs.measure(small, candidates=3, temperature=0.8, paths=400, verifiers=["resispec-published"])
    assert [r.rule for r in alone.rules] == ["recursive-rejection", "resispec-published"]
    assert alone["resispec-published"] == found["resispec-published"]
    other = rs.measure(small, candidates=3, temperature=0.8, paths=400, verifiers=["resispec-published"], seed=1)
    assert other["resispec-published"].acceptance_rate != alone["resispec-published"].acceptance_rate


def test_only_the_first_positions(small):
    p, q = laws(small, 1.0)
    found = rs.measure(small, candidates=2, verifiers=["resispec"], positions=5)
    direct = rs.emitted_law("resispec", p[:5], q[:5], candidates=2).acceptance_rate
    assert found.positions == 5
    assert found["resispec"].acceptance_rate == pytest.approx(direct.mean(), abs=1e-12)
    assert rs.measure(small, candidates=2, verifiers=["resispec"], positions=50).positions == 12


def test_where_there_is_no_gap_none_is_closed(small):
    same = Pairs(small.target_logits, small.target_logits, small.token_ids)
    assert {r.gap_closed for r in rs.measure(same, candidates=2).rules} == {None}
    greedy = rs.measure(same, candidates=2, temperature=0)
    assert all(r.acceptance_rate == pytest.approx(1, abs=1e-12) == r.optimal_acceptance for r in greedy.rules)


BAD = {
    "rule": ({"verifiers": ["resispek"]}, "'resispek' is not one of naive, recursive-rejection"),
    "none": ({"candidates": 0}, "candidates: 0 candidates accept nothing; give 1 or more"),
    "negative": ({"candidates": -1}, "candidates: -1 is not a number of candidates"),
    "positions": ({"positions": 0}, "positions: 0 leaves nothing to measure"),
    "temperature": ({"temperature": -1.0}, "temperature: -1.0 is not a finite number, 0 or more"),
    "paths": ({"paths": 1}, "paths: 1 sampled paths have no standard error; give 2 or more"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(small, change, message):
    with pytest.raises(ValueError, match=message):
        rs.measure(small, **({"candidates": 2} | change))


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_plot_names_every_rule(found, tmp_path, ending):
    from resispec_ref.commands.display.measure_plot import plot_measurement

    path = tmp_path / f"measure.{ending}"
    plot_measurement(found, path)
    picture = path.read_bytes()
    if ending == "png":
        assert picture.startswith(b"\x89PNG")
    else:  # text is drawn as paths, each after a comment with its words
        words = picture.decode()
        assert all(name in words for name in (*rs.verifier_names(), "bound", "(biased)", "total variation"))


def test_a_table_shows_no_number_where_it_is_sampling_noise_alone(found):
    """Of a rule that claims to be exact, within what sampling explains; a lie and a biased rule keep their numbers."""
    text = total_variation_text
    naive, published = found["naive"], found["resispec-published"]
    assert naive.total_variation_mean > 1e-3
    assert text(naive) == "noise"
    assert text(found["resispec"]) == "0"
    noise = published.total_variation_noise
    assert text(published) == f"{published.total_variation_mean:.3f} (noise {noise:.3f})"
    liar = replace(naive, total_variation_mean=4 * naive.total_variation_noise)
    assert text(liar).startswith(f"{liar.total_variation_mean:.3f} (noise ")


def test_without_matplotlib_the_extra_is_named(small, monkeypatch, tmp_path, capsys):
    from resispec_ref.commands.cli import main

    path = tmp_path / "pairs.npz"
    save_pairs(path, small)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["measure", str(path), "--plot", str(tmp_path / "a.png")]) == 2
    assert 'pip install "resispec-ref[plot]"' in capsys.readouterr().err
