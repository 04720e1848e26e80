"""Second routes of the rules in this folder: enumeration in plain Python that shares no code with the package.

Laws are lists of `Fraction`. What a rule chose freely, such as a cut or weights, is taken from it; what follows from
the choice is computed here.
"""

import itertools
import math
from fractions import Fraction

import routes


def picked_by_rank(q, K, sets):
    """The law of the token of the largest of `K` ranks, with `sets[x]` a list of pieces `(start, size)` for each token.

    Every tuple of (token, piece): the highest piece wins, and those in it are as likely as each other, being uniform.
    """
    one = [
        (x, start, q[x] * size / sum(b for _, b in sets[x])) for x in range(len(q)) if q[x] for start, size in sets[x]
    ]
    law = [Fraction(0)] * len(q)
    for drawn in itertools.product(one, repeat=K):
        chance = math.prod((c for _, _, c in drawn), start=Fraction(1))
        top = max(start for _, start, _ in drawn)
        winners = [x for x, start, _ in drawn if start == top]
        for x in winners:
            law[x] += chance / len(winners)
    return law


def picked_by_weight(q, following, K, v, level):
    """The law of the pick by weights among the candidates of the highest class there is."""
    law = [Fraction(0)] * len(q)
    for xs, chance in routes.candidate_tuples(following, K):
        among = [x for x in xs if level[x] == max(level[y] for y in xs)]
        for x in among:
            law[x] += chance * v[x] / sum(v[y] for y in among)
    return law


def one_step(p, s, picked):
    """The law emitted when a token of the law `picked` is verified against `p` as if it had the law `s`."""
    accepted = [c * min(1, a / b) if c else Fraction(0) for a, b, c in zip(p, s, picked, strict=True)]
    left = [max(a - b, 0) for a, b in zip(p, s, strict=True)]
    residual = routes.normalised(left) if any(left) else p
    return [a + (1 - sum(accepted)) * b for a, b in zip(accepted, residual, strict=True)], sum(accepted)


def virtual_draws(p, q, K, u):
    """`resispec-without-replacement` by following every virtual draw; `u` are the residuals of its schedule."""
    T = len(u) - 1
    law, rates = [Fraction(0)] * len(p), [Fraction(0)] * K

    def emit(y, xs, chance):
        law[y] += chance
        if y in xs:
            rates[xs.index(y)] += chance

    def follow(xs, fresh, i, chance):
        """`fresh` of the candidates `xs` and then of the verifier's own tokens were seen in `i` draws, all rejected."""
        if chance == 0:
            return
        seen = fresh
        if i == T:
            whole = sum(u[T])
            for y, mass in enumerate(u[T]):
                emit(y, xs, chance * mass / whole)
            return
        w = sum(u[i])
        for x in seen:
            a = (u[i][x] - u[i + 1][x]) / (q[x] * w)
            emit(x, xs, chance * q[x] * a)
            follow(xs, seen, i + 1, chance * q[x] * (1 - a))
        left = 1 - sum(q[x] for x in seen)
        if left == 0:
            return
        known = xs[len(seen)] if len(seen) < len(xs) else None
        for x in range(len(q)) if known is None else [known]:
            if q[x] and x not in seen:
                share = chance * (q[x] if known is None else left)
                a = (u[i][x] - u[i + 1][x]) / (q[x] * w)
                emit(x, xs, share * a)
                follow(xs, (*seen, x), i + 1, share * (1 - a))

    for xs, chance in routes.candidate_tuples(routes.distinct(q), K):
        follow(xs, (), 0, chance)
    return law, rates


def spechub_as_published(p, q):
    """Two candidates by the paper's procedure: pairs `(x, a)` and `(a, x)` with the hub `a`; law and acceptance rate.

    Mass goes from `(x, a)` to `x` first, from `(a, x)` to what `x` still lacks, and what is left of both to `a`.
    """
    a = max(range(len(q)), key=lambda x: (q[x], -x))
    law, left = [Fraction(0)] * len(q), Fraction(0)
    for x in range(len(q)):
        if x != a and q[x]:
            first, second = q[x], q[a] * q[x] / (1 - q[a])
            to_x = min(p[x], first)
            more = min(p[x] - to_x, second)
            law[x] = to_x + more
            left += first + second - to_x - more
    law[a] = min(p[a], left)
    rate = sum(law)
    lacking = [b - c for b, c in zip(p, law, strict=True)]
    return [c + b for b, c in zip(lacking, law, strict=True)] if rate < 1 else law, rate


def bound_by_flow(p, laws):
    """The bound for independent candidates of laws of their own."""

    def following(xs):
        return laws[len(xs)]

    return routes.flow(p, routes.candidate_tuples(following, len(laws)))


def ears(p, tolerance):
    tau = tolerance * (1 - max(p))

    def step(i, P, Q, x):
        return min(1, P[x] / Q[x] + tau), standard(P, Q)

    return step


def lenience(p, share):
    return lambda i, P, Q, x: (min(1, P[x] / (share * Q[x])), standard(P, [share * b for b in Q]))


def constant_threshold(p, threshold):
    return lambda i, P, Q, x: (Fraction(1) if p[x] >= threshold else min(1, P[x] / Q[x]), standard(P, Q))


def typical_acceptance(p, epsilon, delta):
    entropy = -sum(float(a) * math.log(a) for a in p if a)
    least = min(epsilon, delta * math.exp(-entropy))
    return lambda i, P, Q, x: (Fraction(int(p[x] > least)), p)


def target_match_top_k(p, k):
    kth = sorted(p, reverse=True)[min(k, len(p)) - 1]

    def step(i, P, Q, x):
        a = Fraction(1) if p[x] >= kth and p[x] else P[x]
        rest = [0 if y == x else m for y, m in enumerate(P)]
        return a, routes.normalised(rest) if any(rest) else P

    return step


def standard(P, Q):
    left = [max(a - b, 0) for a, b in zip(P, Q, strict=True)]
    return routes.normalised(left) if any(left) else P
