import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { HostEvent, Hooks, Message, OpencodeClient, Part } from "../src/opencode/host.ts";
import { plugin, type PluginOptions } from "../src/opencode/plugin.ts";
import { parsePrompt } from "../src/opencode/prompt.ts";
import { LastShown, Questions } from "../src/opencode/questions.ts";
import { isRunMode } from "../src/opencode/screen.ts";
import { engineCalls } from "../src/opencode/tools.ts";
import { manifest } from "../src/pi/manifest.ts";
import { type Fake, type Fixture, fixture, sleep } from "./support.ts";

const ACTIVE = { active: true, workflowKey: "demo", taskId: "wf-1" };
const begins = { actions: [{ type: "appendEntry", customType: "workflow:state", data: ACTIVE }, { type: "sendUserMessage", content: "Begin" }] };
const workflows = [{ key: "demo", name: "Demo", commandName: "demo", show: "user", source: "global", phases: [] }];

/** An opencode with the plugin. */
class MockOpencode {
  readonly toasts: string[] = [];
  readonly toastTitles: (string | undefined)[] = [];
  readonly titles = new Map<string, string>();
  readonly sent: { id: string; text: string | undefined; agent: string | undefined }[] = [];
  readonly parents = new Map<string, string>();
  messages: Message[] = [];
  hooks!: Hooks;

  readonly client: OpencodeClient = {
    session: {
      get: async ({ path }) => ({ data: { id: path.id, title: this.titles.get(path.id) ?? "x", ...(this.parents.has(path.id) && { parentID: this.parents.get(path.id) as string }) } }),
      messages: async () => ({ data: this.messages }),
      promptAsync: async ({ path, body }) => {
        this.sent.push({ id: path.id, text: body.parts[0]?.text, agent: body.agent });
        return {};
      },
      update: async () => ({}),
    },
    tui: {
      showToast: async ({ body }) => {
        this.toasts.push(body.message);
        this.toastTitles.push(body.title);
        return {};
      },
    },
  };

  /** Sends a prompt, and returns the texts that the model gets. */
  async prompt(text: string, sessionID = "ses_1"): Promise<string[]> {
    const parts: Part[] = [{ type: "text", text, id: "prt_1", messageID: "msg_1", sessionID }];
    await this.hooks["chat.message"]({ sessionID }, { message: { id: "msg_1", role: "user", sessionID, agent: "build" }, parts });
    return parts.map((part) => part.text ?? "");
  }

  /** Runs a command, and returns the texts that the model gets. */
  async command(command: string, words = "", sessionID = "ses_1"): Promise<string[]> {
    const parts: Part[] = [{ type: "text", text: words }];
    await this.hooks["command.execute.before"]({ command, sessionID, arguments: words }, { parts });
    return this.prompt(parts[0]?.text ?? "", sessionID);
  }

  event(type: string, properties: object): Promise<void> {
    return this.hooks.event({ event: { type, properties } as HostEvent });
  }

  /** The agent works and stops. */
  async work(sessionID = "ses_1"): Promise<void> {
    await this.event("session.status", { sessionID, status: { type: "busy" } });
    await this.event("session.idle", { sessionID });
  }

  /** Calls a tool; rejects if it is blocked. */
  call(tool: string, args: unknown, sessionID = "ses_1"): Promise<void> {
    return this.hooks["tool.execute.before"]({ tool, sessionID, callID: "call_1" }, { args });
  }
}

async function load(t: TestContext, fake: Fake = {}, options: PluginOptions = {}, at: Fixture = fixture(t, withManifest(fake))) {
  const host = new MockOpencode();
  const settings = { binary: process.execPath, args: at.args, state: at.directory, argv: ["bun", "opencode"], env: {}, deadlineMs: 5_000 };
  host.hooks = await plugin({ client: host.client, directory: at.directory }, { ...settings, ...options });
  t.after(() => host.hooks.dispose());
  return { host, at };
}

const withManifest = (fake: Fake): Fake => ({ ...fake, answers: { initialize: manifest, "workflow/list": { workflows }, ...fake.answers } });
const last = (at: Fixture, method: string) => at.calls().findLast((call) => call.method === method)?.params;
const count = (at: Fixture, method: string) => at.calls().filter((call) => call.method === method).length;
const answer = (finish: string, name?: string): Message => ({
  info: { id: "msg_2", role: "assistant", sessionID: "ses_1", finish, ...(name !== undefined && { error: { name } }) },
  parts: [{ type: "text", text: "Done." }],
});

test("commands are registered beside those of the user", async (t) => {
  const { host } = await load(t);
  const own = { template: "mine" };
  const config = { command: { "workflow-status": own } as Record<string, { template: string }> };
  await host.hooks.config(config);
  assert.equal(config.command["workflow-status"], own);
  assert.equal(config.command.workflow?.template, "$ARGUMENTS");
  assert.ok(config.command["workflow-answer"]);
});

test("a prompt that is a command starts a run, with the context of the phase", async (t) => {
  const { host, at } = await load(t, { answers: { "command/run": begins, "hook/before_agent_start": { inject: { customType: "x", content: "Rules", display: false } } } });
  assert.deepEqual(await host.prompt("workflow demo the export is empty"), ["workflow demo the export is empty", "Begin", "Rules"]);
  assert.deepEqual([last(at, "command/run").name, last(at, "command/run").arguments], ["workflow", "demo the export is empty"]);
  assert.equal(last(at, "hook/before_agent_start").event.prompt, "Begin");
  const entries = readFileSync(join(at.directory, "ses_1.jsonl"), "utf8");
  assert.deepEqual(JSON.parse(entries), { type: "custom", customType: "workflow:state", data: ACTIVE });
});

test("the name of a workflow with errors is a command too, so that the refusal names them", async (t) => {
  const diagnostics = [{ code: "WF014", severity: "error", message: "x", workflow: "broken" }];
  const { host, at } = await load(t, { answers: { "workflow/list": { workflows: [], diagnostics } } });
  await host.prompt("workflow broken x");
  assert.equal(last(at, "command/run").arguments, "broken x");
});

test("the answer to a command is repeated by the model, and is no message to the agent", async (t) => {
  const { host, at } = await load(t, { answers: { "command/run": { actions: [{ type: "notify", message: "Phase 1 of 3", level: "info" }] } } });
  const [typed, addition] = await host.command("workflow-status");
  assert.equal(typed, "/workflow-status");
  assert.match(addition ?? "", /Repeat the answer.*Phase 1 of 3/s);
  assert.deepEqual(host.toasts, ["Phase 1 of 3"]);
  assert.equal(count(at, "hook/before_agent_start"), 0);
});

test("without an interface the answer to a command is not for the model", async (t) => {
  const { host } = await load(t, { answers: { "command/run": { actions: [{ type: "notify", message: "The code is 123", level: "info" }] } } }, { argv: ["bun", "opencode", "run"] });
  assert.doesNotMatch((await host.command("workflow-next")).join("\n"), /123/);
});

test("a command from the shell of an agent is refused", async (t) => {
  const { host, at } = await load(t, {}, { env: { WORKFLOW_SIDECAR_AGENT_SHELL: "ses_0" } });
  assert.match((await host.command("workflow-approve", "yes")).join("\n"), /only the user may give it/);
  assert.equal(count(at, "command/run"), 0);
  const shell = { env: {} as Record<string, string> };
  await host.hooks["shell.env"]({ sessionID: "ses_1" }, shell);
  assert.deepEqual(shell.env, { WORKFLOW_SIDECAR_AGENT_SHELL: "ses_1" });
});

test("an opencode that an agent starts works under the rules of its session while that has a run", async (t) => {
  const { host, at } = await load(t, { answers: { "command/run": begins } });
  const { host: nested } = await load(t, {}, { env: { WORKFLOW_SIDECAR_AGENT_SHELL: "ses_1" } }, at);
  await nested.call("write", {}, "ses_2");
  assert.equal(last(at, "hook/tool_call").sessionId, "ses_2");
  await host.prompt("workflow demo it");
  await nested.call("write", {}, "ses_2");
  assert.equal(last(at, "hook/tool_call").sessionId, "ses_1");
  await assert.rejects(nested.call("workflow_step", {}, "ses_2"), /Only the main agent/);
  const shell = { env: {} as Record<string, string> };
  await nested.hooks["shell.env"]({ sessionID: "ses_2" }, shell);
  assert.deepEqual(shell.env, { WORKFLOW_SIDECAR_AGENT_SHELL: "ses_1" });
});

test("a reminder is sent with the agent of the person, and is not taken for their words", async (t) => {
  const reminder = { jsonrpc: "2.0", method: "host/apply", params: { sessionId: "ses_1", actions: [{ type: "sendUserMessage", content: "Go on" }] } };
  const { host, at } = await load(t, { before: { "hook/agent_end": [reminder] } });
  await host.prompt("hello");
  host.messages = [answer("stop")];
  await host.work();
  assert.deepEqual(host.sent, [{ id: "ses_1", text: "Go on", agent: "build" }]);
  await host.prompt("Go on");
  assert.equal(last(at, "hook/input").event.source, "extension");
});

for (const [what, message, error, expected] of [
  ["a stop", answer("stop"), undefined, "stop"],
  ["an answer that was cut off", answer("length"), undefined, "length"],
  ["an error of the provider", answer("stop", "APIError"), undefined, "error"],
  ["an abort", answer("stop"), "MessageAbortedError", "aborted"],
] as const) {
  test(`the end of the agent's work is reported: ${what}`, async (t) => {
    const { host, at } = await load(t);
    await host.prompt("hello");
    host.messages = [message];
    await host.event("session.status", { sessionID: "ses_1", status: { type: "busy" } });
    if (error) await host.event("session.error", { sessionID: "ses_1", error: { name: error } });
    await host.event("session.idle", { sessionID: "ses_1" });
    assert.equal(last(at, "hook/agent_end").event.messages[0].stopReason, expected);
  });
}

test("a response counts once, with its tokens", async (t) => {
  const { host, at } = await load(t);
  await host.prompt("hello");
  const info = { id: "msg_2", role: "assistant", sessionID: "ses_1", time: { completed: 1 }, tokens: { input: 3, output: 4, cache: { read: 5 } }, cost: 0.25 };
  await host.event("message.updated", { info });
  await host.event("message.updated", { info });
  assert.equal(count(at, "hook/turn_end"), 1);
  assert.deepEqual(last(at, "hook/turn_end").event, { tokens: 12, microUsd: 250_000 });
});

test("a person sees why a call was blocked, because opencode hides the error of a tool", async (t) => {
  const blockedBy = (kind: string) => ({ answers: { "hook/tool_call": { block: { reason: "[workflow] The phase is read-only.\nUse another approach.", kind } } } });
  const { host } = await load(t, blockedBy("policy"));
  await assert.rejects(host.call("write", { filePath: "a" }), /Use another approach/);
  assert.deepEqual(host.toasts, ["The phase is read-only.\n\nClick on the call to read the whole answer to the agent."]);
  const declined = await load(t, blockedBy("user"));
  await assert.rejects(declined.host.call("write", { filePath: "a" }), /read-only/);
  assert.deepEqual(declined.host.toasts, []);
});

test("a countdown asks for what interrupts it: opencode does not say what is typed", async (t) => {
  const message = { customType: "workflow:countdown", content: "Auto-continuing workflow in 5s... (type anything to interrupt)", display: true };
  const notice = { jsonrpc: "2.0", method: "host/apply", params: { sessionId: "ses_1", actions: [{ type: "sendMessage", message, options: { triggerTurn: false } }] } };
  const { host } = await load(t, { before: { "hook/agent_end": [notice] } });
  await host.prompt("hello");
  host.messages = [answer("stop")];
  await host.work();
  assert.deepEqual(host.toasts, ["Auto-continuing workflow in 5s... (send anything to interrupt)"]);
});

test("the countdown that follows a blocked call is shown below the reason", async (t) => {
  const block = { reason: "[workflow] The phase is read-only.", kind: "policy" };
  const notice = { jsonrpc: "2.0", method: "host/apply", params: { sessionId: "ses_1", actions: [{ type: "notify", message: "Auto-continuing in 5s", level: "info" }] } };
  const { host } = await load(t, { answers: { "hook/tool_call": { block } }, before: { "hook/agent_end": [notice] } });
  await assert.rejects(host.call("write", { filePath: "a" }), /read-only/);
  host.messages = [answer("stop")];
  await host.work();
  assert.deepEqual(host.toasts, ["The phase is read-only.", "The phase is read-only.\n\nAuto-continuing in 5s"]);
  await assert.rejects(host.call("write", { filePath: "a" }), /read-only/);
  assert.equal(host.toasts.at(-1), "The phase is read-only.", "another blocked call takes its place");
});

test("why a call of one session was blocked is not in the toast of another", async (t) => {
  const block = { reason: "[workflow] The phase is read-only.", kind: "policy" };
  const notice = { jsonrpc: "2.0", method: "host/apply", params: { sessionId: "ses_2", actions: [{ type: "notify", message: "Auto-continuing in 5s", level: "info" }] } };
  const { host } = await load(t, { answers: { "hook/tool_call": { block } }, before: { "hook/agent_end": [notice] } });
  await host.prompt("hello", "ses_2");
  await assert.rejects(host.call("write", { filePath: "a" }), /read-only/);
  host.messages = [answer("stop")];
  await host.work("ses_2");
  assert.deepEqual(host.toasts, ["The phase is read-only.", "Auto-continuing in 5s"]);
});

test("a toast names its session where more than one has a run", async (t) => {
  const block = { reason: "[workflow] Not now.", kind: "policy" };
  const { host } = await load(t, { answers: { "command/run": begins, "hook/tool_call": { block } } });
  host.titles.set("ses_1", "The export");
  host.titles.set("ses_2", "New session");
  await host.prompt("workflow demo x");
  await assert.rejects(host.call("write", { filePath: "a" }), /Not now/);
  await host.prompt("workflow demo y", "ses_2");
  await host.event("session.updated", { info: { id: "ses_2", title: "The import" } });
  for (const id of ["ses_1", "ses_2"]) await assert.rejects(host.call("write", { filePath: "a" }, id), /Not now/);
  assert.deepEqual(host.toastTitles, ["Workflow", "The export", "The import"]);
});

test("a sub-agent is judged in the session that started it, and gives no commands", async (t) => {
  const { host, at } = await load(t, { answers: { "hook/tool_call": { block: { reason: "not now", kind: "policy" } } } });
  host.parents.set("ses_2", "ses_1");
  await assert.rejects(host.call("bash", { command: "ls" }, "ses_2"), /not now/);
  assert.equal(last(at, "hook/tool_call").sessionId, "ses_1");
  await assert.rejects(host.call("workflow_step", { action: "next" }, "ses_2"), /Only the main agent/);
  await host.prompt("workflow cancel", "ses_2");
  assert.equal(count(at, "command/run"), 0);
});

test("a result is changed before the model reads it, wherever it is", async (t) => {
  const { host } = await load(t, { answers: { "hook/tool_result": { mutation: { content: [{ type: "text", text: "***" }] } } } });
  const output = { output: "secret", metadata: { output: "secret", exit: 0 } };
  await host.hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", callID: "c", args: {} }, output);
  assert.deepEqual(output, { output: "***", metadata: { output: "***", exit: 0 } });
});

test("workflow_step answers with the text of the engine, and fails with its error", async (t) => {
  const context = { sessionID: "ses_1", messageID: "msg_2", callID: "call_9", abort: new AbortController().signal };
  const ok = await load(t, { answers: { "tool/execute": { content: [{ type: "text", text: "Advanced" }] } } });
  assert.equal(await ok.host.hooks.tool.workflow_step?.execute({ action: "next" }, context), "Advanced");
  assert.deepEqual(last(ok.at, "tool/execute").arguments, { action: "next" });
  const failed = await load(t, { answers: { "tool/execute": { content: [{ type: "text", text: "No run" }], isError: true } } });
  await assert.rejects(failed.host.hooks.tool.workflow_step?.execute({ action: "next" }, context) as Promise<string>, /No run/);
});

test("without an answer of the sidecar tools are blocked while a run is active, and only then", async (t) => {
  const { host, at } = await load(t, { answers: { "command/run": begins }, die: ["hook/tool_call"] });
  await host.call("write", { filePath: "a" });
  await host.prompt("workflow demo x");
  await assert.rejects(host.call("write", { filePath: "a" }), /is blocked: a workflow is active.*\/cancel-workflow/s);
  const output = { output: "secret" };
  const dead = await load(t, {}, { binary: join(at.directory, "none") }, at);
  await assert.rejects(dead.host.call("write", { filePath: "a" }), /is blocked: a workflow is active/);
  await dead.host.hooks["tool.execute.after"]({ tool: "read", sessionID: "ses_1", callID: "c" }, output);
  assert.match(output.output, /withheld/);
  assert.match((await dead.host.command("cancel-workflow")).join("\n"), /cancelled, without the sidecar/);
  await dead.host.call("write", { filePath: "a" });
});

test("a question waits for the answer of a person", async (t) => {
  const asks = { jsonrpc: "2.0", id: "s1", method: "ui/confirm", params: { sessionId: "ses_1", title: "Write it?", message: "a.txt" } };
  const status = { jsonrpc: "2.0", method: "host/apply", params: { sessionId: "ses_1", actions: [{ type: "setStatus", key: "workflow", text: "Fix [2/3]" }] } };
  const { host, at } = await load(t, { before: { "hook/tool_call": [asks, status] } });
  await host.call("write", { filePath: "a" });
  await sleep(200);
  // A toast replaces the one before.
  assert.equal(host.toasts.length, 1);
  assert.match(host.toasts[0] ?? "", /Fix \[2\/3\].*Write it\?.*\/workflow-answer/s);
  assert.match((await host.prompt("workflow answer")).join("\n"), /Write it\?/);
  assert.match((await host.prompt("workflow answer maybe")).join("\n"), /is not an answer/);
  await host.prompt("workflow answer yes");
  await sleep(100);
  assert.equal(at.calls().find((call) => call.id === "s1")?.result, true);
});

test("a notice that takes the place of a question has the question", async (t) => {
  const asks = { jsonrpc: "2.0", id: "s1", method: "ui/confirm", params: { sessionId: "ses_1", title: "Write it?", message: "a.txt" } };
  const notice = { jsonrpc: "2.0", method: "host/apply", params: { sessionId: "ses_1", actions: [{ type: "notify", message: "Publish?", level: "warning" }] } };
  const { host } = await load(t, { before: { "hook/tool_call": [asks, notice] } });
  await host.call("write", { filePath: "a" });
  await sleep(200);
  assert.match(host.toasts.at(-1) ?? "", /^Publish\?.*Write it\?/s);
});

test("a question without a new status is shown by itself", async (t) => {
  const asks = { jsonrpc: "2.0", id: "s1", method: "ui/confirm", params: { sessionId: "ses_1", title: "Write it?", message: "a.txt" } };
  const { host } = await load(t, { before: { "hook/tool_call": [asks] } });
  await host.call("write", { filePath: "a" });
  await sleep(200);
  assert.deepEqual(host.toasts.length, 1);
  assert.match(host.toasts[0] ?? "", /^Write it\?/);
});

test("questions of two sessions at once are both shown, and one that is settled is not", async (t) => {
  const asks = (id: string, sessionId: string, title: string) => ({ jsonrpc: "2.0", id, method: "ui/input", params: { sessionId, title } });
  const settled = { jsonrpc: "2.0", method: "ui/dismiss", params: { id: "s3" } };
  const before = { "hook/tool_call": [asks("s1", "ses_1", "One?"), asks("s2", "ses_2", "Two?"), asks("s3", "ses_3", "Three?"), settled] };
  const { host } = await load(t, { before });
  await Promise.all(["ses_2", "ses_3"].map((id) => host.prompt("x", id)));
  await host.call("write", { filePath: "a" });
  await sleep(200);
  assert.deepEqual(host.toasts.map((toast) => toast.slice(0, 4)), ["One?", "Two?"]);
});

test("a question of a command is answered like any other, and the command goes on", async (t) => {
  const asks = { jsonrpc: "2.0", id: "s1", method: "ui/confirm", params: { sessionId: "ses_1", title: "Skip Fix?", message: "Its gate will not run." } };
  const { host, at } = await load(t, { before: { "command/run": [asks] }, raw: { "command/run": "" } });
  assert.match((await host.command("workflow", "skip")).join("\n"), /Skip Fix\?.*Its gate will not run.*\/workflow-answer/s);
  assert.equal(at.calls().find((call) => call.id === "s1")?.result, undefined);
  await host.prompt("workflow answer yes");
  await sleep(100);
  assert.equal(at.calls().find((call) => call.id === "s1")?.result, true);
});

test("an answer counts for the question that was shown last, and another one is shown first", async (t) => {
  const asks = (id: string, sessionId: string, title: string) => ({ jsonrpc: "2.0", id, method: "ui/confirm", params: { sessionId, title, message: "" } });
  const before = { "hook/tool_call": [asks("s1", "ses_1", "Push?"), asks("s2", "ses_1", "Test?"), asks("s3", "ses_2", "Lint?")] };
  const { host, at } = await load(t, { before });
  await host.prompt("x", "ses_2");
  await host.call("write", { filePath: "a" });
  await sleep(200);
  assert.deepEqual(host.toasts.map((toast) => toast.slice(0, 5)), ["Push?", "Lint?"], "the oldest of each session");
  const answered = () => ["s1", "s2", "s3"].filter((id) => at.calls().some((call) => call.id === id));
  const answer = async () => {
    const text = (await host.prompt("workflow answer yes")).join("\n");
    await sleep(100);
    return text;
  };
  assert.match(await answer(), /does not count yet.*Push\?/s);
  assert.deepEqual(answered(), []);
  await answer();
  assert.deepEqual(answered(), ["s1"]);
  assert.match(host.toasts.at(-1) ?? "", /^Test\?/);
  await answer();
  assert.deepEqual(answered(), ["s1", "s2"]);
});

test("an answer to a question that was withdrawn does not count for the next one", async () => {
  const questions: Questions = new Questions(new LastShown(), () => undefined, () => questions.show());
  const withdrawn = new AbortController();
  void questions.ask({ title: "Test?", options: ["no", "yes"] }, withdrawn.signal);
  const push = questions.ask({ title: "Push?", options: ["no", "yes"] }, new AbortController().signal);
  withdrawn.abort();
  assert.match(questions.answer("yes"), /does not count yet.*Push\?/s);
  assert.match(questions.answer("yes"), /Answered/);
  assert.equal(await push, "yes");
});

test("a start that also asks about trust begins the work", async (t) => {
  const asks = { jsonrpc: "2.0", id: "s1", method: "ui/confirm", params: { sessionId: "ses_1", title: "Trust these commands?", message: "npm test" } };
  const { host } = await load(t, { before: { "command/run": [asks] }, answers: { "command/run": begins } });
  const text = (await host.prompt("workflow demo x")).join("\n");
  assert.doesNotMatch(text, /workflow confirm/);
  assert.match(text, /Begin/);
});

test("after a compaction the instructions are in the system prompt until the next message", async (t) => {
  const inject = { customType: "x", content: "Find the cause", display: false };
  const { host } = await load(t, { answers: { "command/run": begins, "hook/before_agent_start": { inject } } });
  await host.prompt("workflow demo x");
  const system = async () => {
    const output = { system: ["base"] };
    await host.hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, output);
    return output.system;
  };
  assert.deepEqual(await system(), ["base"]);
  await host.event("session.compacted", { sessionID: "ses_1" });
  assert.deepEqual(await system(), ["base", "Find the cause"]);
  await host.prompt("go on");
  assert.deepEqual(await system(), ["base"]);
});

test("prompts are commands only in the exact form", () => {
  const names = ["bugfix"];
  const parsed = (prompt: string) => {
    const command = parsePrompt(prompt, names);
    return command && `${command.name} ${command.arguments}`;
  };
  assert.equal(parsed("workflow bugfix the export\nis empty"), "workflow bugfix the export\nis empty");
  assert.equal(parsed("/workflow status"), "workflow-status ");
  assert.equal(parsed('"workflow goto fix"'), "workflow-goto fix");
  assert.equal(parsed("workflow resume +20 turns"), "workflow-resume +20 turns");
  for (const sentence of ["workflow engines are useful", "workflow status reports are late", "Workflow status", "my workflow status", "workflow", "workflow constructor"]) {
    assert.equal(parsed(sentence), undefined, sentence);
  }
});

test("a patch is a call for each of its files", () => {
  const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** Update File: b.txt\n*** Move to: c.txt\n-x\n+y\n*** End Patch";
  const files = [
    { toolName: "write", input: { path: "a.txt", content: "one\n" } },
    { toolName: "edit", input: { path: "b.txt", content: "" } },
    { toolName: "write", input: { path: "c.txt", content: "y\n" } },
  ];
  assert.deepEqual(engineCalls("apply_patch", { patchText: patch }), files);
  const line = { command: `apply_patch <<EOF\n${patch}\nEOF` };
  assert.deepEqual(engineCalls("bash", line), [{ toolName: "bash", input: line }, ...files]);
  assert.deepEqual(engineCalls("glob", { pattern: "*" }), [{ toolName: "find", input: { pattern: "*" } }]);
  assert.deepEqual(engineCalls("patch", {}), [{ toolName: "edit", input: {} }]);
});

test("a question is answered by number, by text or by its beginning, and settled by its signal", async () => {
  const questions: Questions = new Questions(new LastShown(), () => undefined, () => questions.show());
  const none = new AbortController();
  const options = ["approve", "reject", "retry"];
  const answers = [questions.ask({ title: "1", options }, none.signal), questions.ask({ title: "2", options }, none.signal), questions.ask({ title: "3" }, none.signal)];
  const settled = questions.ask({ title: "4" }, none.signal);
  questions.answer("app");
  assert.match(questions.answer("re"), /is not an answer/);
  questions.answer("2");
  questions.answer("any words");
  none.abort();
  assert.deepEqual(await Promise.all([...answers, settled]), ["approve", "reject", "any words", null]);
  assert.equal(questions.answer("x"), "No question is open.");
});

test("run mode is known by the command line", () => {
  assert.equal(isRunMode(["bun", "opencode", "run", "hello"]), true);
  assert.equal(isRunMode(["bun", "opencode", "--print-logs", "run", "hello"]), true);
  assert.equal(isRunMode(["bun", "opencode"]), false);
  assert.equal(isRunMode(["bun", "opencode", "serve"]), false);
});
