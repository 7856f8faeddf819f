/**
 * The intended difference in the context of the model: text that the conversation already has is not repeated.
 *
 * The context that the model has been sent, by topic: `role`, `task`, `location`, `instructions`, `tools`, `profiles`,
 * `allProfiles` and `advance`, each with its text.
 *
 * @module
 */

/** @typedef {Record<string, string>} SentContext */

/** The topics of one phase. */
const OF_PHASE = ["location", "instructions", "tools", "profiles"];

const WHAT_TO_DO = "**What to do in this phase:**\n";

/** The topics that follow another one without a blank line. */
const FOLLOWS = { location: ["task"], profiles: ["tools"], allProfiles: ["tools", "profiles"] };

/** Removes the topics of a phase: another phase is entered. @param {SentContext} sent @returns {SentContext} */
export const withoutPhase = (sent) => Object.fromEntries(Object.entries(sent).filter(([about]) => !OF_PHASE.includes(about)));

/** Adds the instructions of the answer that entered a phase. @param {SentContext} sent @param {string} answer @param {string} phaseName @returns {SentContext} */
export function withAnswer(sent, answer, phaseName) {
  const [, instructions] = answer.split(`\n\n**What to do in ${phaseName}:**\n`);
  return instructions === undefined ? sent : { ...sent, instructions: WHAT_TO_DO + instructions };
}

/** Removes the instructions that the conversation may lack: the last answer may not have arrived. @param {SentContext} sent @returns {SentContext} */
export function withoutUncertainAnswer(sent) {
  const { instructions: _, ...others } = sent;
  return "location" in sent ? sent : others;
}

/**
 * Returns the context message of ours, and the context that the conversation has then.
 *
 * @param {string} content  the package's message
 * @param {SentContext} sent
 * @param {any} state
 * @param {any} phase
 */
export function contextOf(content, sent, state, phase) {
  const { header, parts } = splitMessage(content, state, phase);
  const unknown = parts.filter(([about, text]) => sent[about] !== text);
  const lead = unknown.length === parts.length ? "" : unknown.length > 0 ? " as said above, and:" : " rules and instructions unchanged";
  let message = header + lead;
  unknown.forEach(([about, text], at) => {
    const follows = at > 0 && (FOLLOWS[about] ?? []).includes(unknown[at - 1][0]);
    message += (follows ? "\n" : "\n\n") + text;
  });
  return { message, sent: { ...sent, ...Object.fromEntries(unknown) } };
}

/** Splits the message into its parts, in order, and adds the tools, which the package does not list. */
function splitMessage(content, state, phase) {
  const task = `**Task:** ${state.taskDescription}\n**Task ID:** ${state.taskId}`;
  const [head, afterTask] = splitAt(content, `\n\n${task}\n`);
  const [location, afterPlace] = splitAt(afterTask, `\n\n${WHAT_TO_DO}`);
  const at = afterPlace.lastIndexOf("\n\n**Available subagent profiles for this phase:** ");
  const [profiles, afterProfiles] = splitAt(afterPlace.slice(at + 2), "\n**All profiles:** ");
  const [all, advance] = splitAt(afterProfiles, "\n\n");
  const [header, role] = splitAt(head, "]\n\n");
  const left = tools(phase);
  const parts = [
    ["role", role],
    ["task", task],
    ["location", location],
    ["instructions", WHAT_TO_DO + afterPlace.slice(0, at)],
    ...(left === null ? [] : [["tools", `**Tools in ${phase.name}:** ${left}`]]),
    ["profiles", profiles],
    ["allProfiles", `**All profiles:** ${all}`],
    ["advance", advance],
  ];
  return { header: `${header}]`, parts };
}

/** Lists the tools that a phase allows; null if it allows all. */
function tools({ blacklist, whitelist }) {
  if (whitelist) return whitelist.length > 0 ? whitelist.join(", ") : "workflow_step";
  return blacklist?.length > 0 ? `all except: ${blacklist.join(", ")}` : null;
}

/** Splits a text at the first mark. @param {string} text @param {string} mark */
function splitAt(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

const BUILT_IN =
  /^(⚠️ The [^]* is still active\. Current phase: [^]*\.\n\nYou must NOT stop yet\.) The workflow requires you to complete the current phase and call workflow_step to advance\.\n\nCurrent phase instructions:\n[^]*\n\nContinue working on the current phase and call workflow_step when done\.$/;

/** Shortens the built-in reminder for a conversation that contains the instructions. @param {string} reminder */
export const shortened = (reminder) =>
  reminder.replace(BUILT_IN, (_, head) => `${head} Continue with this phase as its instructions above say, and call workflow_step when done.`);
