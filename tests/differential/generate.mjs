/**
 * Cases from seeds: definitions, settings, operations. The same seed gives the same case.
 *
 * @module
 */

import { Random } from "./random.mjs";
import { models, tree, workflow } from "./generate/definitions.mjs";
import { damage, entangle } from "./generate/defects.mjs";
import { operations } from "./generate/operations.mjs";

/** Settings with the package's reminders and context, so that these are compared exactly. */
const UNBOUNDED = `{ defaults: { continue: { max: "unlimited", maxStale: "unlimited" } }, context: "every-turn" }\n`;

/** The themes of cases, with their weights. @type {[number, string][]} */
const THEMES = [[9, "ordinary"], [6, "broken"], [4, "stored"], [3, "edited"], [0.15, "entangled"]];

/** @param {number} seed @param {string} [only]  the theme, in place of the seed's @returns {import("./types.mjs").Case} */
export function generate(seed, only) {
  const random = new Random(seed);
  const chosen = random.weighted(THEMES);
  const theme = /** @type {any} */ (only ?? chosen);
  const mode = random.chance(0.85) ? "unbounded" : "bounded";
  const project = scene(random);
  const global = random.chance(0.2) ? scene(random, { count: random.int(1, 3) }) : null;
  if (global && random.chance(0.6)) override(random, project, global);
  const defects = damageFor(theme, random.chance(0.25) && global ? global : project);
  const files = { project: filesOf(random, project), global: global ? filesOf(random, global) : {} };
  const all = [...project.models, ...(global?.models ?? [])];
  const now = 1_700_000_000_000 + random.int(0, 1e9);
  const hasUI = random.chance(0.75);
  const list = operations(
    {
      random,
      now,
      hasUI,
      bounded: mode === "bounded",
      models: all,
      commands: commandsOf(all),
      edit: () => edit(random, project, files.project),
    },
    theme,
  );
  return {
    seed,
    theme,
    mode,
    defects,
    definitions: { ...files, settings: mode === "unbounded" ? UNBOUNDED : null },
    operations: list,
    now,
    hasUI,
  };
}

/** Lists the commands that can be started, nested workflows more often; without any, a name that may not exist. */
function commandsOf(list) {
  const weighted = list.flatMap((m) => (m.phases.some((p) => "ref" in p) ? [m, m, m] : [m]));
  const commands = weighted.map((m) => m.fields.commandName).filter((c) => typeof c === "string" && c.trim() !== "");
  return commands.length > 0 ? commands : ["release"];
}

function scene(random, options) {
  return { random, models: models(random, options), files: {} };
}

function filesOf(random, { models: list, files }) {
  return { ...tree(random, list), ...files };
}

function damageFor(theme, target) {
  if (theme === "broken") return damage(target);
  if (theme === "entangled") return entangle(target);
  return [];
}

/** Adds a workflow of the project, valid or not, that overrides a global one. */
function override(random, project, global) {
  const key = random.pick(global.models).key;
  if (project.models.some((m) => m.key === key)) return;
  const model = workflow(random, key);
  if (random.chance(0.3)) model.fields.name = random.pick(["   ", undefined]);
  project.models.push(model);
}

/** Generates an edit of a workflow of the project: changed, broken or removed. */
function edit(random, project, files) {
  const model = random.pick(project.models);
  const path = `${model.key}/workflow.yaml`;
  const again = { op: "session_start", hasUI: true, event: { reason: "reload" } };
  const changes = random.weighted([
    [2, () => [{ op: "remove", tier: "project", path: model.key }]],
    [2, () => [{ op: "write", tier: "project", path, content: "name: [\n" }]],
    [3, () => rewritten(random, project, model)],
    [2, () => [{ op: "write", tier: "project", path, content: files[path] }]],
    [1, () => [{ op: "write", tier: "project", path: "fresh/workflow.yaml", content: "name: Fresh\ncommandName: fresh\ninitialMessage: hi\nphases: [a.md]\n" }, { op: "write", tier: "project", path: "fresh/a.md", content: "---\nid: a\nname: A\nemoji: a\n---\nFresh.\n" }]],
  ])();
  return random.chance(0.7) ? [...changes, again] : changes;
}

/** Generates new phases for a workflow under the same key. */
function rewritten(random, project, model) {
  const fresh = workflow(random, model.key, []);
  fresh.fields.commandName = model.fields.commandName;
  const files = tree(random, [fresh]);
  return Object.entries(files).map(([path, content]) => ({ op: "write", tier: "project", path, content }));
}
