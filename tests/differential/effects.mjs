/**
 * Effects in normal form: without absent fields and with tokens for task ids, so that two streams
 * can be compared as JSON.
 *
 * @module
 */

/** @typedef {import("./types.mjs").Effect} Effect */

/**
 * The known task ids. Both sides' ids of one run become the same token; the time in them stays.
 * The package's last part may be short (A17) and so be a prefix of another id: longer ids are
 * replaced first, and in effects of ours only ids of ours are replaced.
 */
export class TaskIds {
  constructor() {
    /** @type {Map<string, string>} */
    this.ours = new Map();
    /** @type {Map<string, string>} */
    this.all = new Map();
    this.count = 0;
  }

  /**
   * Records the ids of a run that both sides started in this operation. Returns true if the package's
   * id is shorter than ours, which always ends in six characters.
   *
   * @param {Effect[]} theirs @param {Effect[]} ours
   */
  pair(theirs, ours) {
    const [short, full] = [taskIdOf(theirs), taskIdOf(ours)];
    if (short === null || full === null || this.ours.has(full) || !/-[0-9a-z]{6}$/.test(full)) return false;
    const token = full.replace(/[^-]*$/, `#${++this.count}`);
    this.ours.set(full, token);
    this.all.set(full, token);
    this.all.set(short, short.replace(/[^-]*$/, `#${this.count}`));
    this.all = new Map([...this.all].sort(([a], [b]) => b.length - a.length));
    return short.length < full.length;
  }

  /** @template T @param {T} said @returns {T} */
  inTheirs(said) {
    return replaced(said, this.all);
  }

  /** @template T @param {T} said @returns {T} */
  inOurs(said) {
    return replaced(said, this.ours);
  }
}

function replaced(said, tokens) {
  if (tokens.size === 0) return said;
  return mapStrings(said, (text) => {
    if (!text.includes("wf-")) return text;
    for (const [id, token] of tokens) text = text.replaceAll(id, token);
    return text;
  });
}

function taskIdOf(effects) {
  const id = effects.find((e) => e.kind === "entry" && e.customType === "workflow:state")?.data?.taskId;
  return typeof id === "string" && /^wf-\d+-[0-9a-z]*$/.test(id) ? id : null;
}

/** Copies a value with every string mapped, keys included. */
export function mapStrings(value, map) {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [map(k), mapStrings(v, map)]));
  return value;
}

/** Formats a value as JSON with sorted keys; absent and undefined are equal. */
export function canonical(value) {
  return JSON.stringify(value, (_key, v) =>
    v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v,
  );
}

/** @param {Effect[]} one @param {Effect[]} other */
export function sameEffects(one, other) {
  return canonical(one) === canonical(other);
}

/** Converts one side's effects to normal form. @param {Effect[]} effects @returns {Effect[]} */
export function normal(effects) {
  return effects.map((effect) => {
    const plain = JSON.parse(JSON.stringify(effect));
    if (plain.kind === "widget" && plain.lines === null) delete plain.placement;
    return plain;
  });
}
