import assert from "node:assert/strict";
import { test } from "node:test";
import { whereProposed } from "../src/pi/completion.ts";
import type { PiCompletion } from "../src/pi/host.ts";

const names = ["bugfix", "bugs"].map((value) => ({ value, label: value }));

/** A completion that proposes the same names for everything, and applies them as pi does. */
const pi: PiCompletion = {
  getSuggestions: async (lines, line, column) => ({ items: names, prefix: (lines[line] as string).slice(0, column).split(" ").at(-1) as string }),
  applyCompletion: (lines, line, column, item, prefix) => {
    const text = lines[line] as string;
    return { lines: [text.slice(0, column - prefix.length) + item.value + text.slice(column)], cursorLine: line, cursorCol: column - prefix.length + item.value.length };
  },
};

/** The text after the first item that was proposed for `proposed` is applied to `typed`. */
async function applied(completion: PiCompletion, proposed: string, typed: string): Promise<string> {
  const found = await completion.getSuggestions([proposed], 0, proposed.length, { signal: AbortSignal.timeout(1_000) });
  const item = found?.items[0];
  assert.ok(found && item);
  return completion.applyCompletion([typed], 0, typed.length, item, found.prefix).lines.join("\n");
}

test("an item completes the argument for which it was proposed", async () => {
  assert.equal(await applied(whereProposed(pi), "/workflow bug", "/workflow bug"), "/workflow bugfix");
});

test("an item of a list that is too old leaves what was typed since as it is", async () => {
  const typed = "/workflow bugfix the export is empty";
  assert.equal(await applied(pi, "/workflow bug", typed), "/workflow bugfix the export is embugfix");
  assert.equal(await applied(whereProposed(pi), "/workflow bug", typed), typed);
});

test("an item of an older list does not count as one of the newer list", async () => {
  const completion = whereProposed(pi);
  const old = await completion.getSuggestions(["/workflow "], 0, 10, { signal: AbortSignal.timeout(1_000) });
  assert.equal(await applied(completion, "/workflow bug", "/workflow bug"), "/workflow bugfix");
  assert.deepEqual(completion.applyCompletion(["/workflow bug"], 0, 13, old!.items[0]!, "").lines, ["/workflow bug"]);
});

test("other completions are pi's", async () => {
  const completion = whereProposed(pi);
  assert.equal(await applied(completion, "see b", "see bu"), await applied(pi, "see b", "see bu"));
  assert.equal(completion.shouldTriggerFileCompletion?.(["see"], 0, 3), true);
});
