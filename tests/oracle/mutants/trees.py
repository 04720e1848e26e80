"""Trees whose walk is wrong. Row 0 of both models is the root's, row `j + 1` that of node `j`."""

import numpy as np

from .tools import accepts, pick, residual, without


def walk(p, q, tokens, parents, rng, *, update=True, bonus_row=None, residual_of_root=False):
    node, emitted = -1, []
    while True:
        target, draft = p[node + 1], q[node + 1]
        for child in np.flatnonzero(parents == node):
            x = tokens[child]
            if accepts(target, draft, x, rng):
                emitted.append(x)
                node = child
                break
            if update:
                target = residual(target, q[0] if residual_of_root else draft)
        else:
            if not (parents == node).any() and bonus_row is not None:
                target = p[bonus_row]
            return [*emitted, pick(target, rng.random())]


def siblings_without_update(p, q, tokens, parents, rng):
    return walk(p, q, tokens, parents, rng, update=False)


def bonus_from_the_root(p, q, tokens, parents, rng):
    return walk(p, q, tokens, parents, rng, bonus_row=0)


def residual_of_the_wrong_node(p, q, tokens, parents, rng):
    return walk(p, q, tokens, parents, rng, residual_of_root=True)


def stops_at_the_first_level(p, q, tokens, parents, rng):
    """Takes the first child's row for whichever child was accepted."""
    target = p[0]
    for child in np.flatnonzero(parents == -1):
        if accepts(target, q[0], tokens[child], rng):
            return [tokens[child], pick(p[1], rng.random())]
        target = residual(target, q[0])
    return [pick(target, rng.random())]


def one_hot_rule(p, q, tokens, parents, rng):
    """Sound for candidates that are taken and not drawn: accept with the target's probability, else zero it."""
    node, emitted = -1, []
    while True:
        target = p[node + 1]
        for child in np.flatnonzero(parents == node):
            if rng.random() < target[tokens[child]]:
                break
            target = without(target, tokens[child])
        else:
            return [*emitted, pick(target, rng.random())]
        emitted, node = [*emitted, tokens[child]], child


def plain(p, q, tokens, parents, rng, *, bonus=None, rows=None, forced=lambda place, depth: False, draft_row=None):
    """A walk whose faults are options: the row of the extra token, of what follows a child, what is accepted always."""
    node, emitted, read = -1, [], -1
    while True:
        target, draft = p[read + 1], q[read + 1 if draft_row is None else draft_row]
        children = np.flatnonzero(parents == node)
        for place, child in enumerate(children):
            x = tokens[child]
            if forced(place, len(emitted)) or accepts(target, draft, x, rng):
                break
            target = residual(target, draft)
        else:
            if len(children) == 0 and bonus is not None:
                target = p[bonus(node, parents)]
            return [*emitted, pick(target, rng.random())]
        emitted, node = [*emitted, x], child
        read = child if rows is None else rows(children)


def draft_row_of_the_root(p, q, tokens, parents, rng):
    return plain(p, q, tokens, parents, rng, draft_row=0)


def bonus_from_the_parent(p, q, tokens, parents, rng):
    return plain(p, q, tokens, parents, rng, bonus=lambda node, parents: parents[node] + 1)


def row_of_the_first_sibling(p, q, tokens, parents, rng):
    return plain(p, q, tokens, parents, rng, rows=lambda children: children[0])


def accepts_the_third_sibling(p, q, tokens, parents, rng):
    return plain(p, q, tokens, parents, rng, forced=lambda place, depth: place == 2)


def accepts_the_third_level(p, q, tokens, parents, rng):
    return plain(p, q, tokens, parents, rng, forced=lambda place, depth: depth == 2)
