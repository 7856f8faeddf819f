import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { SidecarError } from "../src/error.ts";
import type { Action } from "../src/types.ts";
import { clientOf, emptyManifest, kindOf, fixture, sleep } from "./support.ts";

const toolCall = { event: { toolName: "edit" } };

test("the first call starts a sidecar, and later ones use it", async (t) => {
  const at = fixture(t, { answers: { "hook/tool_call": { block: { reason: "no", kind: "policy" } } } });
  const client = clientOf(t, at);
  assert.equal(client.pid, undefined);
  const { block } = await client.request("hook/tool_call", toolCall);
  await client.request("hook/tool_call", toolCall);
  assert.equal(block?.reason, "no");
  assert.deepEqual(at.calls().map(({ method }) => method), ["initialize", "hook/tool_call", "hook/tool_call"]);
});

test("the manifest is the answer to initialize", async (t) => {
  const client = clientOf(t, fixture(t, { answers: { initialize: emptyManifest } }));
  assert.equal((await client.start()).server.name, "fake");
});

test("a text with U+2028 and an emoji arrives as it was sent", async (t) => {
  const reason = "a\u2028b 😀 \u0000 ä";
  const raw = { "hook/tool_call": `{"jsonrpc":"2.0","id":<id>,"result":{"block":{"reason":"a\u2028b 😀 \\u0000 ä","kind":"policy"}}}\r\n` };
  const { block } = await clientOf(t, fixture(t, { raw })).request("hook/tool_call", toolCall);
  assert.equal(block?.reason, reason);
});

test("a megabyte is sent and received", async (t) => {
  const reason = "€".repeat(400_000);
  const at = fixture(t, { raw: { "hook/tool_call": `{"id":<id>,"result":{"block":{"reason":"${"x".repeat(50_000)}"}}}\n` } });
  const { block } = await clientOf(t, at).request("hook/tool_call", { event: { toolName: "write", input: { text: reason } } });
  assert.equal(block?.reason.length, 50_000);
  assert.equal(at.calls()[1]?.params.event.input.text, reason);
});

test("an error answer has its kind, code and location", async (t) => {
  const error = { code: -32602, message: "no such member", data: { kind: "invalidParams", path: "event.tool" } };
  const client = clientOf(t, fixture(t, { errors: { "hook/tool_call": error } }));
  await assert.rejects(client.request("hook/tool_call", toolCall), (error: SidecarError) => {
    assert.deepEqual([error.kind, error.code, error.path, error.message], ["invalidParams", -32602, "event.tool", "no such member"]);
    return true;
  });
});

test("answers are matched by their ids in any order", async (t) => {
  const raw = { "hook/turn_start": "", "hook/turn_end": `{"id":<id>,"result":{}}\n{"id":2,"result":{"diagnostics":[]}}\n` };
  const client = clientOf(t, fixture(t, { raw }));
  const [first] = await Promise.all([client.request("hook/turn_start", {}), client.request("hook/turn_end", {})]);
  assert.deepEqual(first, { diagnostics: [] });
});

test("lines that are not answers are reported and ignored", async (t) => {
  const noise: string[] = [];
  const raw = { "hook/turn_end": `not json\n[]\n"x"\n\n{"id":99,"result":{}}\n{"id":"s1","result":{}}\n{"method":"host/what"}\n{"id":<id>,"result":{}}\n` };
  await clientOf(t, fixture(t, { raw }), { onNoise: (what) => noise.push(what) }).request("hook/turn_end", {});
  assert.equal(noise.length, 6);
});

test("a program that writes nonsense without end fails at once", async (t) => {
  const client = clientOf(t, fixture(t, {}), { command: "yes", args: [], deadlineMs: 60_000 });
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("malformed"));
});

test("a program that begins with nonsense fails at once", async (t) => {
  const client = clientOf(t, fixture(t, {}), { args: ["-e", "console.log('hello'); process.stdin.resume()"], deadlineMs: 60_000 });
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("malformed"));
});

test("a sidecar that hangs at its start does not delay each call", async (t) => {
  const client = clientOf(t, fixture(t, { hang: ["initialize"] }), { deadlineMs: 2_000 });
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("late"));
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("resting"));
});

test("an answer without a usable result is malformed", async (t) => {
  for (const result of [`"result":"yes"`, `"result":[]`, `"nothing":1`]) {
    const client = clientOf(t, fixture(t, { raw: { "hook/tool_call": `{"id":<id>,${result}}\n` } }));
    await assert.rejects(client.request("hook/tool_call", toolCall), kindOf("malformed"), result);
  }
});

test("a call lost with its sidecar is sent once more, after the restore", async (t) => {
  const at = fixture(t, { die: ["hook/tool_call"], once: true });
  const lost: SidecarError[] = [];
  const client = clientOf(t, at, {
    restore: async (request) => void (await request("hook/session_start", { context: { branch: [] } })),
    onLost: (why) => lost.push(why),
  });
  await client.request("hook/tool_call", toolCall);
  assert.deepEqual(
    at.calls().map(({ method }) => method),
    ["initialize", "hook/session_start", "hook/tool_call", "initialize", "hook/session_start", "hook/tool_call"],
  );
  assert.deepEqual(lost.map(({ kind }) => kind), ["exited"]);
});

test("a call that kills each sidecar is not sent a third time", async (t) => {
  const at = fixture(t, { die: ["hook/tool_call"] });
  const client = clientOf(t, at);
  await assert.rejects(client.request("hook/tool_call", toolCall), kindOf("exited"));
  assert.equal(at.calls().filter(({ method }) => method === "hook/tool_call").length, 2);
  await client.request("hook/turn_end", {});
});

test("calls in flight together are all sent again, in order", async (t) => {
  const at = fixture(t, { hang: ["hook/turn_start"], once: true });
  const client = clientOf(t, at);
  await client.start();
  const soon = { deadlineMs: 300 };
  const calls = [client.request("hook/turn_start", {}, soon), client.request("hook/tool_call", toolCall), client.request("hook/turn_end", {})];
  await Promise.all(calls);
  assert.deepEqual(at.calls().slice(-3).map(({ method }) => method), ["hook/turn_start", "hook/tool_call", "hook/turn_end"]);
});

test("a sidecar that hangs is killed at the deadline and replaced", async (t) => {
  const client = clientOf(t, fixture(t, { hang: ["hook/tool_call"], once: true }));
  await client.start();
  const { pid } = client;
  await client.request("hook/tool_call", toolCall, { deadlineMs: 300 });
  assert.notEqual(client.pid, pid);
  await sleep(50);
  assert.throws(() => process.kill(pid as number, 0));
});

test("a sidecar that always hangs fails the call after twice the deadline", async (t) => {
  const client = clientOf(t, fixture(t, { hang: ["hook/tool_call"] }));
  await assert.rejects(client.request("hook/tool_call", toolCall, { deadlineMs: 200 }), kindOf("late"));
});

test("a patient call waits for as long as the sidecar answers something else", async (t) => {
  const at = fixture(t, { raw: { "command/run": "" } });
  const client = clientOf(t, at);
  await client.start();
  const call = client.request("command/run", { name: "workflow" }, { patient: true, deadlineMs: 100 });
  let settled = false;
  call.catch(() => {}).finally(() => (settled = true));
  await sleep(700);
  assert.equal(settled, false);
  assert.ok(at.calls().filter(({ method }) => method === "session/state").length >= 2);
  await client.close();
  await assert.rejects(call, kindOf("exited"));
});

test("the deadline does not run while the sidecar waits for a person", async (t) => {
  const question = { id: "s1", method: "ui/confirm", params: { title: "Sure?", message: "" } };
  const raw = { "hook/tool_call": `${JSON.stringify(question)}\n` };
  const at = fixture(t, { raw });
  const client = clientOf(t, at, { handlers: { "ui/confirm": () => sleep(1_200).then(() => true) } });
  await client.start();
  const began = Date.now();
  await assert.rejects(client.request("hook/tool_call", toolCall, { deadlineMs: 500 }), kindOf("late"));
  assert.ok(Date.now() - began > 1_650); // from its answer on, the sidecar has the whole deadline
  assert.equal(at.calls().find(({ id }) => id === "s1")?.result, true);
});

test("an open dialog stops no deadline of later calls", async (t) => {
  const question = { id: "s1", method: "ui/confirm", params: { title: "Sure?", message: "" } };
  const raw = { "hook/tool_call": `${JSON.stringify(question)}\n` };
  const at = fixture(t, { raw, hang: ["hook/turn_end"] });
  const client = clientOf(t, at, { handlers: { "ui/confirm": () => new Promise<boolean>(() => {}) } });
  await client.start();
  client.request("hook/tool_call", toolCall).catch(() => {});
  await sleep(100);
  await assert.rejects(client.request("hook/turn_end", { event: {} }, { deadlineMs: 300 }), kindOf("late"));
});

test("a command that is called off is ended by its signal", async (t) => {
  const exec = { id: "s1", method: "host/exec", params: { command: "make", args: [] } };
  const cancel = (id: string) => ({ method: "host/cancel", params: { id } });
  const at = fixture(t, { before: { "hook/turn_end": [exec, cancel("s7"), cancel("s1")] } });
  const client = clientOf(t, at, {
    handlers: {
      "host/exec": (_, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve({ stdout: "", stderr: "", code: 143, killed: true }))),
    },
  });
  await client.request("hook/turn_end", {});
  await client.close();
  assert.deepEqual(at.calls().find((call) => call.id === "s1")?.result, { stdout: "", stderr: "", code: 143, killed: true });
});

test("the dialog of a question that is settled is closed, and answered with null", async (t) => {
  const question = { id: "s1", method: "ui/confirm", params: { title: "Sure?", message: "" } };
  const dismissal = { method: "ui/dismiss", params: { id: "s1" } };
  const at = fixture(t, { before: { "hook/turn_end": [question, { method: "ui/dismiss", params: { id: "s9" } }, dismissal] } });
  const noise: string[] = [];
  const confirm = (_: unknown, signal: AbortSignal) => new Promise<boolean>((resolve) => signal.addEventListener("abort", () => resolve(false)));
  const client = clientOf(t, at, { handlers: { "ui/confirm": confirm }, onNoise: (what) => noise.push(what) });
  await client.request("hook/turn_end", {});
  await client.close();
  assert.equal(at.calls().find(({ id }) => id === "s1")?.result, null);
  assert.deepEqual(noise, []);
});

test("questions are answered, refused, and failed by the handlers", async (t) => {
  const ask = (id: string, method: string) => ({ id, method, params: { title: "", options: [] } });
  const at = fixture(t, { before: { "hook/turn_end": [ask("s1", "ui/select"), ask("s2", "ui/input"), ask("s3", "host/exec")] } });
  const client = clientOf(t, at, {
    handlers: {
      "ui/select": () => null,
      "ui/input": () => {
        throw new Error("no terminal");
      },
    },
  });
  await client.request("hook/turn_end", {});
  await client.close();
  const answer = (id: string) => at.calls().find((call) => call.id === id);
  assert.equal(answer("s1")?.result, null);
  assert.deepEqual(answer("s2")?.error, { code: -32603, message: "no terminal" });
  assert.equal(answer("s3")?.error.code, -32601);
});

test("an aborted call fails at once, and the sidecar is restored from the session", async (t) => {
  const at = fixture(t, { raw: { "tool/execute": "" } });
  const client = clientOf(t, at, { restore: async (request) => void (await request("hook/session_start", {})) });
  await client.start();
  const abort = new AbortController();
  const call = client.request("tool/execute", { name: "x" }, { signal: abort.signal });
  setTimeout(() => abort.abort(), 100);
  await assert.rejects(call, kindOf("aborted"));
  await client.request("hook/turn_end", {});
  assert.deepEqual(at.calls().map(({ method }) => method), ["initialize", "hook/session_start", "tool/execute", "hook/session_start", "hook/turn_end"]);
  await assert.rejects(client.request("hook/turn_end", {}, { signal: abort.signal }), kindOf("aborted"));
});

test("actions are applied in the order of arrival, before their call resolves", async (t) => {
  const notify = (message: string): Action => ({ type: "notify", message, level: "info" });
  const apply = { method: "host/apply", params: { sessionId: "", actions: [notify("early")] } };
  const late = `{"id":<id>,"result":{"actions":[${JSON.stringify(notify("answer"))}]}}\n{"method":"host/apply","params":{"sessionId":"","actions":[${JSON.stringify(notify("late"))}]}}\n`;
  const at = fixture(t, { before: { "hook/turn_end": [apply] }, raw: { "hook/turn_end": late } });
  const applied: [string, boolean][] = [];
  const client = clientOf(t, at, {
    apply: (actions, { timed }) => actions.forEach((action) => applied.push([(action as { message: string }).message, timed])),
  });
  await client.request("hook/turn_end", {}).then(() => applied.push(["resolved", false]));
  await sleep(50);
  assert.deepEqual(applied.slice(0, 2), [["early", true], ["answer", false]]);
  assert.deepEqual(applied.map(([what]) => what).sort(), ["answer", "early", "late", "resolved"]);
  assert.ok(applied.findIndex(([what]) => what === "answer") < applied.findIndex(([what]) => what === "resolved"));
});

test("actions of an answer that is no longer awaited are not applied", async (t) => {
  const raw = { "tool/execute": "", "hook/session_start": `{"id":2,"result":{"actions":[{"type":"notify"}]}}\n{"id":<id>,"result":{}}\n` };
  const applied: unknown[] = [];
  const client = clientOf(t, fixture(t, { raw }), { apply: (actions) => applied.push(...actions) });
  await client.start();
  await assert.rejects(client.request("tool/execute", { name: "x" }, { signal: AbortSignal.timeout(100) }), kindOf("aborted"));
  await client.request("hook/session_start", {});
  assert.deepEqual(applied, []);
});

test("a binary that does not exist is missing, and is not tried twice", async (t) => {
  const client = clientOf(t, fixture(t, {}), { command: "/nonexistent/sidecar" });
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("missing"));
});

test("only a file that does not exist or is not executable is missing", async (t) => {
  const at = fixture(t, {});
  const directory = mkdtempSync(join(tmpdir(), "start-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const notExecutable = join(directory, "sidecar");
  writeFileSync(notExecutable, "");
  await assert.rejects(clientOf(t, at, { command: notExecutable }).request("hook/turn_end", {}), kindOf("missing"));
  // The system refuses a command line that is too long: as it might for want of memory, or of processes.
  const refused = clientOf(t, at, { command: process.execPath, args: ["x".repeat(8 * 1024 * 1024)] });
  await assert.rejects(refused.request("hook/turn_end", {}), kindOf("exited"));
});

test("a sidecar that ends at once is started after growing pauses", async (t) => {
  const client = clientOf(t, fixture(t, { die: ["initialize"] }), { backOff: { firstMs: 5_000, maxMs: 5_000 } });
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("exited"));
  const began = Date.now();
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("resting"));
  assert.ok(Date.now() - began < 1_000);
});

test("a sidecar that cannot be restored is a failed start, and not a lost one", async (t) => {
  const lost: unknown[] = [];
  const at = fixture(t, { die: ["hook/session_start"], once: true });
  const client = clientOf(t, at, { restore: async (request) => void (await request("hook/session_start", {})), onLost: (why) => lost.push(why) });
  await client.request("hook/turn_end", {});
  assert.equal(at.calls().filter(({ method }) => method === "initialize").length, 2);
  assert.deepEqual(lost, []);
});

test("an idle sidecar that is killed is replaced with the next call", async (t) => {
  const client = clientOf(t, fixture(t, {}));
  await client.start();
  process.kill(client.pid as number, "SIGKILL");
  await sleep(200);
  assert.equal(client.pid, undefined);
  await client.request("hook/turn_end", {});
});

test("after close every call is refused, and no sidecar is left", async (t) => {
  const client = clientOf(t, fixture(t, {}));
  await client.start();
  const pid = client.pid as number;
  await client.close();
  await assert.rejects(client.request("hook/turn_end", {}), kindOf("closed"));
  assert.throws(() => process.kill(pid, 0));
});

test("closing waits for a sidecar that may be restoring code", async (t) => {
  for (const [method, finishes] of [["hook/turn_end", false], ["hook/branch", true]] as const) {
    const at = fixture(t, { lingers: 3_000 });
    const client = clientOf(t, at);
    await client.request(method, {} as never);
    await client.close();
    assert.equal(at.calls().some(({ method }) => method === "finished"), finishes, method);
  }
});

test("close ends a sidecar that does not end by itself", async (t) => {
  const client = clientOf(t, fixture(t, { hang: ["hook/turn_end"] }), { args: ["-e", "setInterval(() => {}, 1000); process.stdin.on('data', (d) => { const {id} = JSON.parse(d); console.log(JSON.stringify({id, result: {}})); })"] });
  await client.start();
  const pid = client.pid as number;
  await client.close(200);
  assert.throws(() => process.kill(pid, 0));
});

/** Runs a program that uses the client. Returns its exit code, its output and its duration. */
async function run(t: import("node:test").TestContext, fake: Parameters<typeof fixture>[1], program: string): Promise<[number | null, string, number]> {
  const { directory, args } = fixture(t, fake);
  const began = Date.now();
  const source = `
    import { Client } from ${JSON.stringify(fileURLToPath(new URL("../src/client.ts", import.meta.url)))};
    const client = new Client({ command: process.execPath, args: ${JSON.stringify(args)},
      deadlineMs: 60_000, initialize: () => ({ protocolVersion: 1, host: { name: "t", version: "1" }, cwd: "/" }) });
    ${program}`;
  const file = join(directory, "program.ts");
  writeFileSync(file, source);
  const child = spawn(process.execPath, ["--import", "jiti/register", file], { cwd: fileURLToPath(new URL("..", import.meta.url)), stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
  const [code] = await once(child, "close");
  return [code, printed.trim(), Date.now() - began];
}

test("an idle sidecar keeps no process alive", async (t) => {
  const [code, printed] = await run(t, {}, `await client.request("hook/turn_end", {}); console.log("idle");`);
  assert.deepEqual([code, printed], [0, "idle"]);
});

test("a process does not end while an answer is due", async (t) => {
  const raw = { "hook/turn_end": "" };
  const before = { "hook/turn_end": [] };
  const program = `client.request("hook/turn_end", {}, { deadlineMs: 800 }).catch(({ kind }) => console.log(kind)); await client.start();`;
  const [code, printed, took] = await run(t, { raw, before }, `${program}`);
  assert.deepEqual([code, printed], [0, "late"]);
  assert.ok(took > 800);
});
