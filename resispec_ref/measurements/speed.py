"""`resispec bench`: what the rules cost on this machine, as ratios to one softmax over the same vocabulary."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from resispec_ref.bounds import optimal_acceptance
from resispec_ref.distributions import law_from_logits
from resispec_ref.law import emitted_law, estimated_law
from resispec_ref.rule.registry import get_verifier, verifier_names

VOCAB, CANDIDATES = 49_152, 4
EXACT_VOCAB = 6
LIMITS = {"float64": 0.1, "rationals": 0.1, "rationals, path-dependent": 2.0, "import": 0.5}
"""Seconds that one core may take for one position (and for `import resispec_ref`)."""


@dataclass(frozen=True)
class Timing:
    """One line of the table: the best of a few runs."""

    what: str
    work: str
    ratio: float
    """To one softmax of `VOCAB` logits in float64."""
    share_of_limit: float | None
    """Of the time in `LIMITS`; above 1 it is exceeded. None where there is no limit."""


def timings() -> Iterator[Timing]:
    """Every timing, one after the other, on one random row (seed 0)."""
    rng = np.random.default_rng(0)
    f_p, noise = rng.gumbel(size=(2, VOCAB)) * 2
    p, q = law_from_logits(f_p), law_from_logits(f_p + noise / 3)
    P, Q = ([Fraction(int(x), int(sum(a))) for x in a] for a in rng.integers(1, 30, (2, EXACT_VOCAB)))
    unit = _seconds(partial(law_from_logits, f_p), 20)
    large, small = f"{VOCAB:,} tokens, {CANDIDATES} candidates", f"{EXACT_VOCAB} tokens, {CANDIDATES} candidates"

    def timing(what: str, work: str, seconds: float, limit: str | None) -> Timing:
        return Timing(what, work, seconds / unit, None if limit is None else seconds / LIMITS[limit])

    K = CANDIDATES
    for rule in map(get_verifier, verifier_names()):
        if rule.path_dependent:
            seconds = _seconds(partial(estimated_law, rule, p, q, candidates=K, paths=16, rng=rng), 3)
            yield timing(f"estimated_law {rule.name}", f"{large}, float64, 16 paths", seconds, None)
        else:
            seconds = _seconds(partial(emitted_law, rule, p, q, candidates=K), 5)
            yield timing(f"emitted_law {rule.name}", f"{large}, float64", seconds, "float64")
    for rule in map(get_verifier, verifier_names()):
        limit = "rationals, path-dependent" if rule.path_dependent else "rationals"
        seconds = _seconds(partial(emitted_law, rule, P, Q, candidates=K), 2)
        yield timing(f"emitted_law {rule.name}", f"{small}, rationals", seconds, limit)
    for replacement, word in ((True, "with"), (False, "without")):
        seconds = _seconds(partial(optimal_acceptance, p, q, candidates=K, replacement=replacement), 2)
        yield timing(f"optimal_acceptance, {word} replacement", f"{large}, float64", seconds, None)
    numpy_alone, package = (_seconds(partial(_import, m), 3) for m in ("numpy", "resispec_ref"))
    python = _seconds(partial(_import, "sys"), 3)
    yield timing("import resispec_ref", "in a fresh interpreter", package - python, "import")
    yield timing("import numpy", "for comparison", numpy_alone - python, None)


def _seconds(work: Callable[[], Any], runs: int) -> float:
    """The best of `runs`: what else the machine does only ever adds."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def _import(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


def machine() -> str:
    """The processor, the cores and the versions that a timing depends on."""
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")  # Linux: the only place with the processor's name
    if information.exists():
        names = [line.split(":", 1)[1].strip() for line in information.read_text().splitlines() if "model name" in line]
        name = names[0] if names else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"
