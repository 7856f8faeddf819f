import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, test, type TestContext } from "node:test";
import { extension, type ShimOptions } from "../src/pi/extension.ts";
import { manifest } from "../src/pi/manifest.ts";
import { type Generation, generations, MockPi, Text, theme } from "./mock-pi.ts";
import { type Fake, type Fixture, fixture, sleep } from "./support.ts";

const active = { active: true, workflowKey: "demo", taskId: "wf-1" };
const image = { type: "image", data: "aGk=", mimeType: "image/png" };
const result = { toolName: "bash", toolCallId: "1", input: {}, content: [{ type: "text", text: "sk-1" }, image], details: { full: 1 }, isError: true };
const stateEntry = (data: object) => ({ type: "appendEntry", customType: "workflow:state", data });

const open: MockPi[] = [];
afterEach(async () => {
  for (const pi of open.splice(0)) {
    pi.stale = false;
    await pi.emit("session_shutdown", { reason: "quit" });
  }
});

/** pi with the extension, whose sidecar is the fake. */
function load(t: TestContext, generation: Generation, fake: Fake = {}, options: Partial<ShimOptions> = {}): { pi: MockPi; at: Fixture } {
  const at = fixture(t, { ...fake, answers: { initialize: manifest, ...fake.answers } });
  const pi = new MockPi(generation);
  open.push(pi);
  extension({ Text, manifest, version: "1", command: process.execPath, args: at.args, deadlineMs: 5_000, env: {}, ...options })(pi.api);
  return { pi, at };
}

async function started(t: TestContext, generation: Generation, fake?: Fake, options?: Partial<ShimOptions>) {
  const loaded = load(t, generation, fake, options);
  await loaded.pi.emit("session_start", { reason: "startup" });
  loaded.pi.done.length = 0;
  return loaded;
}

/** The calls, but for completions, which are asked for in advance. */
const methods = ({ calls }: Fixture) => calls().map(({ method }) => method).filter((method) => method !== "command/complete");
const last = ({ calls }: Fixture, method: string) => calls().findLast((call) => call.method === method)?.params;

for (const generation of generations) {
  const on = (what: string, body: (t: TestContext) => Promise<void>) => test(`${generation}: ${what}`, body);

  on("the factory registers the declarations of the manifest, and starts nothing", async (t) => {
    const { pi, at } = load(t, generation);
    await sleep(50);
    assert.deepEqual([...pi.tools.keys()], ["workflow_step"]);
    assert.equal(pi.tools.get("workflow_step")?.executionMode, "sequential");
    assert.deepEqual([...pi.commands.keys()], manifest.commands.map(({ name }) => name));
    assert.deepEqual([...pi.renderers.keys()], manifest.messageTypes.map(({ customType }) => customType));
    assert.deepEqual(methods(at), []);
  });

  on("a flag of pi's command line has the session recorded", async (t) => {
    const { pi, at } = load(t, generation);
    assert.deepEqual([...pi.flags.keys()], ["workflow-record", "workflow-record-redact"]);
    pi.flags.set("workflow-record", "session.jsonl").set("workflow-record-redact", true);
    await pi.emit("session_start", { reason: "startup" });
    assert.deepEqual(at.arguments(), ["--record", "session.jsonl", "--record-redact"]);
  });

  on("additions of a newer sidecar's manifest are registered when it has started", async (t) => {
    const command = { name: "pause", description: "Pauses", completes: false };
    const hook = { name: "message_end", event: ["id"] };
    const newer = { ...manifest, commands: [...manifest.commands, command], hooks: [...manifest.hooks, hook] };
    const { pi, at } = await started(t, generation, { answers: { initialize: newer } });
    await pi.run("pause", "now");
    await pi.emit("message_end", { id: "7", text: "not asked for" });
    assert.deepEqual(last(at, "command/run"), { name: "pause", arguments: "now" });
    assert.deepEqual(last(at, "hook/message_end"), { event: { id: "7" } });
  });

  on("the hints of a phase are applied, and the user's own settings come back at the end", async (t) => {
    const hints = { model: "big", thinking: "high", tools: { allowed: ["read", "bash"], blocked: ["bash"] } };
    const answers = { "command/run": { actions: [{ type: "setHints", hints }, { type: "sendUserMessage", content: "Begin" }] }, "hook/turn_end": { actions: [{ type: "setHints", hints: null }] } };
    const { pi, at } = await started(t, generation, { answers });
    assert.equal(at.calls().find(({ method }) => method === "initialize")?.params.capabilities.hints, true);
    await pi.run("workflow", "demo it");
    const applied = ["entry workflow:host-settings", "model p/big", "thinking high", "tools read workflow_step", "say now Begin"];
    assert.deepEqual(pi.done.splice(0), applied);
    await pi.emit("turn_end", { turnIndex: 1 });
    const restored = ["model p/small", "thinking low", "tools read edit bash workflow_step", "entry workflow:host-settings"];
    assert.deepEqual(pi.done.splice(0), restored);
  });

  on("a session that was cut off in a phase with hints restores the user's settings, except those that the user changed", async (t) => {
    const { pi } = load(t, generation);
    const changed = { own: { model: "p/small", thinking: "low" }, set: { model: "p/big", thinking: "high" } };
    pi.append({ type: "custom", customType: "workflow:host-settings", data: { version: 1, changed } });
    pi.thinking = "high";
    await pi.emit("session_start", { reason: "resume" });
    assert.equal(pi.thinking, "low");
    assert.ok(!pi.done.some((line) => line.startsWith("model")));
  });

  on("a model that pi does not have is reported once", async (t) => {
    const { pi } = await started(t, generation, { answers: { "command/run": { actions: [{ type: "setHints", hints: { model: "huge" } }] } } });
    await pi.run("workflow", "demo it");
    await pi.run("workflow", "demo it");
    assert.deepEqual(pi.done, ["notify warning The phase asks for the model huge, which pi does not have or has no key for. The model stays as it is."]);
  });

  on("the options behind a command's first word are proposed", async (t) => {
    const items = [{ value: "demo --version", label: "demo --version" }, { value: "demo --hotfix", label: "demo --hotfix" }];
    const { pi, at } = await started(t, generation, { answers: { "command/complete": { items } } });
    const complete = pi.commands.get("workflow")?.getArgumentCompletions as (prefix: string) => Promise<{ value: string }[] | null>;
    assert.deepEqual((await complete("demo --v"))?.map(({ value }) => value), ["demo --version"]);
    assert.deepEqual(last(at, "command/complete"), { name: "workflow", prefix: "demo --" });
    assert.deepEqual((await complete("demo --hotfix --"))?.map(({ value }) => value), ["demo --hotfix --version", "demo --hotfix --hotfix"]);
    assert.equal(await complete("demo --x"), null);
  });

  on("a hook that the sidecar does not ask for is not forwarded", async (t) => {
    const fewer = { ...manifest, hooks: manifest.hooks.filter(({ name }) => name !== "turn_end") };
    const { pi, at } = await started(t, generation, { answers: { initialize: fewer } });
    await pi.emit("turn_end", { turnIndex: 1 });
    assert.equal(last(at, "hook/turn_end"), undefined);
  });

  on("the session is restored from its newest entries, and again after a move", async (t) => {
    const { pi, at } = load(t, generation);
    pi.append({ type: "custom", customType: "workflow:state", data: { ...active, taskId: "old" } });
    const before = pi.append({ type: "custom", customType: "workflow:state", data: active });
    pi.append({ type: "message" });
    await pi.emit("session_start", { reason: "resume" });
    const { event, context } = last(at, "hook/session_start");
    assert.deepEqual(event, { reason: "resume" });
    const trust = generation === "new" ? { projectTrusted: true } : {};
    assert.deepEqual(context, { cwd: "/project", hasUI: true, ...trust, sessionFile: "/sessions/one.jsonl", branch: [{ type: "custom", customType: "workflow:state", data: active }] });

    pi.leaf = pi.entries.get(before)?.parentId ?? null;
    await pi.emit("session_tree", { newLeafId: pi.leaf });
    assert.equal(last(at, "hook/session_tree").context.branch[0].data.taskId, "old");
    await pi.emit("session_start", { reason: "resume" });
    assert.deepEqual(methods(at), ["initialize", "hook/session_start", "hook/session_tree", "hook/session_start"]);
  });

  on("the fields of the manifest are forwarded, and the end of the last message", async (t) => {
    const { pi, at } = await started(t, generation);
    await pi.emit("tool_call", { toolName: "write", toolCallId: "c1", input: { content: "text" } });
    await pi.emit("tool_result", { toolName: "bash", toolCallId: "c2", input: {}, content: [], details: { long: 1 }, isError: true });
    await pi.emit("before_agent_start", { prompt: "Go", systemPrompt: "long" });
    await pi.endRun("length", "I was");
    assert.deepEqual(last(at, "hook/tool_call"), { event: { toolName: "write", toolCallId: "c1", input: { content: "text" } } });
    assert.deepEqual(last(at, "hook/tool_result"), { event: { toolName: "bash", toolCallId: "c2", content: [], isError: true } });
    assert.deepEqual(last(at, "hook/before_agent_start"), { event: { prompt: "Go" } });
    assert.deepEqual(last(at, "hook/agent_end"), { event: { messages: [{ role: "assistant", stopReason: "length", content: [{ type: "text", text: "I was" }] }] } });
  });

  on("an end is reported once, and only when the agent has settled", async (t) => {
    const { pi, at } = await started(t, generation);
    const reported = () => methods(at).filter((method) => method === "hook/agent_end").length;
    if (generation === "new") {
      await pi.emit("agent_end", { messages: [] }); // a retry follows
      assert.equal(reported(), 0);
    }
    await pi.endRun();
    assert.equal(reported(), 1);
    assert.equal(last(at, "initialize").capabilities.settle, generation === "new");
  });

  on("answers become the results of pi's handlers", async (t) => {
    const block = { reason: "not now", kind: "policy" };
    const inject = { customType: "workflow:context", content: "Phase", display: false };
    const { pi } = await started(t, generation, { answers: { "hook/tool_call": { block }, "hook/before_agent_start": { inject }, "hook/turn_end": { mutation: null } } });
    assert.deepEqual(await pi.emit("tool_call", { toolName: "edit", toolCallId: "1", input: {} }), { block: true, reason: "not now" });
    assert.deepEqual(await pi.emit("before_agent_start", { prompt: "Go" }), { message: inject });
    assert.equal(await pi.emit("turn_end"), undefined);
  });

  on("a changed result is returned without the unchanged members", async (t) => {
    const content = [{ type: "text", text: "[redacted]" }];
    const { pi } = await started(t, generation, { answers: { "hook/tool_result": { mutation: { content } } } });
    assert.deepEqual(await pi.emit("tool_result", result), { content });
  });

  on("changed arguments replace those of the event", async (t) => {
    const { pi } = await started(t, generation, { answers: { "hook/tool_call": { mutation: { input: { path: "b" } } } } });
    const input = { path: "a", old: true };
    assert.equal(await pi.emit("tool_call", { toolName: "edit", toolCallId: "1", input }), undefined);
    assert.deepEqual(input, { path: "b" });
  });

  on("actions are applied in order before the handler resolves", async (t) => {
    const actions = [
      stateEntry(active),
      { type: "setStatus", key: "workflow", text: "Demo" },
      { type: "setStatus", key: "workflow", text: null },
      { type: "setWidget", key: "w", lines: ["3s"], placement: "aboveEditor" },
      { type: "setSessionName", name: "N" },
      { type: "sendMessage", message: { customType: "workflow:complete", content: "Yes", display: true }, options: { triggerTurn: false } },
      { type: "notify", message: "Hi", level: "warning" },
      { type: "somethingNewer", what: 1 },
      { type: "sendUserMessage", content: "Go on" },
    ];
    const { pi } = await started(t, generation, { answers: { "hook/turn_end": { actions } } });
    await pi.emit("turn_end");
    assert.deepEqual(pi.done, ["entry workflow:state", "status workflow=Demo", "status workflow=", "widget w=3s", "name N", "message workflow:complete Yes", "notify warning Hi", "say now Go on"]);
  });

  on("a busy agent gets no timed message, and the others after its run", async (t) => {
    const say = { type: "sendUserMessage", content: "Go on" };
    const { pi } = await started(t, generation, {
      before: { "hook/turn_end": [{ method: "host/apply", params: { sessionId: "", actions: [say] } }] },
      answers: { "hook/turn_end": { actions: [say] } },
    });
    pi.idle = false;
    await pi.emit("turn_end");
    assert.deepEqual(pi.done, ["say followUp Go on"]);
  });

  on("messages for the user never reach the model", async (t) => {
    const { pi } = load(t, generation);
    const custom = (customType: string) => ({ role: "custom", customType });
    const messages = [{ role: "user" }, custom("workflow:context"), custom("workflow:countdown"), custom("other"), custom("workflow:complete"), { role: "assistant" }];
    const filtered = await pi.emit("context", { messages });
    assert.deepEqual(filtered.messages, [messages[0], messages[1], messages[3], messages[5]]);
    assert.equal(await pi.emit("context", { messages: filtered.messages }), undefined);
  });

  on("the tool returns the sidecar's answer", async (t) => {
    const content = [{ type: "text", text: "✓ Advanced: A → B\n\nDo B." }];
    const answer = { content, details: { advanced: true }, resultType: "normal", actions: [{ type: "setStatus", key: "s", text: "B" }] };
    const { pi, at } = await started(t, generation, { answers: { "tool/execute": answer } });
    const tool = pi.tools.get("workflow_step");
    const result = await tool?.execute("c1", { action: "next" }, undefined, undefined, pi.ctx);
    assert.deepEqual(result, { content, details: { advanced: true }, resultType: "normal" });
    assert.deepEqual(last(at, "tool/execute"), { name: "workflow_step", toolCallId: "c1", arguments: { action: "next" } });
    assert.deepEqual(pi.done, ["status s=B"]);
  });

  on("a tool's result shows its first line, and whole where it matters", async (t) => {
    const { pi } = load(t, generation);
    const tool = pi.tools.get("workflow_step");
    const shown = (resultType?: string) => tool?.renderResult?.({ content: [{ type: "text", text: "one\ntwo" }], resultType }, {}, theme).render(80);
    assert.deepEqual(shown(), ["<toolOutput>one</>"]);
    assert.deepEqual(shown("normal"), ["<toolOutput>one</>"]);
    assert.deepEqual(shown("error"), ["<toolOutput>one</>"]);
    for (const type of ["cancel", "complete"]) assert.equal(shown(type)?.join("|"), "<toolOutput>one|two</>");
    const commented = { content: [{ type: "text", text: "one\ntwo" }], details: { comment: "shorter\nplease" } };
    assert.deepEqual(tool?.renderResult?.(commented, {}, theme).render(80), ['<toolOutput>one "shorter"</>']);
    const expanded = tool?.renderResult?.({ content: [{ type: "text", text: "one\ntwo" }], resultType: "error" }, { expanded: true }, theme);
    assert.equal(expanded?.render(80).join("|"), "<toolOutput>one|two</>");
    assert.deepEqual(tool?.renderResult?.({}, {}, theme).render(80), ["<toolOutput></>"]);
    assert.deepEqual(tool?.renderCall?.({ action: "next", summary: "long" }, theme).render(80), ["<toolTitle>*workflow_step *</><accent>next</>"]);
  });

  on("messages look as the manifest says", async (t) => {
    const { pi } = load(t, generation);
    const look = (type: string) => pi.renderers.get(type)?.({ content: "text" }, {}, theme)?.render(80);
    assert.deepEqual(look("workflow:context"), ["<accent>🔄 </><dim>[Workflow Context injected]</>"]);
    assert.deepEqual(look("workflow:complete"), ["<success>*text*</>"]);
    assert.deepEqual(look("workflow:countdown"), ["<accent>⏳ </><dim>text</>"]);
  });

  on("a command is refused where an agent started pi in its shell, and not where pi itself is marked", async (t) => {
    const own: NodeJS.ProcessEnv = { PI_CODING_AGENT: "true" };
    for (const env of [own, own, { WORKFLOW_SIDECAR_AGENT_SHELL: "1" }, { CLAUDECODE: "1" }]) {
      const { pi, at } = await started(t, generation, {}, { env });
      await pi.run("workflow-off", "30m");
      const isRefused = pi.done.some((line) => JSON.stringify(line).includes("only the user may give it"));
      assert.deepEqual([isRefused, last(at, "command/run") === undefined], [env !== own, env !== own]);
    }
    assert.equal(own.WORKFLOW_SIDECAR_AGENT_SHELL, String(process.pid));
  });

  on("commands run and complete through the sidecar", async (t) => {
    const items = [{ value: "demo", label: "demo" }];
    const { pi, at } = await started(t, generation, { answers: { "command/complete": { items } } });
    await sleep(50);
    await pi.run("workflow", "demo the bug");
    assert.deepEqual(last(at, "command/run"), { name: "workflow", arguments: "demo the bug" });
    // At once: an editor applies a list that comes late to what has been typed since.
    assert.deepEqual(pi.commands.get("workflow")?.getArgumentCompletions?.("de"), items);
    assert.equal(pi.commands.get("workflow")?.getArgumentCompletions?.("demo "), null);
    // While a list is open, Enter takes an item from it instead of running the command.
    assert.equal(pi.commands.get("workflow")?.getArgumentCompletions?.("demo"), null);
    assert.equal(pi.commands.get("cancel-workflow")?.getArgumentCompletions, undefined);
  });

  on("a command that starts a run waits for the agent, a command that works offline does not", async (t) => {
    const { pi, at } = await started(t, generation);
    pi.idle = false;
    const start = pi.run("workflow", "demo the bug");
    await pi.run("cancel-workflow");
    assert.deepEqual(last(at, "command/run").name, "cancel-workflow");
    pi.becomeIdle();
    await start;
    assert.deepEqual(last(at, "command/run").name, "workflow");
  });

  on("a command that controls the run does not wait for the agent", async (t) => {
    const { pi, at } = await started(t, generation);
    pi.idle = false;
    await pi.run("workflow-pause");
    assert.deepEqual(last(at, "command/run"), { name: "workflow-pause", arguments: "" });
  });

  on("a reminder is not sent while the person types, and the sidecar learns of it", async (t) => {
    const reminder = { type: "sendUserMessage", content: "Go on" };
    const before = { "hook/turn_end": [{ method: "host/apply", params: { actions: [reminder] } }] };
    const { pi, at } = await started(t, generation, { before });
    pi.editorText = "Wait, I";
    await pi.emit("turn_end");
    await sleep(50);
    assert.deepEqual(pi.done, []);
    assert.deepEqual(last(at, "hook/input"), { event: { source: "editor" } });
    pi.editorText = " ";
    await pi.emit("turn_end");
    assert.deepEqual(pi.done, ["say now Go on"]);
  });

  on("the completion of the editor is wrapped once in a session", async (t) => {
    const applyCompletion = (lines: string[], cursorLine: number, cursorCol: number) => ({ lines, cursorLine, cursorCol });
    const { pi } = load(t, generation);
    const own = (pi.completion = { getSuggestions: async () => null, applyCompletion });
    await pi.emit("session_start", { reason: "startup" });
    const wrapped = pi.completion;
    assert.notEqual(wrapped, own);
    await pi.emit("session_tree");
    assert.equal(pi.completion, wrapped);
  });

  on("Escape and text stop a countdown, cursor keys do not", async (t) => {
    const phases = { type: "setWidget", key: "phases", lines: ["▸ A ○ B"], placement: "belowEditor" };
    for (const [data, stops] of [["\u001b", true], ["\u001b[27u", true], ["x", true], ["\u001b[120u", true], ["\u001b[120;1:3u", false], ["\u001b[A", false], ["\u001b[6;20;10t", false]] as const) {
      const widget = { type: "setWidget", key: "w", lines: ["3s"], placement: "aboveEditor" };
      const { pi, at } = await started(t, generation, { answers: { "hook/turn_end": { actions: [widget] }, "hook/turn_start": { actions: [phases] } } });
      await pi.emit("turn_start");
      pi.press(data);
      await sleep(20);
      assert.equal(last(at, "hook/input"), undefined, "there is no countdown yet");
      await pi.emit("turn_end");
      await pi.emit("turn_start");
      pi.press(data);
      pi.press(data);
      await sleep(50);
      const told = methods(at).filter((method) => method === "hook/input").length;
      assert.equal(told, stops ? 1 : 0, JSON.stringify(data));
    }
  });

  on("the sidecar's questions reach the user, and the answers the sidecar", async (t) => {
    const ask = (id: string, method: string, params: object) => ({ id, method, params });
    const before = {
      "command/run": [
        ask("s1", "ui/confirm", { title: "Replace?", message: "It runs." }),
        ask("s2", "ui/select", { title: "Which?", options: ["a", "b"] }),
        ask("s3", "ui/input", { title: "Name?" }),
        ask("s4", "host/exec", { command: "git", args: ["status"] }),
      ],
    };
    const { pi, at } = await started(t, generation, { before });
    pi.mode = "rpc";
    pi.answers = [true, undefined, "n"];
    await pi.run("workflow", "demo");
    await sleep(50);
    const results = ["s1", "s2", "s3", "s4"].map((id) => at.calls().find((call) => call.id === id)?.result);
    assert.deepEqual(results, [true, null, "n", { stdout: "out", stderr: "", code: 0 }]);
    assert.deepEqual(pi.done, ["confirm Replace?: It runs.", "select Which?: a|b", "input Name?: ", "exec git status in /project"]);
  });

  on("what was said before the conversation went back is shown again after it", async (t) => {
    const said = { type: "notify", message: "Your work is in the stash.", level: "info" };
    const { pi } = await started(t, generation, { answers: { "hook/branch": { actions: [said] } } });
    const entryId = pi.append({ type: "message", message: { role: "user" } } as never);
    await pi.emit("session_before_fork", { entryId });
    await pi.emit("session_shutdown", { reason: "fork" });
    // The extension is created anew for the session.
    const { pi: next } = load(t, generation);
    await next.emit("session_start", { reason: "fork" });
    await sleep(400);
    const shown = (mock: MockPi) => mock.done.filter((what) => what === "notify info Your work is in the stash.").length;
    assert.deepEqual([shown(pi), shown(next)], [1, 1]);
    await next.emit("session_tree", {});
    await sleep(400);
    assert.equal(shown(next), 1);
  });

  on("what was said about going back is not shown again if the conversation went on instead", async (t) => {
    const said = { type: "notify", message: "Your work is in the stash.", level: "info" };
    const { pi } = await started(t, generation, { answers: { "hook/branch": { actions: [said] } } });
    const entryId = pi.append({ type: "message", message: { role: "user" } } as never);
    await pi.emit("session_before_fork", { entryId });
    await pi.emit("turn_end");
    await pi.emit("session_tree", {});
    await sleep(400);
    assert.deepEqual(pi.done, ["notify info Your work is in the stash."]);
  });

  // Without a sidecar.

  const missing = { command: "/nonexistent/sidecar" };
  const edit = { toolName: "edit", toolCallId: "1", input: {} };

  on("a command without a sidecar is answered with an error, each time", async (t) => {
    const { pi } = load(t, generation, {}, missing);
    await pi.run("workflow", "demo x");
    assert.match(pi.done.splice(0).join("\n"), /^notify error \/workflow did nothing: there is no workflow sidecar/);
    await pi.emit("session_start", { reason: "startup" });
    pi.done.length = 0;
    for (let i = 0; i < 2; i++) {
      await pi.run("workflow", "demo x");
      assert.match(pi.done.splice(0).join("\n"), /^notify error \/workflow did nothing: /);
    }
  });

  on("without a sidecar and an active workflow tools run, and the user is notified once", async (t) => {
    const { pi } = load(t, generation, {}, missing);
    await pi.emit("session_start", { reason: "startup" });
    assert.equal(await pi.emit("tool_call", edit), undefined);
    assert.equal(await pi.emit("before_agent_start", { prompt: "x" }), undefined);
    assert.equal(pi.done.length, 1);
    assert.match(pi.done[0] as string, /^notify error .*nonexistent/);
  });

  on("without a sidecar an active workflow of the session blocks tools and names the command that cancels it", async (t) => {
    const { pi } = load(t, generation, {}, missing);
    pi.append({ type: "custom", customType: "workflow:state", data: active });
    await pi.emit("session_start", { reason: "resume" });
    const { block, reason } = await pi.emit("tool_call", edit);
    assert.equal(block, true);
    assert.match(reason, /"edit" is blocked.*\/cancel-workflow/);
    assert.match(pi.done[0] as string, /Tools are blocked, because a workflow is active. .*\/cancel-workflow/);
    assert.equal(await pi.emit("tool_call", { ...edit, toolName: "workflow_step" }), undefined);
    await assert.rejects(async () => pi.tools.get("workflow_step")?.execute("1", { action: "next" }, undefined, undefined, pi.ctx), /workflow_step failed.*\/cancel-workflow/);
  });

  on("the cancelling command works without a sidecar: the entry is written, and tools run again", async (t) => {
    const { pi } = load(t, generation, {}, missing);
    pi.append({ type: "custom", customType: "workflow:state", data: { ...active, extra: [1] } });
    await pi.emit("session_start", { reason: "resume" });
    await pi.run("cancel-workflow");
    const written = pi.entries.get(pi.leaf as string);
    assert.deepEqual(written?.data, { ...active, extra: [1], active: false, cancelled: true, completionNotified: true });
    assert.equal(await pi.emit("tool_call", edit), undefined);
    await pi.run("cancel-workflow");
    assert.match(pi.done.at(-1) as string, /No active workflow/);
    assert.equal(pi.entries.size, 2);
  });

  on("a workflow that the lost sidecar started blocks; one that it ended does not", async (t) => {
    const at = { answers: { "command/run": { actions: [stateEntry(active)] }, "tool/execute": { content: [], actions: [stateEntry({ ...active, active: false })] } }, die: ["hook/tool_call"] };
    const { pi } = await started(t, generation, at);
    await pi.run("workflow", "demo");
    assert.equal((await pi.emit("tool_call", edit)).block, true);
    await pi.tools.get("workflow_step")?.execute("1", { action: "next" }, undefined, undefined, pi.ctx);
    assert.equal(await pi.emit("tool_call", edit), undefined);
  });

  on("rules that apply without a workflow block without a sidecar too, and results are withheld", async (t) => {
    const fake = { answers: { "hook/session_start": { guarded: true } }, die: ["hook/tool_call", "hook/tool_result"] };
    const { pi } = await started(t, generation, fake);
    assert.match((await pi.emit("tool_call", edit)).reason, /"edit" is blocked: the settings have rules/);
    const { content } = await pi.emit("tool_result", result);
    assert.match(content[0].text, /"bash" has run, but what it said is withheld: the settings have rules/);
    assert.deepEqual(content.slice(1), [image]);
    assert.equal(await pi.emit("tool_result", { ...result, toolName: "workflow_step" }), undefined);
  });

  on("a report about rules in an answer applies from then on", async (t) => {
    const answers = { "command/run": { guarded: true }, "hook/turn_end": { guarded: false } };
    const { pi } = await started(t, generation, { answers, errors: { "hook/tool_call": { code: -32603, message: "broken" } } });
    assert.equal(await pi.emit("tool_call", edit), undefined);
    await pi.run("workflow", "demo");
    assert.match((await pi.emit("tool_call", edit)).reason, /the settings have rules/);
    await pi.emit("turn_end");
    assert.equal(await pi.emit("tool_call", edit), undefined);
  });

  on("until a sidecar has reported about rules, an existing settings file blocks tools", async (t) => {
    const { pi, at } = load(t, generation, { die: ["hook/session_start"] });
    pi.cwd = at.directory;
    const settings = join(at.directory, ".pi", "workflow-sidecar.json5");
    mkdirSync(dirname(settings));
    await pi.emit("session_start", { reason: "startup" });
    assert.equal(await pi.emit("tool_call", edit), undefined);
    writeFileSync(settings, "{}");
    const { reason } = await pi.emit("tool_call", edit);
    assert.ok(reason.includes(`"edit" is blocked: ${settings} may have rules on tools`), reason);
    assert.match((await pi.emit("tool_result", result)).content[0].text, /withheld/);
    assert.equal(await pi.emit("tool_call", { ...edit, toolName: "workflow_step" }), undefined);
  });

  on("settings of an untrusted project block nothing, nor do any settings without a binary", async (t) => {
    for (const [trusted, options] of [[false, {}], [true, missing]] as const) {
      const { pi, at } = load(t, generation, { die: ["hook/session_start"] }, options);
      if (!trusted && generation === "old") continue; // this pi does not report trust
      pi.cwd = at.directory;
      pi.trusted = trusted;
      mkdirSync(join(at.directory, ".pi"));
      writeFileSync(join(at.directory, ".pi", "workflow-sidecar.json5"), "{}");
      await pi.emit("session_start", { reason: "startup" });
      for (let times = 0; times < 3; times += 1) assert.equal(await pi.emit("tool_call", edit), undefined);
    }
  });

  on("an entry that arrives while the context is stale makes the sidecar restore from the session", async (t) => {
    const answers = { "command/run": { actions: [stateEntry(active), stateEntry(active)] } };
    const { pi, at } = await started(t, generation, { answers });
    const running = pi.run("workflow", "demo");
    pi.stale = true;
    await running;
    pi.stale = false;
    await pi.emit("turn_end");
    assert.deepEqual(methods(at).slice(-2), ["hook/session_start", "hook/turn_end"]);
    await pi.emit("turn_end");
    assert.deepEqual(methods(at).slice(-1), ["hook/turn_end"]);
  });

  on("without rules and without a workflow a lost sidecar blocks and withholds nothing", async (t) => {
    const { pi } = await started(t, generation, { die: ["hook/tool_call", "hook/tool_result"] });
    assert.equal(await pi.emit("tool_call", edit), undefined);
    assert.equal(await pi.emit("tool_result", result), undefined);
  });

  on("a result is checked even if its run was aborted", async (t) => {
    const content = [{ type: "text", text: "[redacted]" }];
    const { pi } = await started(t, generation, { answers: { "hook/tool_result": { mutation: { content } } } });
    pi.abort = new AbortController();
    pi.abort.abort();
    assert.deepEqual(await pi.emit("tool_result", result), { content });
  });

  on("an aborted call of the workflow tool is cancelled, and the actions of its answer are applied", async (t) => {
    const answer = `{"id":3,"result":{"content":[],"actions":[{"type":"setStatus","key":"s","text":"late"}]}}\n`;
    // Without commands no completions are asked for, so that the call has the id 3.
    const initialize = { ...manifest, commands: [] };
    const { pi, at } = await started(t, generation, { answers: { initialize }, raw: { "tool/execute": "", "tool/cancel": `${answer}{"id":<id>,"result":{}}\n` } });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    await assert.rejects(async () => pi.tools.get("workflow_step")?.execute("c9", { action: "next" }, abort.signal, undefined, pi.ctx), /was stopped together with the agent/);
    await pi.emit("turn_end");
    assert.deepEqual(last(at, "tool/cancel"), { toolCallId: "c9" });
    assert.deepEqual(pi.done, ["status s=late"]);
    assert.deepEqual(methods(at).slice(-3), ["tool/execute", "tool/cancel", "hook/turn_end"]);
  });

  on("a command of the sidecar runs in its directory with its variables", async (t) => {
    const params = { command: "make", args: ["test"], cwd: "/far", env: { CI: "1" }, maxOutput: 2 };
    const { pi, at } = await started(t, generation, { before: { "hook/turn_end": [{ id: "s1", method: "host/exec", params }] } }, { exec: true });
    await pi.emit("turn_end");
    await pi.emit("turn_end");
    assert.equal(last(at, "initialize").capabilities.exec, true);
    assert.ok(pi.done.includes("exec env CI=1 make test in /far"));
    assert.deepEqual(at.calls().find(({ id }) => id === "s1")?.result, { stdout: "ut", stderr: "", code: 0, truncated: true });
  });

  on("a dialog ends with the run in which it was opened", async (t) => {
    const question = { id: "s1", method: "ui/select", params: { title: "Plan OK?", options: ["approve", "revise"] } };
    const { pi, at } = await started(t, generation, { raw: { "tool/execute": `${JSON.stringify(question)}\n` } });
    pi.answers = [new Promise(() => {})];
    pi.abort = new AbortController();
    setTimeout(() => pi.abort?.abort(), 50);
    const execute = async () => pi.tools.get("workflow_step")?.execute("c9", { action: "next" }, pi.abort?.signal, undefined, pi.ctx);
    await assert.rejects(execute, /was stopped together with the agent/);
    await pi.emit("turn_end");
    assert.deepEqual(at.calls().find(({ id }) => id === "s1")?.result, null);
  });

  on("a sidecar lost during a call is replaced, restored from the branch, and asked once more", async (t) => {
    const block = { reason: "still no", kind: "policy" };
    const { pi, at } = await started(t, generation, { answers: { "hook/tool_call": { block } }, die: ["hook/tool_call"], once: true });
    pi.append({ type: "custom", customType: "workflow:state", data: active });
    assert.deepEqual(await pi.emit("tool_call", edit), { block: true, reason: "still no" });
    assert.deepEqual(methods(at).slice(-3), ["initialize", "hook/session_start", "hook/tool_call"]);
    assert.deepEqual(last(at, "hook/session_start").context.branch[0].data, active);
    assert.match(pi.done[0] as string, /^notify warning .*lost: .*exit code 7/);
  });

  on("the conversation stays if only the code is wanted back", async (t) => {
    const { pi } = await started(t, generation, { answers: { "hook/branch": { mutation: { skipConversationRestore: true } } } });
    const entryId = pi.append({ type: "message", message: { role: "user" } } as object as { type: string });
    const stays = { skipConversationRestore: true, cancel: true };
    assert.deepEqual(await pi.emit("session_before_fork", { entryId, position: "before" }), stays);
    assert.deepEqual(await pi.emit("session_before_tree", { preparation: { targetId: entryId } }), stays);
  });

  on("a sidecar that hangs blocks the call at the deadline", async (t) => {
    const { pi } = await started(t, generation, { hang: ["hook/tool_call"] }, { deadlineMs: 700 });
    pi.append({ type: "custom", customType: "workflow:state", data: active });
    await pi.emit("session_tree", {});
    assert.match((await pi.emit("tool_call", edit)).reason, /not answered within/);
  });

  on("a host error that looks like a replaced session allows nothing", async (t) => {
    const { pi } = load(t, generation, { answers: { "hook/turn_end": { actions: [{ type: "setSessionName", name: "N" }] } }, die: ["hook/tool_call"] });
    pi.append({ type: "custom", customType: "workflow:state", data: active });
    await pi.emit("session_start", { reason: "resume" });
    const turn = pi.emit("turn_end");
    pi.stale = true; // while the answer is applied
    await turn;
    pi.stale = false;
    assert.equal((await pi.emit("tool_call", edit))?.block, true);
  });

  on("an invalid answer blocks while a workflow is active", async (t) => {
    for (const answer of [`"result":"yes"`, `"result":{"block":true}`, `"error":{"code":-32603,"message":"it panicked"}`]) {
      const { pi } = load(t, generation, { raw: { "hook/tool_call": `{"id":<id>,${answer}}\n` } });
      pi.append({ type: "custom", customType: "workflow:state", data: active });
      await pi.emit("session_start", { reason: "resume" });
      assert.equal((await pi.emit("tool_call", edit))?.block, true, answer);
    }
  });

  on("a tool call of an aborted run is blocked at once", async (t) => {
    const { pi, at } = await started(t, generation, { raw: { "hook/tool_call": "" } });
    pi.abort = new AbortController();
    setTimeout(() => pi.abort?.abort(), 50);
    assert.deepEqual(await pi.emit("tool_call", edit), { block: true, reason: "Operation aborted" });
    await pi.endRun("aborted", "");
    assert.equal(last(at, "hook/agent_end").event.messages[0].stopReason, "aborted");
  });

  on("the widgets of a lost sidecar are removed", async (t) => {
    const actions = [{ type: "setWidget", key: "workflow-countdown", lines: ["3s"], placement: "aboveEditor" }];
    const { pi } = await started(t, generation, { answers: { "hook/turn_end": { actions } }, die: ["hook/turn_start"], once: true });
    await pi.emit("turn_end");
    await pi.emit("turn_start");
    assert.deepEqual(pi.done.slice(0, 2), ["widget workflow-countdown=3s", "widget workflow-countdown="]);
  });

  on("after the session's end there are no effects and no sidecar", async (t) => {
    const { pi, at } = await started(t, generation, { answers: { "hook/session_shutdown": { actions: [{ type: "setStatus", key: "s", text: null }] } } });
    await pi.emit("session_shutdown", { reason: "reload" });
    assert.deepEqual(pi.done, ["status s="]);
    await pi.emit("turn_end");
    await pi.emit("tool_call", edit);
    await pi.run("workflow", "demo");
    assert.deepEqual(await pi.commands.get("workflow")?.getArgumentCompletions?.(""), null);
    await assert.rejects(async () => pi.tools.get("workflow_step")?.execute("1", {}, undefined, undefined, pi.ctx));
    assert.deepEqual(methods(at), ["initialize", "hook/session_start", "hook/session_shutdown"]);
  });

  on("an answer that arrives when the session is stale has no effect", async (t) => {
    const { pi } = await started(t, generation, { answers: { "hook/turn_end": { actions: [stateEntry(active), { type: "notify", message: "x", level: "info" }] } } });
    const turn = pi.emit("turn_end");
    pi.stale = true;
    await turn;
    assert.deepEqual(pi.done, []);
  });

  on("without an interface the user is notified on standard error, and there are no dialogs", async (t) => {
    const { pi, at } = load(t, generation, { answers: { "hook/session_start": { actions: [{ type: "notify", message: "Careful", level: "warning" }] } } });
    pi.hasUI = false;
    pi.mode = "print";
    const errors = t.mock.method(console, "error", () => {});
    await pi.emit("session_start", { reason: "startup" });
    assert.deepEqual(errors.mock.calls.map((call) => call.arguments), [["Careful"]]);
    assert.deepEqual(last(at, "initialize").capabilities, { dialogs: false, dismiss: false, widgets: false, settle: generation === "new", hints: true, exec: false });
  });

  on("in print mode a display-only message is stored at the end, so that the agent's answer stays the last message", async (t) => {
    const actions = [{ type: "sendMessage", message: { customType: "workflow:complete", content: "Yes", display: true }, options: { triggerTurn: false } }];
    const { pi } = load(t, generation, { answers: { "hook/agent_end": { actions, mutation: {} } } });
    pi.hasUI = false;
    pi.mode = "print";
    await pi.emit("session_start", { reason: "startup" });
    await pi.endRun();
    assert.deepEqual(pi.done, []);
    await pi.emit("session_shutdown", { reason: "quit" });
    assert.deepEqual(pi.done, ["message workflow:complete Yes"]);
  });

  on("in print mode a command waits for the run that it started", async (t) => {
    const { pi } = load(t, generation, { answers: { "command/run": { actions: [{ type: "sendUserMessage", content: "Begin" }] } } });
    pi.hasUI = false;
    pi.mode = "print";
    await pi.emit("session_start", { reason: "startup" });
    let over = false;
    const run = pi.run("workflow", "demo").then(() => (over = true));
    pi.idle = false;
    await sleep(400);
    assert.equal(over, false);
    await pi.endRun();
    await run;
  });
}

test("new: text between asterisks is drawn in bold, and globs stay", async (t) => {
  const { pi } = await started(t, "new");
  const text = "**Tools:** write in src/**, docs/** and `**/*.md` **only** 2 ** 3 ** 4";
  const shown = pi.tools.get("workflow_step")?.renderResult?.({ content: [{ type: "text", text }] }, {}, theme).render(80);
  assert.deepEqual(shown, ["<toolOutput>*Tools:* write in src/**, docs/** and `**/*.md` *only* 2 ** 3 ** 4</>"]);
});

test("new: on a terminal only the first line of a dialog is drawn as its title", async (t) => {
  const ask = (id: string, method: string, params: object) => ({ id, method, params });
  const before = {
    "command/run": [ask("s1", "ui/select", { title: "Which?\n\nThe first\nor the second", options: ["a", "b"] }), ask("s2", "ui/confirm", { title: "Replace?", message: "It runs.\nReally." })],
  };
  const { pi, at } = await started(t, "new", { before });
  pi.answers = ["a", "Yes"];
  await pi.run("workflow", "demo");
  await sleep(50);
  assert.equal(at.calls().find((call) => call.id === "s2")?.result, true);
  assert.deepEqual(pi.done, ["select Which?\n\u001b[0m\n\u001b[0mThe first\n\u001b[0mor the second: Decide later|a|b", "select Replace?\n\u001b[0m\n\u001b[0mIt runs.\n\u001b[0mReally.: No|Yes"]);
});

test("new: on a terminal a hasty Enter or a typed text answers nothing", async (t) => {
  const question = { id: "s1", method: "ui/select", params: { title: "Plan OK?", options: ["approve", "revise"] } };
  const { pi, at } = await started(t, "new", { before: { "hook/turn_end": [question] } });
  const isAsked = () => pi.done.includes("select Plan OK?: Decide later|approve|revise");
  let answer = (_: string) => {};
  pi.answers = [new Promise<string>((resolve) => (answer = resolve))];
  pi.editorText = "just do it";
  await pi.emit("turn_end");
  await sleep(300);
  assert.ok(!isAsked(), "the person types");
  pi.editorText = "";
  await sleep(300);
  assert.ok(isAsked());
  assert.deepEqual(["j", "k", "\r"].map((key) => pi.press(key)), [false, false, true]);
  answer("Decide later");
  await sleep(50);
  assert.equal(at.calls().find((call) => call.id === "s1")?.result, null);
  assert.ok(pi.press("j"), "the dialog is closed");
});

test("new: on a terminal a pause stands out in the status bar", async (t) => {
  const status = (text: string) => ({ type: "setStatus", key: "workflow", text });
  const { pi } = await started(t, "new", { answers: { "hook/turn_end": { actions: [status("Demo > A"), status("Demo > A · ⏸ paused")] } } });
  await pi.emit("turn_end");
  pi.mode = "rpc";
  await pi.emit("turn_end");
  assert.deepEqual(pi.done, ["status workflow=Demo > A", "status workflow=<warning>Demo > A · ⏸ paused</>", "status workflow=Demo > A", "status workflow=Demo > A · ⏸ paused"]);
});

test("new: an untrusted project is reported to the sidecar", async (t) => {
  const { pi, at } = load(t, "new");
  pi.trusted = false;
  await pi.emit("session_start", { reason: "startup" });
  const { cwd, projectTrusted } = last(at, "hook/session_start").context;
  assert.deepEqual([cwd, projectTrusted], ["/project", false]);
});

test("old: a provider error that the host retries is not an end", async (t) => {
  const { pi, at } = await started(t, "old", {}, { retryMs: [300, 300] });
  const reported = () => methods(at).filter((method) => method === "hook/agent_end").length;
  await pi.endRun("error", "");
  await pi.emit("agent_start");
  await sleep(500);
  assert.equal(reported(), 0);
  await pi.endRun("error", "");
  await sleep(600);
  assert.equal(reported(), 1);
});

test("old: the last provider error is reported at once", async (t) => {
  const { pi, at } = await started(t, "old", {}, { retryMs: [] });
  await pi.endRun("error", "");
  assert.ok(methods(at).includes("hook/agent_end"));
});

test("the user learns that others can answer, where pi reads commands from a pipe", { skip: process.platform === "win32" }, (t) => {
  const { args } = fixture(t, { answers: { initialize: manifest } });
  const modules = ["../src/pi/extension.ts", "../src/pi/manifest.ts", "mock-pi.ts"].map((path) => new URL(path, import.meta.url).href);
  const script = `
    const modules = await Promise.all(${JSON.stringify(modules)}.map((url) => import(url)));
    const [{ extension }, { manifest }, { MockPi, Text }] = modules.map((module) => module.default ?? module);
    const pi = new MockPi("new");
    pi.mode = "rpc";
    extension({ Text, manifest, version: "1", command: process.execPath, args: ${JSON.stringify(args)} })(pi.api);
    await pi.emit("session_start", { reason: "startup" });
    console.log(pi.done.join("\\n"));
    await pi.emit("session_shutdown", { reason: "quit" });`;
  const node = [process.execPath, "--import", "jiti/register", "--input-type=module", "-e", script];
  const run = (line: string) => execFileSync("sh", ["-c", line, "sh", ...node], { encoding: "utf8" });
  assert.match(run('true | "$@"'), /notify warning pi reads commands from a pipe/);
  assert.doesNotMatch(run('"$@" < /dev/null'), /pipe/);
});
