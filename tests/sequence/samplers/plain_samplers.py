"""The samplers as one would run them, with a source of random numbers: nothing here knows the exact laws."""

import numpy as np


def written(model, rng, length, prefix=()):
    """A sequence of the model, one token after the other."""
    s = tuple(prefix)
    while len(s) < length:
        row = [float(m) for m in model.law(s)]
        s = (*s, int(np.searchsorted(np.cumsum(row), rng.random() * sum(row), side="right")))
    return s


def probability(model, s, start=0):
    return float(np.prod([float(model.law(s[:i])[s[i]]) for i in range(start, len(s))]))


def picked(weights, rng):
    return int(np.searchsorted(np.cumsum(weights), rng.random() * sum(weights), side="right"))


def importance(model, alpha, draws, length, rng):
    """Whole sequences, and one of them by `P^(α − 1)`."""
    drawn = [written(model, rng, length) for _ in range(draws)]
    return drawn[picked([probability(model, s) ** (alpha - 1) for s in drawn], rng)]


def particles(model, alpha, count, length, rng):
    """A token for every particle, then as many drawn anew by their weights, until all are complete; any of the last."""
    held = [()] * count
    for done in range(1, length + 1):
        held = [written(model, rng, done, s) for s in held]
        weights = [probability(model, s, done - 1) ** (alpha - 1) for s in held]
        held = [held[picked(weights, rng)] for _ in range(count)]
    return held[int(rng.integers(count))]


def looking_particles(model, alpha, count, horizon, rollouts, length, rng):
    """The same with a look ahead: the mean weight of some continuations, which the next weight takes back."""

    def look(s):
        further = min(horizon, length - len(s))
        drawn = [written(model, rng, len(s) + further, s) for _ in range(rollouts)]
        return float(np.mean([probability(model, t, len(s)) ** (alpha - 1) for t in drawn]))

    held = [((), 1.0)] * count
    for done in range(1, length + 1):
        grown, weights = [], []
        for parent, before in held:
            s = written(model, rng, done, parent)
            value = look(s)
            grown.append((s, value))
            weights.append(probability(model, s, done - 1) ** (alpha - 1) * value / before)
        held = [grown[picked(weights, rng)] for _ in range(count)]
    return held[int(rng.integers(count))][0]


def regeneration(model, reward, draws, keep, refine, cut, rounds, length, rng):
    """What is returned, and how many tokens were written."""
    held = [written(model, rng, length) for _ in range(draws)]
    tokens = draws * length
    for _ in range(rounds):
        held.sort(key=lambda s: (-reward(s), s))
        for i in range(keep, draws):
            stays = held[i][:cut] if i < keep + refine else ()
            held[i] = written(model, rng, length, stays)
            tokens += length - len(stays)
    return min(held, key=lambda s: (-reward(s), s)), tokens
