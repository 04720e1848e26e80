"""Tiny random language models with a word tokenizer, in folders: no network, no downloaded weights."""

import tokenizers
import torch
import transformers

WORDS = ["the", "a", "city", "soup", "number", "train", "of", "and", "to", "is", "in", "with", ".", "first", "begins"]
LAYERS = 4


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
    if kind == "llama":
        config = transformers.LlamaConfig(
            vocab_size=size, hidden_size=16, intermediate_size=32, num_hidden_layers=LAYERS, num_attention_heads=2
        )
        model = transformers.LlamaForCausalLM(config)
    else:
        config = transformers.GPT2Config(vocab_size=size, n_embd=16, n_layer=LAYERS, n_head=2)
        model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(8 if parameter.ndim > 1 else 1)  # laws far from uniform, layers that matter
    model.save_pretrained(folder)
    return str(folder)
