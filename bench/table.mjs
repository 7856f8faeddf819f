/**
 * The table of goals, for people.
 *
 * @module
 */

/** @param {import("./goals.mjs").Row & {goal: string}} row */
export function line({ goal, name, figure, bound, unit, met }) {
  const said = bound === undefined ? "" : "most" in bound ? `≤ ${shown(bound.most)}` : `≥ ${shown(bound.least)}`;
  const spread = figure.low === figure.high ? "" : `${shown(figure.low)} – ${shown(figure.high)}`;
  const verdict = met === undefined ? "" : met ? "met" : "NOT MET";
  return [goal, name, `${shown(figure.value)} ${unit}`, spread, said, verdict];
}

export const HEAD = ["", "Case", "Figure", "Spread", "Goal", ""];

/** @param {string[][]} rows */
export function table(rows, head = HEAD) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const padded = (row) => row.map((cell, column) => (column === 2 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join("  ").trimEnd();
  return [padded(head), padded(widths.map((width) => "-".repeat(width))), ...rows.map(padded)].join("\n");
}

/** As markdown. @param {string[][]} rows */
export function markdown(rows) {
  const cells = (row) => `| ${row.join(" | ")} |`;
  return [cells(HEAD), "| --- | --- | ---: | --- | --- | --- |", ...rows.map(cells)].join("\n");
}

/** Three digits that count. @param {number} value */
export function shown(value) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return value.toPrecision(3).replace(/\.?0+$/, "");
}
