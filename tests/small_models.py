"""Tiny random language models with a word tokenizer, in folders: no network, no downloaded weights."""

from functools import partial

import tokenizers
import torch
import transformers

WORDS = ["the", "a", "city", "soup", "number", "train", "of", "and", "to", "is", "in", "with", ".", "first", "begins"]
LAYERS = 4

WINDOW = 4
"""Tokens that a sliding window has."""

_SIZES = {"hidden_size": 16, "num_hidden_layers": LAYERS}
_ATTENTION = _SIZES | {"intermediate_size": 32, "num_attention_heads": 2}
_GROUPED = _ATTENTION | {"num_key_value_heads": 1, "head_dim": 8}
CONFIGS = {
    "llama": partial(transformers.LlamaConfig, **_ATTENTION),
    "qwen2": partial(transformers.Qwen2Config, **_ATTENTION, num_key_value_heads=1),
    "gpt2": partial(transformers.GPT2Config, n_embd=16, n_layer=LAYERS, n_head=2),
    "mistral": partial(transformers.MistralConfig, **_GROUPED, sliding_window=WINDOW),
    "gemma2": partial(transformers.Gemma2Config, **_GROUPED, sliding_window=WINDOW),  # every second layer slides
    "mamba": partial(transformers.MambaConfig, **_SIZES, state_size=4),
    "recurrent-gemma": partial(transformers.RecurrentGemmaConfig, **_GROUPED, attention_window_size=WINDOW),
    "rwkv": partial(transformers.RwkvConfig, **_SIZES, attention_hidden_size=16),
    "qwen3-next": partial(
        transformers.Qwen3NextConfig,
        **_GROUPED,
        layer_types=["linear_attention", "full_attention"] * (LAYERS // 2),
        linear_num_value_heads=2,
        linear_num_key_heads=1,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        num_experts=2,
        num_experts_per_tok=1,
        moe_intermediate_size=8,
        shared_expert_intermediate_size=8,
    ),
}
"""Configurations by kind: plain attention, sliding windows, recurrent layers, and both in one model."""
RECURRENT = ("mamba", "recurrent-gemma", "rwkv", "qwen3-next")


def save_tokenizer(folder, words):
    """A word tokenizer; what it does not know is token 0, and the text ends with token 1."""
    vocabulary = {word: i for i, word in enumerate(["<unk>", "<end>", *words])}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=model, unk_token="<unk>", eos_token="<end>")
    fast.save_pretrained(folder)
    return len(vocabulary)


def save_model(folder, words=WORDS, seed=0, kind="llama"):
    torch.manual_seed(seed)
    size = save_tokenizer(folder, words)
    config = CONFIGS[kind](vocab_size=size)
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(8 if parameter.ndim > 1 else 1)  # laws far from uniform, layers that matter
    model.save_pretrained(folder)
    return str(folder)
