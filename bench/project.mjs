/**
 * Projects for measurements: any number of workflows, one of which is run.
 *
 * @module
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Projects {
  constructor() {
    this.root = mkdtempSync(join(tmpdir(), "workflow-bench-"));
    /** @type {Map<string, Directories>} */
    this.made = new Map();
  }

  /** Returns a project of this shape, which is written once. @param {Shape} shape @returns {Directories} */
  take(shape = {}) {
    const key = JSON.stringify(shape);
    if (!this.made.has(key)) this.made.set(key, write(join(this.root, `project-${this.made.size}`), shape));
    return this.made.get(key);
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** @param {string} root @param {Shape} shape @returns {Directories} */
function write(root, { workflows = 10, phases = 5, depth = 1, list = 2, instructions = 200, patterns = 0, outputs = 0 }) {
  const directories = { cwd: join(root, "project"), agentDir: join(root, "agent") };
  // The user's workflows: the package completes only their names.
  const tier = join(directories.agentDir, "workflows");
  mkdirSync(tier, { recursive: true });
  mkdirSync(join(directories.cwd, ".pi"), { recursive: true });
  if (patterns > 0) {
    const command = Array.from({ length: patterns }, (_, i) => `tool-${i} run *`);
    const settings = { tools: { rules: [{ block: "bash", command }] } };
    writeFileSync(join(directories.agentDir, "workflow-sidecar.json5"), JSON.stringify(settings));
  }
  const files = Array.from({ length: phases }, (_, i) => `phase-${i}.md`);
  const chain = Array.from({ length: depth }, (_, level) => (level === 0 ? "run" : `inner-${level}`));
  chain.forEach((key, level) => {
    const inner = level + 1 < depth ? [`{ subworkflow: ${chain[level + 1]} }`] : [];
    workflow(tier, key, [...inner, ...files], phase(prose(instructions), whitelist(list)));
  });
  if (outputs > 0) loop(tier, outputs);
  const other = phase(prose(200), "");
  for (let i = depth; i < workflows; i++) workflow(tier, `other-${i}`, files, other);
  return directories;
}

/** Writes a workflow with a loop, whose subworkflow returns this number of outputs. */
function loop(tier, outputs) {
  const names = Array.from({ length: outputs }, (_, i) => `o${i}`);
  const one = { emoji: "🔧", instructions: "Do it." };
  const list = { ...one, id: "list", name: "List", outputs: { tasks: { type: "list" } } };
  const build = { ...one, id: "build", name: "Build", outputs: Object.fromEntries(names.map((name) => [name, { type: "text" }])) };
  const each = { subworkflow: "item", as: "each", forEach: "{outputs.list.tasks}", with: { goal: "{item}" } };
  const returned = Object.fromEntries(names.map((name) => [name, `{outputs.build.${name}}`]));
  const item = { name: "Item", show: "workflows", inputs: { goal: { type: "text" } }, outputs: returned, phases: [build] };
  const all = { name: "Loop", commandName: "loop", initialMessage: "Begin.", phases: [list, each] };
  for (const [key, definition] of Object.entries({ loop: all, item })) {
    mkdirSync(join(tier, key));
    writeFileSync(join(tier, key, "workflow.json5"), JSON.stringify(definition));
  }
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

/** Formats a whitelist of `bash` and this number of tools, which blocks `write`. The package has no rules. */
function whitelist(length) {
  const names = ["bash", "read", ...Array.from({ length: length - 1 }, (_, i) => `tool-${i}`)];
  return `tools:\n  whitelist: [${names.join(", ")}]\n`;
}

/** Returns English text of this length, with some characters beyond ASCII. */
export function prose(length) {
  const sentence = "Look at what is there before you change it — then write down what you saw. ";
  return sentence.repeat(Math.ceil(length / sentence.length)).slice(0, length).trimEnd();
}

/** All with defaults. @typedef {{workflows?: number, phases?: number, depth?: number, list?: number, instructions?: number, patterns?: number}} Shape */
/** @typedef {{cwd: string, agentDir: string}} Directories */
