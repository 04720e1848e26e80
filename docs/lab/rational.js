"use strict";
/* Exact rationals on BigInt, and vectors of them. Loaded first; everything here is pure. */

class Rational {
  constructor(n, d = 1n) {
    if (d === 0n) throw new RangeError("a denominator of 0");
    if (d < 0n) [n, d] = [-n, -d];
    const g = gcd(n < 0n ? -n : n, d);
    this.n = n / g;
    this.d = d / g;
    Object.freeze(this);
  }

  /** "1/3", "0.35" or "2", as the command line reads them; null for anything else. */
  static parse(text) {
    const found = /^\s*(\d{1,12})(?:\.(\d{1,12}))?\s*(?:\/\s*(\d{1,12}))?\s*$/.exec(text);
    if (!found) return null;
    const [, whole, decimals = "", below = "1"] = found;
    const d = BigInt(below) * 10n ** BigInt(decimals.length);
    return d === 0n ? null : new Rational(BigInt(whole + decimals), d);
  }

  plus(y) { return new Rational(this.n * y.d + y.n * this.d, this.d * y.d); }
  minus(y) { return new Rational(this.n * y.d - y.n * this.d, this.d * y.d); }
  times(y) { return new Rational(this.n * y.n, this.d * y.d); }
  over(y) { return new Rational(this.n * y.d, this.d * y.n); }
  compare(y) {
    const difference = this.n * y.d - y.n * this.d;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  equals(y) { return this.n === y.n && this.d === y.d; }
  power(k) { return new Rational(this.n ** BigInt(k), this.d ** BigInt(k)); }
  get positive() { return this.n > 0n; }
  get zero() { return this.n === 0n; }

  /** A float; digits beyond its precision are cut before dividing, so that long fractions do not overflow. */
  valueOf() {
    const shift = BigInt(Math.max(0, this.d.toString(2).length - 900));
    return Number(this.n >> shift) / Number(this.d >> shift);
  }
  toString() { return this.d === 1n ? `${this.n}` : `${this.n}/${this.d}`; }
}

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a || 1n;
}

const Q = (n, d = 1) => new Rational(BigInt(n), BigInt(d));
const ZERO = Q(0);
const ONE = Q(1);
const least = (x, y) => (x.compare(y) <= 0 ? x : y);
const greatest = (x, y) => (x.compare(y) >= 0 ? x : y);

/* Vectors are arrays of Rational. */
const total = (f) => f.reduce((s, x) => s.plus(x), ZERO);
const add = (f, g) => f.map((x, i) => x.plus(g[i]));
const subtract = (f, g) => f.map((x, i) => x.minus(g[i]));
const scale = (f, c) => f.map((x) => x.times(c));
const minimum = (f, g) => f.map((x, i) => least(x, g[i]));
const maximum = (f, g) => f.map((x, i) => greatest(x, g[i]));
const positivePart = (f) => f.map((x) => greatest(x, ZERO));
const without = (f, token) => f.map((x, i) => (i === token ? ZERO : x));
const totalVariation = (f, g) => total(subtract(f, g).map((x) => (x.positive ? x : ZERO.minus(x)))).over(Q(2));

/** `mass / |mass|`, or `otherwise` where there is no mass (reached with probability 0). */
function normalise(mass, otherwise) {
  const whole = total(mass);
  return whole.positive ? mass.map((x) => x.over(whole)) : otherwise;
}
