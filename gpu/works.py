"""The work that the benchmark times: the batched steps, and the yardsticks on the same arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from resispec_gpu import cases
from resispec_gpu.rules import RULES
from resispec_gpu.timing import Work
from resispec_ref import uniforms_needed

UNIT, SORT = "minimum + sum", "sort one"


@dataclass(frozen=True)
class Inputs:
    """The arrays of a measurement, in one library."""

    target: Any
    draft: Any
    tokens: Any
    uniforms: dict[str, Any]

    @property
    def bytes(self) -> int:
        return self.target.nbytes


def inputs(library: str, dtype: str, batch: int, vocab: int, K: int, device: str = "cpu") -> Inputs:
    """Random laws as peaked as a language model's, their candidates and uniforms (seed 0)."""
    rng = np.random.default_rng(0)
    p, q = cases.laws("random", batch, vocab, rng)
    tokens = cases.candidates(q, K, rng, distinct=True)
    uniforms = {rule: rng.random((batch, uniforms_needed(rule, K)), dtype=np.float32) for rule in RULES}
    if library == "jax":
        import jax.numpy as jnp

        on_device = {rule: jnp.asarray(u) for rule, u in uniforms.items()}
        return Inputs(jnp.asarray(p, dtype), jnp.asarray(q, dtype), jnp.asarray(tokens), on_device)
    import torch

    f, g = (torch.as_tensor(x).to(device, getattr(torch, dtype)) for x in (p, q))
    u = {rule: torch.as_tensor(x, device=device) for rule, x in uniforms.items()}
    return Inputs(f, g, torch.as_tensor(tokens, device=device), u)


def step(backend: str, rule: str, given: Inputs) -> Work:
    """The whole public call of `rule` on `backend`, until its answer is there."""
    from resispec_gpu import verify

    compiled = backend == "torch-compiled"
    call = partial(verify, rule, given.target, given.draft, given.tokens, given.uniforms[rule], compile=compiled)
    return _finished(backend, call)


def passes(backend: str, given: Inputs) -> dict[str, Work]:
    """The yardsticks: to read both arrays, one `minimum` + `sum`, and a sort of one array (NumPy's on the CPU)."""
    p, q = given.target, given.draft
    found: dict[str, Any]
    if backend == "jax":
        import jax
        import jax.numpy as jnp

        found = {
            "read both": partial(jax.jit(_read), p, q),
            UNIT: partial(jax.jit(partial(_minimum_sum, jnp.minimum)), p, q),
        }
    else:
        import torch

        least = torch.empty_like(p)  # so that the yardstick pays for no memory
        found = {
            "read both": partial(torch.compile(_read), p, q),
            UNIT: partial(_minimum_sum, torch.minimum, p, q, out=least),
            f"{UNIT}, compiled": partial(torch.compile(partial(_minimum_sum, torch.minimum)), p, q),
        }
        if p.is_cuda:
            found[SORT] = partial(torch.sort, p)
        else:
            found[f"{SORT} [NumPy]"] = partial(np.sort, p.float().numpy())
    return {name: _finished(backend, work) for name, work in found.items()}


def _read(p: Any, q: Any) -> Any:
    return p.sum(-1), q.sum(-1)


def _minimum_sum(minimum: Any, p: Any, q: Any, **options: Any) -> Any:
    return minimum(p, q, **options).sum(-1)


def residual_by_residual(given: Inputs) -> Work:
    """Recursive rejection as it is commonly written in Torch: the residual of the batch is made at every candidate."""
    import torch

    q, x, u = given.draft, given.tokens, given.uniforms["recursive-rejection"]

    def run() -> Any:
        p, alive = given.target, torch.ones(len(q), dtype=torch.bool)
        token = torch.zeros(len(q), dtype=torch.long)
        for i in range(x.shape[-1]):
            at = x[:, i : i + 1]
            taken = alive & (u[:, i] * q.gather(-1, at)[:, 0] < p.gather(-1, at)[:, 0])
            token = torch.where(taken, x[:, i], token)
            alive = alive & ~taken
            r = (p - q).clamp_min(0)
            p = torch.where(alive[:, None], r / r.sum(-1, keepdim=True), p)
        drawn = torch.searchsorted(p.cumsum(-1), u[:, -1:].contiguous())[:, 0]
        return torch.where(alive, drawn, token)

    return run


def from_logits(backend: str, rule: str, given: Inputs) -> Work:
    """`verify_logits` on the logits that transformers' function takes."""
    from resispec_gpu import verify_logits

    p, q, x, u = given.target.log(), given.draft.log(), given.tokens, given.uniforms[rule]
    return lambda: verify_logits(rule, p, q, x, u, compile=backend == "torch-compiled")


def _finished(backend: str, call: Work) -> Work:
    """`call`, and a wait for its answer where the library answers before the work is done."""
    if backend == "jax":
        import jax

        return lambda: jax.block_until_ready(call())
    import torch

    if not torch.cuda.is_available():
        return call

    def run() -> None:
        call()
        torch.cuda.synchronize()

    return run
