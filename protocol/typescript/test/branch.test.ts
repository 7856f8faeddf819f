import assert from "node:assert/strict";
import { test } from "node:test";
import { fromLeaf, isActive, newestOf } from "../src/branch.ts";
import { withOffline } from "../src/offline.ts";
import { manifest } from "../src/pi/manifest.ts";
import { MockPi } from "./mock-pi.ts";

const { entryTypes } = withOffline(manifest);

/** A session with these entries, oldest first: custom ones as type and data, others as their type. */
function session(...entries: ([string, unknown] | string)[]): MockPi {
  const pi = new MockPi("new");
  for (const entry of entries) {
    if (typeof entry === "string") pi.append({ type: entry });
    else pi.append({ type: "custom", customType: entry[0], data: entry[1] });
  }
  return pi;
}

const newest = (pi: MockPi) => newestOf(fromLeaf(pi.ctx.sessionManager), entryTypes).map(({ customType, data }) => [customType, data]);

const state = (step: number) => ["workflow:state", { workflowKey: "demo", active: true, step }] as [string, unknown];

test("the newest entry of each type is found, oldest first", () => {
  const definition = ["workflow:definition", { hash: "1" }] as [string, unknown];
  const run = ["workflow:run", { reminders: 1 }] as [string, unknown];
  assert.deepEqual(newest(session(state(1), definition, "message", state(2), run, "message", state(3))), [definition, run, state(3)]);
});

test("the walk ends as soon as every type is found", () => {
  const pi = session(...Array<string>(1_000).fill("message"), state(1), ["workflow:definition", {}], ["workflow:run", {}], ["workflow:values", {}], ["workflow:budget", {}], ["workflow:tally", {}], ["workflow:gate", {}], ["workflow:checkpoint", {}], ["workflow:door", {}], "message");
  assert.equal(newest(pi).length, 9);
  assert.equal(pi.looks, 10);
});

test("other branches of the tree are not looked at", () => {
  const pi = session("message", state(1), "message");
  const fork = pi.leaf;
  pi.append({ type: "custom", customType: "workflow:state", data: state(2)[1] });
  pi.leaf = fork;
  assert.deepEqual(newest(pi), [state(1)]);
});

test("a state without a workflow key is skipped, other damaged states are not", () => {
  for (const data of [undefined, null, "text", [], {}, { workflowKey: null }, { workflowKey: "" }, { active: true }]) {
    assert.deepEqual(newest(session(state(1), ["workflow:state", data])), [state(1)], JSON.stringify(data));
  }
  assert.deepEqual(newest(session(state(1), ["workflow:state", { workflowKey: 7 }])), [["workflow:state", { workflowKey: 7 }]]);
});

test("entries of other types are ignored", () => {
  const pi = session(["other", { workflowKey: "x" }], "message");
  pi.append({ type: "custom_message", customType: "workflow:state", data: { workflowKey: "x" } });
  assert.deepEqual(newest(pi), []);
  assert.deepEqual(newest(session()), []);
});

test("only a state whose active member is true is active", () => {
  const says = (data: unknown, customType = "workflow:state") => isActive([{ customType, data }], entryTypes);
  assert.equal(says({ active: true }), true);
  for (const data of [{ active: false }, { active: "true" }, { active: 1 }, {}, null, "active", Object.create({ active: true })]) assert.equal(says(data), false);
  assert.equal(says({ active: true }, "workflow:run"), false);
});

test("the offline members of a manifest take precedence", () => {
  const own = { ...manifest, entryTypes: [{ customType: "x", description: "", mark: { key: "k", active: "on" } }] };
  assert.equal(isActive([{ customType: "x", data: { on: true } }], withOffline(own).entryTypes), true);
});
