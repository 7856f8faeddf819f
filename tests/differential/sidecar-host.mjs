/**
 * A small host for `workflow-sidecar serve`. Frames lines, forwards operations as protocol calls,
 * answers the sidecar's questions with the scripted answer, and collects actions from answers and
 * from `host/apply`. Contains no workflow logic.
 *
 * @module
 */

import { spawn } from "node:child_process";

const DEADLINE_MS = 10_000;

/** The number of sessions of one process, before it is replaced. */
const SESSIONS_PER_PROCESS = 100;

/** @typedef {{agentDir: string, cwd: string, now: number, seed: number, hasUI: boolean, shared: boolean}} SessionOptions */

/**
 * The sidecar processes. Sessions without global definitions share one, as in a host: no session may
 * affect the next one.
 */
export class SidecarPool {
  /** @param {string} binary @param {string} nowhere  an agent directory without definitions */
  constructor(binary, nowhere) {
    this.binary = binary;
    this.nowhere = nowhere;
    /** @type {Map<boolean, SidecarHost>} */
    this.shared = new Map();
  }

  /** Returns the process for a session. @param {SessionOptions} options */
  take(options) {
    if (!options.shared) return new SidecarHost(this.binary, options);
    let ours = this.shared.get(options.hasUI);
    if (!ours || ours.sessions >= SESSIONS_PER_PROCESS || ours.ended) {
      ours?.stop();
      ours = new SidecarHost(this.binary, { ...options, agentDir: this.nowhere });
      this.shared.set(options.hasUI, ours);
    }
    return ours;
  }

  /** Ends a session. @param {SidecarHost} ours */
  release(ours) {
    if (!ours.options.shared) ours.stop();
  }

  stop() {
    for (const ours of this.shared.values()) ours.stop();
  }
}

/** One sidecar process, for consecutive sessions. */
export class SidecarHost {
  /** @param {string} binary @param {SessionOptions} options */
  constructor(binary, options) {
    this.binary = binary;
    this.options = options;
    this.child = null;
    this.ended = false;
    this.sessions = 0;
    /** Its clock, which continues across sessions. */
    this.now = options.now;
  }

  async start() {
    this.child = spawn(this.binary, ["serve"], { stdio: ["pipe", "pipe", "pipe"], cwd: this.options.cwd });
    this.serial = 0;
    this.waiting = new Map();
    this.effects = [];
    this.stderr = "";
    /** @type {Buffer} */
    this.rest = Buffer.alloc(0);
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (chunk) => (this.stderr = (this.stderr + chunk).slice(-4000)));
    this.child.stdout.on("data", (chunk) => this.read(chunk));
    this.child.on("exit", () => {
      this.ended = true;
      for (const settle of this.waiting.values()) settle({ died: "crashed" });
      this.waiting.clear();
    });
    const { now, seed, agentDir, cwd, hasUI } = this.options;
    const answer = await this.call("initialize", {
      protocolVersion: 1,
      host: { name: "differential", version: "1.0.0" },
      cwd,
      agentDir,
      capabilities: { dialogs: hasUI, widgets: true },
      clock: { virtual: { now, seed } },
    });
    if (!answer.result) throw new Error(`initialize failed: ${JSON.stringify(answer)} ${this.stderr}`);
    this.manifest = answer.result;
  }

  /** Splits on LF only. @param {Buffer} chunk */
  read(chunk) {
    this.rest = this.rest.length ? Buffer.concat([this.rest, chunk]) : chunk;
    for (let end; (end = this.rest.indexOf(10)) >= 0; ) {
      const line = this.rest.subarray(0, end).toString("utf8");
      this.rest = this.rest.subarray(end + 1);
      this.take(JSON.parse(line));
    }
  }

  /** Handles a message of the sidecar: an answer, a notification or a question. */
  take(message) {
    if (message.method === undefined) {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    } else if (message.id === undefined) {
      if (message.method === "host/apply" && message.params.sessionId === this.sessionId) this.gather(message.params.actions);
    } else {
      this.question(message);
    }
  }

  question({ id, method, params }) {
    if (method === "ui/confirm") {
      this.effects.push({ kind: "confirm", title: params.title, message: params.message, asked: true });
      this.write({ jsonrpc: "2.0", id, result: this.answer });
    } else {
      this.effects.push({ kind: "asks", method, params });
      this.write({ jsonrpc: "2.0", id, error: { code: -32601, message: "not offered" } });
    }
  }

  write(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** @returns {Promise<any>} the answer, or the failure of the process */
  call(method, params) {
    const id = ++this.serial;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ died: "hung" }), DEADLINE_MS);
      this.waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.write({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** @param {any[]} actions */
  gather(actions) {
    for (const action of actions ?? []) this.effects.push(effectOf(action));
  }

  /** Starts a session. @param {{cwd: string, name: string}} options */
  async open({ cwd, name }) {
    if (!this.child) await this.start();
    this.cwd = cwd;
    this.sessionId = `${name}-${++this.sessions}`;
  }

  /** @param {import("./types.mjs").Operation} operation @param {import("./types.mjs").Entry[]} branch @returns {Promise<import("./types.mjs").Outcome>} */
  async apply(operation, branch) {
    this.effects = [];
    this.answer = operation.confirm ?? false;
    if (operation.op === "advance") this.now += operation.ms;
    const { method, params } = this.request(operation, branch);
    const answer = await this.call(method, { sessionId: this.sessionId, ...params });
    if (answer.died) {
      this.stop();
      return { effects: this.effects, died: answer.died };
    }
    if (answer.error) this.effects.push({ kind: "throws", text: `${answer.error.code} ${answer.error.message}`, data: answer.error.data });
    else this.gatherResult(operation.op, answer.result ?? {});
    return { effects: this.effects, diagnostics: this.diagnostics };
  }

  /** Returns the protocol call for an operation. */
  request(operation, branch) {
    const { op, event = {} } = operation;
    const tellsUI = operation.hasUI !== undefined && op !== "command";
    const context = { cwd: this.cwd, ...(tellsUI && { hasUI: operation.hasUI }) };
    switch (op) {
      case "session_start":
      case "session_tree":
      case "session_switch":
        return { method: `hook/${op}`, params: { event, context: { ...context, branch } } };
      case "tool_call":
        return {
          method: "hook/tool_call",
          params: { event: { toolName: operation.toolName, toolCallId: "c", input: operation.input }, context },
        };
      case "agent_end":
        return { method: "hook/agent_end", params: { event: { messages: operation.messages }, context } };
      case "step":
        return {
          method: "tool/execute",
          params: { name: "workflow_step", toolCallId: "call", arguments: operation.arguments, context },
        };
      case "command":
        return { method: "command/run", params: { name: operation.name, arguments: operation.arguments, context } };
      case "complete":
        return { method: "command/complete", params: { name: operation.name, prefix: operation.prefix, context } };
      case "advance":
        return { method: "clock/advance", params: { ms: operation.ms } };
      default:
        return { method: `hook/${op}`, params: { event, context } };
    }
  }

  gatherResult(op, result) {
    this.gather(result.actions);
    this.diagnostics = result.diagnostics ?? [];
    if (result.inject) this.effects.push({ kind: "inject", ...result.inject });
    if (result.block) this.effects.push({ kind: "block", reason: result.block.reason });
    if (op === "step") {
      const { content, details, resultType, isError } = result;
      this.effects.push({ kind: "result", content, details, resultType, isError });
    }
    if (op === "complete") this.effects.push({ kind: "complete", items: result.items ?? null });
  }

  stop() {
    this.ended = true;
    this.child?.kill("SIGKILL");
    this.child = null;
  }
}

/** Converts an action of the protocol to an effect. */
function effectOf({ type, ...fields }) {
  switch (type) {
    case "appendEntry":
      return { kind: "entry", ...fields };
    case "sendMessage":
      return { kind: "message", ...fields.message, options: fields.options };
    case "sendUserMessage":
      return { kind: "user", ...fields };
    case "setSessionName":
      return { kind: "name", ...fields };
    case "setStatus":
      return { kind: "status", key: fields.key, text: fields.text ?? null };
    case "setWidget":
      return { kind: "widget", key: fields.key, lines: fields.lines ?? null, placement: fields.placement };
    case "notify":
      return { kind: "notify", ...fields };
    default:
      return { kind: `action ${type}`, ...fields };
  }
}
