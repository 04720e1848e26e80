"""The second route: laws by enumerating candidate tuples and branches in plain Python, and the bound by max-flow.

Nothing here uses the package or NumPy. Laws are lists of `Fraction`. A rule is a function
`step(i, P, Q, x) -> (a, R)`: the probability that candidate `i`, `x`, drawn from `Q`, is accepted when the residual
target is `P`, and the residual target after `x` was rejected (`None` where it is never rejected).
"""

import itertools
import math
from fractions import Fraction

import networkx


def independent(q):
    """The law of the next candidate after the candidates `xs`: `q` again."""
    return lambda xs: q


def distinct(q):
    """The law of the next candidate without replacement: `q` off `xs`, renormalised; all 0 where nothing is left."""

    def law(xs):
        rest = [0 if x in xs else mass for x, mass in enumerate(q)]
        return normalised(rest) if any(rest) else rest

    return law


def candidate_tuples(following, K):
    """Every tuple of candidates of positive probability, with it; shorter than `K` where the draft is exhausted."""
    found = [((), Fraction(1))]
    for _ in range(K):
        longer = []
        for xs, chance in found:
            Q = following(xs)
            longer += [((*xs, x), chance * v) for x, v in enumerate(Q) if v] if any(Q) else [(xs, chance)]
        found = longer
    return found


def normalised(mass):
    return [Fraction(v) / sum(mass) for v in mass]


def emitted(step, p, following, K):
    """The emitted law and the acceptance probability of each candidate, over all tuples and accept/reject branches."""
    law, rates = [Fraction(0)] * len(p), [Fraction(0)] * K
    for xs, reached in candidate_tuples(following, K):
        P = p
        for i, x in enumerate(xs):
            a, R = step(i, P, following(xs[:i]), x)
            law[x] += reached * a
            rates[i] += reached * a
            reached *= 1 - a
            if reached == 0:
                break
            P = R
        else:
            law = [f + reached * v for f, v in zip(law, P, strict=True)]
    return law, rates


def target_matching(p, q, K):
    """Draw `y` from the target and accept it if it is among the candidates, whole tuples at a time."""
    rates = [Fraction(0)] * K
    for xs, chance in candidate_tuples(independent(q), K):
        for y in set(xs):
            rates[xs.index(y)] += chance * p[y]
    return list(p), rates


def recursive_rejection(i, P, Q, x):
    left = [max(a - b, 0) for a, b in zip(P, Q, strict=True)]
    return min(1, P[x] / Q[x]), normalised(left) if any(left) else None


def naive(i, P, Q, x):
    """Target matching seen one candidate at a time."""
    rest = [0 if y == x else mass for y, mass in enumerate(P)]
    return P[x], normalised(rest) if any(rest) else None


def k_seq(p, q, K, rho):
    """K-SEQ as a step: one tempered test for all candidates; the last residual is the closed formula."""
    beta = sum(min(a / rho, b) for a, b in zip(p, q, strict=True))
    none = (1 - beta) ** K
    share = (1 - none) / beta if beta else 0
    last = [(a - min(a / rho, b) * share) / none for a, b in zip(p, q, strict=True)] if none else None
    return lambda i, P, Q, x: (min(1, p[x] / (rho * q[x])), last)


def shaped_residuals(p, q, K, W):
    """`u_1 … u_{K+1}` of equation (P) for a given `W`."""
    u, S = [list(p)], Fraction(0)
    for _ in range(K):
        S += sum(u[-1])
        u.append([max(a - b * S, min(a, b * max(W - S, 0))) for a, b in zip(p, q, strict=True)])
    return u


def resispec(p, q, K, W):
    """The shaped rule as a step, from its unnormalised residuals: step `i` accepts the mass `u_i − u_{i+1}`."""
    u = shaped_residuals(p, q, K, W)

    def step(i, P, Q, x):
        looked_at = sum(u[i])
        a = (u[i][x] - u[i + 1][x]) / (q[x] * looked_at)
        return a, normalised(u[i + 1]) if any(u[i + 1]) else None

    return step


def least_root(p, q, K):
    """The least `W >= 1` with `S_K(W) = W`: walk along the linear pieces of `S_K`, each up to its next kink."""
    W = Fraction(1)
    while True:
        kinks = []

        def lower(f, g, kinks=kinks):
            """The smaller of two lines `(value, slope)` just right of `W`; remembers where they cross."""
            f, g = sorted((f, g))
            if f[0] < g[0] and f[1] > g[1]:
                kinks.append((g[0] - f[0]) / (f[1] - g[1]))
            return f

        def upper(f, g, lower=lower):
            return minus(lower(minus(f), minus(g)))

        S = (Fraction(1), Fraction(0))
        for _ in range(K - 1):
            room = upper((W - S[0], 1 - S[1]), (Fraction(0), Fraction(0)))
            terms = [
                upper((a - b * S[0], -b * S[1]), lower((a, Fraction(0)), (b * room[0], b * room[1])))
                for a, b in zip(p, q, strict=True)
            ]
            S = (S[0] + sum(t[0] for t in terms), S[1] + sum(t[1] for t in terms))
        excess, slope = S[0] - W, S[1] - 1
        if excess == 0:
            return W
        reach = [excess / -slope] if slope < 0 else []
        W += min(kinks + reach)


def minus(line):
    return (-line[0], -line[1])


def published(spread="proportional", budget="rejected-mass"):
    """The published rule as a step: Algorithm 1, with `GetProxy` by hand."""

    def step(i, P, Q, x):
        a = min(1, P[x] / Q[x])
        return a, normalised(get_proxy(P, Q, x, spread, budget)) if a < 1 else None

    return step


def get_proxy(p, q, x0, spread="proportional", budget="rejected-mass"):
    """The reserved mass `r` after `x0` was rejected."""
    others = [x for x in range(len(p)) if x != x0]
    Z = q[x0] - p[x0]
    if budget == "equation-13":
        Z = max(Z, min(p[x] / q[x] for x in range(len(p)) if q[x]))
    r = [min(Z * q[x], p[x]) if x != x0 else Fraction(0) for x in range(len(p))]
    lost = min(Z, sum(p[x] for x in others)) - sum(r)
    while spread == "water-filling" and lost > 0:
        rising = [x for x in others if q[x] and r[x] < p[x]]
        if not rising:
            break
        dt = min([lost / sum(q[x] for x in rising)] + [(p[x] - r[x]) / q[x] for x in rising])
        for x in rising:
            r[x] += dt * q[x]
            lost -= dt * q[x]
    spare = {x: p[x] - r[x] for x in others}
    for x in others:
        r[x] += lost * spare[x] / sum(spare.values()) if lost else 0
    return r


def optimal_by_flow(p, q, K, replacement=True):
    """The bound by max-flow, for candidates of one law."""
    return flow(p, candidate_tuples((independent if replacement else distinct)(q), K))


def flow(p, tuples):
    """The most mass that sets of candidates can send to their own tokens: max-flow with integer capacities."""
    sets = {}
    for xs, chance in tuples:
        sets[frozenset(xs)] = sets.get(frozenset(xs), 0) + chance
    scale = math.lcm(*(v.denominator for v in itertools.chain(p, sets.values())))
    graph = networkx.DiGraph()
    graph.add_nodes_from(("candidates", "emitted"))
    for S, chance in sets.items():
        graph.add_edge("candidates", S, capacity=int(chance * scale))
        graph.add_edges_from((S, x) for x in S)
    for x, mass in enumerate(p):
        graph.add_edge(x, "emitted", capacity=int(mass * scale))
    return Fraction(networkx.maximum_flow_value(graph, "candidates", "emitted"), scale)


def sequential(name, p, q, K, rho=None):
    """`(step, following)` of the rule called `name`; `k-seq` needs the `ρ` that it is run with."""
    following = distinct(q) if name == "recursive-rejection-without-replacement" else independent(q)
    step = {
        "naive": lambda: naive,
        "recursive-rejection": lambda: recursive_rejection,
        "recursive-rejection-without-replacement": lambda: recursive_rejection,
        "k-seq": lambda: k_seq(p, q, K, rho),
        "resispec": lambda: resispec(p, q, K, least_root(p, q, max(K, 1))),
        "resispec-published": lambda: published(),
    }[name]()
    return step, following
