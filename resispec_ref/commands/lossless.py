"""`resispec lossless`: do an engine's settings keep the target's law?"""

from __future__ import annotations

import argparse
import json
import textwrap
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from resispec_ref.commands.display.numbers import decimal_text
from resispec_ref.commands.display.terminal import describe
from resispec_ref.guard import Verdict, lossless
from resispec_ref.guard.engines import ENGINES

_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `resispec lossless`."""
    describe(
        parser,
        "Do the settings of an engine's speculative decoding keep the target's law? The verdict is lossless, lossy or\n"
        "unknown, with the sentence of the engine's documentation that it rests on. For a lossy setting: the worst\n"
        "bias over all pairs of laws (total variation of the emitted token, one candidate), and its bias and\n"
        "acceptance on the recorded pair, beside the most that a rule of that bias can accept. For rollouts: what an\n"
        "importance ratio has to use. That the code does what is documented is what `resispec audit` is for.\n\n"
        "exit code: 0 lossless; 1 lossy; 2 could not run; 3 unknown",
        [
            'resispec lossless \'{"method": "eagle3", "num_speculative_tokens": 3}\' --engine vllm',
            "resispec lossless '{\"speculative_accept_threshold_single\": 0.9}' --engine sglang",
            "resispec lossless server.toml    a file, JSON or TOML; `engine` may stand in it",
        ],
    )
    parser.add_argument("config", metavar="CONFIG", help="the engine's settings: a file, or JSON in place")
    parser.add_argument("--engine", choices=list(ENGINES), help="whose settings they are; default: as CONFIG says")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """`resispec lossless`."""
    verdict = lossless(read_settings(args.config), engine=args.engine)
    if args.json:
        print(json.dumps(_as_json(verdict), indent=2, ensure_ascii=False))
    else:
        _print(verdict)
    return verdict.exit_code


def read_settings(config: str) -> dict[str, Any]:
    """Settings from JSON in place, or from a file of JSON or TOML.

    >>> read_settings('{"method": "ngram"}')
    {'method': 'ngram'}
    """
    text = config if config.lstrip().startswith("{") else Path(config).read_text(encoding="utf-8")
    try:
        return tomllib.loads(text) if config.endswith(".toml") else json.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"config: neither JSON nor a file of JSON or TOML ({error})") from None


def _print(verdict: Verdict) -> None:
    print(f"{verdict.engine}: {verdict.judgement}")
    for f in verdict.findings:
        print(f"\n{f.setting}: {f.judgement}")
        _say(f'"{f.says.sentence}" {f.says.where}' if f.says else "No sentence of the documentation is known here.")
        if f.judgement == "lossy":
            worst = "up to" if f.attained else "as close as one likes to"
            _say(f"Emits {f.emitted}.")
            _say(f"Bias over all pairs of laws: {worst} {f.worst_bias}.")
        if f.setting in verdict.on_pair:
            m = verdict.on_pair[f.setting]
            mean, most = decimal_text(m.total_variation_mean, 4), decimal_text(m.total_variation_worst, 4)
            accepts, bound, frontier = (
                decimal_text(v, 4) for v in (m.acceptance_rate, m.optimal_acceptance, m.frontier)
            )
            _say(f"Bias on the recorded pair of models, one candidate: {mean} on average, {most} at worst.")
            _say(f"Accepts {accepts} there; exact rules at most {bound}, rules of this bias at most {frontier}.")
    print()
    print(textwrap.fill(f"Importance ratios: {verdict.importance_ratio}", _WIDTH))
    if verdict.not_looked_at:
        print(f"\nNot looked at: {', '.join(verdict.not_looked_at)}")


def _say(text: str) -> None:
    print(textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))


def _as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "engine": verdict.engine,
        "verdict": verdict.judgement,
        "worst_bias": str(verdict.worst_bias),
        "findings": [
            f.as_json() | ({"on_pair": asdict(verdict.on_pair[f.setting])} if f.setting in verdict.on_pair else {})
            for f in verdict.findings
        ],
        "importance_ratio": verdict.importance_ratio,
        "not_looked_at": verdict.not_looked_at,
    }
