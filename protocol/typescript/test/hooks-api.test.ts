import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type HookAPI, type HookContext, type HookOptions, modeOf, workflowHook } from "../src/hooks-api.ts";
import { manifest } from "../src/pi/manifest.ts";
import { type Fake, fixture } from "./support.ts";

/** A host with that API: handlers are awaited, the last result counts. */
class MockHost {
  readonly sent: string[] = [];
  readonly notifications: string[] = [];
  hasUI = true;
  sessionFile: string | null;
  answers: unknown[] = [];
  readonly #handlers = new Map<string, (event: any, ctx: HookContext) => Promise<any>>();

  constructor(sessionFile: string | null) {
    this.sessionFile = sessionFile;
  }

  readonly api: HookAPI = {
    on: (event, handler) => void this.#handlers.set(event, handler),
    send: (text) => void this.sent.push(text),
  };

  get ctx(): HookContext {
    const dialog = async () => this.answers.shift() as any;
    return {
      ui: { select: dialog, input: dialog, notify: (message, type) => void this.notifications.push(`${type} ${message}`) },
      hasUI: this.hasUI,
      cwd: "/project",
      sessionFile: this.sessionFile,
      exec: async (command, args) => ({ stdout: [command, ...args].join(" "), stderr: "", code: 0 }),
    };
  }

  emit(type: string, event: object = {}): Promise<any> {
    return this.#handlers.get(type)?.({ type, ...event }, this.ctx) as Promise<any>;
  }
}

const active = { active: true, workflowKey: "demo", taskId: "wf-1" };
const begins = { actions: [{ type: "appendEntry", customType: "workflow:state", data: active }, { type: "sendUserMessage", content: "Begin" }] };

function load(t: TestContext, fake: Fake = {}, options: HookOptions = {}, inMemory = false) {
  const at = fixture(t, { ...fake, answers: { initialize: manifest, ...fake.answers } });
  const host = new MockHost(inMemory ? null : join(at.directory, "session.jsonl"));
  workflowHook({ command: process.execPath, args: at.args, deadlineMs: 5_000, env: process.env, ...options })(host.api);
  return { host, at };
}

const last = (at: { calls(): any[] }, method: string) => at.calls().findLast((call) => call.method === method)?.params;

const bash = (command: string) => ({ toolName: "bash", toolCallId: "c1", input: { command } });

test("events go to the sidecar as the manifest asks, and a block comes back", async (t) => {
  const { host, at } = load(t, { answers: { "hook/tool_call": { block: { reason: "not now", kind: "policy" } } } });
  await host.emit("session_start");
  assert.deepEqual(await host.emit("tool_call", bash("ls")), { block: true, reason: "not now" });
  await host.emit("turn_end", { turnIndex: 1, message: {}, toolResults: [] });
  await host.emit("agent_end", { messages: [{ role: "assistant", stopReason: "stop", content: [{ type: "text", text: "Hi" }] }] });
  assert.deepEqual(last(at, "initialize").capabilities, { dialogs: true, widgets: false, settle: false, exec: false });
  assert.deepEqual(last(at, "hook/session_start"), { event: { reason: "startup" }, context: { cwd: "/project", hasUI: true, sessionFile: host.sessionFile, branch: [] } });
  assert.deepEqual(last(at, "hook/tool_call"), { event: { ...bash("ls") } });
  assert.equal(last(at, "hook/agent_end").event.messages[0].stopReason, "stop");
});

test("entries are stored next to the session, and a later process restores from them", async (t) => {
  const { host, at } = load(t, { answers: { "hook/turn_end": begins } });
  await host.emit("session_start");
  await host.emit("turn_end");
  const file = `${host.sessionFile}.workflow`;
  assert.equal(readFileSync(file, "utf8").trim(), JSON.stringify({ type: "custom", customType: "workflow:state", data: active }));
  appendFileSync(file, '{"type":"custom","customTy');

  const later = new MockHost(host.sessionFile);
  workflowHook({ command: process.execPath, args: at.args, env: process.env })(later.api);
  await later.emit("session_start");
  assert.deepEqual(last(at, "hook/session_start").context.branch, [{ type: "custom", customType: "workflow:state", data: active }]);
});

test("a branched session begins with the entries of its origin, another session without entries", async (t) => {
  const { host, at } = load(t, { answers: { "hook/turn_end": begins } });
  await host.emit("session_start");
  await host.emit("turn_end");
  const branched = join(at.directory, "branched.jsonl");
  await host.emit("session_switch", { newSessionFile: branched, previousSessionFile: host.sessionFile, reason: "branch" });
  assert.equal(last(at, "hook/session_switch").context.branch.length, 1);
  await host.emit("session_switch", { newSessionFile: join(at.directory, "other.jsonl"), previousSessionFile: branched, reason: "switch" });
  assert.deepEqual(last(at, "hook/session_switch").context.branch, []);
  assert.deepEqual(last(at, "hook/session_switch").event, { reason: "switch" });
});

test("the entries of a session without a file stay in memory", async (t) => {
  const { host } = load(t, { answers: { "hook/turn_end": begins }, die: ["hook/tool_call"] }, {}, true);
  await host.emit("session_start");
  await host.emit("turn_end");
  assert.equal((await host.emit("tool_call", bash("ls"))).block, true);
});

test("a tool of the manifest is a bash command, and its answer is the block reason", async (t) => {
  const content = [{ type: "text", text: "✓ Advanced" }];
  const { host, at } = load(t, { answers: { "tool/execute": { content } } });
  await host.emit("session_start");
  assert.deepEqual(await host.emit("tool_call", bash("workflow_step next fixed  the bug")), { block: true, reason: "✓ Advanced" });
  assert.deepEqual(last(at, "tool/execute"), { name: "workflow_step", toolCallId: "c1", arguments: { action: "next", summary: "fixed the bug" } });
  await host.emit("tool_call", bash("workflow_step"));
  assert.deepEqual(last(at, "tool/execute").arguments, {});
  assert.equal(last(at, "hook/tool_call"), undefined);
});

test("the context is added once, to the first result of a run", async (t) => {
  const inject = { customType: "workflow:context", content: "Phase one.", display: false };
  const { host } = load(t, { answers: { "hook/before_agent_start": { inject } } });
  await host.emit("session_start");
  await host.emit("agent_start");
  const { result } = await host.emit("tool_result", { toolName: "read", toolCallId: "1", input: {}, result: "text", isError: false });
  assert.match(result, /^text\n\nPhase one\.\nworkflow_step is no tool here: call bash with `workflow_step <action>`\.$/);
  assert.equal(await host.emit("tool_result", { toolName: "read", toolCallId: "2", input: {}, result: "text", isError: false }), undefined);
});

test("a changed result is returned as a string", async (t) => {
  const asks = { ...manifest, hooks: [...manifest.hooks, { name: "tool_result", event: ["toolName", "content", "isError"] }, { name: "branch", event: ["targetTurnIndex"] }] };
  const mutation = { content: [{ type: "text", text: "less" }], isError: true };
  const { host, at } = load(t, { answers: { initialize: asks, "hook/tool_result": { mutation }, "hook/branch": { mutation: { skipConversationRestore: true } } } });
  await host.emit("session_start");
  assert.deepEqual(await host.emit("tool_result", { toolName: "read", toolCallId: "1", input: {}, result: "more", isError: false }), { result: "less", isError: true });
  assert.deepEqual(last(at, "hook/tool_result").event.content, [{ type: "text", text: "more" }]);
  assert.deepEqual(await host.emit("branch", { targetTurnIndex: 2, entries: [] }), { skipConversationRestore: true });
  assert.deepEqual(last(at, "hook/branch").event, { targetTurnIndex: 2 });
});

test("a command comes from the environment, and sends messages to the agent and the user", async (t) => {
  const more = { type: "sendMessage", message: { customType: "workflow:complete", content: "Done", display: true }, options: { triggerTurn: false } };
  const answers = { "command/run": { actions: [...begins.actions, more, { type: "notify", message: "Careful", level: "warning" }, { type: "setStatus", key: "a", text: "b" }] } };
  const { host, at } = load(t, { answers }, { env: { ...process.env, WORKFLOW_COMMAND: "/workflow demo the bug" } });
  await host.emit("session_start");
  assert.deepEqual(last(at, "command/run"), { name: "workflow", arguments: "demo the bug" });
  assert.deepEqual([host.sent, host.notifications], [["Begin"], ["info Done", "warning Careful"]]);
});

test("a command of the environment is refused where an agent started pi in its shell", async (t) => {
  const env = { ...process.env, WORKFLOW_COMMAND: "/workflow-off 30m", GEMINI_CLI: "1" };
  const { host, at } = load(t, {}, { env });
  await host.emit("session_start");
  assert.equal(last(at, "command/run"), undefined);
  assert.match(host.notifications.join(), /only the user may give it/);
});

test("a timed message is not sent to a busy agent", async (t) => {
  const say = { method: "host/apply", params: { sessionId: "", actions: [{ type: "sendUserMessage", content: "Go on" }] } };
  const { host } = load(t, { before: { "hook/turn_end": [say] } });
  await host.emit("session_start");
  await host.emit("agent_start");
  await host.emit("turn_end");
  assert.deepEqual(host.sent, []);
  await host.emit("agent_end", { messages: [] });
  await host.emit("turn_end");
  assert.deepEqual(host.sent, ["Go on"]);
});

test("in RPC mode dialogs and notices reach the program that drives pi, and triggers can be watched", async (t) => {
  const before = { "hook/turn_end": [{ id: "s1", method: "ui/confirm", params: { title: "?", message: "" } }] };
  const answers = { "hook/session_start": { actions: [{ type: "notify", message: "Watching", level: "info" }] } };
  const { host, at } = load(t, { before, answers }, { mode: "rpc" });
  host.hasUI = false;
  host.answers = ["Yes"];
  await host.emit("session_start");
  await host.emit("turn_end");
  await host.emit("turn_start");
  assert.equal(last(at, "initialize").capabilities.dialogs, true);
  assert.equal(last(at, "hook/session_start").context.hasUI, true);
  assert.equal(at.calls().find(({ id }) => id === "s1")?.result, true);
  assert.deepEqual(host.notifications, ["info Watching"]);
});

test("in print mode nobody is asked or notified", async (t) => {
  const answers = { "hook/session_start": { actions: [{ type: "notify", message: "To the log", level: "info" }] } };
  const { host, at } = load(t, { answers }, { mode: "print" });
  host.hasUI = false;
  await host.emit("session_start");
  assert.equal(last(at, "initialize").capabilities.dialogs, false);
  assert.equal(last(at, "hook/session_start").context.hasUI, false);
  assert.deepEqual(host.notifications, []);
});

test("the mode without pi's own interface is read from its arguments", () => {
  assert.equal(modeOf(["node", "pi", "--mode", "rpc"]), "rpc");
  assert.equal(modeOf(["node", "pi", "--mode=rpc", "--no-session"]), "rpc");
  for (const argv of [["node", "pi", "-p", "rpc"], ["node", "pi", "--mode", "json", "rpc"], ["node", "pi"]]) assert.equal(modeOf(argv), "print");
});

test("dialogs and commands of the sidecar reach the host", async (t) => {
  const before = { "hook/turn_end": [{ id: "s1", method: "ui/select", params: { title: "?", options: [] } }, { id: "s2", method: "host/exec", params: { command: "git", args: ["status"] } }] };
  const { host, at } = load(t, { before }, { exec: true });
  host.answers = [null];
  await host.emit("session_start");
  assert.equal(last(at, "initialize").capabilities.exec, true);
  await host.emit("turn_end");
  await host.emit("turn_start");
  assert.equal(at.calls().find(({ id }) => id === "s1")?.result, null);
  assert.equal((at.calls().find(({ id }) => id === "s2")?.result as any).stdout, "git status");
});

test("without a sidecar an active run blocks, and a variable cancels it", async (t) => {
  const { host } = load(t, { answers: { "hook/turn_end": begins } });
  await host.emit("session_start");
  await host.emit("turn_end");

  const missing = { command: "/nonexistent/sidecar" };
  const later = new MockHost(host.sessionFile);
  workflowHook({ ...missing, env: process.env })(later.api);
  await later.emit("session_start");
  assert.match((await later.emit("tool_call", bash("ls"))).reason, /"bash" is blocked.*WORKFLOW_COMMAND=\/cancel-workflow/);
  assert.match((await later.emit("tool_call", bash("workflow_step next"))).reason, /^workflow_step failed/);
  assert.equal(later.notifications.length, 1);

  const last = new MockHost(host.sessionFile);
  workflowHook({ ...missing, env: { ...process.env, WORKFLOW_COMMAND: "/cancel-workflow" } })(last.api);
  await last.emit("session_start");
  assert.equal(await last.emit("tool_call", bash("ls")), undefined);
  assert.ok(existsSync(`${host.sessionFile}.workflow`));
});

test("without a sidecar the rules of the settings block too, and results are withheld", async (t) => {
  const { host } = load(t, { answers: { "hook/session_start": { guarded: true } }, die: ["hook/tool_call", "hook/tool_result"] });
  await host.emit("session_start");
  assert.match((await host.emit("tool_call", bash("ls"))).reason, /"bash" is blocked: the settings have rules/);
  const { result } = await host.emit("tool_result", { toolName: "read", toolCallId: "1", input: {}, result: "sk-1", isError: false });
  assert.match(result, /^The tool "read" has run, but what it said is withheld/);
});
