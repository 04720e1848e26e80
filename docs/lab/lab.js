"use strict";
/*
 * The page: what the user chose (`chosen`), drawn again in full after every change. Laws are exact; a drag moves in
 * steps of 1/60 and gives what it takes to, or from, the other tokens in proportion to what they have.
 */

const PRESETS = [
  ["A fair three-sided die, a draft that knows two faces", "1/3,1/3,1/3", "1/2,1/2,0", 1],
  ["The same die, two candidates", "1/3,1/3,1/3", "1/2,1/2,0", 2],
  ["A confident draft", "1/2,3/10,1/5", "3/5,7/20,1/20", 2],
  ["The pair that separates six faults", "1/5,2/5,2/5", "3/5,3/10,1/10", 1],
  ["Residual drift: four tokens, three candidates", "1/5,1/10,3/10,2/5", "1/2,3/10,1/10,1/10", 3],
  ["Two tokens: the published rule looks exact", "1/5,4/5", "7/10,3/10", 2],
  ["The draft is the target", "1/2,3/10,1/5", "1/2,3/10,1/5", 2],
  ["Nothing in common", "0,0,1", "1/2,1/2,0", 3],
];

const chosen = { p: [], q: [], K: 1, rule: 0, level: Q(1, 2), path: [] };

/** A law from the text field, or the reason why it is none. */
function readLaw(text, size = null) {
  const parts = text.split(",").map((part) => Rational.parse(part));
  const bad = parts.indexOf(null);
  if (bad >= 0) return { error: `entry ${bad + 1} is not a fraction such as 1/3 or 0.25` };
  if (parts.length < 2 || parts.length > NAMES.length) return { error: `2 to ${NAMES.length} tokens, please` };
  if (size !== null && parts.length !== size) return { error: `${parts.length} entries, but the other law has ${size}` };
  const sum = total(parts);
  return sum.equals(ONE) ? { law: parts } : { error: `sums to ${sum}; a law sums to 1` };
}

/* ---- changing the laws ---- */

function setLaw(which, law) {
  chosen[which] = law;
  chosen.path = [];
  draw();
}

/* ---- drawing ---- */

function drawEditor() {
  drawBars($("editor"), (which) => chosen[which], setLaw);
  for (const [id, law] of [["target-text", chosen.p], ["draft-text", chosen.q]]) {
    if (document.activeElement !== $(id)) $(id).value = asText(law);
  }
  $("fewer").disabled = chosen.p.length <= 2;
  $("more").disabled = chosen.p.length >= NAMES.length;
}

function part(className, from, to, whole) {
  const element = make("div", { className: `part ${className}` });
  element.style.bottom = percent(from, whole);
  element.style.height = percent(to.minus(from), whole);
  return element;
}

function mark(className, at, whole) {
  const element = make("div", { className: `mark ${className}` });
  element.style.bottom = percent(at, whole);
  return element;
}

/** One token's column of a plot: a stack, marks on it, and bars beside it. */
function column(x, stack, beside = []) {
  return make("div", { className: "token" }, make("div", { className: "stack" }, ...stack),
    ...beside.map((bar) => make("div", { className: "beside" }, bar)),
    make("span", { className: "name", textContent: NAMES[x] }));
}

/** Where a stack misses the target: a gap below the ceiling, or mass above it. */
function difference(found, wanted, whole) {
  return found.equals(wanted) ? [] : [part("missing", least(found, wanted), greatest(found, wanted), whole)];
}

function drawResult(rule, found, bound) {
  const { p } = chosen;
  const exact = found.tv.zero;
  $("verdict").classList.toggle("biased", !exact);
  const above = found.acceptance.compare(bound) > 0;
  $("verdict").replaceChildren(
    make("b", { textContent: exact ? "Exact on this pair: " : "Biased: " }),
    exact ? "the emitted law is the target. " : `total variation ${both(found.tv)} from the target. `,
    `Acceptance ${both(found.acceptance)}, bound ${both(bound)}.`,
    above ? " Acceptance above the bound: no exact rule can do that." : "",
  );
  const whole = Math.max(...p.map(Number), ...found.law.map(Number));
  $("law").replaceChildren(make("div", { className: "plot" }, ...p.map((_, x) => column(x,
    [part("accepted", ZERO, least(found.law[x], p[x]), whole), ...difference(found.law[x], p[x], whole),
      mark("ceiling", p[x], whole)], []))));
  const head = make("tr", {}, ...["token", "target", "emitted", "difference"].map((t) => make("th", { textContent: t, scope: "col" })));
  const rows = p.map((_, x) => {
    const gap = found.law[x].minus(p[x]);
    return make("tr", {}, make("td", { textContent: NAMES[x] }), make("td", { textContent: short(p[x]) }),
      make("td", { textContent: short(found.law[x]) }),
      make("td", { textContent: gap.zero ? "0" : short(gap), className: gap.zero ? "" : "off" }));
  });
  $("law-table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));

  const strip = make("div", { className: "strip" }, ...found.rates.map((rate, i) => {
    const segment = make("span", { textContent: rate.valueOf() > 0.06 ? `${i + 1}` : "", title: `candidate ${i + 1}: ${both(rate)}` });
    segment.style.width = percent(rate);
    return segment;
  }), make("span", { className: "rest", textContent: found.acceptance.valueOf() < 0.85 ? "none" : "" }));
  const line = make("div", { className: "bound" });
  line.style.left = `calc(${percent(bound)} - 2px)`;
  const label = make("div", { className: "bound-label", textContent: `bound ${short(bound)}` });
  label.style[bound.valueOf() > 0.5 ? "right" : "left"] = bound.valueOf() > 0.5 ? percent(ONE.minus(bound)) : percent(bound);
  const words = rule.once ? `each candidate ${both(found.rates[0])}` : found.rates.map((rate, i) => `${["first", "second", "third", "fourth"][i]} ${both(rate)}`).join(", ");
  $("acceptance").replaceChildren(make("div", { className: "strip-box" }, strip, line, label), make("p", { textContent: `Accepted: ${words}.` }));

  const option = rule.spread === "water-filling" ? " --option spread=water-filling" : "";
  const laws = `--target ${chosen.p.join(",")} --draft ${chosen.q.join(",")} --candidates ${chosen.K}`;
  const command = make("code", { textContent: `resispec law --verifier ${rule.name}${option} ${laws}` });
  $("reproduce").replaceChildren(...(rule.takesLevel ? [] : ["The same on the command line: ", command]));
}

/** The cards along one path of rejections. */
function drawSteps(rule) {
  const cards = [];
  let state = rule.start(chosen.p, chosen.q, chosen.K, chosen.level);
  let weight = ONE;
  for (let i = 0; i < (rule.once ? 1 : chosen.K); i++) {
    const step = stepOf(rule, state);
    const kept = step.rejectable.includes(chosen.path[i]) ? chosen.path[i] : step.rejectable[0];
    cards.push(stepCard(rule, state, step, i, kept, weight));
    if (kept === undefined) { // all accepted, or no candidate left
      drawn(cards);
      return;
    }
    chosen.path[i] = kept;
    weight = weight.times(rule.pathDependent ? step.left[kept] : total(step.left));
    state = step.after.get(kept);
  }
  cards.push(lastCard(rule, state, weight));
  drawn(cards);
}

const drawn = (cards) => $("steps").replaceChildren(...cards);

function stepCard(rule, state, step, i, kept, weight) {
  const p = state.target;
  const reached = add(step.m, step.reserve);
  const whole = Math.max(...p.map(Number), ...state.proposal.map(Number), ...reached.map(Number));
  const plot = make("div", { className: "plot" }, ...p.map((_, x) => column(x, [
    part("accepted", ZERO, step.m[x], whole),
    part("reserved", step.m[x], greatest(least(reached[x], p[x]), step.m[x]), whole),
    ...difference(reached[x], p[x], whole),
    mark("floor", p[x].minus(step.floor[x]), whole),
    mark("ceiling", p[x], whole),
  ], [part("draft-bar", ZERO, state.proposal[x], whole)])));
  const card = make("div", { className: "card" }, make("h3", { textContent: rule.once ? `The winner of ${chosen.K}` : `Candidate ${i + 1}` }));
  if (step.exhausted) {
    card.append(make("p", { textContent: "The draft has no token left: the token is drawn from the residual target." }), plot);
    return card;
  }
  const level = rule.level ? `, λ = ${short(rule.level(state))}` : "";
  const along = rule.pathDependent && i > 0 ? "along this path, " : "";
  card.append(make("p", { className: "numbers", textContent: `${along}looked at with probability ${short(weight)}${level}` }), plot);
  card.append(make("p", { textContent: `Accepts ${both(total(step.m))} of what it looks at: m = ${fractions(step.m)}` }));
  const keeps = reached.every((x, y) => x.equals(p[y]));
  card.append(make("p", {
    className: keeps ? "ok" : "off",
    textContent: keeps ? "✓ Accepted and reserved mass together are the residual target." : "✗ Accepted and reserved mass together are not the residual target.",
  }));
  if (kept === undefined) {
    card.append(make("p", { textContent: "Nothing is ever rejected here." }));
    return card;
  }
  if (rule.pathDependent) card.append(chips(step, i, kept));
  card.append(make("p", { textContent: `After the rejection the token must still have the law ${fractions(step.after.get(kept).target)}` }));
  return card;
}

/** Which rejected token to follow, for rules that look at it. */
function chips(step, i, kept) {
  return make("div", { className: "chips", role: "group", ariaLabel: `token rejected at candidate ${i + 1}` }, "Follow the rejection of",
    ...step.rejectable.map((token) => {
      const button = make("button", { type: "button", textContent: NAMES[token] });
      button.setAttribute("aria-pressed", token === kept);
      button.addEventListener("click", () => {
        chosen.path = [...chosen.path.slice(0, i), token];
        draw();
      });
      return button;
    }));
}

function lastCard(rule, state, weight) {
  const whole = Math.max(...state.target.map(Number));
  const plot = make("div", { className: "plot" }, ...state.target.map((value, x) => column(x, [part("target-bar", ZERO, value, whole)])));
  return make("div", { className: "card" }, make("h3", { textContent: "All rejected" }),
    make("p", { className: "numbers", textContent: `${rule.pathDependent ? "along this path, " : ""}reached with probability ${short(weight)}` }), plot,
    make("p", { textContent: `The token is drawn from the last residual, ${fractions(state.target)}` }));
}

function drawComparison() {
  const { p, q, K, level } = chosen;
  const bound = optimalAcceptance(p, q, K);
  const head = make("tr", {}, ...["rule", "acceptance", "total variation"].map((t) => make("th", { textContent: t, scope: "col" })));
  const rows = RULES.map((rule, i) => {
    const found = emittedLaw(rule, p, q, K, level);
    const button = make("button", { type: "button", textContent: rule.label });
    button.addEventListener("click", () => choose({ rule: i }));
    const above = found.acceptance.compare(rule.distinct ? optimalAcceptance(p, q, K, true) : bound) > 0;
    return make("tr", { className: i === chosen.rule ? "chosen" : "" }, make("td", {}, button),
      make("td", { textContent: both(found.acceptance), className: above ? "off" : "" }),
      make("td", { textContent: found.tv.zero ? "0" : both(found.tv), className: found.tv.zero ? "" : "off" }));
  });
  for (const [label, distinct] of [["Bound, independent candidates", false], ["Bound, distinct candidates", true]]) {
    rows.push(make("tr", {}, make("td", { textContent: label }), make("td", { textContent: both(optimalAcceptance(p, q, K, distinct)) }), make("td", { textContent: "0" })));
  }
  $("compare").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

let waiting = null;

/** The example that the laws are, if they are one. */
function presetNow() {
  const same = ([, p, q, K]) => p === chosen.p.join(",") && q === chosen.q.join(",") && K === chosen.K;
  const found = PRESETS.findIndex(same);
  return found < 0 ? "" : `${found}`;
}

function draw() {
  const rule = RULES[chosen.rule];
  const found = emittedLaw(rule, chosen.p, chosen.q, chosen.K, chosen.level);
  drawEditor();
  $("preset").value = presetNow();
  $("rule").value = chosen.rule;
  $("rule-says").textContent = rule.says;
  $("candidates").value = chosen.K;
  $("candidates-out").textContent = `${chosen.K}`;
  $("head-k").textContent = chosen.K === 1 ? "1 candidate" : `${chosen.K} candidates`;
  $("level").value = Math.round(chosen.level.valueOf() * 20);
  $("level-out").textContent = `${chosen.level}`;
  for (const element of document.querySelectorAll(".for-level")) element.classList.toggle("hidden", !rule.takesLevel);
  drawResult(rule, found, optimalAcceptance(chosen.p, chosen.q, chosen.K, Boolean(rule.distinct)));
  drawSteps(rule);
  clearTimeout(waiting);
  waiting = setTimeout(() => { drawComparison(); writeAddress(); }, 120);
}

function choose(change) {
  Object.assign(chosen, change, { path: [] });
  draw();
}

/* ---- the address keeps the state, so that a link opens it ---- */

function writeAddress() {
  const rule = RULES[chosen.rule];
  const entries = { p: chosen.p.join(","), q: chosen.q.join(","), k: chosen.K, rule: rule.spread === "water-filling" ? `${rule.name}:${rule.spread}` : rule.name };
  if (rule.takesLevel) entries.level = `${chosen.level}`;
  const address = `#${Object.entries(entries).map(([k, v]) => `${k}=${v}`).join("&")}`;
  try { history.replaceState(null, "", address); } catch { /* some browsers refuse this for local files */ }
}

function readAddress() {
  const given = new URLSearchParams(decodeURIComponent(location.hash.slice(1)));
  const p = readLaw(given.get("p") ?? "");
  const q = readLaw(given.get("q") ?? "", p.law?.length);
  if (!p.law || !q.law) return false;
  const [name, spread] = (given.get("rule") ?? "resispec").split(":");
  const rule = RULES.findIndex((r) => r.name === name && (!spread || r.spread === spread));
  const K = Number(given.get("k") ?? 2);
  choose({
    p: p.law, q: q.law, K: [1, 2, 3, 4].includes(K) ? K : 2, rule: Math.max(rule, 0),
    level: Rational.parse(given.get("level") ?? "1/2") ?? Q(1, 2),
  });
  return true;
}

/* ---- controls ---- */

function fromText() {
  const [p, q] = ["target-text", "draft-text"].map((id) => readLaw($(id).value));
  if (p.law && q.law && p.law.length !== q.law.length) q.error = readLaw($("draft-text").value, p.law.length).error;
  $("target-error").textContent = p.error ?? "";
  $("draft-error").textContent = q.error ?? "";
  if (!p.error && !q.error) choose({ p: p.law, q: q.law });
}

function usePreset([, p, q, K]) {
  choose({ p: readLaw(p).law, q: readLaw(q).law, K });
}

$("preset").append(make("option", { value: "", textContent: "Laws of your own", hidden: true }), ...PRESETS.map(([name], i) => make("option", { value: i, textContent: name })));
$("rule").append(...RULES.map((rule, i) => make("option", { value: i, textContent: rule.label })));
$("preset").addEventListener("change", () => usePreset(PRESETS[$("preset").value]));
$("rule").addEventListener("change", () => choose({ rule: Number($("rule").value) }));
$("candidates").addEventListener("input", () => choose({ K: Number($("candidates").value) }));
$("level").addEventListener("input", () => choose({ level: Q($("level").value, 20) }));
for (const id of ["target-text", "draft-text"]) {
  $(id).addEventListener("input", fromText);
  $(id).addEventListener("blur", () => { $("target-error").textContent = $("draft-error").textContent = ""; drawEditor(); });
}
$("fewer").addEventListener("click", () => {
  const cut = (law) => {
    const rest = law.slice(0, -1);
    return normalise(rest, rest.map(() => Q(1, rest.length)));
  };
  choose({ p: cut(chosen.p), q: cut(chosen.q) });
});
$("more").addEventListener("click", () => choose({ p: [...chosen.p, ZERO], q: [...chosen.q, ZERO] }));
addEventListener("hashchange", readAddress);

chosen.rule = RULES.findIndex((rule) => rule.name === "resispec-published");
if (!readAddress()) usePreset(PRESETS[0]);
