"use strict";
/*
 * The page on whole trees: what the user chose (`shown`), drawn again in full after every change; what needs all trees
 * follows a moment later. Laws are exact, as on the page of one position.
 */

const MOST = 3; // tokens
const PRESETS = [
  ["The second token repeats the first", ["1/2,1/2", "1,0", "0,1"], ["1/2,1/2", "1/2,1/2", "1/2,1/2"], [0, 1, 1, 1, 0, 1]],
  ["Two tokens, where the weights v = t are poor", ["5/6,1/6", "1/2,1/2", "2/3,1/3"], ["1/2,1/2", "2/3,1/3", "2/3,1/3"], [0, 1, 0, 1, 0, 0]],
  ["A fair die, a draft that knows two faces", ["1/3,1/3,1/3", "1/3,1/3,1/3", "1/3,1/3,1/3", "1/3,1/3,1/3"], ["1/2,1/2,0", "1/2,1/2,0", "1/2,1/2,0", "1/2,1/2,0"], [0, 1, 0, 1, 0, 1]],
  ["Three tokens, each follows another", ["1/3,1/3,1/3", "0,1/2,1/2", "1/2,0,1/2", "1/2,1/2,0"], ["1/3,1/3,1/3", "1/3,1/3,1/3", "1/3,1/3,1/3", "1/3,1/3,1/3"], [0, 1, 0, 0, 0, 2]],
];

const shown = { p: [], q: [], tree: [] };

const name = (node) => NAMES[shown.tree[node]];
const place = (node) => (node === ROOT ? "the root" : node < 2 ? name(node) : `${name(parentOf(node))} ${name(node)}`);

/* ---- elements ---- */

const cell = (content, className = "") => make("td", { className }, ...[content].flat());
const row = (...cells) => make("tr", {}, ...cells);

function fill(table, head, rows) {
  table.replaceChildren(make("thead", {}, row(...head.map((t) => make("th", { textContent: t, scope: "col" })))), make("tbody", {}, ...rows));
  return table;
}

/* ---- laws ---- */

function drawLaws() {
  const box = $("laws");
  if (box.childElementCount !== shown.p.length) {
    box.replaceChildren(...shown.p.map((_, i) => {
      const title = i ? `After ${NAMES[i - 1]}` : "First token";
      return make("section", { ariaLabel: title }, make("h3", { textContent: title }), make("div", { className: "editor" }));
    }));
  }
  [...box.children].forEach((section, i) => drawBars(section.lastChild, (which) => shown[which][i], (which, law) => {
    shown[which] = shown[which].map((old, j) => (j === i ? law : old));
    draw();
  }));
  $("fewer").disabled = shown.p[0].length <= 2;
  $("more").disabled = shown.p[0].length >= MOST;
}

/** Whether the draft can draw this tree; a node that it cannot is said, and nothing else is computed. */
const impossible = () => [0, 1, 2, 3, 4, 5].filter((node) => lawAt(shown.q, shown.tree, parentOf(node))[shown.tree[node]].zero);

/* ---- the tree ---- */

const AT = [[50, 12], [26, 48], [74, 48], [12, 84], [38, 84], [62, 84], [88, 84]]; // per cent, the root first

function drawTree(masses) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (let node = 0; node < 6; node++) {
    const line = document.createElementNS(svg.namespaceURI, "line");
    const [from, to] = [AT[parentOf(node) + 1], AT[node + 1]];
    [["x1", from[0]], ["y1", from[1]], ["x2", to[0]], ["y2", to[1]]].forEach(([key, value]) => line.setAttribute(key, value));
    svg.append(line);
  }
  const wrong = impossible();
  const nodes = AT.map(([x, y], i) => {
    const node = i - 1;
    const token = make(node === ROOT ? "span" : "button", { className: `knot${wrong.includes(node) ? " off" : ""}`, textContent: node === ROOT ? "∅" : name(node) });
    if (node !== ROOT) {
      token.type = "button";
      token.dataset.node = node;
      token.setAttribute("aria-label", `node ${place(node)}: another token`);
      token.addEventListener("click", () => change(node));
    }
    const box = make("div", { className: "place" }, token, make("small", { textContent: masses ? (masses[i].d <= 99n ? `${masses[i]}` : decimal(masses[i])) : "" }));
    box.style.left = `${x}%`;
    box.style.top = `${y}%`;
    return box;
  });
  const focused = document.activeElement?.dataset?.node;
  $("drawn").replaceChildren(svg, ...nodes);
  if (focused !== undefined) document.querySelector(`[data-node='${focused}']`).focus();
}

/** The next token that the draft can propose there. */
function change(node) {
  const q = lawAt(shown.q, shown.tree, parentOf(node));
  let x = shown.tree[node];
  do x = (x + 1) % q.length; while (q[x].zero);
  shown.tree[node] = x;
  draw();
}

/* ---- steps ---- */

/** What a level does with every pair of a node and a token: nothing of it depends on which children came. */
function levelTable(level, nodes) {
  const rows = level.t.flatMap((t, j) => t.map((x, y) => row(
    cell(nodes[j] === ROOT ? NAMES[y] : `${name(nodes[j])} ${NAMES[y]}`), cell(short(x)), cell(short(level.sigma[j][y])),
    cell(short(level.kept[j][y])), cell(short(level.left[j][y])))));
  return make("div", { className: "scroll" }, fill(make("table"), ["child", "t = v", "σ", "kept", "stop e"], rows));
}

/** The children of this tree: how likely each is the pick, and its share. */
function childrenTable(nodes, picked, shares) {
  return make("div", { className: "scroll" }, fill(make("table"), ["drafted", "picked v/Σv", "share a"],
    nodes.map((node, i) => row(cell(place(node)), cell(short(picked[i])), cell(short(shares[i]))))));
}

const card = (title, ...parts) => make("div", { className: "card" }, make("h3", { textContent: title }), ...parts);
const says = (text) => make("p", { textContent: text });

function drawSteps(found) {
  const { first, one, second, two } = found;
  const reached = second.reached.flatMap((j) => CHILDREN[j + 1]);
  const cards = [
    card("1. Before the first level", says("The root has all of the path, t = p. Over all draws the pick has the law σ; min(1, t/σ) of it is kept, and (t − σ)⁺ is left for a stop."), levelTable(first, [ROOT])),
    card("2. The first level is drawn", childrenTable([0, 1], one.picked[0], one.shares[0]),
      says(`The stop at the root gets the rest: ${both(found.stop)} (its mean over all draws is ${short(total(first.left[0]))}).`)),
  ];
  if (reached.length) {
    cards.push(
      card("3. Before the second level", says("Each node's target is its share times p. One child is picked of all those of the level, whoever their parent is."), levelTable(second, second.reached)),
      card("4. The second level is drawn", childrenTable(reached, two.picked.flat(), two.shares.flat()),
        says(`All stops are multiplied by ${both(two.factor)}, so that everything adds up to 1. A number below 1 says that this level found more than it does in the mean.`)),
    );
  }
  $("steps").replaceChildren(...cards);
}

function drawEnds(whole, nodes) {
  const bar = (className, x) => {
    const inside = make("span", { className });
    inside.style.width = percent(x);
    return make("div", { className: "meter" }, inside);
  };
  const rows = whole.map((x, i) => row(cell(i < 3 ? `stops at ${place(i - 1)}` : `accepts ${place(i - 1)}`),
    cell(short(x)), cell(short(nodes[i])), cell([bar("accepted", x), bar("missing", nodes[i])], "meters")));
  rows.push(row(cell("sum"), cell(`${total(whole)}`), cell(`${total(nodes)}`), cell("")));
  fill($("ends"), ["path", "whole tree", "node by node", ""], rows);
}

/* ---- all trees ---- */

function drawLengths() {
  const { whole, nodes } = acceptedMasses(shown);
  const rows = [["whole tree", whole], ["node by node", nodes]].map(([label, masses]) => row(
    cell(label), ...masses.map((x) => cell(short(x))), cell(both(total(masses)))));
  fill($("lengths"), ["accepted", "1 or more", "2", "length"], rows);
}

function drawVerdict() {
  const { joint } = wholeTreeLaw(shown);
  const exact = joint.every((law, x) => law.every((m, y) => m.equals(shown.p[0][x].times(shown.p[x + 1][y]))));
  $("verdict").classList.toggle("biased", !exact);
  $("verdict").replaceChildren(make("b", { textContent: exact ? "Exact: " : "Biased: " }),
    exact ? "in the mean over all trees the first two tokens have the target's joint law, fraction by fraction." : "the first two tokens do not have the target's joint law.");
}

let waiting = null;

function draw() {
  drawLaws();
  const same = ([, p, q]) => `${p}` === shown.p.join() && `${q}` === shown.q.join();
  const preset = PRESETS.findIndex(same);
  $("preset").value = preset < 0 ? "" : `${preset}`;
  const wrong = impossible();
  const found = wrong.length ? null : verifyWhole(shown, shown.tree);
  drawTree(found?.masses);
  if (found) {
    drawSteps(found);
    drawEnds(found.masses, verifyNodes(shown, shown.tree));
  } else {
    $("steps").replaceChildren(says(`The draft never proposes ${wrong.map(place).join(", ")}: press the marked nodes, or give them some probability.`));
    $("ends").replaceChildren();
  }
  drawLengths();
  clearTimeout(waiting);
  waiting = setTimeout(drawVerdict, 150);
}

/* ---- controls ---- */

const laws = (texts) => texts.map((text) => text.split(",").map(Rational.parse));

function usePreset([, p, q, tree]) {
  Object.assign(shown, { p: laws(p), q: laws(q), tree: [...tree] });
  draw();
}

/** Every law cut to its first tokens, or with one more of probability 0; a new token is followed by what follows the last. */
function resize(size) {
  const fit = (law) => (law.length < size ? [...law, ZERO] : normalise(law.slice(0, size), law.slice(0, size).map(() => Q(1, size))));
  for (const which of ["p", "q"]) {
    const rows = shown[which].map(fit);
    shown[which] = rows.length <= size ? [...rows, rows.at(-1)] : rows.slice(0, size + 1);
  }
  shown.tree = shown.tree.map((x) => Math.min(x, size - 1));
  draw();
}

$("preset").append(make("option", { value: "", textContent: "Laws of your own", hidden: true }), ...PRESETS.map(([label], i) => make("option", { value: i, textContent: label })));
$("preset").addEventListener("change", () => usePreset(PRESETS[$("preset").value]));
$("fewer").addEventListener("click", () => resize(shown.p[0].length - 1));
$("more").addEventListener("click", () => resize(shown.p[0].length + 1));

usePreset(PRESETS[0]);
drawVerdict();
