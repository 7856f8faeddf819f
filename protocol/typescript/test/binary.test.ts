import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { manifestOf, moduleOf } from "../scripts/manifest.ts";
import { sidecarBinary } from "../src/binary.ts";
import { Client } from "../src/client.ts";
import { binary, kindOf } from "./support.ts";

test("the variable names the binary, and a missing file is an error", () => {
  assert.equal(sidecarBinary({ WORKFLOW_SIDECAR_BINARY: process.execPath }), process.execPath);
  assert.throws(() => sidecarBinary({ WORKFLOW_SIDECAR_BINARY: "/nonexistent" }), kindOf("missing"));
});

test("without the variable the binary is looked for on the PATH", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "sidecar-path-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, process.platform === "win32" ? "workflow-sidecar.exe" : "workflow-sidecar");
  writeFileSync(file, "");
  assert.equal(sidecarBinary({ PATH: `/nonexistent${delimiter}${directory}` }), file);
  assert.equal(sidecarBinary({ PATH: directory, WORKFLOW_SIDECAR_BINARY: process.execPath }), process.execPath);
});

test("a program that appears later in an earlier directory of the PATH is not taken", (t) => {
  const [earlier, later] = ["sidecar-earlier-", "sidecar-later-"].map((name) => mkdtempSync(join(tmpdir(), name)));
  t.after(() => [earlier, later].forEach((directory) => rmSync(directory!, { recursive: true, force: true })));
  const name = process.platform === "win32" ? "workflow-sidecar.exe" : "workflow-sidecar";
  writeFileSync(join(later!, name), "");
  const env = { PATH: `${earlier}${delimiter}${later}` };
  assert.equal(sidecarBinary(env), join(later!, name));
  writeFileSync(join(earlier!, name), "");
  assert.equal(sidecarBinary(env), join(later!, name));
});

test("without the variable and the platform's package the error says what to install", () => {
  assert.throws(() => sidecarBinary({}), new RegExp(`workflow-sidecar-${process.platform}-${process.arch}.*WORKFLOW_SIDECAR_BINARY`));
});

const withBinary = binary === undefined ? { skip: "no sidecar has been built" } : {};

test("the manifest in this package is the sidecar's", withBinary, async () => {
  const source = readFileSync(new URL("../src/pi/manifest.ts", import.meta.url), "utf8");
  assert.equal(source, moduleOf(await manifestOf(binary as string)), "run npm run manifest");
});

test("the client and the sidecar understand each other", withBinary, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "sidecar-agent-"));
  const client = new Client({
    command: binary as string,
    initialize: () => ({ protocolVersion: 1, host: { name: "test", version: "1" }, cwd: directory, agentDir: directory }),
    restore: async (request) => void (await request("hook/session_start", { context: { branch: [] } })),
  });
  t.after(async () => {
    await client.close();
    rmSync(directory, { recursive: true, force: true });
  });
  assert.deepEqual(await client.request("hook/tool_call", { event: { toolName: "edit" } }), {});
  const { content } = await client.request("tool/execute", { name: "workflow_step", arguments: { action: "status" } });
  assert.match(content[0]?.text ?? "", /No active workflow/);
  await assert.rejects(client.request("tool/execute", { name: "no_such_tool" }), kindOf("unknownTool"));
});
