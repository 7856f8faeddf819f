/**
 * Operations of a session: agent runs, tool calls, commands, time, reloads, damaged entries.
 * They are generated in advance, independent of both sides' answers.
 *
 * @module
 */

import { DESCRIPTIONS, TOOLS } from "./vocabulary.mjs";
import { damagedEntry, legacyEntry, foreignEntry } from "./entries.mjs";

/** @typedef {import("../types.mjs").Operation} Operation */

const step = (action) => ({ op: "step", arguments: { action } });

/** @param {import("../random.mjs").Random} random @returns {Operation} */
function agentEnd(random, hasUI) {
  const stopReason = random.weighted([[8, "stop"], [2, "aborted"], [1, "error"], [1, "length"], [1, undefined]]);
  const text = random.weighted([[6, "Done for now."], [1, "Shall I go on?"]]);
  const assistant = { role: "assistant", content: [{ type: "text", text }], ...(stopReason && { stopReason }) };
  const messages = random.weighted([
    [8, [{ role: "user", content: "go" }, assistant]],
    [1, [assistant, { role: "user", content: "hm" }]],
    [1, [{ role: "assistant", content: [], stopReason: "aborted" }, assistant]],
    [1, []],
    [1, [{ role: "user", content: "alone" }]],
  ]);
  return { op: "agent_end", hasUI, messages };
}

/** @param {import("../random.mjs").Random} random */
function stepOperation(random) {
  const action = random.weighted([[10, "next"], [3, "status"], [2, "loop"], [1, "cancel"], [0.2, "restart"]]);
  const operation = step(action);
  if (random.chance(0.2)) operation.arguments.summary = "did it";
  return operation;
}

/** Generates one prompt of the user and the agent's run. @param {Scene} scene @returns {Operation[]} */
function agentRun({ random, hasUI }) {
  /** @type {Operation[]} */
  const run = [{ op: "before_agent_start", event: random.chance(0.4) ? { prompt: "go on" } : {} }];
  if (random.chance(0.3)) run.push({ op: "agent_start" });
  for (let turns = random.int(1, 3); turns > 0; turns--) {
    run.push({ op: "turn_start", event: { turnIndex: 0 } });
    for (let calls = random.int(0, 3); calls > 0; calls--) {
      run.push(random.chance(0.5) ? { op: "tool_call", toolName: random.pick(TOOLS), input: { path: "x" } } : stepOperation(random));
    }
    run.push({ op: "turn_end", event: { turnIndex: 0 } });
  }
  if (random.chance(0.85)) run.push(agentEnd(random, hasUI));
  if (random.chance(0.05)) run.push({ op: "advance", ms: 1000 }, agentEnd(random, random.chance(0.5)));
  if (random.chance(0.7)) run.push(...wait(random));
  return run;
}

/** @param {import("../random.mjs").Random} random @returns {Operation[]} */
function wait(random) {
  const spans = random.weighted([[3, [3000]], [2, [999, 1, 1000, 1000]], [2, [1500]], [1, [2999, 1]], [2, [random.int(1, 7000)]], [1, [0, 1, 10_000]]]);
  return spans.map((ms) => ({ op: "advance", ms }));
}

/** Generates `/workflow` with any kind of argument. @param {Scene} scene @returns {Operation} */
function start({ random, commands, hasUI }) {
  const description = random.pick(DESCRIPTIONS);
  const command = random.pick(commands);
  const text = random.weighted([
    [12, `${command} ${description}`],
    [1, `  ${command}\t ${description}  `],
    [1, `${command}\n${description}`],
    [1, `\ufeff${command}\u00a0${description}`],
    [1, command],
    [1, `${command}   `],
    [1, ""],
    [1, "  "],
    [1, `nowhere ${description}`],
    [0.5, `constructor ${description}`],
    [0.5, `${command.toUpperCase()} ${description}`],
    [0.5, `\u200b${command} x`],
  ]);
  return { op: "command", name: "workflow", arguments: text, confirm: random.chance(0.6), hasUI };
}

const cancel = (hasUI) => ({ op: "command", name: "cancel-workflow", arguments: "", hasUI });

/** @param {Scene} scene @returns {Operation} */
function complete({ random, commands }) {
  const command = random.pick(commands);
  const prefix = random.pick(["", "", command.slice(0, random.int(1, 3)), command, `${command} `, "zz", command.toUpperCase()]);
  return { op: "complete", name: "workflow", prefix };
}

/** @param {Scene} scene @returns {Operation[]} */
function reload(scene) {
  const { random, hasUI } = scene;
  const tree = random.chance(0.4);
  if (!tree) return [{ op: "session_start", hasUI, event: { reason: "reload" } }];
  return [{ op: "session_tree", hasUI, event: {}, keep: random.pick([1, 1, random.next()]) }];
}

/** @param {Scene} scene @returns {Operation[]} */
function stored(scene) {
  const { random, models, now } = scene;
  const make = random.weighted([[4, damagedEntry], [2, legacyEntry], [1, foreignEntry]]);
  return [{ op: "entry", entry: make(random, { models, now }) }, ...reload(scene), ...(random.chance(0.6) ? [look(scene)] : [])];
}

/** Generates one response of the model with calls of workflow_step. */
const response = (...actions) => [{ op: "turn_start", event: {} }, ...actions.map(step), { op: "turn_end", event: {} }];

/** Generates enough responses to complete a run. */
const finish = (random) => Array.from({ length: random.int(3, 9) }, () => response("next")).flat();

/** Generates repeated early stops. */
function reminders(random, hasUI) {
  const usesTools = random.chance(0.6);
  const again = () => [
    { op: "agent_end", hasUI, messages: [] },
    { op: "advance", ms: 3000 },
    { op: "before_agent_start", event: {} },
    { op: "turn_start", event: {} },
    ...(usesTools && random.chance(0.8) ? [{ op: "tool_call", toolName: "read", input: {} }] : []),
    { op: "turn_end", event: {} },
  ];
  return Array.from({ length: random.int(2, 11) }, again).flat();
}

/** Generates short sequences that are rare by chance. @param {Scene} scene @returns {Operation[]} */
function sequence(scene) {
  const { random, hasUI, edit, bounded } = scene;
  const end = { ...agentEnd(random, hasUI), messages: [] };
  const again = { op: "session_start", hasUI, event: { reason: "reload" } };
  return random.weighted([
    [2, () => [...finish(random), end, again, end]],
    [2, () => [step("cancel"), ...random.pick([[], [step("status")], [{ op: "before_agent_start", event: {} }], response("loop"), [{ op: "turn_end", event: {} }]]), step("cancel"), end, again, end]],
    [1, () => [end, { op: "advance", ms: random.int(0, 2999) }, { ...start(scene), confirm: true }, ...wait(random)]],
    [1, () => [end, { op: "advance", ms: 1000 }, random.pick([step("cancel"), cancel(hasUI), step("status"), end, again]), ...wait(random)]],
    [1, () => [...edit(), { ...start(scene), confirm: false }, step("status"), ...response("next"), step("loop")]],
    [1, () => [...finish(random), ...edit(), again, end, again, end]],
    [bounded ? 4 : 0.3, () => reminders(random, hasUI)],
    [1, () => [...response("loop"), ...response("status", "next"), ...response("loop", "loop")]],
  ])();
}

/** Generates an operation that shows the state of the run. @param {Scene} scene @returns {Operation} */
function look({ random, hasUI }) {
  return random.pick([
    { op: "before_agent_start", event: {} },
    { op: "turn_end", event: {} },
    { op: "tool_call", toolName: random.pick(TOOLS), input: {} },
    { op: "agent_end", hasUI, messages: [] },
    step("status"),
    step("next"),
    step("loop"),
    step("cancel"),
  ]);
}

/**
 * @typedef {object} Scene
 * @property {import("../random.mjs").Random} random
 * @property {string[]} commands   what `/workflow` may be asked to start
 * @property {import("./definitions.mjs").Model[]} models
 * @property {boolean} hasUI
 * @property {number} now
 * @property {boolean} bounded    whether pushing has its bounds
 * @property {() => Operation[]} edit   changes of the definitions
 */

/** The weights of the operations, by theme. */
const THEMES = {
  ordinary: { run: 10, step: 4, start: 1.5, cancel: 0.6, complete: 0.7, reload: 1.5, stored: 0, edit: 0, story: 1.5, loose: 2 },
  broken: { run: 5, step: 3, start: 4, cancel: 0.6, complete: 1.5, reload: 1, stored: 0, edit: 0, story: 0.5, loose: 1 },
  stored: { run: 6, step: 4, start: 0.6, cancel: 0.6, complete: 0.2, reload: 1, stored: 4, edit: 0, story: 1.5, loose: 2 },
  edited: { run: 7, step: 4, start: 1.5, cancel: 0.5, complete: 0.7, reload: 2, stored: 0.4, edit: 3, story: 2, loose: 1 },
  entangled: { run: 1, step: 1, start: 3, cancel: 0, complete: 0, reload: 0, stored: 0, edit: 0, story: 0, loose: 0 },
};

/** @param {Scene} scene @param {keyof typeof THEMES} theme @returns {Operation[]} */
export function operations(scene, theme) {
  const { random, hasUI } = scene;
  const weights = THEMES[theme];
  const makers = [
    [weights.run, () => agentRun(scene)],
    [weights.step, () => [stepOperation(random)]],
    [weights.start, () => [start(scene)]],
    [weights.cancel, () => [cancel(hasUI)]],
    [weights.complete, () => [complete(scene)]],
    [weights.reload, () => reload(scene)],
    [weights.stored, () => stored(scene)],
    [weights.edit, () => scene.edit()],
    [weights.story, () => sequence(scene)],
    [weights.loose, () => [random.pick([loose(random, hasUI), ...wait(random)])]],
  ];
  /** @type {Operation[]} */
  const list = [{ op: "session_start", hasUI, event: { reason: "startup" } }, { op: "command", name: "workflow", arguments: "", hasUI }];
  if (theme !== "stored" || random.chance(0.5)) list.push({ ...start(scene), arguments: `${random.pick(scene.commands)} ${random.pick(DESCRIPTIONS)}` });
  for (let i = random.int(3, 14); i > 0; i--) list.push(...random.weighted(/** @type {any} */ (makers))());
  return list;
}

/** An event on its own, out of the order a host keeps. */
function loose(random, hasUI) {
  return random.weighted([
    [2, { op: "turn_end", event: { turnIndex: 1 } }],
    [1, { op: "turn_start", event: { turnIndex: 1 } }],
    [1, { op: "before_agent_start", event: { prompt: "?" } }],
    [2, agentEnd(random, hasUI)],
    [1, agentEnd(random, !hasUI)],
    [2, { op: "tool_call", toolName: random.pick(TOOLS), input: {} }],
    [1, { op: "input", event: { text: "wait", source: "interactive" } }],
    [1, { op: "session_compact", event: {} }],
  ]);
}
