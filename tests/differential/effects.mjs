/**
 * Effects in normal form: absent fields are left out, task ids become tokens, so that two streams
 * can be compared as JSON.
 *
 * @module
 */

/** @typedef {import("./types.mjs").Effect} Effect */

/** The task ids met so far. Both sides' ids of one run become the same token; the time in them stays. */
export class TaskIds {
  constructor() {
    /** @type {Map<string, string>} */
    this.tokens = new Map();
    this.count = 0;
  }

  /**
   * Takes the ids of a run that both sides began in this operation. Ours always ends in six
   * characters, the package's sometimes in fewer (A17): tells whether it was shorter.
   *
   * @param {Effect[]} theirs @param {Effect[]} ours
   */
  meet(theirs, ours) {
    const [short, full] = [newTaskId(theirs, this.tokens), newTaskId(ours, this.tokens)];
    if (short === null || full === null || !/-[0-9a-z]{6}$/.test(full)) return false;
    this.count++;
    for (const id of [short, full]) this.tokens.set(id, id.replace(/[^-]*$/, `#${this.count}`));
    return !/-[0-9a-z]{6}$/.test(short);
  }

  /** @template T @param {T} value @returns {T} */
  replace(value) {
    if (this.tokens.size === 0) return value;
    return mapStrings(value, (text) => {
      for (const [id, token] of this.tokens) text = text.replaceAll(id, token);
      return text;
    });
  }
}

function newTaskId(effects, known) {
  for (const effect of effects) {
    const id = effect.kind === "entry" && effect.customType === "workflow:state" ? effect.data?.taskId : undefined;
    if (typeof id === "string" && /^wf-\d+-[0-9a-z]*$/.test(id) && !known.has(id)) return id;
  }
  return null;
}

/** A copy with every string (keys too) mapped. */
export function mapStrings(value, map) {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [map(k), mapStrings(v, map)]));
  return value;
}

/** A value as JSON with sorted keys; absent and undefined are the same. */
export function canonical(value) {
  return JSON.stringify(value, (_key, v) =>
    v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v,
  );
}

/** @param {Effect[]} one @param {Effect[]} other */
export function sameEffects(one, other) {
  return canonical(one) === canonical(other);
}

/** The normal form of one side's effects. @param {Effect[]} effects @returns {Effect[]} */
export function normal(effects) {
  return effects.map((effect) => {
    const plain = JSON.parse(JSON.stringify(effect));
    if (plain.kind === "widget" && plain.lines === null) delete plain.placement;
    return plain;
  });
}
