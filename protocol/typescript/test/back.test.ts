import assert from "node:assert/strict";
import { test } from "node:test";
import { newLeaf } from "../src/pi/back.ts";
import { MockPi } from "./mock-pi.ts";

function session() {
  const pi = new MockPi("new");
  const said = (role: string) => pi.append({ type: "message", message: { role } } as never);
  const ids = { first: said("user"), answer: said("assistant"), second: said("user"), note: pi.append({ type: "custom_message" }) };
  return { ids, leaf: (event: object) => newLeaf(event as never, pi.ctx.sessionManager) };
}

test("a fork stands before what was said, or at an entry", () => {
  const { ids, leaf } = session();
  assert.equal(leaf({ entryId: ids.second, position: "before" }), ids.answer);
  assert.equal(leaf({ entryId: ids.second }), ids.answer);
  assert.equal(leaf({ entryId: ids.first, position: "before" }), null);
  assert.equal(leaf({ entryId: ids.note, position: "at" }), ids.note);
});

test("the way through the tree ends before what was said, and at anything else", () => {
  const { ids, leaf } = session();
  assert.equal(leaf({ preparation: { targetId: ids.second } }), ids.answer);
  assert.equal(leaf({ preparation: { targetId: ids.answer } }), ids.answer);
  assert.equal(leaf({ preparation: { targetId: ids.note } }), ids.second);
});

test("what pi does not say is not guessed", () => {
  const { leaf } = session();
  for (const event of [{}, { entryId: 7 }, { entryId: "gone" }, { preparation: null }, { preparation: {} }]) assert.equal(leaf(event), undefined);
});
