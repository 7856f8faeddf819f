/**
 * Reports: a difference in full, and the summary.
 *
 * @module
 */

import { DIFFERENCES } from "./differences.mjs";
import { canonical, sameEffects } from "./effects.mjs";

const indented = (value) => JSON.stringify(value, null, 1).replaceAll("\n", "\n  ");

/** Returns the index of the first different effect, and its different fields. */
function firstDifference({ expected, actual }) {
  const at = [...expected, ...actual, 0].findIndex((_, i) => canonical(expected[i]) !== canonical(actual[i]));
  const [one = {}, other = {}] = [expected[at], actual[at]];
  const fields = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((field) => canonical(one[field]) !== canonical(other[field]));
  return { at, fields };
}

/** Returns the kind of a difference: differences of one kind probably have one cause. @param {import("./session.mjs").Unexplained} found */
export function kindOf(found) {
  const { at, fields } = firstDifference(found);
  const { op, name = "", arguments: args } = found.operation;
  return [op, name, args?.action ?? "", found.why ?? "", found.expected[at]?.kind ?? "-", found.actual[at]?.kind ?? "-", ...fields].join(" ");
}

/** Formats an unexplained difference. @param {import("./types.mjs").Case} case_ @param {import("./session.mjs").Unexplained} found @param {string} [theme]  the theme of the command line */
export function difference(case_, found, theme) {
  const lines = [`\n=== unexplained difference: case ${case_.seed}, operation ${found.index} (${case_.theme}, ${case_.mode})`];
  if (found.why) lines.push(found.why);
  lines.push("definitions:");
  for (const tier of /** @type {const} */ (["global", "project"])) {
    for (const [path, content] of Object.entries(case_.definitions[tier])) lines.push(`  ${tier} ${path}: ${JSON.stringify(content)}`);
  }
  lines.push("operations:");
  case_.operations.forEach((operation, i) => lines.push(`  ${i === found.index ? ">" : " "} ${i} ${JSON.stringify(operation)}`));
  if (!sameEffects(found.package, found.expected)) lines.push(`the package did: ${indented(found.package)}`);
  lines.push(`ours must do:    ${indented(found.expected)}`);
  lines.push(`ours did:        ${indented(found.actual)}`);
  lines.push(`kind: ${kindOf(found)}`);
  for (const { code, message, file } of found.diagnostics.slice(0, 5)) lines.push(`  diagnostic ${code} ${file ?? ""}: ${message}`);
  lines.push(`again: scripts/differential --case ${case_.seed}${theme ? ` --theme ${theme}` : ""}`);
  return lines.join("\n");
}

/** The totals of all cases. */
export class Totals {
  constructor() {
    this.cases = 0;
    this.operations = 0;
    this.effects = 0;
    this.unexplained = [];
    this.kinds = new Map();
    this.intended = new Map();
    this.casesWith = new Map();
    this.ended = new Map();
    this.coverage = new Map();
  }

  /** @param {import("./types.mjs").Case} case_ @param {import("./session.mjs").Report} report */
  add(case_, report) {
    this.cases++;
    this.operations += report.operations;
    this.effects += report.effects;
    for (const [id, count] of report.intended) {
      increase(this.intended, id, count);
      increase(this.casesWith, id);
    }
    if (report.ended) increase(this.ended, report.ended);
    for (const what of [...report.seen, ...covered(case_)]) increase(this.coverage, what);
    if (!report.unexplained) return;
    this.unexplained.push(case_.seed);
    increase(this.kinds, kindOf(report.unexplained));
  }

  summary(seed, seconds) {
    const table = (map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, count]) => `  ${String(count).padStart(8)}  ${key}`);
    return [
      `\nseed ${seed}: ${this.cases} cases, ${this.operations} operations, ${this.effects} effects compared, in ${seconds.toFixed(0)} s`,
      "intended differences (uses, in cases):",
      ...[...DIFFERENCES].map(([id, says]) => `  ${String(this.intended.get(id) ?? 0).padStart(8)} ${String(this.casesWith.get(id) ?? 0).padStart(6)}  ${id}: ${says}`),
      "cases ended early, by id:",
      ...(this.ended.size > 0 ? table(this.ended) : ["  none"]),
      "coverage (cases):",
      ...table(this.coverage),
      ...(this.kinds.size > 0 ? ["unexplained, by kind:", ...table(this.kinds)] : []),
      `unexplained differences: ${this.unexplained.length}${this.unexplained.length > 0 ? ` (cases ${this.unexplained.slice(0, 20).join(", ")})` : ""}`,
    ].join("\n");
  }
}

function increase(map, key, by = 1) {
  map.set(key, (map.get(key) ?? 0) + by);
}

const TEMPLATES = ["roleInstruction", "advanceReminder", "blockReasonTemplate", "completionMessage", "notDoneReminder"];

/** Lists what a case covers, by its definitions and operations. */
function* covered(case_) {
  const { definitions, operations } = case_;
  const texts = [...Object.values(definitions.project), ...Object.values(definitions.global)].filter((content) => typeof content === "string");
  yield `theme ${case_.theme}`;
  yield `mode ${case_.mode}`;
  if (case_.defects.length > 0) yield "broken or odd definitions";
  if (texts.some((text) => /subworkflow/.test(text))) yield "nested definitions";
  if (texts.some((text) => TEMPLATES.some((name) => text.includes(`${name}:`)))) yield "templates";
  if (Object.keys(definitions.global).length > 0) yield "global tier";
  if (operations.some((o) => o.op === "entry" && o.entry.data?.currentPhaseIndex !== undefined)) yield "legacy entries";
  if (operations.some((o) => o.op === "entry")) yield "stored entries of other origin";
  if (operations.some((o) => o.op === "write" || o.op === "remove")) yield "definitions edited during the session";
}
