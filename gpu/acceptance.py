"""The public step: what is accepted, or a `ValueError` that says where and why, and the call of the backend."""

from __future__ import annotations

import importlib
import math

import numpy as np
from array_api_compat import array_namespace, is_jax_array, is_torch_array

from resispec_gpu.optimal import on_host
from resispec_gpu.rules import RULES
from resispec_ref import Verification, uniforms_needed
from resispec_ref.arrays.arithmetic import Array, index_range, take
from resispec_ref.arrays.convert import is_traced, refuse
from resispec_ref.validation import check_tokens, sum_tolerance


def verify(
    rule: str, target: Array, draft: Array, tokens: Array, uniforms: Array, *, compile: bool = False
) -> Verification:
    """`resispec_ref.verify` for batches of Torch or JAX arrays: the same candidates and uniforms, the same outcome.

    Candidate `i` is accepted iff `u_i q_i(x_i) < m_i(x_i)`; if none is, the last uniform draws from the residual by its
    cumulative sum in token order. `resispec` runs on knots (`resispec_gpu.levels`) and `optimal` on bins of tokens
    (`resispec_gpu.optimal`), both exact in law. No random state, and inputs are not written to. The same arrays on the
    same device give the same tokens.

    Of the roots `W` of `resispec` the least that rounding allows is taken, as in the reference: equal laws accept the
    first candidate. Nearly equal ones are accepted later where knots are far apart, most of all by JAX and by compiled
    Torch, which know few: as often with all K candidates, less often in a row that has fewer.

    Args:
        rule: one of `resispec_gpu.RULES`.
        target: `(..., vocab)` probabilities in float16, bfloat16, float32 or float64; rows that sum to 1 within their
            rounding are divided by their sum. Sums are taken in float32 or better, whatever the storage.
        draft: the same shape.
        tokens: `(..., K)` integers, candidates in the order of their draw; `-1` marks an absent one, after all others.
        uniforms: `(..., resispec_ref.uniforms_needed(rule, K))` in `[0, 1)`.
        compile: Torch only: fuse the passes with `torch.compile`, which takes seconds once for a set of dtypes and a
            number of candidates, and needs a C++ compiler on the CPU. JAX compiles always.

    Returns:
        `Verification(token, accepted_index)` of shape `(...)`.

    Raises:
        ValueError: an unknown rule; arrays of two libraries, or of shapes that do not fit; rows that are not laws;
            candidates outside the vocabulary, of draft probability 0, or repeated where they are drawn without
            replacement; uniforms outside `[0, 1)`. Under JAX's tracing only what does not depend on values.

    Source: sections 4 and 6 of the mathematics. Theorems: `shaped_step_exact` (proofs/resispec.v), `ranks_exact`
    (proofs/optimal.v).

    >>> import torch
    >>> p, q = torch.tensor([[0.2, 0.4, 0.4]]), torch.tensor([[0.6, 0.3, 0.1]])
    >>> found = verify("recursive-rejection", p, q, torch.tensor([[0]]), torch.tensor([[0.5, 0.1]]))
    >>> found.token.tolist(), found.accepted_index.tolist()
    ([1], [1])
    """
    return _verify(rule, ("target", target), ("draft", draft), tokens, uniforms, None, compile)


def verify_logits(
    rule: str,
    target_logits: Array,
    draft_logits: Array,
    tokens: Array,
    uniforms: Array,
    *,
    temperature: float = 1.0,
    compile: bool = False,
) -> Verification:
    """`verify` of the laws `softmax(logits / temperature)`, which are never stored.

    Logits are natural logarithms up to a constant a row, `-inf` masks a token; `temperature` is positive (at 0 accept
    while candidates equal the largest logit). Everything else as in `verify`.

    >>> import torch
    >>> p, q = torch.tensor([[0.2, 0.4, 0.4]]).log(), torch.tensor([[0.6, 0.3, 0.1]]).log()
    >>> found = verify_logits("recursive-rejection", p, q, torch.tensor([[0]]), torch.tensor([[0.5, 0.1]]))
    >>> found.token.tolist(), found.accepted_index.tolist()
    ([1], [1])
    """
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature: {temperature} is not a positive number; at 0 compare with the largest logit")
    named = ("target_logits", target_logits), ("draft_logits", draft_logits)
    return _verify(rule, *named, tokens, uniforms, float(temperature), compile)


def _verify(
    rule: str,
    target: tuple[str, Array],
    draft: tuple[str, Array],
    tokens: Array,
    uniforms: Array,
    temperature: float | None,
    compile: bool,
) -> Verification:
    if rule not in RULES:
        raise ValueError(f"rule: {rule!r} is not one of {', '.join(RULES)}")
    p, q = target[1], draft[1]
    shape = _check_shapes(rule, {target[0]: p, draft[0]: q, "tokens": tokens, "uniforms": uniforms})
    xp = array_namespace(p)
    tokens = xp.astype(tokens, index_range(1, tokens).dtype)  # Torch takes no narrow index; the answer may not fit one
    if 0 in shape:
        none = xp.zeros(shape, dtype=tokens.dtype)
        return Verification(none, none)
    rows = math.prod(shape)  # not -1, which no rows of 0 candidates would tell
    p, q, tokens, uniforms = (xp.reshape(x, (rows, x.shape[-1])) for x in (p, q, tokens, uniforms))
    _check_candidates(q, draft[0], tokens, uniforms, rule, logits=temperature is not None)
    if is_torch_array(p):
        backend = importlib.import_module("resispec_gpu._torch")
        laws = backend.Laws(p, q, temperature=temperature, compile=compile)
        found, sums = backend.step(rule, laws, tokens, uniforms), laws.sums
    else:
        found, sums = importlib.import_module("resispec_gpu._jax").step(rule, p, q, tokens, uniforms, temperature)
    if not is_traced(found.token):
        for i, (name, stored) in enumerate((target, draft)):
            _check_row(sums[:, i : i + 1], sums[:, i + 2 : i + 3], name, stored, logits=temperature is not None)
    return Verification(*(xp.reshape(x, shape) for x in (found.token, found.accepted_index)))


def _check_shapes(rule: str, given: dict[str, Array]) -> tuple[int, ...]:
    """The leading dimensions, the same for all."""
    if not (all(map(is_torch_array, given.values())) or all(map(is_jax_array, given.values()))):
        kinds = ", ".join(f"{name} {type(x).__module__.split('.')[0]}" for name, x in given.items())
        raise ValueError(f"all arguments are Torch tensors, or all are JAX arrays; found {kinds}")
    (_, p), (_, q), (_, tokens), (_, uniforms) = given.items()
    shapes = [tuple(x.shape) for x in given.values()]
    if not all(shapes) or len({s[:-1] for s in shapes}) > 1 or p.shape != q.shape or p.shape[-1] == 0:
        listed = ", ".join(f"{name} {s}" for name, s in zip(given, shapes, strict=True))
        raise ValueError(f"shapes (..., vocab) twice, (..., K) and (..., uniforms) are needed; found {listed}")
    K, needed = tokens.shape[-1], uniforms_needed(rule, tokens.shape[-1])
    if uniforms.shape[-1] != needed:
        raise ValueError(f"uniforms: {uniforms.shape[-1]} a position; {rule} of {K} candidates needs {needed}")
    for name, x in given.items():
        kind = "integral" if name == "tokens" else "real floating"
        if not array_namespace(x).isdtype(x.dtype, kind):
            raise ValueError(f"{name}: {kind} numbers are needed, not {x.dtype}")
    return shapes[0][:-1]


def _check_candidates(q: Array, name: str, tokens: Array, uniforms: Array, rule: str, *, logits: bool) -> None:
    if any(map(is_traced, (q, tokens, uniforms))):
        return
    xp = array_namespace(tokens)
    refuse(~((uniforms >= 0) & (uniforms < 1)), uniforms, "uniforms", "is not in [0, 1)")
    anything = np.broadcast_to(1.0, tuple(q.shape))  # a law of one entry in memory: only the vocabulary matters
    check_tokens(on_host(tokens), anything, distinct=rule == "recursive-rejection-without-replacement")
    drawn = take(q, xp.where(tokens < 0, xp.zeros_like(tokens), tokens))
    impossible = (tokens >= 0) & ((drawn == -math.inf) if logits else (drawn <= 0))
    refuse(impossible, tokens, "tokens", f"has probability 0 in {name}, so it cannot have been drawn from it")


def _check_row(sums: Array, least: Array, name: str, stored: Array, *, logits: bool) -> None:
    if logits:
        bad = ~(abs(sums - 1) <= 0.01)  # a softmax: anything but rounding is a NaN or an infinity
        refuse(
            bad, sums, name, "is the sum of the row's softmax; logits are finite, or -inf to mask some of the tokens"
        )
        return
    refuse(~(least >= 0), least, name, "is in the row; probabilities are 0 or more")
    off = ~(abs(sums - 1) <= sum_tolerance(stored, stored))
    refuse(off, sums, name, "is the sum of the row; a law sums to 1 (normalise it, or check what it lacks)")
