/**
 * The intended differences in the texts for the model: text that the conversation already has is not repeated, and the
 * tools of a phase are named.
 *
 * The context that the model has been sent, by topic: `role`, `task`, `route`, `location`, `instructions`, `tools`, `profiles`,
 * `allProfiles` and `advance`, each with its text.
 *
 * @module
 */

import { route } from "../navigation.mjs";

/** @typedef {Record<string, string>} SentContext */

/** The topics of one phase. */
const OF_PHASE = ["location", "instructions", "tools", "profiles"];

const WHAT_TO_DO = "**What to do in this phase:**\n";

/** The topics that follow another one without a blank line. */
const FOLLOWS = { route: ["task"], location: ["task", "route"], profiles: ["tools"], allProfiles: ["tools", "profiles"] };

/** The names of the topics in a message that says what has changed. */
const NAMES = {
  role: "role",
  task: "task",
  route: "phases of the workflow",
  location: "phase",
  instructions: "instructions",
  tools: "tools",
  profiles: "subagent profiles",
  allProfiles: "subagent profiles",
  advance: "way to advance",
};

const ORCHESTRATOR =
  "You are the ORCHESTRATOR for this workflow. You must NOT use the edit or write tools directly. All implementation work must be delegated to subagents via the delegate_to_subagents tool. Follow the phase instructions precisely.";
const WORKER =
  "You do the work of this workflow yourself, one phase at a time. Follow the instructions of the current phase and use only the tools that it allows.";

/** Removes the topics of a phase: another phase is entered. @param {SentContext} sent @returns {SentContext} */
export const withoutPhase = (sent) => Object.fromEntries(Object.entries(sent).filter(([about]) => !OF_PHASE.includes(about)));

/** Adds the instructions, tools and profiles of the answer that entered a phase. @param {SentContext} sent @param {string} answer @param {{ name: string, profiles?: string[] }} phase @param {string | null} line @returns {SentContext} */
export function withAnswer(sent, answer, { name: phaseName, profiles: names }, line) {
  const [, instructions] = answer.split(`\n\n**What to do in ${phaseName}:**\n`);
  if (instructions === undefined) return sent;
  const profiles = names?.length ? { profiles: `**Available subagent profiles for this phase:** ${names.join(", ")}` } : {};
  return { ...sent, instructions: WHAT_TO_DO + instructions, ...(line === null ? {} : { tools: line }), ...profiles };
}

/** Removes the instructions, tools and profiles that the conversation may lack: the last answer may not have arrived. @param {SentContext} sent @returns {SentContext} */
export function withoutUncertainAnswer(sent) {
  const { instructions: _, tools: __, profiles: ___, ...others } = sent;
  return "location" in sent ? sent : others;
}

/**
 * Returns the context message of ours, and the context that the conversation has then.
 *
 * @param {string} content  the package's message
 * @param {SentContext} sent
 * @param {import("../navigation.mjs").Workflows} workflows
 * @param {any} state
 * @param {any} phase
 */
export function contextOf(content, sent, workflows, state, phase) {
  const { header, parts } = splitMessage(content, workflows, state, phase);
  const unknown = parts.filter(([about, text]) => sent[about] !== text);
  const topics = [...new Set(unknown.map(([about]) => NAMES[about]))];
  const changed = ` New ${joined(topics)}. All other rules are unchanged.`;
  const unchanged = " Instructions and rules are unchanged.";
  const lead = unknown.length === parts.length ? "" : unknown.length > 0 ? changed : unchanged;
  let message = header + lead;
  unknown.forEach(([about, text], at) => {
    const follows = at > 0 && (FOLLOWS[about] ?? []).includes(unknown[at - 1][0]);
    message += (follows ? "\n" : "\n\n") + text;
  });
  return { message, sent: { ...sent, ...Object.fromEntries(unknown) } };
}

/** Splits the message into its parts, in order: with the tools, and for an agent that has no subagents without these. */
function splitMessage(content, workflows, state, phase) {
  const task = `**Task:** ${state.taskDescription}\n**Task ID:** ${state.taskId}`;
  const [head, afterTask] = splitAt(content, `\n\n${task}\n`);
  const [location, afterPlace] = splitAt(afterTask, `\n\n${WHAT_TO_DO}`);
  const at = afterPlace.lastIndexOf("\n\n**Available subagent profiles for this phase:** ");
  const [profiles, afterProfiles] = splitAt(afterPlace.slice(at + 2), "\n**All profiles:** ");
  const [all, advance] = splitAt(afterProfiles, "\n\n");
  const [header, role] = splitAt(head, "]\n\n");
  const line = toolsLine(workflows, state, phase);
  const phases = route(workflows, state.workflowKey);
  const delegates = phasesOf(workflows, state.workflowKey).some((each) => each.profiles?.length > 0);
  const parts = [
    ["role", role === ORCHESTRATOR && !delegates ? WORKER + (forbidsEdits(phase) ? " Do not change files in this phase." : "") : role],
    ["task", task],
    ...(phases === null ? [] : [["route", `**Phases:** ${phases}`]]),
    ["location", location],
    ["instructions", WHAT_TO_DO + afterPlace.slice(0, at)],
    ...(line === null ? [] : [["tools", line]]),
    ...(delegates
      ? [
          ["profiles", profiles],
          ["allProfiles", `**All profiles:** ${all}`],
        ]
      : []),
    ["advance", withoutLoop(advance, workflows, state)],
  ];
  return { header: `${header}]`, parts };
}

const LOOP = " to advance to the next phase. If you need to restart the current scope from the beginning, use action='loop'.";

/** Leaves out the sentence on `loop` where there is none. */
function withoutLoop(advance, workflows, state) {
  const scope = workflows[state.currentPath.at(-1).workflowKey];
  return scope?.loopable === false ? advance.replace(LOOP, " to advance to the next phase.") : advance;
}

/** Lists the phases of a workflow and of all that it contains. @param {import("../navigation.mjs").Workflows} workflows @param {string} key @returns {any[]} */
function phasesOf(workflows, key, met = new Set()) {
  if (met.has(key) || !workflows[key]) return [];
  met.add(key);
  return workflows[key].phases.flatMap((entry) => ("ref" in entry ? phasesOf(workflows, entry.ref, met) : [entry]));
}

/** Returns the line on the tools of a phase; null if no phase of the run has a list. @param {import("../navigation.mjs").Workflows} workflows @param {any} state @param {any} phase */
export function toolsLine(workflows, state, phase) {
  const restricts = phasesOf(workflows, state.workflowKey).some(({ blacklist, whitelist }) => blacklist || whitelist);
  const allowed = allowedTools(phase) ?? (restricts ? "all" : null);
  return allowed === null ? null : `**Tools:** ${allowed}`;
}

/** Describes the tools that a phase allows; null if it allows all. */
export function allowedTools({ blacklist, whitelist }) {
  const names = [...new Set(whitelist ?? blacklist ?? [])].filter((name) => name !== "workflow_step");
  if (whitelist) return `only ${names.length > 0 ? joined(names) : "workflow_step"}`;
  return names.length > 0 ? `all except ${joined(names)}` : null;
}

function forbidsEdits({ blacklist, whitelist }) {
  return ["edit", "write"].every((tool) => (whitelist ? !whitelist.includes(tool) : (blacklist ?? []).includes(tool)));
}

function joined(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

const BLOCKED =
  /^\[workflow\] The tool "[^]*" is blocked during the [^]* phase\.\nRefer to the current phase instructions for allowed tools and approaches\.\nWhen finished, call workflow_step to advance to the next phase\.$/;

/** Adds to the default reason of a blocked call what is allowed. @param {string} reason @param {any} phase */
export const withAllowedTools = (reason, phase) => (BLOCKED.test(reason) ? `${reason}\nAllowed in this phase: ${allowedTools(phase)}.` : reason);

/** Splits a text at the first mark. @param {string} text @param {string} mark */
function splitAt(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

const BUILT_IN =
  /^⚠️ The ([^]*) is still active\. Current phase: ([^]*)\.\n\nYou must NOT stop yet\. The workflow requires you to complete the current phase and call workflow_step to advance\.\n\nCurrent phase instructions:\n([^]*)\n\nContinue working on the current phase and call workflow_step when done\.$/;

/** Shortens the built-in reminder, without instructions that the conversation contains. @param {string} reminder @param {boolean} hasInstructions */
export const shortened = (reminder, hasInstructions) =>
  reminder.replace(BUILT_IN, (_, workflow, phase, instructions) => {
    const sentence = `Continue with ${phase}, or call workflow_step if it is done: workflow "${workflow}" is still in this phase.`;
    return hasInstructions ? sentence : `${sentence}\n\nWhat to do in this phase:\n${instructions}`;
  });
