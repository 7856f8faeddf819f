/**
 * The sidecar as a child: begun, with sessions in which a workflow runs. And the requests that are
 * measured, each with what its answer must be.
 *
 * @module
 */

import { Child } from "./child.mjs";

export const DESCRIPTION = "Make the tests pass";

export class Sidecar extends Child {
  /** @param {string} binary @param {import("./project.mjs").Place} place @param {string[]} options */
  constructor(binary, { cwd }, options) {
    super([binary, "serve", ...options], { cwd });
  }

  /** @param {import("./project.mjs").Place} place @param {object} [more]  what the host says beyond the least */
  async initialize(place, more = {}) {
    this.manifest = await this.call("initialize", { ...initialize(place), ...more });
  }

  /** A session in which the workflow runs; gives the entries it left. */
  async run(sessionId = "", branch = []) {
    await this.call("hook/session_start", { sessionId, context: { hasUI: false, branch } });
    const { actions } = await this.call("command/run", { sessionId, name: "workflow", arguments: `run ${DESCRIPTION}` });
    return actions.filter((action) => action.type === "appendEntry").map(({ customType, data }) => ({ type: "custom", customType, data }));
  }
}

export const initialize = ({ cwd, agentDir }) => ({
  protocolVersion: 1,
  host: { name: "bench", version: "1.0.0" },
  cwd,
  agentDir,
  capabilities: {},
});

/** @param {string} tool @param {any} [input] @param {string} [sessionId] */
const toolCall = (tool, input = { path: "src/main.rs" }, sessionId) => ({
  method: "hook/tool_call",
  params: { ...(sessionId && { sessionId }), event: { toolName: tool, toolCallId: "call-1", input } },
});

const isEmpty = (result) => result !== null && Object.keys(result).length === 0;

/** @type {(input?: any, sessionId?: string) => import("./child.mjs").Request} */
export const allowed = (input, sessionId) => ({ ...toolCall("read", input, sessionId), check: isEmpty });

/** @type {(tool?: string, sessionId?: string) => import("./child.mjs").Request} */
export const blocked = (tool = "write", sessionId) => ({
  ...toolCall(tool, undefined, sessionId),
  check: (result) => result?.block?.kind === "policy" && result.block.reason.includes(`"${tool}" is blocked`),
});

/** @type {(length: number) => import("./child.mjs").Request} */
export const context = (length) => ({
  method: "hook/before_agent_start",
  params: { event: { prompt: "Go on." } },
  check: (result) => result?.inject?.content.length > length,
});

/** @type {(branch: any[]) => import("./child.mjs").Request} */
export const sessionStart = (branch) => ({
  method: "hook/session_start",
  params: { context: { hasUI: false, branch } },
  check: (result) => result?.actions?.some((action) => action.type === "setStatus" && action.text?.includes("Workflow run")),
});

/** The same request to a child that answers all with null. @param {import("./child.mjs").Request} request */
export const unanswered = (request) => ({ ...request, check: (result) => result === null });
