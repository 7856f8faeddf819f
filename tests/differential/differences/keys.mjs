/**
 * Workflow keys that the package cannot hold, or mistakes for something else, go by stand-ins on
 * its side and by their own names everywhere else.
 *
 * @module
 */

import { mapStrings } from "../effects.mjs";

/** Stands in for `__proto__` (B18); it sorts right behind it. */
export const PROTO_STAND_IN = "__proto__~";

/** Ends a key that no definition has, and that no object inherits (B20, B44). */
export const NO_SUCH_KEY = "\u0001";

/** What the package said, with the keys' own names. @template T @param {T} value @returns {T} */
export function withoutStandIns(value) {
  return mapStrings(value, (text) => text.replaceAll(PROTO_STAND_IN, "__proto__").replaceAll(NO_SUCH_KEY, ""));
}

/** Stored entries, as the package must be given them. @param {import("../types.mjs").Entry[]} branch */
export function withStandIns(branch) {
  return branch.map((entry) =>
    entry.customType === "workflow:state" ? { ...entry, data: mapStrings(entry.data, (text) => (text === "__proto__" ? PROTO_STAND_IN : text)) } : entry,
  );
}
