"""The implementation under audit, and how it is called: batched or one by one, with a generator or with noise."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from resispec_ref.oracle.subjects.calls import CallError, Clock, foreign_trace, guarded
from resispec_ref.oracle.subjects.convert import Format
from resispec_ref.oracle.subjects.noise import Noise, truncated, uniforms
from resispec_ref.residual import check_option

Kind = Literal["sampler", "verifier", "chain", "tree", "law"]
Draw = Literal["independent", "distinct", "top-k"]
Drawer = Callable[[np.ndarray, int, np.random.Generator, int], np.ndarray]

ARGUMENTS = {
    "sampler": "target, draft, k, rng, n",
    "verifier": "target, draft, candidates, rng",
    "chain": "target, draft, drafted, rng",
    "tree": "target, draft, tokens, parents, rng",
}
_NAMES = {
    "sampler": ("target", "draft", "k"),
    "verifier": ("target", "draft", "candidates"),
    "chain": ("target", "draft", "drafted"),
    "tree": ("target", "draft", "tokens", "parents"),
}
_FIXED = {"sampler": 4, "verifier": 3, "chain": 3, "tree": 4}  # arguments besides the source of randomness
_SOURCES = ("rng", "generator", "gen", "key", "rng_key", "prng_key", "prng", "random_state", "random", "rand")
_MOST_ROWS = 65_536  # of a batch


class Prepared:
    """Laws in the format of the implementation, and its generator, for a loop of calls with the same laws.

    Laws that the implementation wrote to are made anew, so that it never meets arrays that it spoiled.
    """

    def __init__(self) -> None:
        self._given: list[Any] = []
        self._before: list[bytes] = []
        self._laws: list[np.ndarray] = []
        self._generator: Any = None
        self._seeded = False
        self._source: Prepared | None = None

    def laws_of(self, form: Format, laws: Sequence[np.ndarray]) -> list[Any]:
        same = len(laws) == len(self._laws) and all(a is b for a, b in zip(laws, self._laws, strict=True))
        if not same:
            self._laws, self._given = list(laws), [form.laws(law) for law in laws]
            self._before = [form.numpy(x).tobytes() for x in self._given]
        return list(self._given)

    def spoiled(self, form: Format) -> dict[str, Any]:
        """What was written to the laws, if anything was; they are then made anew."""
        if form.library == "jax":  # whose arrays cannot be written to
            return {}
        for law, given, before in zip(self._laws, self._given, self._before, strict=True):
            after = form.numpy(given)
            if after.tobytes() != before:
                self._laws = []
                return {"before": law.reshape(-1)[:16], "after": np.array(after).reshape(-1)[:16]}
        return {}

    def generator_of(self, form: Format, rng: np.random.Generator) -> Any:
        if self._source is not None:
            return self._source.generator_of(form, rng)
        if self._generator is None or form.library == "jax":  # a JAX key is used once
            self._generator = form.generator(rng)
        return self._generator

    def share(self, other: Prepared) -> None:
        """Draw from the generator of another one, whose laws are not the same."""
        self._source = other

    def seed(self, form: Format, rng: np.random.Generator) -> None:
        """The library's global source of randomness, once for these calls."""
        if self._source is not None:
            self._source.seed(form, rng)
            return
        if not self._seeded:
            form.seed_globally(rng)
            self._seeded = True


class Pace:
    """How fast the implementation is: a batch grows as long as its calls stay far below the time limit."""

    def __init__(self, rows: int = 16, most: int = _MOST_ROWS) -> None:
        self.rows, self.most = rows, most
        self.seconds_a_row: float | None = None
        self.wrote: dict[str, Any] = {}
        """Laws before and after the first call that wrote to them."""

    def note(self, rows: int, seconds: float, limit: float) -> None:
        self.seconds_a_row = min(self.seconds_a_row or seconds, seconds / rows)  # a busy machine makes some calls slow
        if rows >= self.rows and seconds < limit / 50:
            self.rows = min(4 * self.rows, self.most)


@dataclass(frozen=True)
class Subject:
    """A function and the protocol it follows; see `resispec_ref.audit` for the options.

    >>> Subject(lambda target, draft, candidates, rng: 0, "verifier").takes_rng
    True
    """

    function: Callable[..., Any]
    kind: Kind
    format: Format = field(default_factory=Format)
    noise: Noise | None = None
    draw: Draw | Drawer = "independent"
    batched: bool | None = None
    call_limit: float = 10.0
    pace: Pace = field(default_factory=Pace, compare=False)

    def __post_init__(self) -> None:
        check_option("kind", self.kind, Kind)
        if not callable(self.function):
            raise ValueError(f"implementation: {self.function!r} is not a function; kind {self.kind!r} needs one")
        if not callable(self.draw):
            check_option("draw", self.draw, Draw)

    @property
    def name(self) -> str:
        return getattr(self.function, "__qualname__", None) or type(self.function).__qualname__

    @cached_property
    def takes_rng(self) -> bool | str:
        """Whether a source of randomness is passed, or the name of the parameter that it is passed by.

        A parameter with a default is one only if its name says so; a function without one draws from a global source.
        """
        if self.noise is not None:
            return False
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            return True
        places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        place = 3 if self.kind == "sampler" else _FIXED[self.kind]
        here = places[place : place + 1]
        if any(p.name.lower() in _SOURCES or p.default is p.empty for p in here) and len(places) > _FIXED[self.kind]:
            return True
        named = [p.name for p in parameters if p.name.lower() in _SOURCES and p.kind is not p.POSITIONAL_ONLY]
        if named:
            return named[0]
        return not here and any(p.kind is p.VAR_POSITIONAL for p in parameters)

    def call(
        self,
        laws: Sequence[np.ndarray],
        integers: Sequence[np.ndarray | int],
        rng: np.random.Generator,
        *,
        clock: Clock,
        u: np.ndarray | None = None,
        shape: tuple[int, int] = (1, 1),
        last: Sequence[Any] = (),
        prepared: Prepared | None = None,
    ) -> Any:
        """One call. `shape` is `(K, V)`, for the sizes of noise; `u` are the uniforms that noise is made of.

        `prepared` keeps the converted laws and the generator between calls that are made one by one.

        Raises:
            CallError: the implementation raised, or wrote to its arguments.
        """
        form = self.format
        prepared = prepared or Prepared()
        given = prepared.laws_of(form, laws)
        named = dict[str, Any]()
        given += [x if isinstance(x, int) else form.integers(x) for x in integers]
        if self.noise is not None:
            assert u is not None
            given += [form.noise(a) for a in self.noise.split(truncated(u, form.dtype), *shape)]
        elif isinstance(self.takes_rng, str):
            named = {self.takes_rng: prepared.generator_of(form, rng)}
        elif self.takes_rng:
            given.append(prepared.generator_of(form, rng))
        prepared.seed(form, rng)
        record = dict(zip(_NAMES[self.kind], [*laws, *integers], strict=True))
        if u is not None:
            record["uniforms"] = u
        clock.start(record)
        began = time.perf_counter()
        try:
            answer = self.function(*given, *last, **named)
        except (Exception, SystemExit) as error:  # a call of sys.exit would end the audit as if all were well
            raise CallError("exception", f"{type(error).__name__}: {error}", record, foreign_trace(error)) from error
        self.pace.wrote = prepared.spoiled(form) or self.pace.wrote
        self.pace.note(len(laws[0]) if self.batched else 1, time.perf_counter() - began, self.call_limit)
        return answer

    def uniforms(self, rng: np.random.Generator, batch: tuple[int, ...], K: int, V: int) -> np.ndarray | None:
        """Random noise for `batch` positions, if noise is an argument."""
        if self.noise is None:
            return None
        return uniforms(rng, (*batch, self.noise.dimension(K, V)), self.format.dtype)

    def guarded(self, job: Callable[[Clock], Any]) -> Any:
        return guarded(job, self.call_limit)


def settle_batching(subject: Subject, attempt: Callable[[Subject], Any]) -> Subject:
    """The subject with `batched` decided: `attempt` makes a small call and checks the shape of what comes back.

    Raises:
        CallError: neither a batch nor a single position works.
    """
    if subject.batched is not None or subject.kind == "sampler":
        attempt(replace(subject, batched=bool(subject.batched)))
        return replace(subject, batched=bool(subject.batched))
    errors = []
    for batched in (True, False):
        chosen = replace(subject, batched=batched, pace=Pace())  # an attempt that fails tells no pace
        try:
            attempt(chosen)
        except CallError as error:
            if error.problem == "time limit":
                raise
            errors.append(error)
        else:
            return chosen
    batch, single = (f"{e.problem}: {e.message}" for e in errors)
    where = f"and fails: {single}" if single == batch else f"one position: {single}; a batch: {batch}"
    raise CallError(
        errors[1].problem, f"a {subject.kind} is called as f({ARGUMENTS[subject.kind]}), {where}", errors[1].given
    )
