/**
 * Valid definition directories: linear and nested workflows, every optional field set or not.
 * defects.mjs changes these models.
 *
 * @module
 */

import { EMOJIS, KEYS, NAMES, ODD_KEYS, PROFILES, TOOLS, text } from "./vocabulary.mjs";
import { mapping } from "./yaml-text.mjs";

/**
 * The model of a workflow: YAML fields in order, phases, and changes of the written files.
 *
 * @typedef {object} Model
 * @property {string} key
 * @property {Record<string, any>} fields
 * @property {(Part | {ref: string})[]} phases
 * @property {Record<string, any>} extra    further files of the tier, by path
 * @property {((text: string, path: string) => string)[]} rewrite  applied to every text file of the workflow
 * @property {any} [phasesText]             instead of the phase list
 */

/** @typedef {{file: string, front: Record<string, any>, body: string, tail?: string, whole?: string, omit?: boolean}} Part */

const SHARED = "../_shared";
const MAX_DEPTH = 4;

/**
 * Generates workflows of one tier; references go in one direction, so there are no cycles.
 *
 * @param {import("../random.mjs").Random} random
 * @param {{count?: number}} [options]
 * @returns {Model[]}
 */
export function models(random, { count = random.int(2, 6) } = {}) {
  const keys = random.shuffled([...KEYS, ...random.some(ODD_KEYS, 0.1)]).slice(0, count);
  const depth = new Map();
  const made = [];
  for (const key of keys) {
    const targets = made.filter((m) => depth.get(m.key) < MAX_DEPTH);
    const model = workflow(random, key, random.chance(0.8) ? targets : []);
    depth.set(key, 1 + Math.max(0, ...model.phases.map((p) => ("ref" in p ? depth.get(p.ref) : 0))));
    made.push(model);
  }
  return random.shuffled(made);
}

/** @param {import("../random.mjs").Random} random @param {string} key @param {Model[]} targets @returns {Model} */
export function workflow(random, key, targets = []) {
  const internal = targets.length === 0 && random.chance(0.15);
  const model = { key, fields: fields(random, key, internal), phases: [], extra: {}, rewrite: [] };
  const length = random.weighted([[2, 1], [3, 2], [3, 3], [2, 4], [1, 5]]);
  for (let i = 0; i < length; i++) {
    const nested = targets.length > 0 && random.chance(0.5);
    model.phases.push(nested ? { ref: random.pick(targets).key } : phase(random, i));
  }
  if (random.chance(0.1)) model.rewrite.push((content) => content.replaceAll("\n", "\r\n"));
  return model;
}

const maybe = (random, probability, make) => (random.chance(probability) ? make() : undefined);

function fields(random, key, internal) {
  const command = key.replace(/[^a-zA-Z0-9_-]/g, "-");
  return {
    name: random.chance(0.6) ? `N-${key}` : random.pick(NAMES),
    commandName: internal && random.chance(0.7) ? undefined : command,
    initialMessage: internal && random.chance(0.7) ? undefined : text(random, "initial"),
    show: internal ? "workflows" : maybe(random, 0.1, () => "user"),
    loopable: random.weighted([[6, undefined], [2, true], [2, false]]),
    sessionNamePrefix: maybe(random, 0.25, () => random.pick(["WF ", "", "🚀 ", "Task: "])),
    sessionNameMaxLength: maybe(random, 0.3, () => random.pick([0, 1, 3, 5, 20, 50, 51, 500])),
    roleInstruction: maybe(random, 0.3, () => random.pick([text(random, "context"), text(random, "context"), ""])),
    advanceReminder: maybe(random, 0.3, () => random.pick([text(random, "context"), text(random, "context"), ""])),
    blockReasonTemplate: maybe(random, 0.3, () => random.pick([text(random, "block"), text(random, "block"), ""])),
    completionMessage: maybe(random, 0.3, () => random.pick([text(random, "completion"), text(random, "completion"), ""])),
    notDoneReminder: maybe(random, 0.3, () => random.pick([text(random, "reminder"), text(random, "reminder"), ""])),
  };
}

/** @param {import("../random.mjs").Random} random @param {number} index @returns {Part} */
export function phase(random, index) {
  const id = `p${index}`;
  const file = random.weighted([
    [7, `${id}.md`],
    [1, `./${id}.md`],
    [1, `sub/${id}.md`],
    [1, `${SHARED}/x${random.int(0, 2)}-${id}.md`],
  ]);
  const front = {
    id,
    name: random.chance(0.5) ? `Phase ${index}` : random.pick(NAMES),
    emoji: random.pick(EMOJIS),
    tools: random.weighted([
      [4, () => undefined],
      [3, () => ({ blacklist: random.some(TOOLS, 0.3) })],
      [3, () => ({ whitelist: random.some(TOOLS, 0.4) })],
    ])(),
    availableProfiles: random.weighted([[5, () => undefined], [3, () => random.some(PROFILES, 0.5)], [1, () => []]])(),
  };
  const body = text(random, "context");
  const tail = random.weighted([[8, "\n"], [1, ""], [1, "\n\n  \n"], [1, "\u00a0\ufeff\n"]]);
  return { file, front, body: random.chance(0.1) ? `\n\n  ${body}` : body, tail };
}

/** Writes the files of models, as a tree. @param {import("../random.mjs").Random} random @param {Model[]} list @returns {import("../types.mjs").Tree} */
export function tree(random, list) {
  /** @type {import("../types.mjs").Tree} */
  const files = {};
  for (const model of list) write(random, files, model);
  return files;
}

function write(random, files, model) {
  const rewrite = (content, path) => model.rewrite.reduce((text_, change) => change(text_, path), content);
  const phases = model.phasesText ?? model.phases.map((p) => ("ref" in p ? { subworkflow: p.ref } : p.file));
  const yaml = mapping(random, Object.entries({ ...model.fields, phases }));
  files[`${model.key}/workflow.yaml`] = rewrite(yaml, "workflow.yaml");
  for (const part of model.phases) {
    if ("ref" in part || part.omit) continue;
    const path = joined(model.key, part.file);
    if (path in files) continue;
    const front = mapping(random, Object.entries(part.front));
    files[path] = rewrite(part.whole ?? `---\n${front}---\n${part.body}${part.tail ?? "\n"}`, part.file);
  }
  Object.assign(files, model.extra);
}

/** `w` and `../_shared/x.md` -> `_shared/x.md`. */
export function joined(directory, file) {
  const parts = [directory];
  for (const part of file.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
