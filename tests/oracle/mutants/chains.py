"""Chains that are wrong in a step or in the walk. `p` has a row more than there are drafted tokens."""

import numpy as np

from .tools import accepts, pick, residual, without


def accepted_length(p, q, drafted, rng):
    for i, x in enumerate(drafted):
        if not accepts(p[i], q[i], x, rng):
            return i
    return len(drafted)


def resamples_from_target(p, q, drafted, rng):
    n = accepted_length(p, q, drafted, rng)
    return [*drafted[:n], pick(p[n], rng.random())]


def counts_all_passing_positions(p, q, drafted, rng):
    n = sum(accepts(p[i], q[i], x, rng) for i, x in enumerate(drafted))
    row = p[n] if n == len(drafted) else residual(p[n], q[n])
    return [*drafted[:n], pick(row, rng.random())]


def goes_on_after_a_rejection(p, q, drafted, rng):
    n = accepted_length(p, q, drafted, rng)
    if n == len(drafted):
        return [*drafted, pick(p[n], rng.random())]
    return [*drafted[:n], pick(residual(p[n], q[n]), rng.random()), *drafted[n + 1 :]]


def bonus_from_previous_row(p, q, drafted, rng):
    n = accepted_length(p, q, drafted, rng)
    row = p[n - 1] if n == len(drafted) else residual(p[n], q[n])
    return [*drafted[:n], pick(row, rng.random())]


def residual_from_next_row(p, q, drafted, rng):
    n = accepted_length(p, q, drafted, rng)
    row = p[n] if n == len(drafted) else residual(p[n + 1], q[n])
    return [*drafted[:n], pick(row, rng.random())]


def rows_shifted(p, q, drafted, rng):
    n = accepted_length(p[1:], q, drafted, rng)
    row = p[n] if n == len(drafted) else residual(p[n + 1], q[n])
    return [*drafted[:n], pick(row, rng.random())]


def accepts_always(p, q, drafted, rng):
    return [*drafted, pick(p[-1], rng.random())]


def absolute_difference(p, q, drafted, rng):
    n = accepted_length(p, q, drafted, rng)
    if n == len(drafted):
        return [*drafted, pick(p[n], rng.random())]
    r = np.abs(p[n] - q[n])
    return [*drafted[:n], pick(r / r.sum(), rng.random())]


def resamples_from_draft(p, q, drafted, rng):
    n = accepted_length(p, q, drafted, rng)
    return [*drafted[:n], pick(p[n] if n == len(drafted) else q[n], rng.random())]


def ensemble(p, q, drafted, rng):
    mixed = [0.8 * a + 0.2 * b for a, b in zip(p[:-1], q, strict=True)]
    n = accepted_length(mixed, q, drafted, rng)
    row = p[n] if n == len(drafted) else residual(mixed[n], q[n])
    return [*drafted[:n], pick(row, rng.random())]


def block_of_wrong_order(p, q, drafted, rng):
    """Block verification that accepts the longest prefix whose own ratio passes, and draws from the plain residual."""
    u, ratio, n = rng.random(), 1.0, 0
    for i, x in enumerate(drafted):
        ratio = ratio * p[i][x] / q[i][x]
        if u < ratio:
            n = i + 1
    row = p[n] if n == len(drafted) else residual(p[n], q[n])
    return [*drafted[:n], pick(row, rng.random())]


def one_hot_rule(p, q, drafted, rng):
    """Sound for drafts that are taken and not drawn: accept with the target's probability, else zero it."""
    for i, x in enumerate(drafted):
        if rng.random() >= p[i][x]:
            return [*drafted[:i], pick(without(p[i], x), rng.random())]
    return [*drafted, pick(p[-1], rng.random())]


def one_uniform_for_the_block(p, q, drafted, rng):
    u = rng.random()
    for i, x in enumerate(drafted):
        if u * q[i][x] >= p[i][x]:
            return [*drafted[:i], pick(residual(p[i], q[i]), rng.random())]
    return [*drafted, pick(p[-1], rng.random())]


def greedy_residual(p, q, drafted, rng):
    n = accepted_length(p, q, drafted, rng)
    if n == len(drafted):
        return [*drafted, pick(p[n], rng.random())]
    return [*drafted[:n], int(np.argmax(residual(p[n], q[n])))]


def accepts_with_target_probability(p, q, drafted, rng):
    for i, x in enumerate(drafted):
        if rng.random() >= p[i][x]:
            return [*drafted[:i], pick(residual(p[i], q[i]), rng.random())]
    return [*drafted, pick(p[-1], rng.random())]
