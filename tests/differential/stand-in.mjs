/**
 * A stand-in for our side that tests the comparison: it has exactly the expected effects, except for one
 * that is changed on purpose. If the comparison does not detect that, it is broken or a rule accepts
 * more than its difference.
 *
 * @module
 */

import { Random } from "./random.mjs";

/** @typedef {import("./types.mjs").Effect} Effect */

/** Faults in the effects of one operation. @type {Record<string, (effects: Effect[], at: number) => Effect[] | null>} */
export const MUTATIONS = {
  "drops an effect": (effects, at) => effects.filter((_, i) => i !== at),
  "does an effect twice": (effects, at) => [...effects.slice(0, at + 1), structuredClone(effects[at]), ...effects.slice(at + 1)],
  "changes a text": (effects, at) => changed(effects, at, (value) => (typeof value === "string" && value !== "" ? `${value.slice(0, -1)}~` : undefined)),
  "changes a number or flag": (effects, at) => changed(effects, at, (value) => (typeof value === "number" ? value + 1 : typeof value === "boolean" ? !value : undefined)),
  "swaps two effects": (effects, at) => {
    const next = effects[at + 1];
    if (!next || JSON.stringify(next) === JSON.stringify(effects[at])) return null;
    return [...effects.slice(0, at), next, effects[at], ...effects.slice(at + 2)];
  },
};

/** Changes the last value that `change` accepts, at any depth; the kind of the effect stays. */
function changed(effects, at, change) {
  const copy = structuredClone(effects);
  return changedWithin(copy[at], change) ? copy : null;
}

function changedWithin(object, change) {
  for (const key of Object.keys(object).reverse()) {
    if (key === "kind") continue;
    const value = object[key];
    if (value && typeof value === "object") {
      if (changedWithin(value, change)) return true;
      continue;
    }
    const other = change(value);
    if (other === undefined) continue;
    object[key] = other;
    return true;
  }
  return false;
}

export class StandIn {
  /** @param {number} now @param {{mutation: string, seed: number, skip: number} | null} fault  the mutation, and the number of operations to skip */
  constructor(now, fault) {
    this.now = now;
    this.fault = fault;
    this.left = fault?.skip ?? 0;
    this.random = new Random(fault?.seed ?? 0);
    /** The operation and the effect's kind of the mutation, once it was made. */
    this.made = null;
  }

  async open() {}

  /** Returns the expected effects, with the fault; see CaseRun.compared. @param {import("./types.mjs").Operation} operation @param {Effect[]} expected */
  reflect(operation, expected) {
    if (!this.fault || this.made || expected.length === 0 || this.left-- > 0) return expected;
    const at = this.random.int(0, expected.length - 1);
    const wrong = MUTATIONS[this.fault.mutation](expected, at);
    if (!wrong) {
      this.left = 0;
      return expected;
    }
    this.made = { operation: operation.op, kind: expected[at].kind };
    return wrong;
  }
}
