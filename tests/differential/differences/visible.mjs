/**
 * Hidden characters: ours shows control and invisible characters as escapes, in all texts that people or
 * the model read.
 *
 * @module
 */

import { mapStrings } from "../effects.mjs";

const HIDDEN =
  /[\0-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])/gu;
const SHORT = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
]);

/** Returns a text as it is shown. @param {string} text @param {boolean} isLine */
export function visible(text, isLine) {
  const whole = isLine ? text : text.replaceAll("\r\n", "\n");
  return whole.replace(HIDDEN, (c) => {
    if (!isLine && (c === "\n" || c === "\t")) return c;
    return SHORT.get(c) ?? `\\u{${c.codePointAt(0).toString(16)}}`;
  });
}

/** Effects with one line of text. */
const LINES = ["status", "name", "complete"];

/** Makes the texts of effects visible; entries are stored as they are. @param {import("../types.mjs").Effect[]} expected */
export function makeVisible(expected) {
  let changed = false;
  expected.forEach((effect, i) => {
    if (effect.kind === "entry" || effect.kind === "throws") return;
    const shown = mapStrings(effect, (text) => visible(text, LINES.includes(effect.kind)));
    changed ||= JSON.stringify(shown) !== JSON.stringify(effect);
    expected[i] = shown;
  });
  return changed;
}
