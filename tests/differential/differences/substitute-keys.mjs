/**
 * Substitutes for workflow keys that the package cannot represent; they are used on its side only.
 *
 * @module
 */

import { mapStrings } from "../effects.mjs";

/** The substitute for `__proto__` (B18), which sorts directly after it. */
export const PROTO_SUBSTITUTE = "__proto__~";

/** The suffix of a key that no definition has and no object inherits (B20, B44). */
export const NO_SUCH_KEY = "\u0001";

/** Replaces the substitutes in the package's output. @template T @param {T} value @returns {T} */
export function withoutSubstitutes(value) {
  return mapStrings(value, (text) => text.replaceAll(PROTO_SUBSTITUTE, "__proto__").replaceAll(NO_SUCH_KEY, ""));
}

/** Inserts the substitutes into stored entries for the package. @param {import("../types.mjs").Entry[]} branch */
export function withSubstitutes(branch) {
  return branch.map((entry) =>
    entry.customType === "workflow:state" ? { ...entry, data: mapStrings(entry.data, (text) => (text === "__proto__" ? PROTO_SUBSTITUTE : text)) } : entry,
  );
}
