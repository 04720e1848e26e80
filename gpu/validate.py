"""Validation of the batched layer against `resispec_ref`: `python -m resispec_gpu.validate`.

Three checks of every batch, on the laws as they are stored (a bfloat16 row is the law that its entries are):

- *Token for token.* `resispec_ref.verify` gets the same candidates and uniforms. Where the answers differ, the batched
  one must be the reference's for one of the uniforms moved by at most what rounding can do to its comparison.
- *Law by law.* From the numbers that the backend decided with, the law of what it emits is summed in float64 over the
  whole vocabulary; its distance from the target must stay below the bound.
- *Acceptance.* `resispec` may lose `LOST` of the best rule's acceptance rate to its knots, on average over a batch.
  After each number of candidates, so for rows that have fewer than others too: equal laws accept the first, as in the
  reference, and where ratios are within 1/64 of 1 the knots of Torch's histogram explain what it is behind.

Rounding: a backend's sums err by at most `SUM_ERROR` relative to 1 (blocks summed in float32), `LOGIT_ERROR` where it
also takes the exponentials in float32. A weight errs by that times the number of sums before it, and so do the emitted
law and, divided by the weight, the place of a comparison.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from resispec_gpu.bins import BINS
from resispec_gpu.cases import KINDS, candidates, laws
from resispec_gpu.levels import Band, Level, Schedule, above, capped
from resispec_gpu.optimal import BinnedOptimal, on_host
from resispec_gpu.rules import RULES, Step
from resispec_gpu.shaped import SUM_ERROR, InterpolatedResiSpec
from resispec_ref import Verifier, get_verifier, law_from_logits, schedule, uniforms_needed, verify

LOGIT_ERROR, LOST = 2e-5, 0.005
BACKENDS = ("torch", "torch-compiled", "jax")
STORAGE = ("float32", "bfloat16", "float16", "logits")
"""Entries of laws in these types, or logits in float32."""


@dataclass(frozen=True)
class Result:
    """One batch on one backend."""

    backend: str
    rule: str
    kind: str
    storage: str
    batch: int
    vocab: int
    candidates: int
    equal: int
    """Rows with the reference's token and index."""
    within_rounding: int
    """Rows that differ, as rounding may."""
    wrong: int
    distance: float | None
    """Largest total variation between the target and the law of what the backend emits; None where there is no row, or
    where the law depends on which tokens were rejected."""
    bound: float
    lost: float = 0.0
    """Acceptance rate of the best rule less that of `resispec` on its knots, the mean of the rows."""
    late: float = 0.0
    """Acceptance after some of the candidates that `resispec` lacks and its knots do not explain, the largest."""

    @property
    def passed(self) -> bool:
        exact = not self.wrong and (self.distance is None or self.distance <= self.bound)
        return exact and self.lost <= LOST and self.late <= self.bound


def check(backend: str, rule: str, kind: str, storage: str, batch: int, vocab: int, K: int, *, seed: int = 0) -> Result:
    """Validate one batch of random candidates and uniforms.

    >>> check("torch", "resispec", "random", "float32", 4, 50, 3).passed
    True
    """
    rng = np.random.default_rng(seed)
    distinct = rule == "recursive-rejection-without-replacement"
    stored, p, q = _stored(storage, *laws(kind, batch, vocab, rng))
    x = candidates(q, K, rng, distinct=distinct)
    if kind == "near" and K:  # every other row has fewer
        x[1::2] = np.where(np.arange(K) <= np.arange(batch)[1::2, None] // 2 % K, x[1::2], -1)
    u = rng.random((batch, uniforms_needed(rule, K)), dtype=np.float32).astype(np.float64)
    error = (K + 1) * (LOGIT_ERROR if storage == "logits" else SUM_ERROR)
    step = run(backend, rule, stored, storage, x, u)
    if step is None:  # no rows
        return Result(backend, rule, kind, storage, batch, vocab, K, 0, 0, 0, None, error)
    case = Case(rule, p, q, x, u, step, _bins(stored, storage) if rule == "optimal" and K else None)
    off = np.flatnonzero(~case.is_equal)
    wrong = sum(not _is_rounding(case.row(int(row)), error) for row in off)
    equal, within = batch - len(off), len(off) - wrong
    distance = None if distinct else float(np.max(np.abs(case.emitted() - p).sum(-1)) / 2)
    found = Result(backend, rule, kind, storage, batch, vocab, K, equal, within, wrong, distance, error)
    if rule != "resispec" or K == 0:
        return found
    behind = case.behind()
    explained = np.where(np.all(p == q, axis=-1), 0.0, np.inf)
    if backend == "torch":  # a knot above all ratios is at most 1 + 1/32, and W is found to (K - 1) / 256
        near = np.all(np.abs(p - q) <= q / 64, axis=-1)
        explained = np.where(near, np.minimum(explained, 1 / 32 + (K - 1) / 256), explained)
    late = max(0.0, float(np.max(behind - explained[:, None])))
    return replace(found, lost=float(np.mean(behind[:, -1])), late=late)


def run(backend: str, rule: str, stored: tuple[Any, Any], storage: str, x: np.ndarray, u: np.ndarray) -> Step | None:
    """The batched step and the schedule it used, as NumPy arrays in float64."""
    if not len(x):
        return None
    temperature = 1.0 if storage == "logits" else None
    if backend == "jax":
        import jax.numpy as jnp

        from resispec_gpu import _jax

        p, q = (jnp.asarray(a.float().numpy()).astype(str(a.dtype).removeprefix("torch.")) for a in stored)
        found, _ = _jax.step(rule, p, q, jnp.asarray(x), jnp.asarray(u), temperature)
    else:
        import torch

        from resispec_gpu import _torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        p, q = (a.to(device) for a in stored)
        batch = _torch.Laws(p, q, temperature=temperature, compile=backend == "torch-compiled")
        found = _torch.step(rule, batch, torch.as_tensor(x, device=device), torch.as_tensor(u, device=device))
        found = Step(found.token.cpu(), found.accepted_index.cpu(), _map(found.found, on_host))
    wide = _map(found.found, lambda a: np.asarray(a, dtype=np.float64))
    return Step(np.asarray(found.token), np.asarray(found.accepted_index), wide)


@dataclass(frozen=True)
class Case:
    """A batch, the step that a backend took for it, and for `optimal` the bins of its tokens."""

    rule: str
    p: np.ndarray
    q: np.ndarray
    tokens: np.ndarray
    uniforms: np.ndarray
    step: Step
    bin_of: np.ndarray | None

    def row(self, n: int) -> Case:
        """Row `n` as a batch of one."""
        part = slice(n, n + 1)
        p, q, tokens, uniforms = (x[part] for x in (self.p, self.q, self.tokens, self.uniforms))
        step = Step(self.step.token[part], self.step.accepted_index[part], _map(self.step.found, lambda x: x[part]))
        return Case(self.rule, p, q, tokens, uniforms, step, None if self.bin_of is None else self.bin_of[part])

    @property
    def reference(self) -> Verifier:
        """The rule as `resispec_ref` computes it: on the knots around the levels, or the bins, that were used."""
        if self.rule == "optimal":
            return BinnedOptimal(bin_of=self.bin_of)
        if self.rule != "resispec":
            return get_verifier(self.rule)
        top, bottom = self.step.found[:2]
        knots = np.sort(np.concatenate([x for level in (top, bottom) for x in (level.a, level.b)], axis=-1))
        return InterpolatedResiSpec(knots, (top.a + top.theta * (top.b - top.a))[:, :1])

    @property
    def is_equal(self) -> np.ndarray:
        """The rows in which the reference has the same answer."""
        found = verify(self.reference, self.p, self.q, self.tokens, self.uniforms)
        return (found.token == self.step.token) & (found.accepted_index == self.step.accepted_index)

    def emitted(self) -> np.ndarray:
        """The law of what decisions by the backend's numbers emit, when candidates are drawn independently."""
        return _after_winner(self) if self.rule == "optimal" else _after_bands(self)

    def behind(self) -> np.ndarray:
        """How much more often the reference's rule accepts one of the first 1, …, K candidates; `(batch, K)`."""
        K = self.tokens.shape[-1]
        best = schedule(self.p, self.q, candidates=K).residuals.sum(-1)
        return np.stack([_residual(self, i).sum(-1) for i in range(1, K + 1)], axis=-1) - best[:, 1:]

    def weights(self) -> list[float]:
        """The masses that each comparison, and the residual draw, are relative to, for a batch of one."""
        K = self.tokens.shape[-1]
        if self.rule == "optimal":  # ranks, for the winner, are relative to 1
            s = _winner_law(self)
            return [1.0] * (K + 1) * (K > 0) + [np.maximum(self.p - s, 0).sum()]
        return [_residual(self, i).sum() for i in range(K + 1)]


def _after_bands(case: Case) -> np.ndarray:
    p, q, schedule = case.p, case.q, case.step.found
    law, reached = np.zeros_like(p), np.ones((len(p), 1))
    for i in range(schedule.step.shape[-1]):
        (top, bottom), (t, b) = _band(schedule, i), _band(schedule, i + 1)
        growth = capped(p, q, t) - capped(p, q, top) + capped(p, q, bottom) - capped(p, q, b)
        divisor = schedule.step[:, i : i + 1]
        accepted = np.clip(np.divide(growth, divisor, out=np.zeros_like(p), where=divisor > 0), 0, q)
        law += reached * accepted
        reached = reached * (1 - accepted.sum(-1, keepdims=True))
    return law + reached * _normalised(_residual(case, schedule.step.shape[-1]), p)


def _after_winner(case: Case) -> np.ndarray:
    s = _winner_law(case)
    m = np.minimum(case.p, s)
    rest = s.sum(-1, keepdims=True) if case.bin_of is not None else 1
    return m + (rest - m.sum(-1, keepdims=True)) * _normalised(np.maximum(case.p - s, 0), case.p)


def _winner_law(case: Case) -> np.ndarray:
    return case.q * 0 if case.bin_of is None else case.q * np.take_along_axis(case.step.found, case.bin_of, -1)


def _residual(case: Case, i: int) -> np.ndarray:
    top, bottom = _band(case.step.found, i)
    return np.minimum(above(case.p, case.q, top) + capped(case.p, case.q, bottom), case.p)


def _normalised(r: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    mass = r.sum(-1, keepdims=True)
    return np.where(mass > 0, r / np.where(mass > 0, mass, 1), otherwise)


def _is_rounding(case: Case, error: float) -> bool:
    """Whether a batch of one has the reference's answer for uniforms of which one is moved as far as rounding may."""
    for i, weight in enumerate(case.weights()):
        for sign in (-1, 1):
            moved = case.uniforms.copy()
            moved[0, i] = np.clip(moved[0, i] + sign * error / max(weight, 1e-12), 0, np.nextafter(1, 0))
            if replace(case, uniforms=moved).is_equal[0]:
                return True
    return False


def _band(schedule: Schedule, i: int) -> Band:
    return Band(*(Level(*(x[:, i : i + 1] for x in level)) for level in schedule[:2]))


def _map(found: Any, change: Any) -> Any:
    """`change` of every array of a schedule, or of the array that `optimal` found."""
    if not isinstance(found, Schedule):
        return change(found)
    return Schedule(*(Level(*map(change, level)) for level in found[:2]), change(found.step))


def _bins(stored: tuple[Any, Any], storage: str) -> np.ndarray:
    """The bins of the stored entries, from their ratio in float32."""
    import torch

    from resispec_gpu import _torch_passes as passes

    logits = storage == "logits"
    f, g = (torch.exp(x - torch.logsumexp(x, -1, keepdim=True)) if logits else x.float() for x in stored)
    return passes.bins_of(f, g, BINS).numpy()


def _stored(storage: str, p: np.ndarray, q: np.ndarray) -> tuple[tuple[Any, Any], np.ndarray, np.ndarray]:
    """Both laws as they are stored, as Torch tensors, and the laws that these entries are, in float64."""
    import torch

    def store(a: np.ndarray) -> tuple[Any, np.ndarray]:
        if storage == "logits":
            with np.errstate(divide="ignore"):
                kept = torch.as_tensor(np.log(a)).float()
            return kept, law_from_logits(kept.double().numpy()) if len(a) else a
        kept = torch.as_tensor(a).to(getattr(torch, storage))
        wide = kept.double().numpy()
        return kept, wide / wide.sum(-1, keepdims=True)

    (kept_p, wide_p), (kept_q, wide_q) = store(p), store(q)
    return (kept_p, kept_q), wide_p, wide_q


def suite(backend: str, thorough: bool) -> Iterator[tuple[str, str, int, int, int]]:
    """`(kind, storage, batch, vocab, K)` of the batches that are validated: few shapes where each is compiled anew."""
    compiled = backend != "torch"
    if not compiled:
        yield from (("random", "float32", batch, 1000, 3) for batch in (0, 1))
        yield from (("adversarial", storage, 24, vocab, 3) for storage in STORAGE for vocab in (1, 2, 513, 3000))
        yield from ((kind, "float32", 64, 2048, K) for kind in KINDS for K in (0, 1, 2, 4, 8))
        yield from (("real", storage, 64, 5000, 4) for storage in STORAGE)
    else:
        yield from ((kind, "float32", 24, 1537, 3) for kind in KINDS)
    if thorough:
        yield from ((kind, storage, 24, 1537, 3) for storage in STORAGE[1:] for kind in KINDS if compiled)
        yield from (("adversarial", "float32", 1, vocab, 2) for vocab in (1, 2))
        yield from ((kind, storage, 4, 262144, 4) for storage in STORAGE for kind in KINDS)
        yield from ((kind, "float32", 128, 32000, 8) for kind in KINDS)


def covered(backend: str, thorough: bool) -> str:
    """What the batches of `suite` were, in a line."""
    kinds, storages, _, vocabs, counts = (sorted(set(x)) for x in zip(*suite(backend, thorough), strict=True))
    return (
        f"{backend}: rows {', '.join(kinds)}; stored as {', '.join(storages)}; vocabularies {vocabs[0]} to "
        f"{vocabs[-1]:,}; {counts[0]} to {counts[-1]} candidates"
    )


def available(backends: tuple[str, ...] = BACKENDS) -> list[str]:
    """Those whose library is installed."""
    from importlib.util import find_spec

    return [name for name in backends if find_spec(name.partition("-")[0])]


def main(arguments: list[str] | None = None) -> int:
    """Prints a line for each batch, or JSON; 0 if all passed, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m resispec_gpu.validate", description=__doc__.split("\n")[0])
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="only this one (may be repeated)")
    parser.add_argument(
        "--thorough", action="store_true", help="also vocabularies to 262,144, and compiled code in every storage type"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args(arguments)
    failed = differing = rows = 0
    for backend in args.backend or available():
        for case in suite(backend, args.thorough):
            for rule in RULES:
                result = check(backend, rule, *case, seed=args.seed)
                failed, rows = failed + (not result.passed), rows + result.batch
                differing += result.within_rounding
                print(json.dumps(asdict(result)) if args.json else line(result), flush=True)
    if not args.json:
        print(f"{rows} rows: {differing} differ as rounding may, {failed} batches failed")
        print("covered:", *(covered(b, args.thorough) for b in args.backend or available()), sep="\n  ")
        if not args.thorough:
            print("not covered: larger vocabularies, and compiled code in the other storage types; --thorough does")
    return 1 if failed else 0


def line(result: Result) -> str:
    """`Result` as a line of a table."""
    verdict = "ok  " if result.passed else "FAIL"
    r, distance = result, "" if result.distance is None else f"; TV {result.distance:.1e} (bound {result.bound:.0e})"
    if result.rule == "resispec":
        distance += f"; acceptance lost {result.lost:.1e}, late {result.late:.0e}"
    return (
        f"{verdict} {r.backend:14} {r.rule:39} {r.kind:11} {r.storage:8} {r.batch:3} x {r.vocab:<6} K={r.candidates}  "
        f"equal {r.equal}, rounding {r.within_rounding}, wrong {r.wrong}{distance}"
    )


if __name__ == "__main__":
    sys.exit(main())
