/**
 * The sidecar as a child process, and the requests that are measured, each with a check of its answer.
 *
 * @module
 */

import { Child } from "./child.mjs";
import { prose } from "./project.mjs";

export const DESCRIPTION = "Make the tests pass";

export class Sidecar extends Child {
  /** @param {string} binary @param {import("./project.mjs").Directories} directories @param {string[]} options */
  constructor(binary, { cwd }, options) {
    super([binary, "serve", ...options], { cwd });
  }

  /** @param {import("./project.mjs").Directories} directories @param {object} [more]  further parameters */
  async initialize(directories, more = {}) {
    this.manifest = await this.call("initialize", { ...initialize(directories), ...more });
  }

  /** Starts a session and the workflow in it, and returns the entries of the run. @param {any[]} [branch] */
  async run(branch = []) {
    await this.call("hook/session_start", { context: { hasUI: false, branch } });
    return entriesOf(await this.call("command/run", { name: "workflow", arguments: `run ${DESCRIPTION}` }));
  }

  /** Starts a loop over this number of items, goes to its last one, and returns the entries of the run. @param {number} items @param {number} outputs */
  async loop(items, outputs) {
    const next = async (outputs) => entriesOf(await this.call("tool/execute", { name: "workflow_step", toolCallId: "next", arguments: { action: "next", outputs } }));
    await this.call("hook/session_start", { context: { hasUI: false, branch: [] } });
    const branch = entriesOf(await this.call("command/run", { name: "workflow", arguments: `loop ${DESCRIPTION}` }));
    branch.push(...(await next({ tasks: Array.from({ length: items }, (_, i) => `Task ${i + 1} of the list`) })));
    const values = Object.fromEntries(Array.from({ length: outputs }, (_, i) => [`o${i}`, "done, with tests"]));
    for (let item = 1; item < items; item++) branch.push(...(await next(values)));
    return branch;
  }
}

const entriesOf = ({ actions }) =>
  actions.filter((action) => action.type === "appendEntry").map(({ customType, data }) => ({ type: "custom", customType, data }));

export const initialize = ({ cwd, agentDir }) => ({
  protocolVersion: 1,
  host: { name: "bench", version: "1.0.0" },
  cwd,
  agentDir,
  capabilities: {},
});

/** @typedef {import("./child.mjs").Request} Request */

const toolCall = (toolName, input) => ({ method: "hook/tool_call", params: { event: { toolName, toolCallId: "call-1", input } } });

const isEmpty = (result) => result !== null && Object.keys(result).length === 0;

/** @type {() => Request} */
export const allowed = () => ({ ...toolCall("read", { path: "src/main.rs" }), check: isEmpty });

/** @type {() => Request} */
export const blocked = () => ({
  ...toolCall("write", { path: "src/main.rs" }),
  check: (result) => result?.block?.kind === "policy" && result.block.reason.includes('"write" is blocked'),
});

/** A call with a line of this number of commands. @type {(number: number) => Request} */
export const commands = (number) => ({ ...toolCall("bash", { command: "git status --short; ".repeat(number) }), check: isEmpty });

/** A call of bash with a line of 60 bytes. @type {() => Request} */
export const shortCommand = () => ({ ...toolCall("bash", { command: "cargo test --workspace --all-features -- --nocapture session" }), check: isEmpty });

/** The start of the agent, which gives it the whole context of its phase. @type {() => Request} */
export const agentStart = () => ({
  first: { method: "hook/session_compact", params: {} },
  method: "hook/before_agent_start",
  params: { event: { prompt: "Continue." } },
  check: (result) => JSON.stringify(result).length > 20_000,
});

/** A call of bash that writes a file of this length, as agents do. @type {(length: number) => Request} */
export const command = (length) => ({
  ...toolCall("bash", { command: `cat > notes.md <<'END'\n${prose(length)}\nEND\n` }),
  check: isEmpty,
});

/** @type {(branch: any[]) => Request} */
export const sessionStart = (branch) => ({
  method: "hook/session_start",
  params: { context: { hasUI: false, branch } },
  check: (result) => result?.actions?.some((action) => action.type === "setStatus" && action.text?.includes("Workflow run")),
});

/** The start of a session without a run. @type {() => Request} */
export const emptyStart = () => ({ method: "hook/session_start", params: { context: { hasUI: false, branch: [] } }, check: (result) => result !== null });

/** The start of a session in a loop over this number of items, at its last one. @type {(branch: any[], items: number) => Request} */
export const loopStart = (branch, items) => ({
  ...sessionStart(branch),
  check: (result) => result?.actions?.some((action) => action.type === "setStatus" && action.text?.includes(`Item ${items} of ${items}`)),
});

/** @type {(prefix: string) => Request} */
export const completion = (prefix) => ({
  method: "command/complete",
  params: { name: "workflow", prefix },
  check: (result) => result?.items.length > 0,
});

/** The end of the agent with a conversation of this length, from a host that sends all of it. @type {(bytes: number) => Request} */
export function agentEnd(bytes) {
  const messages = Array(Math.ceil(bytes / 1030)).fill({ role: "user", content: prose(1000) });
  return {
    method: "hook/agent_end",
    params: { event: { messages: [...messages, { role: "assistant", stopReason: "aborted", content: [] }] } },
    check: (result) => result?.mutation?.unload === false,
    prepared: true,
  };
}

/** A branch of this number of messages, from a host that sends all of it. @param {number} length */
export const branchOf = (length) => Array(length).fill({ type: "message", message: { role: "user", content: prose(900) } });

/** The same request to a child that answers every line with null. @param {Request} request @returns {Request} */
export const answeredByNull = (request) => ({ ...request, check: (result) => result === null });
