/**
 * The vocabulary of generated definitions: names, texts, tools, template variables.
 * Names never contain `<` or `>`, which mark variables whose value differs on purpose (see `marked`).
 *
 * @module
 */

export const NAMES = [
  "Plan", "Reproduce", "Fix it", "Review", "Ship", "Überprüfen", "調査", "A: B", "{phaseName}", "x".repeat(60),
  "Say \"hi\"", "it's", "$& $1", "{constructor}", " padded ", "tab\tin", "No #comment", "👩‍👩‍👧 family", "e\u0301", "100%",
];

export const EMOJIS = ["📋", "🔍", "🧪", "🚀", "⚙️", "👩‍💻", "A", "::", "🏁", "→"];

export const TOOLS = ["bash", "edit", "write", "read", "grep", "delegate_to_subagents", "workflow_step", "Bash", "mcp__x__y"];

export const PROFILES = ["coder", "reviewer", "researcher", "tester", "coder"];

/** Ordinary directory names, not sorted. */
export const KEYS = ["release", "bugfix", "w-2", "w_1", "Zeta", "alpha", "beta", "gamma", "delta", "epsilon", "ü-key", "a b", "x.y"];

/** Directory names that every JavaScript object inherits. */
export const ODD_KEYS = ["constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];

export const DESCRIPTIONS = [
  "fix the login page", "add tests", "x", "Zeile eins\nZeile zwei", "emoji 😀😀 here", "  spaces  inside   ", "\u00a0nbsp\ufeff", "{taskId} {description}",
  "$& and $1", "a".repeat(49), "a".repeat(50), "a".repeat(51), "ab😀😀".repeat(13), "\"quoted\" 'single'", "\u2028line separator", "quotes \\ backslash",
];

const CONTEXT_VARIABLES = [
  "workflowName", "workflowKey", "description", "taskId", "phaseId", "phaseName", "blockedToolsList", "toolName",
  "breadcrumbPath", "globalStepCount",
];
const ODD_VARIABLES = ["taskDescription", "unknown", "constructor", "__proto__", "phase-name", "", "phaseÄ", " phaseName "];

/** The variables each text may use, known ones only. */
const VARIABLES = {
  context: CONTEXT_VARIABLES,
  block: ["workflowName", "phaseName", "toolName", "allowedTools"],
  completion: ["workflowName", "taskDescription", "taskId", "phaseCount"],
  reminder: ["workflowName", "phaseName", "phaseEmoji", "phaseInstructions", "taskDescription", "taskId", "workflowKey"],
  initial: ["workflowName", "workflowKey", "description", "firstPhaseId", "firstPhaseName", "firstPhaseEmoji"],
};

const FILLERS = ["Do it.", "Read first,", "then", "**bold**", "- item", "`code`", "\n", "\n\n", "ünïcode", "😀", "{", "}", "{{", "}}", "$&", "\\n", "\"q\"", "# heading"];

/**
 * Marks a variable whose value differs on purpose (B03, B04, B51), so that a rule finds the value in any text.
 */
const marked = (name) => `<${name}={${name}}>`;
const MARKED = { context: ["previousPhaseName", "nextPhaseName"], initial: ["firstPhaseProfiles"] };

/**
 * Generates a text with template variables.
 *
 * @param {import("../random.mjs").Random} random
 * @param {keyof typeof VARIABLES} kind
 */
export function text(random, kind) {
  const parts = [];
  for (let i = random.int(1, 6); i > 0; i--) {
    parts.push(
      random.weighted([
        [4, () => random.pick(FILLERS)],
        [4, () => `{${random.pick(VARIABLES[kind])}}`],
        [1, () => `{${random.pick(ODD_VARIABLES)}}`],
        [kind in MARKED ? 1 : 0, () => marked(random.pick(MARKED[kind]))],
      ])(),
    );
  }
  const joined = parts.join(random.pick([" ", " ", ""]));
  return joined.trim() === "" ? `Say ${joined}.` : joined;
}
