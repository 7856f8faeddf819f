/**
 * The command line of scripts/bench: measures the goals of docs/PERFORMANCE.md.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CASES } from "./cases.mjs";
import { Bench } from "./measure.mjs";
import { Projects } from "./project.mjs";

const PAGE = fileURLToPath(new URL("../docs/PERFORMANCE.md", import.meta.url));
const MARKS = ["<!-- measured -->", "<!-- /measured -->"];
const HEAD = ["Case", "Figure", "Spread", "Goal", "Result"];

const { values: options } = parseArgs({
  options: {
    binary: { type: "string" },
    floor: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string", default: "7" },
    quick: { type: "boolean", default: false },
    format: { type: "string", default: "human" },
    keep: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    pinned: { type: "boolean", default: false },
  },
});
const wanted = options.only?.split(",").map((name) => CASES.find(({ id }) => id === name.trim()) ?? unknown(name));
const rounds = Number(options.rounds);
if (!["human", "json", "markdown"].includes(options.format)) fail("--format is human, json or markdown");
if (options.keep && (wanted || options.quick)) fail("--keep is for a whole run");
if (!Number.isInteger(rounds) || rounds < 1) fail("--rounds is a whole number from 1");
if (options.check) process.exit(0);

const projects = new Projects();
const bench = new Bench({ binary: options.binary, floor: options.floor, quick: options.quick, rounds, projects });
try {
  const rows = await measure(wanted ?? CASES);
  if (options.quick) console.log(`${rows.length} cases, all answers right`);
  else report(rows);
} finally {
  await bench.stop();
  projects.remove();
}

async function measure(cases) {
  const rows = [];
  for (const { title, rows: measured } of cases) {
    process.stderr.write(`${title} …\n`);
    for await (const row of measured(bench)) rows.push(row);
    await bench.stop();
  }
  return rows;
}

function report(rows) {
  if (options.keep) keep(rows);
  const missed = rows.filter(({ met }) => !met).length;
  if (options.format === "json") {
    console.log(JSON.stringify({ node: process.version, pinned: options.pinned, rounds, missed, rows }, null, 2));
    return;
  }
  console.log(options.format === "markdown" ? markdown(rows) : table(rows));
  console.log(`\n${rows.length - missed} goals met, ${missed} not met; ${rounds} rounds${options.pinned ? ", on one core" : ", NOT pinned to a core: times jump"}`);
}

/** Writes the table to the page. */
function keep(rows) {
  const text = readFileSync(PAGE, "utf8");
  const [from, to] = [text.indexOf(MARKS[0]) + MARKS[0].length, text.indexOf(MARKS[1])];
  writeFileSync(PAGE, `${text.slice(0, from)}\n\n${markdown(rows)}\n\n${text.slice(to)}`);
}

/** @param {import("./statistics.mjs").Row} row */
function line({ name, figure, unit, bound, met }) {
  const spread = figure.low === figure.high ? "" : `${shown(figure.low)} – ${shown(figure.high)}`;
  return [name, `${shown(figure.value)} ${unit}`, spread, bound, met ? "met" : "NOT MET"];
}

function table(rows) {
  const lines = rows.map(line);
  const widths = HEAD.map((_, column) => Math.max(...[HEAD, ...lines].map((cells) => cells[column].length)));
  const padded = (cells) => cells.map((cell, column) => (column === 1 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]))).join("  ").trimEnd();
  return [padded(HEAD), padded(widths.map((width) => "-".repeat(width))), ...lines.map(padded)].join("\n");
}

function markdown(rows) {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  return [row(HEAD), "| --- | ---: | --- | --- | --- |", ...rows.map((each) => row(line(each)))].join("\n");
}

/** Formats three significant digits. @param {number} value */
function shown(value) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return String(Number(value.toPrecision(3)));
}

function unknown(name) {
  return fail(`there is no case ${JSON.stringify(name)}; there are ${CASES.map(({ id }) => id).join(", ")}`);
}

/** @returns {never} */
function fail(text) {
  process.stderr.write(`scripts/bench: ${text} (see --help)\n`);
  process.exit(2);
}
