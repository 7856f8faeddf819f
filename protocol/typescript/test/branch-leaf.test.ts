import assert from "node:assert/strict";
import { test } from "node:test";
import { newLeaf } from "../src/pi/branch-leaf.ts";
import { MockPi } from "./mock-pi.ts";

function session() {
  const pi = new MockPi("new");
  const said = (role: string) => pi.append({ type: "message", message: { role } } as never);
  const ids = { first: said("user"), answer: said("assistant"), second: said("user"), note: pi.append({ type: "custom_message" }) };
  return { ids, leaf: (event: object) => newLeaf(event as never, pi.ctx.sessionManager) };
}

test("a fork ends before the user's message, or at the entry", () => {
  const { ids, leaf } = session();
  assert.equal(leaf({ entryId: ids.second, position: "before" }), ids.answer);
  assert.equal(leaf({ entryId: ids.second }), ids.answer);
  assert.equal(leaf({ entryId: ids.first, position: "before" }), null);
  assert.equal(leaf({ entryId: ids.note, position: "at" }), ids.note);
});

test("a move in the tree ends before the user's message, and at any other entry", () => {
  const { ids, leaf } = session();
  assert.equal(leaf({ preparation: { targetId: ids.second } }), ids.answer);
  assert.equal(leaf({ preparation: { targetId: ids.answer } }), ids.answer);
  assert.equal(leaf({ preparation: { targetId: ids.note } }), ids.second);
});

test("entries of a turn that are stored before the user's message belong to that turn", () => {
  const pi = new MockPi("new");
  const note = () => pi.append({ type: "custom", customType: "workflow:checkpoint", data: {} });
  note();
  pi.append({ type: "model_change" });
  pi.append({ type: "message", message: { role: "system" } } as never); // pi 1.5 stores what it tells the model
  const first = pi.append({ type: "message", message: { role: "user" } } as never);
  const answer = pi.append({ type: "message", message: { role: "assistant" } } as never);
  note();
  note();
  const second = pi.append({ type: "message", message: { role: "user" } } as never);
  assert.equal(newLeaf({ entryId: first, position: "before" }, pi.ctx.sessionManager), null);
  assert.equal(newLeaf({ preparation: { targetId: second } }, pi.ctx.sessionManager), answer);
});

test("an event without a known entry gives no leaf", () => {
  const { leaf } = session();
  for (const event of [{}, { entryId: 7 }, { entryId: "gone" }, { preparation: null }, { preparation: {} }]) assert.equal(leaf(event), undefined);
});
