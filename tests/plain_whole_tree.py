"""Whole trees in plain Python: all trees, and what the rule does on each. Shares nothing with the package but tables.

A tree is a dictionary from the number of a node to its token. `model(path)` is a list of `Fraction`.
"""

from fractions import Fraction


def all_trees(draft, parents, siblings, end=None):
    """`[(tree, probability)]`; nodes that are absent are not in the tree."""
    found = [({}, Fraction(1))]
    for node in [-1, *range(len(parents))]:
        children = [c for c, parent in enumerate(parents) if parent == node]
        if children:
            found = [
                ({**tree, **dict(zip(children, xs, strict=False))}, chance * m)
                for tree, chance in found
                for xs, m in node_draws(draft, tree, parents, node, len(children), siblings, end)
            ]
    return found


def node_draws(draft, tree, parents, node, count, siblings, end):
    path = path_of(tree, parents, node)
    if path is None or (path and path[-1] == end):
        return [((), Fraction(1))]
    q = draft(path)
    if siblings == "deterministic":
        best = sorted((x for x in range(len(q)) if q[x] > 0), key=lambda x: (-q[x], x))[:count]
        return [(tuple(best), Fraction(1))]
    draws = [((), Fraction(1))]
    for _ in range(count):
        longer = []
        for xs, m in draws:
            left = [x for x in range(len(q)) if q[x] > 0 and not (siblings == "distinct" and x in xs)]
            whole = sum(q[x] for x in left)
            longer += [((*xs, x), m * q[x] / whole) for x in left] or [(xs, m)]
        draws = longer
    return draws


def path_of(tree, parents, node):
    """The tokens from the root to a node; None where one is absent."""
    path = ()
    while node != -1:
        if node not in tree:
            return None
        path, node = (tree[node], *path), parents[node]
    return path


def plain_law(target, draft, parents, siblings, weight, end=None):
    """`{(tokens, accepted): probability}`; `weight(t)` is the weight of a child whose target mass is `t` of its row."""
    depth = [0] * len(parents)
    for c, parent in enumerate(parents):
        depth[c] = 1 + (depth[parent] if parent >= 0 else 0)
    trees, law = all_trees(draft, parents, siblings, end), {}
    for tree, chance in trees:
        for stop, extra, mass in stops_of(target, tree, trees, parents, depth, weight, end):
            for y, m in enumerate(extra) if extra else [(None, Fraction(1))]:
                if mass * m > 0:
                    key = (stop if y is None else (*stop, y)), len(stop)
                    law[key] = law.get(key, 0) + chance * mass * m
    return law


def stops_of(target, tree, trees, parents, depth, weight, end):
    """`[(path, law of the extra token, mass)]` given the tree."""
    share, stops = {-1: Fraction(1)}, []
    for d in range(max(depth, default=0) + 1):
        seen = {c: x for c, x in tree.items() if depth[c] <= d}
        alike = [(t, m) for t, m in trees if {c: x for c, x in t.items() if depth[c] <= d} == seen]
        whole = sum(m for _, m in alike)
        t = {}
        for j, a in share.items():
            path = path_of(tree, parents, j)
            if a > 0 and path and path[-1] == end:
                stops.append((path, None, a))
            elif a > 0:
                t[j] = [a * p for p in target(path)]

        def weights_in(other, t=t, d=d):
            return {c: weight(t[parents[c]], x) for c, x in other.items() if depth[c] == d + 1 and parents[c] in t}

        sigma = {j: [Fraction(0)] * len(row) for j, row in t.items()}
        for other, m in alike:
            v = weights_in(other)
            for c, w in v.items():
                if sum(v.values()) > 0:
                    sigma[parents[c]][other[c]] += m / whole * w / sum(v.values())
        v, kept = weights_in(tree), {}
        for c, w in v.items():
            j, x = parents[c], tree[c]
            kept[c] = w / sum(v.values()) * min(Fraction(1), t[j][x] / sigma[j][x]) if w > 0 else Fraction(0)
        for j, row in t.items():
            e = [max(Fraction(0), a - b) for a, b in zip(row, sigma[j], strict=True)]
            if sum(e) > 0:
                stops.append((path_of(tree, parents, j), [m / sum(e) for m in e], sum(e)))
        rest, mass = 1 - sum(kept.values()), sum(m for *_, m in stops)
        stops = [(path, extra, m * rest / mass) for path, extra, m in stops if m > 0]
        share = kept
    return stops


def plain_joint(law, target, length):
    """The law of the first `length` tokens when the target goes on."""
    found = {}
    for (tokens, _), chance in law.items():
        pending = [(tokens, chance)]
        while pending:
            path, m = pending.pop()
            if len(path) == length:
                found[path] = found.get(path, 0) + m
            else:
                pending += [((*path, y), m * p) for y, p in enumerate(target(path)) if p > 0]
    return found
