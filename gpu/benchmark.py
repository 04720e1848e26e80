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
from dataclasses import asdict
from pathlib import Path
from typing import Any

from resispec_gpu import engines
from resispec_gpu.rules import RULES
from resispec_gpu.scaling import CANDIDATES, Timing, scaling
from resispec_gpu.timing import CLOCKS, Work, added_bytes, best_seconds, machine
from resispec_gpu.validate import BACKENDS, available
from resispec_gpu.works import UNIT, Inputs, from_logits, inputs, passes, residual_by_residual, step
from resispec_ref.commands.display.tables import print_table

BATCH, VOCAB = 64, 128_000


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


def _timed(
    works: dict[str, Work], library: str, given: Inputs, dtype: str, K: int, clock: str, runs: int, *, memory: bool
) -> Iterator[Timing]:
    found = best_seconds(works, runs=runs, clock=clock)
    batch, vocab = given.target.shape
    for name, seconds in found.items():
        added = added_bytes(works[name]) if memory else None
        share = None if added is None else added / given.bytes
        yield Timing(name, library, dtype, batch, vocab, K, seconds / found[UNIT], seconds * 1e3, share)


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
    parser.add_argument("--from", dest="recorded", metavar="FILE", help="show what --json printed; measure nothing")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", metavar="FILE", help="a picture of the ratios and of the sweep (.png, .svg, .pdf)")
    args = parser.parse_args(arguments)
    where, main_figures, swept = load(args.recorded) if args.recorded else _measured(args)
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


def load(path: str | Path) -> tuple[dict[str, Any], list[Timing], list[Timing]]:
    """Machine, main table and sweep of a file that `--json` printed."""
    kept = json.loads(Path(path).read_text(encoding="utf-8"))
    return kept["machine"], [Timing(**t) for t in kept["main"]], [Timing(**t) for t in kept["sweep"]]


def _measured(args: argparse.Namespace) -> tuple[dict[str, Any], list[Timing], list[Timing]]:
    """Machine, main table and sweep, measured now."""
    backends, device = args.backend or available(), "cpu"
    if any(backend.startswith("torch") for backend in backends):
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        if args.threads:
            torch.set_num_threads(args.threads)
    where = machine(device) | {"clock": args.clock, "threads": args.threads}
    figures = list(main_table(backends, args.clock, args.runs, device, args.vllm))
    return where, figures, [] if args.no_sweep else list(sweep(backends, args.clock, args.runs, device, args.quick))


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
