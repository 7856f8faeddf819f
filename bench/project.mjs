/**
 * Projects to measure in: as many workflows as wanted, one of which is run.
 *
 * @module
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the run phase blocks. */
export const BLOCKED = "write";

export class Projects {
  /** @param {string} [root]  a directory to make anew, where it has to be a certain one */
  constructor(root) {
    if (root) rmSync(root, { recursive: true, force: true });
    this.root = root ?? mkdtempSync(join(tmpdir(), "workflow-bench-"));
    this.made = new Map();
  }

  /** A project of this shape, written once. @param {Shape} shape @returns {Place} */
  take(shape = {}) {
    const key = JSON.stringify(shape);
    if (!this.made.has(key)) this.made.set(key, write(join(this.root, `project-${this.made.size}`), shape));
    return this.made.get(key);
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** @param {string} root @param {Shape} shape */
function write(root, { workflows = 10, phases = 5, depth = 1, list = 2, instructions = 200, variables = 0, rules = 0, settings }) {
  const place = { cwd: join(root, "project"), agentDir: join(root, "agent") };
  // The user's own: the package completes the names of no others.
  const tier = join(place.agentDir, "workflows");
  mkdirSync(tier, { recursive: true });
  mkdirSync(join(place.cwd, ".pi"), { recursive: true });
  if (settings) writeFileSync(join(place.cwd, ".pi", "workflow-sidecar.json5"), settings);
  const chain = Array.from({ length: depth }, (_, level) => (level === 0 ? "run" : `inner-${level}`));
  chain.forEach((key, level) => {
    const entries = [];
    if (level + 1 < depth) entries.push(`{ subworkflow: ${chain[level + 1]} }`);
    for (let i = 0; i < phases; i++) entries.push(`phase-${i}.md`);
    workflow(tier, key, entries, phase(withVariables(prose(instructions), variables), tools(list, rules)));
  });
  const small = phase(prose(200), "");
  for (let i = depth; i < workflows; i++) workflow(tier, `other-${i}`, ["phase-0.md", "phase-1.md", "phase-2.md"], small);
  return place;
}

function workflow(tier, key, entries, phase) {
  const directory = join(tier, key);
  mkdirSync(directory);
  const list = entries.map((entry) => `  - ${entry}\n`).join("");
  writeFileSync(
    join(directory, "workflow.yaml"),
    `name: Workflow ${key}\ncommandName: ${key}\ninitialMessage: "Begin {description} with {firstPhaseName}."\nphases:\n${list}`,
  );
  for (const entry of entries) if (entry.endsWith(".md")) writeFileSync(join(directory, entry), phase(entry.slice(0, -3)));
}

const phase = (instructions, tools) => (id) =>
  `---\nid: ${id}\nname: The ${id}\nemoji: "🔧"\n${tools}---\n${instructions}\n`;

/** A list that blocks: one of so many names is not on it. A whitelist, as the package takes no rules. */
function tools(list, rules) {
  const names = ["read", ...Array.from({ length: list - 1 }, (_, i) => `tool-${i}`)];
  const ruled = Array.from({ length: rules }, (_, i) => `    - { block: edit, path: "kept-${i}/**" }\n`).join("");
  return `tools:\n  whitelist: [${[...names, ...(rules ? ["edit"] : [])].join(", ")}]\n${rules ? `  rules:\n${ruled}` : ""}`;
}

/** A text with a variable in it for every so many characters, and none for 0. */
function withVariables(text, every) {
  if (!every) return text;
  const names = ["{description}", "{phaseName}", "{nextPhaseName}", "{workflowName}"];
  const parts = Array.from({ length: Math.ceil(text.length / every) }, (_, i) => text.slice(i * every, (i + 1) * every));
  return parts.map((part, i) => `${part} ${names[i % names.length]}`).join(" ");
}

/** English of this length, with a character beyond ASCII now and then. */
export function prose(length) {
  const sentence = "Look at what is there before you change it — then write down what you saw. ";
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length).trimEnd();
}

/**
 * @typedef {object} Shape
 * @property {number} [workflows]     how many there are
 * @property {number} [phases]        of the one that is run
 * @property {number} [depth]         subworkflows inside each other, from the first phase on
 * @property {number} [list]          tools on the phase's whitelist
 * @property {number} [instructions]  bytes of a phase's text
 * @property {number} [variables]     characters of that text to one variable; 0 for none
 * @property {number} [rules]         rules on single calls
 * @property {string} [settings]
 */
/** @typedef {{cwd: string, agentDir: string}} Place */
