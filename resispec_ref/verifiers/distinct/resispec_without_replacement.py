"""ResiSpec for distinct candidates: the rule for independent ones, run on virtual draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from array_api_compat import array_namespace

from resispec_ref.arrays.arithmetic import Array, divide, index_range, normalise, one_hot, positive_part, take, total
from resispec_ref.proposal import schedule_total
from resispec_ref.residual import floor
from resispec_ref.rule.verifier import State, Verifier


@dataclass(frozen=True)
class ResiSpecWithoutReplacement(Verifier):
    """`resispec` with a horizon of `T ≥ K` *virtual* independent draws made out of `K` distinct candidates.

    Each virtual draw repeats a candidate already seen, with the probability that `q` gives to the seen set, and else is
    the next fresh candidate; so the draws are independent draws from `q`, and `resispec` is exact on them. When the
    candidates are used up, fresh draws are the verifier's own, and their tokens count as accepted only if they are
    candidates.

    A step looks at the next fresh candidate. Its state averages over how many virtual draws were needed: `α_i` is the
    probability that `i` draws were made and rejected, and `c` what a repetition, or the end of the horizon, has decided
    already without a further candidate. With `e_i = (u_i − u_{i+1}) / w_i` the accepted mass of draw `i` of the
    schedule,

        m = Σ_i μ_i e_{i+1} + q_{k+1} c    on fresh tokens,

    where `μ_i` is `α_i` and what repetitions, rejected, lead to `i` draws. The last draw may land on a candidate, which
    counts.

    Where one token holds more than 4/5 of the draft, most virtual draws only repeat it, and recursive rejection of the
    distinct candidates is better: it is what the rule does there. The choice depends on `q` alone, so it is exact too.

    Options: `extra`, the virtual draws beyond one a candidate, `T = K + extra`. None is best on recorded pairs.

    Source: section 4 of the mathematics, "without replacement". Theorem: `resispec_exact` (proofs/resispec.v).
    """

    name = "resispec-without-replacement"
    source = "this project"
    exact = True
    replacement = False
    path_dependent = True

    extra: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.extra, int) or self.extra < 0:
            raise ValueError(f"extra: {self.extra} is no number of virtual draws; give an integer, 0 or more")

    def start(self, p: Array, q: Array, candidates: int) -> State:
        p, q = p + q * 0, q + p * 0
        if candidates == 0:
            return State(p, q)
        xp = array_namespace(p, q)
        T = candidates + self.extra
        W = schedule_total(p, q, T)
        draws = _virtual_draws(p, q, W, T)
        position = index_range(p.shape[-1], p) * 0 + candidates + xp.astype(p < 0, xp.int64)
        alpha = [W * 0 + 1] + [W * 0] * (T - 1)
        memory = (p, q, W, *_look(q, q, draws, alpha, p * 0), position, position[..., :1] * 0)
        return State(p, q, (*memory, 5 * xp.max(q, axis=-1, keepdims=True) > 4))

    def accepted(self, state: State) -> Array:
        xp = array_namespace(state.target)
        return xp.where(state.memory[8], xp.minimum(state.target, state.proposal), state.memory[3])

    def reject(self, state: State, token: Array) -> State:
        p, q, W, _, closed, reached, position, count, concentrated = state.memory
        xp = array_namespace(p)
        T = reached.shape[-1]
        draws = _virtual_draws(p, q, W, T)
        at = one_hot(token, p.shape[-1])
        x = token[..., None]
        q_x = take(q, x)
        fresh = divide(q_x, take(state.proposal, x), q_x * 0)  # the draft's mass off the tokens seen before
        alpha = [q_x * 0]
        for i, draw in enumerate(draws):
            alpha.append(reached[..., i : i + 1] * fresh * (1 - divide(take(draw.accepted, x), q_x, q_x * 0)))
        closed = xp.where(at, p * 0, closed) + alpha.pop() * draws[-1].law_after
        open_laws = [p, *(draw.law_after for draw in draws)]
        target = sum((a * law for a, law in zip(alpha, open_laws, strict=False)), start=closed)
        whole = total(target)  # a quotient at a time: its reciprocal may be beyond floats
        rest = xp.where(at, q * 0, state.proposal)
        proposal = normalise(rest, otherwise=rest)
        alpha = [divide(a, whole, a * 0) for a in alpha]
        look = _look(q, proposal, draws, alpha, divide(closed, whole, closed * 0))
        memory = (p, q, W, *look, xp.where(at, count, position), count + 1, concentrated)
        target = xp.where(concentrated, floor(state.target, state.proposal), target)
        return State(normalise(target, otherwise=state.target), proposal, memory)

    def matched(self, state: State) -> Array:
        return state.memory[6]


class _Draw(NamedTuple):
    """One virtual draw of the schedule."""

    accepted: Array
    """`e_i`: its accepted mass, `(..., vocab)`."""
    law_after: Array
    """`p_{i+1}`: the residual target once it was rejected."""


def _virtual_draws(p: Array, q: Array, W: Array, count: int) -> list[_Draw]:
    """The schedule of equation (P) in normalised terms."""
    xp = array_namespace(p)
    u, S, found = p, W * 0, list[_Draw]()
    for _ in range(count):
        w = total(u)
        S = S + w
        r = xp.maximum(positive_part(p - q * S), xp.minimum(p, q * positive_part(W - S)))
        found.append(_Draw(divide(positive_part(u - r), w, p * 0), normalise(r, otherwise=p)))
        u = r
    return found


def _look(
    q: Array, proposal: Array, draws: list[_Draw], alpha: list[Array], closed: Array
) -> tuple[Array, Array, Array]:
    """`m` of the next candidate, what is decided without a candidate after it, and `μ_0 … μ_{T−1}`, `(..., T)`."""
    xp = array_namespace(q)
    seen = proposal <= 0
    mu, m, reached, q_seen = alpha[0] * 0, closed * 0, list[Array](), total(xp.where(seen, q, q * 0))
    for a, draw in zip(alpha, draws, strict=True):
        mu = mu + a
        reached.append(mu)
        m = m + mu * draw.accepted
        repeated = xp.where(seen, draw.accepted, m * 0)
        closed = closed + mu * repeated
        mu = mu * positive_part(q_seen - total(repeated))
    closed = closed + mu * draws[-1].law_after
    m = xp.minimum(xp.where(seen, m * 0, m + proposal * closed), proposal)
    return m, closed, xp.concat(reached, axis=-1)
