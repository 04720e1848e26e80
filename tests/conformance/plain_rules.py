"""The second route to a record: rules and walks in plain Python with `Fraction`, from the record's own numbers.

Nothing here uses the package, but for the free choices of a rule (a cut, weights), which are taken from it.
"""

import math
from fractions import Fraction as F

import optimal_routes
import plain_whole_tree
import routes


def rule_of(name, p, q, K):
    """`(step, following, target of the first step)` of a sequential rule with its default options."""
    following = routes.independent(q)
    plain = {
        "ears": lambda: optimal_routes.ears(p, F(1, 10)),
        "lenience": lambda: optimal_routes.lenience(p, F(1, 2)),
        "constant-threshold": lambda: optimal_routes.constant_threshold(p, F(31, 100)),
        "typical-acceptance": lambda: optimal_routes.typical_acceptance(p, 0.09, 0.3),
        "target-match-top-k": lambda: optimal_routes.target_match_top_k(p, 2),
        "cactus": lambda: moving(cactus),
        "reflective": lambda: moving(reflective),
    }
    if name in plain:
        return plain[name](), following, p
    if name == "mixture":
        mixed = [F(9, 10) * a + F(1, 10) * b for a, b in zip(p, q, strict=True)] if K else p
        return routes.resispec(mixed, q, K, routes.least_root(mixed, q, max(K, 1))), following, mixed
    if name == "spechub":
        laws = hubs(q, K)
        return routes.recursive_rejection, lambda xs: laws[len(xs)], p
    return (*routes.sequential(name, p, q, K, rho=None), p)


def moving(aim):
    def step(i, P, Q, x):
        h = aim(P, x)
        return min(F(1), h[x] / Q[x]), optimal_routes.standard(h, Q)

    return step


def cactus(p, x):
    v = 2 * F(1, 8) * p[x] * (1 - p[x])
    n, d = math.isqrt(v.numerator), math.isqrt(v.denominator)
    root = F(n, d) if n * n == v.numerator and d * d == v.denominator else F(str(math.sqrt(v)))
    height, rest = min(F(1), p[x] + root), 1 - p[x]
    return [height if y == x else (m * (1 - height) / rest if rest else F(0)) for y, m in enumerate(p)]


def reflective(p, x):
    return [F(9, 10) * m + F(1, 10) * (y == x) for y, m in enumerate(p)]


def hubs(q, K):
    """One candidate off the `K − 1` likeliest tokens, and these; a law of no mass where a candidate is absent."""
    top = [x for x in sorted(range(len(q)), key=lambda x: (-q[x], x))[: K - 1] if q[x]]
    rest = [F(0) if x in top else m for x, m in enumerate(q)]
    one_hot = [[F(x == hub) for x in range(len(q))] for hub in top]
    nothing = [F(0)] * len(q)
    laws = [routes.normalised(rest), *one_hot] if any(rest) else one_hot
    return laws + [nothing] * (K - len(laws))


def verified(step, p, following, x, u):
    """Token and accepted index of a sequential verification of the candidates `x`, -1 being absent."""
    P = p
    for i, token in enumerate(x):
        if token < 0:
            break
        a, R = step(i, P, following(tuple(x[:i])), token)
        if u[i] < a:
            return token, i
        P = R
    return drawn(P, u[-1]), len(x)


def drawn(law, u):
    """The first token whose running sum exceeds `u` of the whole."""
    running = F(0)
    for y, mass in enumerate(law):
        running += mass
        if running > u * sum(law):
            return y
    raise AssertionError("the running sum is the whole at the end")


def walked(rule, p, q, parents, x, u, siblings, end):
    """The tokens and the path of a walk down a tree, each node verified for itself; `u` has a row for each depth."""
    node, tokens, path = -1, [], []
    while True:
        children = [c for c, parent in enumerate(parents) if parent == node]
        row, noise = p[node + 1], u[len(path)]
        there = [x[c] for c in children]
        if not children:
            return (*tokens, drawn(row, noise[0])), tuple(path)
        draft = q[node + 1] if siblings != "deterministic" else row
        step, following, first = rule_of(rule, row, draft, len(children))
        if siblings == "distinct":
            following = routes.distinct(draft)
        token, index = verified(step, first, following, there, [*noise[: len(children)], noise[len(children)]])
        tokens.append(token)
        if index == len(children):
            return tuple(tokens), tuple(path)
        node = children[index]
        path.append(node)
        if token == end:
            return tuple(tokens), tuple(path)


def block(p, q, x, u, end):
    """Block verification, Algorithm 2 of its paper, prefix by prefix; `u` has one for each prefix and the last."""
    n = next((i for i, token in enumerate(x) if token < 0), len(x))
    n = next((i + 1 for i, token in enumerate(x[:n]) if token == end), n)
    weight = [F(1)]
    for i in range(n):
        weight.append(min(F(1), weight[-1] * p[i][x[i]] / q[i][x[i]]))

    def left(i):
        return [max(weight[i] * a - b, F(0)) for a, b in zip(p[i], q[i], strict=True)]

    best = 0
    for i in range(1, n + 1):
        h = weight[n] if i == n else sum(left(i)) / (sum(left(i)) + 1 - weight[i]) if sum(left(i)) else F(0)
        best = i if u[i - 1] < h else best
    tokens = tuple(x[:best])
    if tokens and tokens[-1] == end:
        return tokens, tuple(range(best))
    last = p[n] if best == n else left(best)
    return (*tokens, drawn(last if any(last) else p[best], u[-1])), tuple(range(best))


def traversed(rule, p, q, parents, x, u, siblings, end):
    """Traversal verification by its recursion: giving back is one more token, of draft probability 0."""

    def attempt(node, weight, token):
        if node >= 0 and token == end:
            return ((), ()) if u[node + 1] < weight else None
        children = [c for c, parent in enumerate(parents) if parent == node]
        P = [*(weight * m for m in p[node + 1]), 1 - weight]
        Q = [*(q[node + 1] if children else p[node + 1]), F(0)]
        step, following, _ = rule_of(rule, P, Q, len(children))
        seen = ()
        for i, child in enumerate(children):
            if x[child] < 0:
                break
            b, R = step(i, P, following(seen), x[child])
            below = attempt(child, b, x[child])
            if below is not None:
                return (x[child], *below[0]), (child, *below[1])
            P, seen = R, (*seen, x[child])
        extra = drawn(P, u[node + 1])
        return None if extra == len(P) - 1 else ((extra,), ())

    return attempt(-1, F(1), None)


def whole_tree(target, draft, parents, x, u, siblings, end, lookup):
    """A whole tree with the weights `v = t`: one uniform chooses where the path ends, the other the extra token.

    Returns the tokens, and how many of them were accepted.
    """
    tree = {node: token for node, token in enumerate(x) if token >= 0}
    trees = plain_whole_tree.all_trees(lambda path: lookup(draft, path), parents, siblings, end)
    depth = [0] * len(parents)
    for node, parent in enumerate(parents):
        depth[node] = 1 + (depth[parent] if parent >= 0 else 0)
    for node, parent in enumerate(parents):  # what was drafted below an end token is not looked at
        if parent >= 0 and (parent not in tree or tree[parent] == end):
            tree.pop(node, None)
    stops = plain_whole_tree.stops_of(
        lambda path: lookup(target, path), tree, trees, parents, depth, lambda t, y: t[y], end
    )
    tokens, extra, _ = stops[drawn([mass for *_, mass in stops], u[0])]
    return (*tokens, drawn(extra, u[1])) if extra else tokens, len(tokens)
