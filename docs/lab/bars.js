"use strict";
/* What the pages of the lab share: short texts of fractions, elements, and bars to drag. Nothing here knows a page. */

const GRID = 60;
const NAMES = "abcdef";

const $ = (id) => document.getElementById(id);

/* ---- text and elements ---- */

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const decimal = (x) => Number(x.valueOf()).toFixed(4).replace(/^0(?=\.)/, "");
const short = (x) => (x.d <= 99999n ? `${x}` : `≈ ${decimal(x)}`);
const both = (x) => (x.d === 1n ? `${x}` : x.d <= 99999n ? `${x} ≈ ${decimal(x)}` : `≈ ${decimal(x)}`);
const percent = (x, whole = 1) => `${(100 * x.valueOf()) / whole}%`;
const fractions = (law) => {
  const readable = law.every((x) => x.d <= 99999n);
  return `${readable ? "" : "≈ "}(${law.map((x) => (readable || x.zero ? `${x}` : decimal(x))).join(", ")})`;
};
const asText = (law) => law.join(", ");

/* ---- laws as bars ---- */

/** `law` on the grid with token `x` at `units`; the others share the rest in proportion, largest remainders first. */
function withUnits(law, x, units) {
  const rest = GRID - units;
  const others = law.map((_, y) => y).filter((y) => y !== x);
  const whole = total(without(law, x));
  const share = (y) => (whole.positive ? law[y].over(whole) : Q(1, others.length)).times(Q(rest));
  const found = law.map((_, y) => (y === x ? units : Number(share(y).n / share(y).d)));
  let missing = GRID - found.reduce((s, n) => s + n, 0);
  const remainder = (y) => share(y).minus(Q(found[y]));
  for (const y of [...others].sort((y, z) => remainder(z).compare(remainder(y)))) {
    if (missing-- > 0) found[y] += 1;
  }
  return found.map((n) => Q(n, GRID));
}

const unitsOf = (x) => Math.round(x.valueOf() * GRID);

/** Pointer and keyboard of one bar. A drag shares out what the law held when it began, so that going back undoes it. */
function listen(handle, x, read, write) {
  let before = null;
  const set = (units, from) => write(withUnits(from, x, Math.max(0, Math.min(GRID, units))));
  const move = (event) => {
    const box = handle.getBoundingClientRect();
    set(Math.round(((box.bottom - event.clientY) / box.height) * GRID), before);
  };
  handle.addEventListener("pointerdown", (event) => {
    before = read();
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
    move(event);
  });
  handle.addEventListener("pointermove", (event) => before && move(event));
  for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => { before = null; });
  handle.addEventListener("keydown", (event) => {
    const now = unitsOf(read()[x]);
    const step = event.shiftKey ? 6 : 1;
    const wanted = {
      ArrowUp: now + step, ArrowRight: now + step, ArrowDown: now - step, ArrowLeft: now - step,
      PageUp: now + 6, PageDown: now - 6, Home: 0, End: GRID,
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    set(wanted, read());
  });
}

/**
 * Target and draft as bars; `read(which)` and `write(which, law)` are the page's, `which` being "p" or "q". Bars are made
 * anew only when the number of tokens changes, so that a drag keeps its element.
 */
function drawBars(editor, read, write) {
  const laws = [read("p"), read("q")];
  if (editor.childElementCount !== laws[0].length) {
    editor.replaceChildren(...laws[0].map((_, x) => {
      const handles = [["target", "p"], ["draft", "q"]].map(([name, which]) => {
        const handle = make("div", { className: `handle ${name}`, tabIndex: 0, role: "slider" },
          make("div", { className: "bar" }), make("div", { className: "value" }));
        handle.setAttribute("aria-label", `${name}, token ${NAMES[x]}`);
        handle.setAttribute("aria-orientation", "vertical");
        handle.setAttribute("aria-valuemin", 0);
        handle.setAttribute("aria-valuemax", GRID);
        listen(handle, x, () => read(which), (law) => write(which, law));
        return handle;
      });
      return make("div", { className: "token" }, ...handles, make("span", { className: "name", textContent: NAMES[x] }));
    }));
  }
  [...editor.children].forEach((token, x) => {
    laws.forEach((law, i) => {
      const value = law[x];
      const handle = token.children[i];
      const [bar, text] = handle.children;
      bar.style.height = percent(value);
      text.style.bottom = `min(${percent(value)}, 100% - 1.1rem)`;
      text.textContent = value.d <= 999n ? `${value}` : decimal(value);
      handle.setAttribute("aria-valuenow", unitsOf(value));
      handle.setAttribute("aria-valuetext", `${value}`);
    });
  });
}
