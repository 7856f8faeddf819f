/**
 * `scripts/bench`: measures the goals and prints how they stand.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { NAMES, draw } from "./curves.mjs";
import { GOALS } from "./goals.mjs";
import { Bench } from "./measure.mjs";
import { Projects } from "./project.mjs";
import { line, markdown, table } from "./table.mjs";

const PAGE = fileURLToPath(new URL("../docs/PERFORMANCE.md", import.meta.url));
const BEGIN = "<!-- measured -->";
const END = "<!-- /measured -->";

const { values: options } = parseArgs({
  options: {
    binary: { type: "string" },
    floor: { type: "string" },
    "linked-floor": { type: "string" },
    only: { type: "string" },
    rounds: { type: "string", default: "7" },
    quick: { type: "boolean", default: false },
    curves: { type: "string" },
    format: { type: "string", default: "human" },
    keep: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    pinned: { type: "boolean", default: false },
  },
});

const names = options.curves === undefined ? GOALS.map(({ id }) => id) : NAMES;
const wanted = options.only?.split(",").map((name) => names.find((known) => known.toLowerCase() === name.trim().toLowerCase()) ?? unknown(name));
if (!["human", "json", "markdown"].includes(options.format)) fail(`--format is human, json or markdown`);
const rounds = Number(options.rounds);
if (options.keep && (wanted || options.quick)) fail("--keep is for a whole run");
if (!Number.isInteger(rounds) || rounds < 1) fail("--rounds is a whole number from 1");

if (options.check) process.exit(0);

const projects = new Projects();
const bench = new Bench({ binary: options.binary, floor: options.floor, linkedFloor: options["linked-floor"], quick: options.quick, rounds, projects });
try {
  if (options.curves !== undefined) await draw(bench, options.curves, wanted);
  else report(await measured());
} finally {
  await bench.stop();
  projects.remove();
}

/** @returns {Promise<(import("./goals.mjs").Row & {goal: string})[]>} */
async function measured() {
  const rows = [];
  for (const { id, title, rows: cases } of GOALS.filter(({ id }) => !wanted || wanted.includes(id))) {
    progress(`${id}: ${title}`);
    for (const case_ of cases) {
      for await (const row of case_(bench)) rows.push({ goal: id, ...row });
      await bench.stop();
    }
  }
  return rows;
}

function report(rows) {
  if (options.quick) {
    console.log(`${rows.length} cases, all answers right; nothing was timed`);
    return;
  }
  if (options.keep) keep(rows);
  const missed = rows.filter((row) => row.met === false).length;
  if (options.format === "json") {
    console.log(JSON.stringify({ node: process.version, pinned: options.pinned, rounds, missed, rows }, null, 2));
    return;
  }
  const lines = rows.map(line);
  console.log(options.format === "markdown" ? markdown(lines) : table(lines));
  console.log(`\n${rows.filter((row) => row.met).length} goals met, ${missed} not met; ${rounds} rounds${options.pinned ? ", on one core" : ", NOT pinned to a core: times jump"}`);
}

/** Puts the table where people read it. */
function keep(rows) {
  const text = readFileSync(PAGE, "utf8");
  const [before, rest] = text.split(BEGIN);
  const after = rest.slice(rest.indexOf(END));
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${markdown(rows.map(line))}\n\n${after}`);
}

function progress(text) {
  process.stderr.write(`${text} …\n`);
}

function unknown(name) {
  return fail(`there is no ${JSON.stringify(name)} to measure: there are ${names.join(", ")}`);
}

/** @returns {never} */
function fail(text) {
  process.stderr.write(`scripts/bench: ${text} (see --help)\n`);
  process.exit(2);
}
