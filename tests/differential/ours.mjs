/**
 * Our side: a small host for `workflow-sidecar serve`. Frames lines, forwards operations as
 * protocol calls, answers the sidecar's questions with the scripted answer and gathers actions
 * from answers and from `host/apply`. Holds no workflow logic.
 *
 * @module
 */

import { spawn } from "node:child_process";

const DEADLINE_MS = 10_000;

/** How many sessions one process serves, before another takes over. */
const SESSIONS_PER_PROCESS = 100;

/** @typedef {{agentDir: string, cwd: string, now: number, seed: number, hasUI: boolean, shared: boolean}} Place */

/**
 * The processes. Sessions that have no global definitions share one, as a host's would: what one
 * session leaves behind must not be seen in the next.
 */
export class Fleet {
  /** @param {string} binary @param {string} nowhere  an agent directory without definitions */
  constructor(binary, nowhere) {
    this.binary = binary;
    this.nowhere = nowhere;
    /** @type {Map<boolean, Ours>} */
    this.shared = new Map();
  }

  /** The process for a session. @param {Place} place */
  take(place) {
    if (!place.shared) return new Ours(this.binary, place);
    let ours = this.shared.get(place.hasUI);
    if (!ours || ours.sessions >= SESSIONS_PER_PROCESS || ours.ended) {
      ours?.stop();
      ours = new Ours(this.binary, { ...place, agentDir: this.nowhere });
      this.shared.set(place.hasUI, ours);
    }
    return ours;
  }

  /** The session is over. @param {Ours} ours */
  release(ours) {
    if (!ours.place.shared) ours.stop();
  }

  stop() {
    for (const ours of this.shared.values()) ours.stop();
  }
}

/** One sidecar process; serves sessions one after the other. */
export class Ours {
  /** @param {string} binary @param {Place} place */
  constructor(binary, place) {
    this.binary = binary;
    this.place = place;
    this.child = null;
    this.ended = false;
    this.sessions = 0;
    /** Its clock, which goes on from session to session. */
    this.now = place.now;
  }

  async start() {
    this.child = spawn(this.binary, ["serve"], { stdio: ["pipe", "pipe", "pipe"], cwd: this.place.cwd });
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
    const { now, seed, agentDir, cwd, hasUI } = this.place;
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

  /** One message of the sidecar: an answer, a notification or a question. */
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

  /** @returns {Promise<any>} the answer, or how the process died */
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

  /** Begins a session. @param {{cwd: string, name: string}} place */
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

  /** The protocol call for an operation. */
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

/** An action of the protocol as an effect. */
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
