import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Client } from "../src/client.ts";
import { binary, fixture } from "./support.ts";

const skill = readFileSync(new URL("../skills/workflow-authoring/SKILL.md", import.meta.url), "utf8");

test("the skill has the frontmatter that pi wants", () => {
  const [, name, description] = /^---\nname: (\S+)\ndescription: (.+)\n---\n/.exec(skill) ?? [];
  assert.equal(name, "workflow-authoring");
  assert.ok((description ?? "").length > 50 && (description ?? "").length <= 1_024);
});

test("the skill's example is a workflow without a fault", binary === undefined ? { skip: "no sidecar has been built" } : {}, async (t) => {
  const { directory } = fixture(t, {});
  for (const [, path, text] of skill.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)) {
    const file = join(directory, ".pi/workflows", path as string);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text as string);
  }
  const client = new Client({
    command: binary as string,
    initialize: () => ({ protocolVersion: 1, host: { name: "test", version: "1" }, cwd: directory, agentDir: join(directory, "none") }),
    restore: async (request) => void (await request("hook/session_start", { context: { branch: [] } })),
  });
  t.after(() => client.close());
  const { workflows, diagnostics = [] } = await client.request("workflow/list", {});
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(workflows.map(({ key, phases }) => [key, phases.length]), [["bugfix", 3], ["review", 2]]);
});
