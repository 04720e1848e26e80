"""Decoding: language models as models of this package, texts written by them, and the command."""

import argparse
import json
import subprocess
import sys

import numpy as np
import pytest
from models import RULES
from scipy import stats
from small_models import CONFIGS, RECURRENT, WINDOW, save_model

from resispec_ref import emitted_law, law_from_logits, optimal_acceptance
from resispec_ref.commands import cli
from resispec_ref.commands.decode import add_arguments, run
from resispec_ref.measurements.accepted_length import (
    Text,
    _student,
    mean_over_texts,
    pooled,
    step_lengths,
    terms,
    write_text,
)
from resispec_ref.measurements.tree_tables import character_models, model_rows, ngram_rows, parse_tree
from resispec_ref.models.language_model import LanguageModel, without_layers
from resispec_ref.sequence import (
    NGram,
    complete_tree,
    expected_accepted_length,
    joint_law,
)
from resispec_ref.sequence.decoding import WHOLE_TREE, CachedModel, acceptance, decode
from resispec_ref.verifiers import get_verifier

PROMPT = "the city begins"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return [save_model(tmp_path_factory.mktemp(name), seed=seed) for name, seed in (("target", 0), ("draft", 1))]


@pytest.fixture(scope="module")
def network(folders):
    return LanguageModel(folders[0], "cpu", "float32")


def command(folders, *arguments):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args([folders[0], *arguments]))


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("skipped", [(), (1, 2)], ids=["whole", "skipped"])
def test_the_cache_changes_nothing(kind, skipped, tmp_path):
    """Prefixes that grow, branch off, shrink and repeat, against reading each from its start."""
    model = LanguageModel(save_model(tmp_path, kind=kind), "cpu", "float32")
    cached = CachedModel(model, skipped=skipped, temperature=0.7)
    rng = np.random.default_rng(0)
    long = [tuple(rng.integers(2, 10, size=n).tolist()) for n in (WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW)]
    branches = [(*x[:n], 2, 3) for x in long for n in (len(x) - 1, 1)]
    for prefix in ((2, 3), (2, 3, 4), (2, 3, 4, 5, 6), (2, 3, 7), (2, 3), (2, 3), (5,), (5, 2, 3), *long, *branches):
        with without_layers(model, skipped):
            logits = model.logits(list(prefix))
        # float32 sums in another order: logits of size 10 differ by a few units of 1e-6
        assert np.allclose(cached.logits(prefix), logits[-1], atol=1e-4)
        rows = cached.laws(prefix[:1], (*prefix[1:], 4))
        assert np.allclose(rows, law_from_logits(logits, temperature=0.7), atol=1e-4)


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_cache_that_cannot_be_cut_is_said_once(kind, tmp_path, capsys):
    """Where there are recurrent layers at once, with sliding windows when one is full, with plain attention never."""
    model = LanguageModel(save_model(tmp_path, kind=kind), "cpu", "float32")
    target, draft = CachedModel(model, temperature=1.0), CachedModel(model, skipped=(1,), temperature=1.0)
    text = tuple(range(2, 2 + WINDOW))
    for length, slow in ((WINDOW - 1, RECURRENT), (WINDOW, (*RECURRENT, "mistral", "gemma2"))):
        for cached in (target, draft, target):
            cached.law(text[:length])
            assert model.rereads == (kind in slow)
    assert said(capsys.readouterr().err) == model.rereads


def said(stderr):
    """How many lines, beside the loader's bars."""
    return sum("read from its start" in line for line in stderr.splitlines())


@pytest.mark.parametrize("kind", ["llama", "mistral", "mamba"])
def test_the_command_decodes_any_architecture(kind, tmp_path, capsys):
    """Two prompts, and rules compared on the same ones: texts longer than any window."""
    folder = save_model(tmp_path, kind=kind)
    common = ["--skip-layers", "1-2", "--tree", "2,2", "--tokens", "6", "--verifier", "resispec"]
    prompts = ["--prompt", PROMPT, "--prompt", "a train to the city with soup"]
    for more in ([], ["--compare", "--verifier", WHOLE_TREE]):
        assert cli.main(["decode", folder, *common, *prompts, *more]) == 0
        out, err = capsys.readouterr()
        assert out.count("resispec, tree 2,2") == (0 if more else 2)
        assert said(err) == (kind != "llama")


def test_the_same_seed_decodes_the_same_text(network):
    target = CachedModel(network, temperature=1.0)
    draft = CachedModel(network, skipped=(1, 2), temperature=1.0)
    tree = complete_tree((2, 2))

    def text(seed, count=12):
        steps = decode("resispec", target, draft, tree, (2, 3), np.random.default_rng(seed))
        return [next(steps) for _ in range(count)]

    assert text(0) == text(0)
    assert text(0) != text(1)
    found = acceptance(text(0), 2)
    assert found.offered[0] == 12
    assert found.lengths.sum() == found.accepted.sum()


def test_decoding_ends_with_the_end():
    certain = NGram([[0.0, 1.0], [0.0, 1.0]])
    steps = list(decode("resispec", certain, certain, complete_tree((2, 2)), (0,), np.random.default_rng(0), end=1))
    assert [step.tokens for step in steps] == [(1,)]


def test_whole_trees_are_decoded_with_a_language_model(network):
    target, draft = (CachedModel(network, skipped=skipped, temperature=1.0) for skipped in ((), (1, 2)))
    steps = decode(WHOLE_TREE, target, draft, complete_tree((2, 2)), (2, 3), np.random.default_rng(0))
    lengths = acceptance([next(steps) for _ in range(12)], 2).lengths
    assert 0 < lengths.sum() <= 24


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("end", [None, 2])
def test_lengths_from_texts_are_the_exact_ones(rule, end):
    """Over all texts with their probabilities the estimator's mean is the expected accepted length, up to rounding."""
    rng = np.random.default_rng(3)
    target, draft = (NGram(rng.dirichlet(np.ones(3), size=3)) for _ in range(2))
    branching, start = (2, 2, 2), (1,)
    exact = expected_accepted_length(rule, target, draft, complete_tree(branching), prefix=start, end=end)
    mean = 0.0
    for tokens, chance in joint_law(target, 3, start).items():
        cut = tokens[: tokens.index(end) + 1] if end in tokens else tokens
        if end in tokens and any(x != end for x in tokens[len(cut) :]):
            continue  # one text stands for all that differ after the end
        chance = float(np.prod([target.law(start + cut[:i])[x] for i, x in enumerate(cut)]))
        rows = [np.stack([m.law(start + cut[:i]) for i in range(len(cut))]) for m in (target, draft)]
        found = every_path(rule, Text(start, cut, rows[0], 3), rows[1], 2)
        mean += chance * step_lengths(found, 3, wanted=3)[0]
    assert mean == pytest.approx(float(exact), abs=1e-12)


def every_path(rule, text, draft, K):
    """`terms` of a small vocabulary without sampling."""
    from unittest import mock

    from resispec_ref.measurements import accepted_length

    def whole(rule, p, q, K, siblings, *, paths, rng):
        return accepted_length_node_law(rule, p, q, K, siblings)

    accepted_length_node_law = accepted_length.node_law
    with mock.patch.object(accepted_length, "node_law", whole):
        return terms(rule, text, draft, K)


@pytest.mark.parametrize("rule", ["recursive-rejection-without-replacement", "resispec-published", "naive"])
def test_sampled_paths_agree_with_all_of_them(rule):
    """Means of `n` sampled paths: six standard errors, false alarm below 1e-8 a number, sees shifts of `7/√n`."""
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), size=(2, 2))
    text = Text((), (1, 3), p, 2)
    exact = every_path(rule, text, q, 3)
    n = 1000
    found = [terms(rule, text, q, 3, rng=rng) for _ in range(n)]
    for name in ("chance", "rate"):
        values = np.stack([getattr(f, name) for f in found])
        error = values.std(axis=0, ddof=1) / n**0.5
        assert np.all(np.abs(values.mean(axis=0) - getattr(exact, name)) <= 6 * error + 1e-12)


def test_pooled_laws():
    """The tokens kept have their probabilities, the others are the last one, and the bound rises by no more than it."""
    rng = np.random.default_rng(5)
    p, q = rng.dirichlet(np.full(40, 0.2), size=(2, 30))
    text = Text((0,), tuple(int(rng.choice(40, p=row)) for row in p), p, 30)
    same, draft = pooled(text, q, 40)
    assert same is text
    assert draft is q
    smaller, draft = pooled(text, q, 8)
    for n, x in enumerate(text.tokens):
        kept = np.argsort(-np.maximum(p[n], q[n]))[:7]
        rest = np.setdiff1d(np.arange(40), kept)
        for law, whole in ((smaller.target[n], p[n]), (draft[n], q[n])):
            assert sorted(law[:-1]) == sorted(whole[kept])
            assert law[-1] == pytest.approx(whole[rest].sum(), abs=1e-15)
        at = smaller.tokens[n]
        assert (at == 7) == (x in rest)
        if x in kept:
            assert (smaller.target[n, at], draft[n, at]) == (p[n, x], q[n, x])
    rise = optimal_acceptance(smaller.target, draft, candidates=3) - optimal_acceptance(p, q, candidates=3)
    assert np.all(rise > -1e-14)
    assert np.all(rise < smaller.target[:, -1] + 1e-14)
    assert rise.max() > 1e-3  # that many are too few to tell apart


def test_a_text_has_the_targets_law_and_stops_at_its_end():
    model = NGram([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    text = write_text(model, (0,), 6, np.random.default_rng(0), end=2)
    assert text.tokens[-2:] == (1, 2) or len(text.tokens) == 6
    assert np.array_equal(text.target[0], model.law((0,)))
    assert text.wanted == 6


def test_the_interval_over_texts():
    mean, half = mean_over_texts([np.array([1.0, 1.0]), np.array([3.0])])
    # ratio estimator by hand: mean 5/3, residuals 2 − 10/3 and 3 − 5/3, variance 2 (16/9 · 2) / 9
    assert mean == pytest.approx(5 / 3)
    assert half == pytest.approx(12.706 * (2 * (2 * 16 / 9) / 9) ** 0.5)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 10, 30, 1000])
def test_students_quantile(freedom):
    assert _student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1.2e-3)


def test_the_ngram_table():
    """Exact lengths: ordered as the rules are, the published one above the bound's rule with a bias."""
    text = "the train along the coast stops at the city and the city begins with a number of things to see " * 3
    rows = list(ngram_rows(text, 1.0, trees=("d2b2", "d1b11")))
    length = {(r.models, r.tree, r.rule): r.accepted_length for r in rows}
    for draft in ("bigram", "unigram"):
        base, shaped = (length[draft, "d2b2", r] for r in ("recursive-rejection", "resispec"))
        assert base <= shaped
        assert length[draft, "d1b11", "recursive-rejection-without-replacement"] is None  # 8^12 paths
    target, drafts, states = character_models(text)
    tree = complete_tree((2, 2))
    by_recursion = sum(
        states[state] * expected_accepted_length("resispec", target, drafts["bigram"], tree, prefix=state)
        for state in zip(*np.nonzero(states), strict=True)
    )
    assert length["bigram", "d2b2", "resispec"] == pytest.approx(by_recursion, abs=1e-12)
    for r in rows:
        assert r.ratio is None or r.accepted_length is not None
        if r.exact and r.bias is not None:
            assert r.bias == pytest.approx(0, abs=1e-14)
        elif r.bias is not None:
            assert r.bias > 0.01


def test_the_model_table_checks_every_node_against_the_bound(monkeypatch):
    rng = np.random.default_rng(0)
    model, draft = (NGram(rng.dirichlet(np.full(6, 0.4), size=6)) for _ in range(2))
    texts = [write_text(model, (n % 6,), 12, rng) for n in range(6)]
    pairs = [(t, np.stack([draft.law(t.prompt + t.tokens[:i]) for i in range(12)])) for t in texts]
    rows = {r.rule: r for r in model_rows({"draft": pairs}, 1.0, trees=("d3b2",))}
    assert (rows["recursive-rejection"].ratio, rows["recursive-rejection"].ratio_half_width) == (1, 0)
    assert (
        0
        < rows["resispec"].ratio_half_width
        < rows["resispec"].half_width / rows["recursive-rejection"].accepted_length
    )
    assert rows["resispec"].accepted_length >= rows["recursive-rejection"].accepted_length
    published = rows["resispec-published"]
    exact = np.mean([emitted_law("resispec-published", t.target, q, candidates=2).total_variation for t, q in pairs])
    assert abs(published.bias - exact) <= published.bias_noise < exact / 2
    assert all(r.bias < 1e-14 for r in rows.values() if r.exact)
    claims_too_much = type(get_verifier("resispec-published"))
    monkeypatch.setattr(claims_too_much, "exact", True)
    monkeypatch.setattr(claims_too_much, "path_dependent", False)
    with pytest.raises(ArithmeticError, match="more than the bound"):
        list(model_rows({"draft": pairs}, 1.0, trees=("d3b2",), rules=["resispec-published"]))


def test_trees_by_name():
    assert parse_tree("d5b3") == (3,) * 5
    for wrong in ("", "d5", "3x2", "d2b0", "d0b2", "3,0"):
        with pytest.raises(ValueError, match="tree"):
            parse_tree(wrong)


def test_the_command_prints_the_text(folders, capsys, network):
    assert command(folders, "--draft", folders[1], "--prompt", PROMPT, "--tokens", "12", "--tree", "3,2") == 0
    out = capsys.readouterr().out
    assert out.startswith(PROMPT)
    assert "resispec, tree 3,2: " in out
    assert "accepted of those looked at, by depth: " in out


def test_the_command_compares_rules(folders, capsys):
    arguments = ["--skip-layers", "1-2", "--compare", "--tree", "d2b2", "--tokens", "8"]
    assert command(folders, *arguments, "--prompt", PROMPT, "--prompt", "a train") == 0
    out = capsys.readouterr().out
    assert "| recursive-rejection " in out
    assert "biased" in out
    assert command(folders, *arguments, "--json", "--verifier", "naive", "--prompt", PROMPT) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["rule"] == "naive"
    assert len(found["per_depth"]) == 2


def test_the_command_prints_the_tables(folders, capsys, monkeypatch):
    from resispec_ref.commands.parts import decode_tables

    monkeypatch.setattr(decode_tables, "TREES", ("d2b2",))
    monkeypatch.setattr(decode_tables, "TEXT_LENGTH", 6)
    rules = ["--verifier", "recursive-rejection", "--verifier", "resispec"]
    assert command(folders, "--tables", "--skip-layers", "1-2", "--texts", "3", *rules) == 0
    out = capsys.readouterr().out
    assert out.count("d2b2") == 2 * (1 + 2) * 2
    assert "| without 1-2 " in out
    assert command(folders, "--tables", "--skip-layers", "1-2", "--texts", "3", *rules, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 12
    one = ["--tree", "d1b2", "--temperature", "0.5", "--skip-layers", "1", "--texts", "2", *rules[:2], "--json"]
    assert command(folders, "--tables", *one) == 0
    assert {(r["tree"], r["temperature"]) for r in json.loads(capsys.readouterr().out)} == {("d1b2", 0.5)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tree", "x"], "tree: 'x'"),
        (["--verifier", "best"], "verifier: 'best'"),
        (["--draft", "d", "--skip-layers", "1"], "draft: give either"),
        (["--tokens", "0"], "tokens: 0"),
        (["--tables", "--texts", "1"], "texts: 1"),
        (["--tables", "--draft", "d"], "draft: the tables"),
        (["--tables", "--tree", "3,2,1"], "tree: '3,2,1'; the tables"),
        (["--skip-layers", "9"], "skip_layers"),
        (["--prompt", "", "--skip-layers", "1"], "prompt: ''"),
        (["--temperature", "-1", "--skip-layers", "1"], "temperature"),
    ],
)
def test_errors(folders, arguments, message):
    with pytest.raises(ValueError, match=message):
        command(folders, *arguments)


def test_what_is_imported():
    program = (
        "import resispec_ref.sequence, sys; print(sorted({'torch', 'transformers', 'rich', 'jax'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
