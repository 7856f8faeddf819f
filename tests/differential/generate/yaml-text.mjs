/**
 * A YAML writer with random styles. A `Raw` is written unchanged.
 *
 * @module
 */

/** YAML text that is written unchanged. */
export class Raw {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

export const raw = (text) => new Raw(text);

const PLAIN = /^[A-Za-z][A-Za-z0-9 _./-]*[A-Za-z0-9]$/;
const RESERVED = /^(true|false|null|yes|no|on|off|y|n)$/i;

/** @param {import("../random.mjs").Random} random @param {string} value @param {number} indent */
function string(random, value, indent) {
  const styles = [JSON.stringify(value)];
  if (PLAIN.test(value) && !RESERVED.test(value)) styles.push(value);
  if (!/[\n\r\t\u2028\u2029\u0085\ufeff]/.test(value)) styles.push(`'${value.replaceAll("'", "''")}'`);
  if (/^\S[^\r\t\u2028\u2029\u0085\ufeff]*\S$/.test(value) && !/\n\s*\n|\n[ ]/.test(value)) {
    const pad = " ".repeat(indent + 2);
    styles.push(`|-\n${value.split("\n").map((line) => pad + line).join("\n")}`);
  }
  return random.pick(styles);
}

/** Formats a value in a random style. @param {import("../random.mjs").Random} random @param {any} data @returns {string} */
export function value(random, data, indent = 0) {
  if (data instanceof Raw) return data.text;
  if (typeof data === "string") return string(random, data, indent);
  if (Array.isArray(data)) return list(random, data, indent);
  if (data && typeof data === "object") {
    const fields = Object.entries(data);
    if (fields.length === 0) return "{}";
    if (random.chance(0.3)) return `{ ${fields.map(([k, v]) => `${k}: ${flow(v)}`).join(", ")} }`;
    return `\n${mapping(random, fields, indent + 2)}`.trimEnd();
  }
  return String(data);
}

function flow(v) {
  if (v instanceof Raw) return v.text;
  return JSON.stringify(v, (_, x) => (x instanceof Raw ? x.text : x));
}

function list(random, items, indent) {
  const simple = items.every((item) => typeof item !== "object");
  if (items.length === 0 || (simple && random.chance(0.5))) return `[${items.map(flow).join(", ")}]`;
  const pad = " ".repeat(indent);
  return items
    .map((item) => {
      const isMap = item && typeof item === "object" && !Array.isArray(item) && !(item instanceof Raw);
      const text = isMap ? mapping(random, Object.entries(item), indent + 4).trim() : value(random, item, indent + 2);
      return `\n${pad}  - ${text}`;
    })
    .join("");
}

/** Formats fields as a block mapping. @param {import("../random.mjs").Random} random @param {[string, any][]} fields */
export function mapping(random, fields, indent = 0) {
  const pad = " ".repeat(indent);
  return fields
    .filter(([, v]) => v !== undefined)
    .map(([key, v]) => `${pad}${key}: ${value(random, v, indent)}\n`)
    .join("");
}
