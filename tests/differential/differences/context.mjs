/**
 * The intended difference in what the model is told: what stands in the conversation is not said again.
 *
 * What was told is a record by what it is about: `role`, `task`, `place`, `instructions`, `tools`, `profiles`,
 * `allProfiles` and `advance`, in the words it was told in.
 *
 * @module
 */

/** @typedef {Record<string, string>} Told */

/** What is said of one phase only. */
const OF_PHASE = ["place", "instructions", "tools", "profiles"];

const WHAT_TO_DO = "**What to do in this phase:**\n";

/** What stands right under what comes before it. */
const FOLLOWS = { place: ["task"], profiles: ["tools"], allProfiles: ["tools", "profiles"] };

/** Another phase is entered. @param {Told} told @returns {Told} */
export const withoutPhase = (told) => Object.fromEntries(Object.entries(told).filter(([about]) => !OF_PHASE.includes(about)));

/** An answer that entered a phase is heard. @param {Told} told @param {string} answer @param {string} phaseName @returns {Told} */
export function heard(told, answer, phaseName) {
  const [, instructions] = answer.split(`\n\n**What to do in ${phaseName}:**\n`);
  return instructions === undefined ? told : { ...told, instructions: WHAT_TO_DO + instructions };
}

/** The last answer may not have come. @param {Told} told @returns {Told} */
export function doubted(told) {
  const { instructions: _, ...others } = told;
  return "place" in told ? told : others;
}

/**
 * The context message as it is told, and what the conversation holds then.
 *
 * @param {string} content  the package's message
 * @param {Told} told
 * @param {any} state
 * @param {any} phase
 */
export function toldOf(content, told, state, phase) {
  const { header, parts } = taken(content, state, phase);
  const unknown = parts.filter(([about, text]) => told[about] !== text);
  const lead = unknown.length === parts.length ? "" : unknown.length > 0 ? " as said above, and:" : " rules and instructions unchanged";
  let message = header + lead;
  unknown.forEach(([about, text], at) => {
    const follows = at > 0 && (FOLLOWS[about] ?? []).includes(unknown[at - 1][0]);
    message += (follows ? "\n" : "\n\n") + text;
  });
  return { message, told: { ...told, ...Object.fromEntries(unknown) } };
}

/** The message's parts, in order, and the tools with them, of which the package does not speak. */
function taken(content, state, phase) {
  const task = `**Task:** ${state.taskDescription}\n**Task ID:** ${state.taskId}`;
  const [head, afterTask] = cut(content, `\n\n${task}\n`);
  const [place, afterPlace] = cut(afterTask, `\n\n${WHAT_TO_DO}`);
  const at = afterPlace.lastIndexOf("\n\n**Available subagent profiles for this phase:** ");
  const [profiles, afterProfiles] = cut(afterPlace.slice(at + 2), "\n**All profiles:** ");
  const [all, advance] = cut(afterProfiles, "\n\n");
  const [header, role] = cut(head, "]\n\n");
  const left = tools(phase);
  const parts = [
    ["role", role],
    ["task", task],
    ["place", place],
    ["instructions", WHAT_TO_DO + afterPlace.slice(0, at)],
    ...(left === null ? [] : [["tools", `**Tools in ${phase.name}:** ${left}`]]),
    ["profiles", profiles],
    ["allProfiles", `**All profiles:** ${all}`],
    ["advance", advance],
  ];
  return { header: `${header}]`, parts };
}

/** The tools that a phase's list leaves; null where it leaves all. */
function tools({ blacklist, whitelist }) {
  if (whitelist) return whitelist.length > 0 ? whitelist.join(", ") : "workflow_step";
  return blacklist?.length > 0 ? `all except: ${blacklist.join(", ")}` : null;
}

/** What is before and after the first such mark. @param {string} text @param {string} mark */
function cut(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

const BUILT_IN =
  /^(⚠️ The [^]* is still active\. Current phase: [^]*\.\n\nYou must NOT stop yet\.) The workflow requires you to complete the current phase and call workflow_step to advance\.\n\nCurrent phase instructions:\n[^]*\n\nContinue working on the current phase and call workflow_step when done\.$/;

/** The built-in reminder for a conversation that holds the instructions. @param {string} reminder */
export const shortened = (reminder) =>
  reminder.replace(BUILT_IN, (_, head) => `${head} Continue with this phase as its instructions above say, and call workflow_step when done.`);
