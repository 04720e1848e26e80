"""Verification beside the model it serves: `python -m resispec_gpu.context`.

One target forward pass of the `K + 1` tokens that a step hands to the model, with the text before them in its cache,
and one verification of `K` candidates from that pass's logits. The answer is the share that verification adds, by rule
(Figure 3 of arXiv 2608.24411 shows it for the rules there). The model is that of `resispec decode`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from resispec_gpu import verify_logits
from resispec_gpu.cases import candidates
from resispec_gpu.rules import RULES
from resispec_gpu.timing import CLOCKS, Work, best_seconds, machine
from resispec_ref import law_from_logits, uniforms_needed
from resispec_ref.commands.display.tables import print_table
from resispec_ref.models.language_model import LanguageModel, without_layers

TARGET = "target, forward pass"
TEXT = "The old lighthouse keeper climbed the stairs, lit the lamp, and looked out over the sea. "


def works(name: str, dtype: str, K: int, positions: int) -> dict[str, Work]:
    """The forward passes of target and draft, and the verification of `positions` positions by every rule."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = LanguageModel(name, device, dtype)
    tokens = model.tokenizer(TEXT * 4)["input_ids"][: 64 + positions]
    target = torch.as_tensor(model.logits(tokens)[-positions:]).float().to(device)
    with without_layers(model, range(14, 18)):
        draft = torch.as_tensor(model.logits(tokens)[-positions:]).float().to(device)
    rng = np.random.default_rng(0)
    q = law_from_logits(draft.double().cpu().numpy())
    x = torch.as_tensor(candidates(q, K, rng, distinct=True), device=device)
    found: dict[str, Work] = {
        TARGET: _forward(model, tokens[:64], K + 1),
        "draft (4 layers skipped), forward pass": _forward(model, tokens[:64], 1, skipped=range(14, 18)),
    }
    for rule in RULES:
        u = torch.as_tensor(rng.random((positions, uniforms_needed(rule, K))), device=device)
        for compile in (False, True):
            label = f"{rule}{', compiled' if compile else ''}"
            found[label] = lambda r=rule, u=u, c=compile: verify_logits(r, target, draft, x, u, compile=c)
    return found


def _forward(model: LanguageModel, tokens: list[int], count: int, skipped: Any = ()) -> Work:
    """A pass of `count` tokens behind `tokens`, which the cache holds; what it adds to the cache is taken off again."""
    torch = model.torch

    def run() -> None:
        with torch.inference_mode(), without_layers(model, skipped):
            model.model(input_ids=ids[:, -count:], past_key_values=cache, use_cache=True)
            cache.crop(-count)

    with torch.inference_mode():
        ids = torch.tensor([tokens], device=model.model.device)
        cache = model.model(input_ids=ids, use_cache=True).past_key_values
    return run


def main(arguments: list[str] | None = None) -> int:
    """Prints the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m resispec_gpu.context", description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="smollm2", help="as for `resispec decode` (default smollm2)")
    parser.add_argument("--dtype", default="float32", help="of the model")
    parser.add_argument("--candidates", type=int, default=4)
    parser.add_argument("--positions", type=int, default=1, help="positions verified in one step (default 1)")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall")
    parser.add_argument("--threads", type=int, help="threads of Torch (default: its own choice)")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--from", dest="recorded", metavar="FILE", help="show what --json printed; measure nothing")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(arguments)
    try:
        found = json.loads(Path(args.recorded).read_text(encoding="utf-8")) if args.recorded else _measured(args)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(found))
        return 0
    about = found["machine"] | {name: found[name] for name in ("model", "dtype", "candidates", "positions")}
    print(", ".join(f"{key} {value}" for key, value in about.items() if value is not None))
    seconds = found["seconds"]
    unit = seconds[TARGET]
    columns = ("what", "share of the target's pass", "ms")
    print_table(columns, [(k, f"{v / unit:.1%}", f"{v * 1e3:.2f}") for k, v in seconds.items()], right=columns[1:])
    return 0


def _measured(args: argparse.Namespace) -> dict[str, Any]:
    import torch

    if args.threads:
        torch.set_num_threads(args.threads)
    found = works(args.model, args.dtype, args.candidates, args.positions)
    where = machine("cuda" if torch.cuda.is_available() else "cpu") | {"clock": args.clock, "threads": args.threads}
    about = {name: getattr(args, name) for name in ("model", "dtype", "candidates", "positions")}
    return {"machine": where, **about, "seconds": best_seconds(found, runs=args.runs, clock=args.clock)}


if __name__ == "__main__":
    sys.exit(main())
