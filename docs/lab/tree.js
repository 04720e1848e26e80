"use strict";
/*
 * A candidate tree of two levels, two candidates a node, verified as a whole (T15, weights v = t) and node by node
 * (recursive rejection). Ported from resispec_ref.sequence; checked against it by tests/docs/test_lab_tree.py.
 *
 * `models` is { p: [...], q: [...] }: the first law of each is that of the first token, law x + 1 that after token x.
 * A tree is six tokens: the two of the first level, the two below the first of these, the two below the second.
 */

const ROOT = -1;
const CHILDREN = [[0, 1], [2, 3], [4, 5]]; // of the root, of node 0, of node 1
const parentOf = (node) => (node < 2 ? ROOT : node < 4 ? 0 : 1);
const lawAt = (laws, tree, node) => laws[node === ROOT ? 0 : tree[node] + 1];

/** All lists of `count` tokens drawn from `q`, their order forgotten: [tokens, probability]. */
function drawsOf(q, count = 2) {
  let found = [[[], ONE]];
  for (let i = 0; i < count; i++) {
    const merged = new Map();
    for (const [tokens, chance] of found) {
      q.forEach((m, x) => {
        if (!m.positive) return;
        const key = [...tokens, x].sort().join();
        merged.set(key, (merged.get(key) ?? ZERO).plus(chance.times(m)));
      });
    }
    found = [...merged].map(([key, chance]) => [key.split(",").map(Number), chance]);
  }
  return found;
}

/**
 * One level. `shares` and `targets` of its nodes, and `drafts`: t = a p is the weight too, σ how often the pick is a child
 * of node j with token y, `kept` = min(1, t/σ), and `left` = (t − σ)+, what node j emits as an extra token.
 */
function levelOf(shares, targets, drafts) {
  const t = targets.map((p, j) => scale(p, shares[j]));
  const sigma = t.map((row) => row.map(() => ZERO));
  let outcomes = [[[], ONE]];
  for (const q of drafts) {
    outcomes = outcomes.flatMap(([lists, chance]) => drawsOf(q).map(([tokens, m]) => [[...lists, tokens], chance.times(m)]));
  }
  for (const [lists, chance] of outcomes) {
    const picks = pickedOf(t, lists);
    lists.forEach((tokens, j) => tokens.forEach((y, i) => { sigma[j][y] = sigma[j][y].plus(chance.times(picks[j][i])); }));
  }
  const kept = t.map((row, j) => row.map((x, y) => (sigma[j][y].positive ? least(ONE, x.over(sigma[j][y])) : ZERO)));
  return { t, sigma, kept, left: t.map((row, j) => positivePart(subtract(row, sigma[j]))), outcomes };
}

/** v / Σ v of each child that came; 0 where all of them have the weight 0. */
function pickedOf(t, lists) {
  const v = lists.map((tokens, j) => tokens.map((y) => t[j][y]));
  const whole = total(v.flat());
  return v.map((row) => row.map((x) => (whole.positive ? x.over(whole) : ZERO)));
}

/** Shares of the children that came, and by how much the stops are multiplied so that all masses add up to 1. */
function below(level, lists, stops) {
  const picked = pickedOf(level.t, lists);
  const shares = lists.map((tokens, j) => tokens.map((y, i) => picked[j][i].times(level.kept[j][y])));
  const whole = total(stops);
  const factor = whole.positive ? ONE.minus(total(shares.flat())).over(whole) : ZERO;
  return { picked, shares, factor };
}

const firstLevel = ({ p, q }) => levelOf([ONE], [p[0]], [q[0]]);

/** The second level below the nodes 0 and 1 that have a share. */
function secondLevel({ p, q }, tokens, shares) {
  const reached = [0, 1].filter((j) => shares[j].positive);
  const rows = (laws) => reached.map((j) => laws[tokens[j] + 1]);
  return { reached, ...levelOf(reached.map((j) => shares[j]), rows(p), rows(q)) };
}

/** The whole of T15 on one tree, step by step. `masses[s]` is how likely the path ends at node s − 1, the root first. */
function verifyWhole(models, tree) {
  const first = firstLevel(models);
  const one = below(first, [tree.slice(0, 2)], [total(first.left[0])]);
  const [shares] = one.shares;
  const stop = total(first.left[0]).times(one.factor);
  const second = secondLevel(models, tree, shares);
  const ownStops = [0, 1].map((j) => (second.reached.includes(j) ? total(second.left[second.reached.indexOf(j)]) : ZERO));
  const two = below(second, second.reached.map((j) => CHILDREN[j + 1].map((node) => tree[node])), [stop, ...ownStops]);
  const last = Array(4).fill(ZERO);
  second.reached.forEach((j, i) => two.shares[i].forEach((a, k) => { last[2 * j + k] = a; }));
  const masses = [...scale([stop, ...ownStops], two.factor), ...last];
  return { first, one, shares, stop, second, ownStops, two, masses };
}

/** Recursive rejection at one node: how likely each of two candidates is accepted, and that none is. */
function nodeByNode(p, q, candidates) {
  const ends = [];
  let state = { target: p };
  let chance = ONE;
  for (const x of candidates) {
    const test = q[x].positive ? least(ONE, state.target[x].over(q[x])) : ZERO;
    ends.push(chance.times(test));
    chance = chance.times(ONE.minus(test));
    state = { target: normalise(standardFloor(state.target, q), state.target) };
  }
  return [...ends, chance];
}

/** Where the walk ends on one tree, in the order of `verifyWhole`. */
function verifyNodes({ p, q }, tree) {
  const at = (node) => nodeByNode(lawAt(p, tree, node), lawAt(q, tree, node), CHILDREN[node + 1].map((child) => tree[child]));
  const [a, b, none] = at(ROOT);
  const [under, beside] = [scale(at(0), a), scale(at(1), b)];
  return [none, under[2], beside[2], under[0], under[1], beside[0], beside[1]];
}

/** How likely at least 1 and 2 tokens are accepted, over all trees: as a whole, and node by node. */
function acceptedMasses(models) {
  const { p, q } = models;
  const first = firstLevel(models);
  const kept = (level) => total(level.t.flatMap((row, j) => minimum(row, level.sigma[j])));
  let second = ZERO;
  for (const [[tokens], chance] of first.outcomes) {
    const { shares: [shares] } = below(first, [tokens], [total(first.left[0])]);
    if (shares.some((a) => a.positive)) second = second.plus(chance.times(kept(secondLevel(models, tokens, shares))));
  }
  const m = minimum(p[0], q[0]);
  const rest = normalise(standardFloor(p[0], q[0]), p[0]);
  const accepted = add(m, scale(minimum(rest, q[0]), ONE.minus(total(m)))); // by token
  const walk = accepted.map((chance, x) => chance.times(emittedLaw(RULES[0], p[x + 1], q[x + 1], 2).acceptance));
  return { whole: [kept(first), second], nodes: [total(accepted), total(walk)] };
}

/** The law of what is emitted over all trees: { "tokens|accepted": mass }, and the joint law of two tokens from it. */
function wholeTreeLaw(models) {
  const { p, q } = models;
  const law = new Map();
  const emit = (tokens, extra, mass) => {
    const whole = total(extra);
    extra.forEach((m, y) => {
      if (!m.positive || !mass.positive) return;
      const key = `${[...tokens, y]}|${tokens.length}`;
      law.set(key, (law.get(key) ?? ZERO).plus(mass.times(m).over(whole)));
    });
  };
  const first = firstLevel(models);
  for (const [[tokens], chance] of first.outcomes) {
    const one = below(first, [tokens], [total(first.left[0])]);
    const [shares] = one.shares;
    const second = secondLevel(models, tokens, shares);
    const stops = [total(first.left[0]).times(one.factor), ...second.left.map(total)];
    for (const [lists, m] of second.outcomes) {
      const two = below(second, lists, stops);
      const weight = chance.times(m);
      emit([], first.left[0], weight.times(stops[0]).times(two.factor));
      second.reached.forEach((j, i) => {
        emit([tokens[j]], second.left[i], weight.times(stops[i + 1]).times(two.factor));
        lists[i].forEach((y, k) => {
          const [key, a] = [`${tokens[j]},${y}|2`, weight.times(two.shares[i][k])];
          if (a.positive) law.set(key, (law.get(key) ?? ZERO).plus(a));
        });
      });
    }
  }
  const joint = p[0].map(() => p[0].map(() => ZERO));
  for (const [key, mass] of law) {
    const [tokens] = key.split("|");
    const s = tokens.split(",").map(Number);
    if (s.length > 1) joint[s[0]][s[1]] = joint[s[0]][s[1]].plus(mass);
    else joint[s[0]] = add(joint[s[0]], scale(p[s[0] + 1], mass)); // the target writes on
  }
  return { law, joint };
}
