"""What engines run to verify one drafted token, for the benchmark to stand beside: those that are installed.

Random numbers are made beforehand for all. vLLM's kernels work on the CPU; FlashInfer's and SGLang's need CUDA.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from resispec_gpu.timing import Work


class Step(NamedTuple):
    """One drafted token a row: laws `(batch, vocab)` in float32, `token` `(batch, 1)` and a uniform `(batch, 1)`."""

    target: Any
    draft: Any
    token: Any
    uniform: Any


def engines(step: Step, vllm: str | None = None) -> dict[str, Work]:
    """Name -> one verification of the batch. `vllm`: the file of its compiled operators, if it is not installed."""
    if not step.target.is_cuda:
        library = vllm or vllm_library()
        return {} if library is None else {"vLLM, CPU kernels": vllm_cpu(step, library)}
    found = {}
    if find_spec("flashinfer"):
        found["FlashInfer, chain_speculative_sampling"] = flashinfer_chain(step)
    if find_spec("sglang"):
        found["SGLang, chain_speculative_sampling_triton"] = sglang_chain(step)
    return found


def transformers_loop(step: Step) -> Work:
    """One row after the other through `_speculative_sampling`, from logits."""
    import torch
    from transformers.generation.utils import _speculative_sampling

    p, q = (x.log()[:, None] for x in step[:2])
    rows = list(zip(step.token.split(1), q.split(1), torch.cat([p, p], dim=1).split(1), strict=True))

    def run() -> Any:
        return [_speculative_sampling(x, g, 1, f) for x, g, f in rows]

    return run


def vllm_library() -> str | None:
    """The operators of an installed vLLM."""
    spec = find_spec("vllm")
    folders = spec.submodule_search_locations if spec is not None else None
    files = [str(file) for folder in folders or [] for file in sorted(Path(folder).glob("_C*.so"))]
    return files[0] if files else None


def vllm_cpu(step: Step, library: str) -> Work:
    """Its two kernels as its rejection sampler calls them: a token from each row's residual, then the decisions."""
    import torch

    torch.ops.load_library(library)
    ops, (n, V) = torch.ops._C, step.target.shape
    p, q, x, u = step.target, step.draft, step.token[:, 0].contiguous(), step.uniform[:, 0].contiguous()
    ends = torch.arange(1, n + 1)
    race = 1 / torch.empty_like(p).exponential_()
    greedy, bonus = torch.zeros(n, dtype=torch.bool), torch.zeros((n, 1), dtype=torch.int64)
    recovered, out = torch.empty_like(x), torch.full((n, 2), -1)

    def run() -> Any:
        ops.sample_recovered_tokens_kernel_impl(recovered, ends, x, q, p, race, V, False)
        ops.rejection_random_sample_kernel_impl(out, ends, x, q, p, bonus, recovered, u, greedy, 1, V, False)
        return out

    return run


def flashinfer_chain(step: Step) -> Work:
    """FlashInfer's chain kernel."""
    import torch

    kernel = importlib.import_module("flashinfer").sampling.chain_speculative_sampling
    draft, tokens = step.draft[:, None], step.token.int()
    target = torch.stack([step.target, step.target], dim=1)
    return lambda: kernel(draft, tokens, target)


def sglang_chain(step: Step) -> Work:
    """SGLang's Triton kernel for chains."""
    import torch

    module = importlib.import_module("sglang.kernels.ops.speculative.reject_sampling")
    kernel, (n, device) = module.chain_speculative_sampling_triton, (len(step.token), step.token.device)
    candidates = torch.cat([torch.zeros_like(step.token), step.token], dim=1)
    index = torch.arange(2 * n, device=device).reshape(n, 2)
    target, draft = torch.stack([step.target, step.target], dim=1), step.draft[:, None]
    predicts = torch.full((2 * n,), -1, dtype=torch.int32, device=device)
    accepted = torch.full((n, 2), -1, dtype=torch.int32, device=device)
    count, last = torch.zeros(n, dtype=torch.int32, device=device), step.uniform[:, 0].contiguous()

    def run() -> Any:
        laws = target, draft, 1.0, 1.0, False
        kernel(predicts, accepted, count, candidates, index, None, None, step.uniform, last, *laws)
        return predicts

    return run
