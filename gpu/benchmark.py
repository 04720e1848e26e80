"""What a batched step costs: `python -m resispec_gpu.benchmark`.

Ratios first: everything is measured beside one `minimum` + `sum` pass over the same two arrays, in turn with it, and
the best of several runs is taken. The step is whole: checks of the sums, decisions, and the residual draws of the
rows whose candidates were all rejected. Memory is what a run adds to the inputs, in units of one of them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from resispec_gpu import cases, engines
from resispec_gpu.rules import RULES
from resispec_gpu.timing import CLOCKS, Work, added_bytes, best_seconds, machine
from resispec_gpu.validate import BACKENDS, available
from resispec_ref import uniforms_needed
from resispec_ref._terminal import print_table

BATCH, VOCAB, CANDIDATES = 64, 128_000, 4
UNIT, SORT = "minimum + sum", "sort one"


@dataclass(frozen=True)
class Timing:
    """One piece of work on one pair of arrays."""

    what: str
    library: str
    dtype: str
    batch: int
    vocab: int
    candidates: int
    ratio: float
    """To `minimum` + `sum` in the same library on the same arrays."""
    milliseconds: float
    added: float | None
    """Memory beside the inputs, over the size of one of them."""


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
            SORT: partial(torch.sort, p) if p.is_cuda else partial(np.sort, p.float().numpy()),
        }
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


def main_table(backends: list[str], clock: str, runs: int, device: str, vllm: str | None = None) -> Iterator[Timing]:
    """Every rule on every backend at `BATCH`, `VOCAB`, `CANDIDATES` in float32, and the yardsticks."""
    for library in ("torch", "jax"):
        mine = [backend for backend in backends if backend.startswith(library)]
        if not mine:
            continue
        given = inputs(library, "float32", BATCH, VOCAB, CANDIDATES, device)
        works = passes(library, given)
        works |= {f"{rule} [{backend}]": step(backend, rule, given) for backend in mine for rule in RULES}
        if library == "torch":
            works["recursive-rejection, residual by residual"] = residual_by_residual(given)
        yield from _timed(works, library, given, "float32", CANDIDATES, clock, runs, memory=device == "cpu")
    if any(backend.startswith("torch") for backend in backends):
        yield from _one_candidate([b for b in backends if b != "jax"], clock, runs, device, vllm)


def _one_candidate(backends: list[str], clock: str, runs: int, device: str, vllm: str | None) -> Iterator[Timing]:
    """Beside what engines run; the extra token that they draw where all are accepted is left out."""
    given = inputs("torch", "float32", BATCH, VOCAB, 1, device)
    works = {UNIT: passes("torch", given)[UNIT]}
    for backend in backends:
        works |= {f"resispec [{backend}]": step(backend, "resispec", given)}
        works |= {f"resispec from logits [{backend}]": from_logits(backend, "resispec", given)}
    chain = engines.Step(given.target, given.draft, given.tokens, given.uniforms["resispec"][:, :1].contiguous())
    works |= engines.engines(chain, vllm)
    if available(("transformers",)):
        works["transformers, looped over the batch, from logits"] = engines.transformers_loop(chain)
    yield from _timed(works, "torch", given, "float32", 1, clock, max(3, runs // 3), memory=False)


def sweep(backends: list[str], clock: str, runs: int, device: str, quick: bool) -> Iterator[Timing]:
    """One setting changed at a time: batch, vocabulary, number of candidates, storage."""
    vocab, batch = (32_000, 16) if quick else (VOCAB, BATCH)
    base = ("float32", batch, vocab, CANDIDATES)
    settings = [(base[0], n, vocab, base[3]) for n in ((1, 16, 64) if quick else (1, 4, 16, 64, 256))]
    settings += [(base[0], batch, n, base[3]) for n in ((16_000, 64_000) if quick else (32_000, 64_000, 256_000))]
    settings += [(base[0], batch, vocab, K) for K in (1, 2, 8)]
    settings += [(dtype, batch, vocab, base[3]) for dtype in ("bfloat16", "float16")]
    for backend in backends:
        library = backend.partition("-")[0]
        for dtype, batch, vocab, K in settings:
            given = inputs(library, dtype, batch, vocab, K, device)
            works = {UNIT: passes(library, given)[UNIT]}
            works |= {f"{rule} [{backend}]": step(backend, rule, given) for rule in RULES}
            yield from _timed(works, library, given, dtype, K, clock, runs, memory=False)


class Fit(NamedTuple):
    """A straight line through times: `fixed + each · size`, and how well it holds."""

    fixed: float
    each: float
    deviation: float
    """The largest relative distance of a time from the line."""
    slope: float
    """Of log time over log size between the two largest sizes: 1 where the fixed part no longer matters."""


def fit(sizes: list[int], times: list[float]) -> Fit:
    """The line of least relative squares, with no negative part.

    >>> line = fit([1, 10, 100], [5.0, 14.0, 104.0])
    >>> round(line.fixed, 6), round(line.each, 6), round(line.slope, 2)
    (4.0, 1.0, 0.87)
    """
    n, t = np.asarray(sizes, dtype=float), np.asarray(times, dtype=float)
    columns = np.stack([1 / t, n / t], axis=-1)
    fixed, each = np.linalg.lstsq(columns, np.ones(len(t)), rcond=None)[0]
    if fixed < 0:
        fixed, each = 0.0, float(np.sum(n / t) / np.sum((n / t) ** 2))
    slope = math.log(t[-1] / t[-2]) / math.log(n[-1] / n[-2])
    return Fit(float(fixed), float(each), float(np.max(np.abs((fixed + each * n) / t - 1))), slope)


def _timed(
    works: dict[str, Work], library: str, given: Inputs, dtype: str, K: int, clock: str, runs: int, *, memory: bool
) -> Iterator[Timing]:
    found = best_seconds(works, runs=runs, clock=clock)
    batch, vocab = given.target.shape
    for name, seconds in found.items():
        added = added_bytes(works[name]) if memory else None
        share = None if added is None else added / given.bytes
        yield Timing(name, library, dtype, batch, vocab, K, seconds / found[UNIT], seconds * 1e3, share)


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


def main(arguments: list[str] | None = None) -> int:
    """Prints tables, or JSON, and draws the picture that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m resispec_gpu.benchmark", description=__doc__.split("\n")[0])
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="only this one (may be repeated)")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="cpu: processor time of all threads")
    parser.add_argument("--threads", type=int, help="threads of Torch (default: its own choice)")
    parser.add_argument("--runs", type=int, default=9, help="runs of each, of which the best counts (default 9)")
    parser.add_argument("--quick", action="store_true", help="a smaller sweep")
    parser.add_argument("--no-sweep", action="store_true", help="only the main table")
    parser.add_argument("--vllm", metavar="FILE", help="vLLM's compiled operators for the CPU, where not installed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", metavar="FILE", help="a picture of the ratios and of the sweep (.png, .svg, .pdf)")
    args = parser.parse_args(arguments)
    backends = args.backend or available()
    device = "cpu"
    if any(backend.startswith("torch") for backend in backends):
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        if args.threads:
            torch.set_num_threads(args.threads)
    where = machine(device) | {"clock": args.clock, "threads": args.threads}
    main_figures = list(main_table(backends, args.clock, args.runs, device, args.vllm))
    swept = [] if args.no_sweep else list(sweep(backends, args.clock, args.runs, device, args.quick))
    if args.plot:
        from resispec_gpu.plot import plot

        plot(main_figures, swept, where, args.plot)
    if args.json:
        print(json.dumps({"machine": where, "main": [*map(asdict, main_figures)], "sweep": [*map(asdict, swept)]}))
        return 0
    print(", ".join(f"{key} {value}" for key, value in where.items() if value is not None))
    for title, figures in (("", main_figures), ("sweep", swept)):
        if figures:
            print(title)
            _print(figures)
    for line in scaling(swept):
        print(line)
    return 0


def scaling(swept: list[Timing]) -> Iterator[str]:
    """What the times of the sweep are, as lines in the batch and in the vocabulary."""
    for name in dict.fromkeys(t.what for t in swept if t.what != UNIT):
        for size in ("batch", "vocab"):
            line = along(swept, name, size)
            if len(line) > 2:
                found = fit([t.batch * t.vocab for t in line], [t.milliseconds for t in line])
                yield (
                    f"{name}, {SIZES[size]}: {found.fixed:.2f} ms + {found.each * 1e6:.2f} ns an entry, "
                    f"to {found.deviation:.0%}; slope at the end {found.slope:.2f}"
                )


SIZES = {"batch": "batch", "vocab": "vocabulary"}


def along(swept: list[Timing], name: str, size: str) -> list[Timing]:
    """The timings in which only `batch`, or only `vocab`, differs: the longest such line."""
    line = [t for t in swept if t.what == name and t.dtype == "float32" and t.candidates == CANDIDATES]
    other = "vocab" if size == "batch" else "batch"
    lines = [[t for t in line if getattr(t, other) == value] for value in {getattr(t, other) for t in line}]
    longest: list[Timing] = max(lines, key=len, default=[])
    return sorted(longest, key=lambda t: getattr(t, size))


def _print(figures: list[Timing]) -> None:
    columns = ("what", "dtype", "batch x vocabulary", "K", f"over {UNIT}", "ms", "memory, in inputs")
    rows = [
        (
            t.what if "[" in t.what else f"{t.what} [{t.library}]",
            t.dtype,
            f"{t.batch} x {t.vocab}",
            str(t.candidates),
            f"{t.ratio:.2f}",
            f"{t.milliseconds:.1f}" if math.isfinite(t.milliseconds) else "",
            "" if t.added is None else f"{t.added:.2f}",
        )
        for t in figures
    ]
    print_table(columns, rows, right=columns[3:])


if __name__ == "__main__":
    sys.exit(main())
