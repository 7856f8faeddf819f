/**
 * The intended difference in the context of the model: text that the conversation has already is not repeated.
 *
 * The context that the model has been sent, by topic: `role`, `task`, `place`, `instructions`, `tools`, `profiles`,
 * `allProfiles` and `advance`, each with its text.
 *
 * @module
 */

/** @typedef {Record<string, string>} SentContext */

/** What is said of one phase only. */
const OF_PHASE = ["place", "instructions", "tools", "profiles"];

const WHAT_TO_DO = "**What to do in this phase:**\n";

/** What stands right under what comes before it. */
const FOLLOWS = { place: ["task"], profiles: ["tools"], allProfiles: ["tools", "profiles"] };

/** Another phase is entered. @param {SentContext} sent @returns {SentContext} */
export const withoutPhase = (sent) => Object.fromEntries(Object.entries(sent).filter(([about]) => !OF_PHASE.includes(about)));

/** The answer that entered a phase arrives. @param {SentContext} sent @param {string} answer @param {string} phaseName @returns {SentContext} */
export function withAnswer(sent, answer, phaseName) {
  const [, instructions] = answer.split(`\n\n**What to do in ${phaseName}:**\n`);
  return instructions === undefined ? sent : { ...sent, instructions: WHAT_TO_DO + instructions };
}

/** The last answer may not have come. @param {SentContext} sent @returns {SentContext} */
export function doubted(sent) {
  const { instructions: _, ...others } = sent;
  return "place" in sent ? sent : others;
}

/**
 * The context message as it is sent, and what the conversation holds then.
 *
 * @param {string} content  the package's message
 * @param {SentContext} sent
 * @param {any} state
 * @param {any} phase
 */
export function contextOf(content, sent, state, phase) {
  const { header, parts } = taken(content, state, phase);
  const unknown = parts.filter(([about, text]) => sent[about] !== text);
  const lead = unknown.length === parts.length ? "" : unknown.length > 0 ? " as said above, and:" : " rules and instructions unchanged";
  let message = header + lead;
  unknown.forEach(([about, text], at) => {
    const follows = at > 0 && (FOLLOWS[about] ?? []).includes(unknown[at - 1][0]);
    message += (follows ? "\n" : "\n\n") + text;
  });
  return { message, sent: { ...sent, ...Object.fromEntries(unknown) } };
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
