/**
 * Prompts that are commands: `workflow bugfix the export is empty`, `workflow status`.
 *
 * The first word must be exactly `workflow`, with or without `/`, and the second a verb or the name of a workflow. Any other
 * sentence goes to the model, and so does a verb with more words than it takes: "workflow status reports are late".
 */

export interface Command {
  /** A command of the manifest. */
  name: string;
  arguments: string;
}

/** The command with which a person answers an open question. */
export const ANSWER = "workflow-answer";

/** True if a verb takes these words. */
type Takes = (words: string) => boolean;
const nothing: Takes = (words) => words === "";
const oneWord: Takes = (words) => !/\s/.test(words);
const anything: Takes = () => true;
const VERBS: Record<string, [name: string, takes: Takes]> = {
  cancel: ["cancel-workflow", nothing],
  status: ["workflow-status", nothing],
  pause: ["workflow-pause", nothing],
  resume: ["workflow-resume", (words) => words === "" || words.startsWith("+")],
  next: ["workflow-next", oneWord],
  skip: ["workflow-skip", nothing],
  goto: ["workflow-goto", anything],
  approve: ["workflow-approve", anything],
  off: ["workflow-off", (words) => words === "" || /^\d\S*$/.test(words)],
  answer: [ANSWER, anything],
};

/** True if a prompt may be a command: then the names of the workflows are needed. */
export const mayBeCommand = (prompt: string): boolean => /^\/?workflow\s+\S/.test(unquoted(prompt));

/** Reads a prompt; `undefined` if it is no command. */
export function parsePrompt(prompt: string, workflows: readonly string[]): Command | undefined {
  const [first, rest] = split(unquoted(prompt));
  return first === "workflow" || first === "/workflow" ? parseArguments(rest, workflows) : undefined;
}

/** Reads the words behind `workflow`. */
export function parseArguments(words: string, workflows: readonly string[]): Command | undefined {
  const [word, more] = split(words);
  const [name, takes] = (Object.hasOwn(VERBS, word) && VERBS[word]) || [];
  if (name !== undefined) return takes?.(more) ? { name, arguments: more } : undefined;
  // The built-in workflow is in no list.
  return [...workflows, "quick"].includes(word) ? { name: "workflow", arguments: words.trim() } : undefined;
}

/** `opencode run` puts quotes around an argument with spaces. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  return /^"[^"]*"$/.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}

/** The first word, and the rest without the white space around it. */
function split(text: string): [string, string] {
  const [, first = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  return [first, rest];
}
