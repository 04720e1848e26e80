"use strict";
/*
 * The verification rules, ported from resispec_ref: a rule is a state (residual target p_i, law q_i of the next
 * candidate), an accepted mass m and the state after a rejection. Everything else is written once below them.
 * Checked against resispec_ref on every golden case by tests/docs/test_lab.py.
 */

const standardFloor = (p, q) => positivePart(subtract(p, q));
const shaped = (p, q, level) => maximum(standardFloor(p, q), minimum(p, scale(q, level)));
const start = (p, q) => ({ target: p, proposal: q });

const RULES = [
  {
    name: "recursive-rejection",
    label: "Recursive rejection",
    exact: true,
    says: "One ordinary speculative step after another: m = min(pᵢ, q). The reserve lies on its floor.",
    start,
    accepted: (s) => minimum(s.target, s.proposal),
    reject: (s) => ({ ...s, target: normalise(standardFloor(s.target, s.proposal), s.target) }),
  },
  {
    name: "recursive-rejection-without-replacement",
    label: "Recursive rejection, without replacement",
    exact: true,
    distinct: true,
    pathDependent: true,
    says: "Candidates are distinct: a rejected token leaves the draft, which is then renormalised.",
    start,
    accepted: (s) => minimum(s.target, s.proposal),
    reject: (s, token) => {
      const rest = without(s.proposal, token);
      return { target: normalise(standardFloor(s.target, s.proposal), s.target), proposal: normalise(rest, rest) };
    },
  },
  {
    name: "naive",
    label: "Target matching (naive)",
    exact: true,
    pathDependent: true,
    says: "Draw from the target; accept if the draw is a candidate. m = q pᵢ.",
    start,
    accepted: (s) => s.target.map((x, i) => x.times(s.proposal[i])),
    reject: (s, token) => ({ ...s, target: normalise(without(s.target, token), s.target) }),
  },
  {
    name: "k-seq",
    label: "K-SEQ",
    exact: true,
    says: "The same tempered test for all candidates: m = min(p/ρ, q), with one ρ between 1 and K.",
    start: (p, q, K) => ({ ...start(p, q), mass: minimum(scale(p, ONE.over(leastRho(p, q, K))), q) }),
    accepted: (s) => s.mass,
    reject: (s) => ({ ...s, target: normalise(positivePart(subtract(s.target, s.mass)), s.target) }),
  },
  {
    name: "resispec",
    label: "ResiSpec, exact",
    exact: true,
    says: "The reserve keeps the draft's shape between floor and ceiling; λᵢ q is what later candidates can still accept.",
    start: (p, q, K) => ({ ...start(p, q), W: scheduleTotal(p, q, K), w: ONE, S: ONE }),
    accepted: (s) => subtract(s.target, reserved(s)),
    reject: (s) => {
      const r = reserved(s);
      const w = s.w.times(total(r));
      return { ...s, target: normalise(r, s.target), w, S: s.S.plus(w) };
    },
    level: (s) => scheduleLevel(s),
  },
  {
    name: "shaped",
    label: "Shaped by hand (your λ)",
    exact: true,
    takesLevel: true,
    says: "The shaped step with the λ that you choose, the same at every step: exact for every λ, seldom the best.",
    start: (p, q, K, level) => ({ ...start(p, q), lambda: level }),
    accepted: (s) => subtract(s.target, shaped(s.target, s.proposal, s.lambda)),
    reject: (s) => ({ ...s, target: normalise(shaped(s.target, s.proposal, s.lambda), s.target) }),
    level: (s) => s.lambda,
  },
  {
    name: "optimal",
    label: "Optimal (ranks)",
    exact: true,
    once: true,
    says: "Looks at all candidates: each draws a rank from its token's part of [0, 1], the largest wins, and one ordinary step with the winner's law s follows.",
    start: (p, q, K) => ({ target: p, proposal: winnersLaw(p, q, K) }),
    accepted: (s) => minimum(s.target, s.proposal),
    reject: (s) => ({ ...s, target: normalise(standardFloor(s.target, s.proposal), s.target) }),
  },
  publishedRule("proportional"),
  publishedRule("water-filling"),
];

function publishedRule(spread) {
  return {
    name: "resispec-published",
    spread,
    label: `ResiSpec as published, ${spread}`,
    exact: false,
    pathDependent: true,
    says: "Accepts like recursive rejection, but reserves mass in the shape of the draft minus the rejected token: biased.",
    start,
    accepted: (s) => minimum(s.target, s.proposal),
    reject: (s, token) => ({ ...s, target: normalise(getProxy(s.target, s.proposal, token, spread), s.target) }),
  };
}

/* ---- what the rules need ---- */

/** λ_i = (W − S_i) / w_i of the exact rule's schedule. */
function scheduleLevel(s) {
  return s.w.positive ? greatest(s.W.minus(s.S), ZERO).over(s.w) : ZERO;
}

function reserved(s) {
  return shaped(s.target, s.proposal, scheduleLevel(s));
}

/** The least W ≥ 1 with S_K(W) = W: walk along the linear pieces of S_K, each up to its next kink. */
function scheduleTotal(p, q, K) {
  let W = ONE;
  for (;;) {
    let kink = null;
    // A line is [value at W, slope just right of W]; the smaller of two, remembering where they cross.
    const lower = (f, g) => {
      const order = f[0].compare(g[0]) || f[1].compare(g[1]);
      const [low, high] = order <= 0 ? [f, g] : [g, f];
      if (low[0].compare(high[0]) < 0 && low[1].compare(high[1]) > 0) {
        const after = high[0].minus(low[0]).over(low[1].minus(high[1]));
        kink = kink ? least(kink, after) : after;
      }
      return low;
    };
    const opposite = ([value, slope]) => [ZERO.minus(value), ZERO.minus(slope)];
    const upper = (f, g) => opposite(lower(opposite(f), opposite(g)));
    const line = (value, slope) => [value, slope];

    let S = line(ONE, ZERO);
    for (let i = 1; i < K; i++) {
      const room = upper(line(W.minus(S[0]), ONE.minus(S[1])), line(ZERO, ZERO));
      const pieces = p.map((a, x) => {
        const early = line(a.minus(q[x].times(S[0])), ZERO.minus(q[x].times(S[1])));
        return upper(early, lower(line(a, ZERO), line(q[x].times(room[0]), q[x].times(room[1]))));
      });
      S = pieces.reduce((sum, piece) => line(sum[0].plus(piece[0]), sum[1].plus(piece[1])), S);
    }
    const excess = S[0].minus(W);
    const slope = S[1].minus(ONE);
    if (excess.zero) return W;
    const root = slope.compare(ZERO) < 0 ? ZERO.minus(excess.over(slope)) : null;
    W = W.plus(root && kink ? least(root, kink) : root || kink);
  }
}

/** The least ρ of K-SEQ, from above, by the bisection of resispec_ref; 1 itself where it is enough. */
function leastRho(p, q, K) {
  const enough = (rho) => {
    const beta = total(minimum(scale(p, ONE.over(rho)), q));
    return rho.times(beta).compare(ONE.minus(ONE.minus(beta).power(K))) >= 0;
  };
  let low = ONE;
  let high = enough(low) ? low : Q(Math.max(K, 1));
  for (let i = 0; i < 24 && low.compare(high) < 0; i++) {
    const rho = low.plus(high).over(Q(2));
    [low, high] = enough(rho) ? [low, rho] : [rho, high];
  }
  return high;
}

/** Reserved mass of the published Algorithm 1 after rejecting `token`. */
function getProxy(p, q, token, spread) {
  const open = without(p, token);
  const openDraft = without(q, token);
  const budget = least(greatest(q[token].minus(p[token]), ZERO), total(open));
  const level = spread === "proportional" ? budget : waterLevel(open, openDraft, budget);
  const r = minimum(scale(openDraft, level), open);
  const spare = subtract(open, r);
  const lost = greatest(budget.minus(total(r)), ZERO);
  return lost.zero ? r : add(r, scale(spare, lost.over(total(spare))));
}

/** The λ with Σ min(p, λ q) = budget; where q > 0 holds less than that, one that fills all of it. */
function waterLevel(p, q, budget) {
  const tokens = p.map((_, x) => x).filter((x) => q[x].positive);
  tokens.sort((x, y) => p[x].times(q[y]).compare(p[y].times(q[x])));
  let filled = ZERO;
  let rising = total(q);
  let level = ZERO;
  for (const x of tokens) {
    level = greatest(level, budget.minus(filled).over(rising));
    filled = filled.plus(p[x]);
    rising = rising.minus(q[x]);
  }
  return level;
}

/** The law s of the candidate of the largest rank that attains the bound: clip(p, λ q, μ q), λ acting on H and μ off it. */
function winnersLaw(p, q, K) {
  const order = byRatio(p, q);
  const size = bestPrefix(p, q, K, order);
  const inside = new Set(order.slice(0, size));
  const on = (f, wanted) => f.map((x, token) => (inside.has(token) === wanted ? x : ZERO));
  const drawn = total(on(q, true)).power(K);
  let lambda = null; // the least of the solutions of Σ_H max(p, λ q) = q(H)^K on its linear pieces
  for (let lifted = 1; lifted <= size; lifted++) {
    const low = total(order.slice(0, lifted).map((x) => q[x]));
    const rest = total(order.slice(lifted, size).map((x) => p[x]));
    const solution = drawn.minus(rest).over(low);
    lambda = lambda ? least(lambda, solution) : solution;
  }
  const mu = waterLevel(on(p, false), on(q, false), ONE.minus(drawn));
  return p.map((x, token) => (inside.has(token) ? greatest(x, q[token].times(lambda)) : least(x, q[token].times(mu))));
}

/* ---- what all rules share ---- */

/** One step: accepted mass, mass reserved after each rejection, and whether the two preserve the target (T1). */
function stepOf(rule, state) {
  const m = rule.accepted(state);
  const left = subtract(state.proposal, m);
  const rejectable = left.map((x, token) => (x.positive ? token : -1)).filter((token) => token >= 0);
  const after = new Map();
  for (const token of rejectable) {
    const known = rule.pathDependent || after.size === 0;
    after.set(token, known ? rule.reject(state, token) : after.get(rejectable[0]));
  }
  let reserve = m.map(() => ZERO);
  for (const token of rejectable) reserve = add(reserve, scale(after.get(token).target, left[token]));
  const exhausted = !total(state.proposal).positive;
  if (exhausted) reserve = state.target;
  return { m, left, rejectable, after, reserve, exhausted, floor: standardFloor(state.target, state.proposal) };
}

/** The emitted law, the acceptance probability of each candidate, and the distance to the target, exactly. */
function emittedLaw(rule, p, q, K, level = ZERO) {
  let law = p.map(() => ZERO);
  const rates = Array(K).fill(ZERO);
  let states = [{ state: rule.start(p, q, K, level), weight: ONE }];
  for (let i = 0; i < (rule.once ? 1 : K); i++) {
    const following = [];
    for (const { state, weight } of states) {
      if (!total(state.proposal).positive) {
        law = add(law, scale(state.target, weight)); // no candidate is left
        continue;
      }
      const m = rule.accepted(state);
      const left = subtract(state.proposal, m);
      law = add(law, scale(m, weight));
      rates[i] = rates[i].plus(weight.times(total(m)));
      if (rule.pathDependent) {
        left.forEach((x, token) => {
          if (x.positive) following.push({ state: rule.reject(state, token), weight: weight.times(x) });
        });
      } else if (total(left).positive) {
        following.push({ state: rule.reject(state, 0), weight: weight.times(total(left)) });
      }
    }
    states = following;
  }
  for (const { state, weight } of states) law = add(law, scale(state.target, weight));
  if (rule.once) rates.fill(rates[0].over(Q(K))); // each candidate is as likely as the others to be the one
  return { law, rates, acceptance: total(rates), tv: totalVariation(law, p) };
}

/** Tokens by p/q, ascending; those of q = 0 last. */
function byRatio(p, q) {
  return p.map((_, x) => x).sort((x, y) => {
    const order = p[x].times(q[y]).compare(p[y].times(q[x]));
    return order || Number(q[y].positive) - Number(q[x].positive);
  });
}

/** The optimal-transport bound: the least of p(H) + 1 − Q(H) over prefixes H of the tokens sorted by p/q (T10). */
function optimalAcceptance(p, q, K, distinct = false) {
  return K === 0 ? ZERO : prefixValues(p, q, K, byRatio(p, q), distinct).reduce(least);
}

/** The size of the prefix at which the bound is attained. */
function bestPrefix(p, q, K, order) {
  const values = prefixValues(p, q, K, order, false);
  return values.findIndex((x) => x.equals(values.reduce(least)));
}

/** p(H) + 1 − Q(H) for the prefixes of 0, 1, … tokens. */
function prefixValues(p, q, K, order, distinct) {
  const values = [ONE];
  let inside = ZERO;
  let drafted = ZERO;
  const H = new Set();
  for (const x of order) {
    H.add(x);
    inside = inside.plus(p[x]);
    drafted = drafted.plus(q[x]);
    values.push(inside.plus(ONE).minus(distinct ? staysInside(q, H, K) : drafted.power(K)));
  }
  return values;
}

/** The probability that K draws without replacement stay in H. */
function staysInside(q, H, K) {
  const left = total(q);
  if (K === 0 || !left.positive) return ONE;
  let chance = ZERO;
  for (const x of H) {
    if (q[x].positive) chance = chance.plus(q[x].over(left).times(staysInside(without(q, x), H, K - 1)));
  }
  return chance;
}
