/**
 * Seeded randomness, the only source of randomness in the harness: the same seed gives the same case
 * on every machine.
 *
 * @module
 */

/** Mixes two numbers into a 32-bit seed, so that neighbouring seeds give unrelated cases. */
export function mix(seed, index) {
  let h = (seed ^ Math.imul(index + 0x9e3779b9, 0x85ebca6b)) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b) >>> 0;
  return (h ^ (h >>> 16)) >>> 0;
}

export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** Returns a number in [0, 1): mulberry32. */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** Returns an integer from `low` to `high`, both included. */
  int(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** Returns true with the given probability. */
  chance(probability) {
    return this.next() < probability;
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    return list[this.int(0, list.length - 1)];
  }

  /** Picks a value of `[weight, value]` pairs. @template T @param {[number, T][]} pairs @returns {T} */
  weighted(pairs) {
    let left = this.next() * pairs.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of pairs) {
      left -= weight;
      if (left < 0) return value;
    }
    return pairs[pairs.length - 1][1];
  }

  /** Selects items of the list, in order, each with the given probability. @template T @param {readonly T[]} list @returns {T[]} */
  some(list, probability = 0.5) {
    return list.filter(() => this.chance(probability));
  }

  /** Shuffles a copy of the list. @template T @param {readonly T[]} list @returns {T[]} */
  shuffled(list) {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
  }
}
