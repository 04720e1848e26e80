"""The guard: verdicts on settings, exact biases by a second route, and that nothing is worse than the worst."""

import importlib.util
import json
from fractions import Fraction as F
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import pairs

import resispec_ref as rs
from resispec_ref.commands.cli import main
from resispec_ref.guard import lossless
from resispec_ref.guard.engines import ENGINES, READ
from resispec_ref.guard.rules import ForcedAcceptance, TargetMatchThresholds

CASES = [
    ("vllm", {}, "lossless", 0),
    ("vllm", {"method": "ngram", "rejection_sample_method": "block"}, "lossless", 0),
    ("vllm", {"draft_sample_method": "probabilistic"}, "lossless", 0),
    ("vllm", {"rejection_sample_method": "synthetic", "synthetic_acceptance_rates": [0.6, 0.3]}, "lossy", F(3, 5)),
    ("vllm", {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 1.25}, "lossy", F(3, 4)),
    ("vllm", {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 3}, "lossy", 1),
    ("vllm", {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 1}, "lossy", 1),
    ("vllm", {"acceptance_method": "typical_acceptance_sampler", "posterior_threshold": 0.2}, "lossy", 1),
    ("vllm", {"rejection_sample_method": "new"}, "unknown", 0),
    ("vllm", {"draft_sample_method": "new"}, "unknown", 0),
    ("vllm", {"acceptance_method": "new"}, "unknown", 0),
    ("vllm", {"lenience": 0.5}, "unknown", 0),
    ("sglang", {}, "lossless", 0),
    ("sglang", {"speculative_accept_threshold_single": 0.9}, "lossy", F(1, 10)),
    ("sglang", {"speculative-accept-threshold-acc": 0.25}, "lossy", F(3, 4)),
    (
        "sglang",
        {"--speculative-accept-threshold-single": 0.5, "speculative_accept_threshold_acc": 0.8},
        "lossy",
        F(1, 2),
    ),
    ("sglang", {"SGLANG_SIMULATE_ACC_LEN": 3}, "unknown", 0),
    ("tensorrt-llm", {"decoding_type": "MTP"}, "lossless", 0),
    ("tensorrt-llm", {"decoding_type": "MTP", "use_relaxed_acceptance_for_thinking": True}, "lossless", 0),
    (
        "tensorrt-llm",
        {"decoding_type": "MTP", "use_relaxed_acceptance_for_thinking": True, "relaxed_topk": 10, "relaxed_delta": 0.6},
        "lossy",
        1,
    ),
    ("tensorrt-llm", {"decoding_type": "Eagle3"}, "lossless", 0),
    ("tensorrt-llm", {"decoding_type": "Eagle", "greedy_sampling": False}, "lossy", 1),
    ("tensorrt-llm", {"decoding_type": "Medusa"}, "unknown", 0),
    ("tensorrt-llm", {}, "unknown", 0),
    ("transformers", {"prompt_lookup_num_tokens": 3}, "lossless", 0),
    ("transformers", {"assistant_ensemble_weight": 0.8, "assistant_confidence_threshold": 0.4}, "lossy", F(1, 5)),
]
LOSSY = [(engine, settings) for engine, settings, judgement, _ in CASES if judgement == "lossy"]


@pytest.mark.parametrize(("engine", "settings", "judgement", "worst"), CASES)
def test_verdicts(engine, settings, judgement, worst):
    found = lossless(settings, engine=engine, pair=False)
    assert (found.judgement, found.worst_bias) == (judgement, worst)
    assert found.exit_code == {"lossless": 0, "lossy": 1, "unknown": 3}[judgement]
    assert all(f.says is not None for f in found.findings if f.judgement != "unknown")
    assert all((f.says is None) == (f.judgement == "unknown") for f in found.findings)
    words = {"lossless": "Use the target's log-probabilities", "lossy": "biased ratio", "unknown": "not known"}
    assert words[judgement] in found.importance_ratio


@pytest.mark.parametrize(("engine", "settings"), LOSSY)
def test_the_witness_has_the_bias(engine, settings):
    """With `==` where the worst is attained, and within 1/50 of it where it only is approached."""
    for f in lossless(settings, engine=engine, pair=False).findings:
        if f.rule is None:
            continue
        bias = rs.emitted_law(f.rule, *f.witness, candidates=1).total_variation
        assert bias == f.worst_bias if f.attained else f.worst_bias - F(1, 50) <= bias < f.worst_bias


@given(pair=pairs(), t=st.fractions(0, 1, max_denominator=12), c=st.fractions(F(1, 12), 1, max_denominator=12))
def test_nothing_is_worse_than_the_worst(pair, t, c):
    p, q = pair
    worst = {
        ForcedAcceptance(t): max(t, 1 - t),
        TargetMatchThresholds(t, 1): 1 - t,
        TargetMatchThresholds(1, c): 1 - c,
        TargetMatchThresholds(t, c): 1 - min(t, c),
        rs.get_verifier("mixture", weight=t): t,
    }
    for rule, most in worst.items():
        assert rs.emitted_law(rule, p, q, candidates=1).total_variation <= most, rule


@given(pair=pairs(), t=st.fractions(0, 1, max_denominator=12), c=st.fractions(F(1, 12), 1, max_denominator=12))
def test_the_laws_by_hand(pair, t, c):
    p, q = pair
    x = max(range(len(q)), key=lambda y: (q[y], -y))
    a = F(1) if p[x] >= t else min(F(1), p[x] / c)
    rest = 1 - p[x]
    law = [a if y == x else ((1 - a) * m / rest if rest else F(0)) for y, m in enumerate(p)]
    found = rs.emitted_law(TargetMatchThresholds(t, c), p, q, candidates=1)
    assert (list(found.law), found.acceptance_rate) == (law, a)
    left = [max(m - n, F(0)) for m, n in zip(p, q, strict=True)]
    residual = [m / sum(left) for m in left] if any(left) else p
    forced = rs.emitted_law(ForcedAcceptance(t), p, q, candidates=1)
    assert list(forced.law) == [t * n + (1 - t) * r for n, r in zip(q, residual, strict=True)]


def test_with_both_thresholds_at_1_it_is_target_matching():
    p, q = [F(1, 5), F(2, 5), F(2, 5)], [F(3, 5), F(3, 10), F(1, 10)]
    found = rs.emitted_law(TargetMatchThresholds(), p, q, candidates=1)
    assert (list(found.law), found.acceptance_rate) == (p, F(1, 5))
    for rule in TargetMatchThresholds(), ForcedAcceptance():
        assert list(rs.emitted_law(rule, p, q, candidates=0).law) == p
        with pytest.raises(ValueError, match="modelled for one candidate"):
            rs.emitted_law(rule, p, q, candidates=2)


def test_on_the_recorded_pair():
    """The bias is below the worst, and what is accepted below the frontier; the ensemble is on it."""
    for engine, settings in (LOSSY[0], LOSSY[4], LOSSY[-1]):
        found = lossless(settings, engine=engine)
        (measured,) = found.on_pair.values()
        assert 0 < measured.total_variation_mean <= measured.total_variation_worst <= float(found.worst_bias)
        assert measured.optimal_acceptance <= measured.frontier <= 1
        assert measured.acceptance_rate <= measured.frontier + 1e-12
    assert measured.acceptance_rate == pytest.approx(measured.frontier, abs=1e-9)


def test_settings_may_be_nested_and_name_their_engine():
    nested = {"engine": "TensorRT_LLM", "speculative_config": {"decoding_type": "MTP", "max_draft_len": 3}, "tp": 2}
    found = lossless(nested, pair=False)
    assert (found.engine, found.judgement) == ("tensorrt-llm", "lossless")
    assert found.not_looked_at == ["max_draft_len", "tp"]


@pytest.mark.parametrize(
    ("settings", "engine", "words"),
    [
        ({}, None, "engine: 'none' is not one of vllm, sglang"),
        ({}, "llama.cpp", "engine: 'llama.cpp' is not one of"),
        ([], "vllm", "settings: list is no mapping"),
        ({"assistant_ensemble_weight": 1.5}, "transformers", "assistant_ensemble_weight: 1.5 is not in"),
        ({"assistant_ensemble_weight": 1}, "transformers", "assistant_ensemble_weight: 1 is not between 0 and 1"),
        (
            {"speculative_accept_threshold_acc": "high"},
            "sglang",
            "threshold_acc: 'high' is not a number",
        ),
        ({"rejection_sample_method": "synthetic", "synthetic_acceptance_rates": [2]}, "vllm", "rates: 2 is not in"),
    ],
)
def test_errors(settings, engine, words):
    with pytest.raises(ValueError, match=words):
        lossless(settings, engine=engine, pair=False)


def test_the_command(tmp_path, capsys):
    (tmp_path / "server.toml").write_text('engine = "sglang"\nspeculative_accept_threshold_single = 0.9\n')
    assert main(["lossless", str(tmp_path / "server.toml")]) == 1
    out = capsys.readouterr().out
    assert out.startswith("sglang: lossy\n")
    assert "up to 1/10" in out
    assert "Accept a draft token if its probability in the target model" in out
    (tmp_path / "server.json").write_text('{"method": "eagle3"}')
    assert main(["lossless", str(tmp_path / "server.json"), "--engine", "vllm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "lossless"
    assert main(["lossless", '{"decoding_type": "Medusa"}', "--engine", "tensorrt-llm"]) == 3
    assert "No sentence" in capsys.readouterr().out
    assert main(["lossless", '{"assistant_ensemble_weight": 0.8}', "--engine", "transformers", "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["worst_bias"], finding["target"]) == ("1/5", ["1", "0"])
    assert finding["on_pair"]["frontier"] <= 1
    for bad, words in (("{", "neither JSON nor a file"), (str(tmp_path / "none.json"), "none.json: No such file")):
        assert main(["lossless", bad, "--engine", "vllm"]) == 2
        assert words in capsys.readouterr().err


def test_the_sentence_of_transformers_is_in_it():
    """Of the engines whose documentation is installed with them."""
    spec = importlib.util.find_spec("transformers")
    text = (Path(spec.submodule_search_locations[0]) / "generation" / "configuration_utils.py").read_text()
    sentence = ENGINES["transformers"]({})[0].says.sentence.removeprefix("[If set,] ")
    assert sentence in " ".join(text.split())


def test_every_setting_that_is_read_is_known():
    source = Path(importlib.util.find_spec("resispec_ref.guard.engines").origin).read_text()
    for names in READ.values():
        assert all(f'"{name}"' in source for name in names)
