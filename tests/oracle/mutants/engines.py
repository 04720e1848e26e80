"""Faults of engines: rows and calls that take something from others, numbers that are used again, masks, state."""

import numpy as np

from .tools import accepts, pick, residual


def step(p, q, x, rng):
    return x if accepts(p, q, x, rng) else pick(residual(p, q), rng.random())


def draft_rows_of_another_request(target, draft, candidates, rng):
    """A batch reordered between drafting and verifying: row i is tested against the draft law of row i + 1."""
    rows = zip(target, np.roll(draft, -1, axis=0), candidates, strict=True)
    return np.array([step(p, q, x[0], rng) if q[x[0]] > 0 else pick(p, rng.random()) for p, q, x in rows])


class LastStepsDraft:
    """The draft law of the step before, kept in a buffer."""

    __name__ = "last_steps_draft"

    def __init__(self):
        self.kept = None

    def __call__(self, target, draft, candidates, rng):
        x = candidates[0]
        q = draft if self.kept is None or len(self.kept) != len(draft) or self.kept[x] == 0 else self.kept
        self.kept = draft.copy()
        return step(target, q, x, rng)


def streams_shared_at_a_distance(target, draft, candidates, rng, distance=2):
    """Rows i and i + 2 of a batch use the same numbers; each law is right."""
    u = rng.random((len(target), 2))
    for i in range(len(u)):
        if i % (2 * distance) >= distance:
            u[i] = u[i - distance]
    rows = zip(target, draft, candidates, u, strict=True)
    return np.array([x[0] if v[0] * q[x[0]] < p[x[0]] else pick(residual(p, q), v[1]) for p, q, x, v in rows])


class LastUniformIsTheNextFirst:
    """The last uniform of a step is the first of the next."""

    __name__ = "last_uniform_is_the_next_first"

    def __init__(self):
        self.kept = None

    def __call__(self, p, q, drafted, rng):
        def uniform():
            u, self.kept = (rng.random(), None) if self.kept is None else (self.kept, None)
            return u

        for i, x in enumerate(drafted):
            if uniform() * q[i][x] >= p[i][x]:
                self.kept = rng.random()
                return [*drafted[:i], pick(residual(p[i], q[i]), self.kept)]
        self.kept = rng.random()
        return [*drafted, pick(p[-1], self.kept)]


def replays_its_numbers(target, draft, candidates, rng):
    """A generator made anew at every step, from the same seed."""
    return step(target, draft, candidates[0], np.random.default_rng(7))


def noise_keyed_by_the_input(target, draft, candidates, rng):
    key = abs(hash((tuple(target), tuple(draft), tuple(candidates.tolist())))) % 2**32
    return step(target, draft, candidates[0], np.random.default_rng(key))


def chain_that_replays(p, q, drafted, rng):
    rng = np.random.default_rng(7)
    for i, x in enumerate(drafted):
        if not accepts(p[i], q[i], x, rng):
            return [*drafted[:i], pick(residual(p[i], q[i]), rng.random())]
    return [*drafted, pick(p[-1], rng.random())]
