import assert from "node:assert/strict";
import { test } from "node:test";
import { Lines } from "../src/lines.ts";

function split(chunks: Buffer[], limit = 1_000): string[] {
  const found: string[] = [];
  const lines = new Lines((line) => found.push(line), limit);
  for (const chunk of chunks) lines.push(chunk);
  lines.end();
  return found;
}

test("lines end at LF wherever the chunks end", () => {
  const text = "eins\nzwei ä€😀\n\ndrei";
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(split([bytes.subarray(0, at), bytes.subarray(at)]), text.split("\n"), `cut at ${at}`);
  }
  assert.deepEqual(split([...bytes].map((byte) => Buffer.from([byte]))), text.split("\n"));
});

test("a carriage return before LF is dropped, others stay", () => {
  assert.deepEqual(split([Buffer.from("a\r\nb\rc\n\r"), Buffer.from("\n")]), ["a", "b\rc", ""]);
});

test("U+2028, U+2029 and U+0085 end no line", () => {
  assert.deepEqual(split([Buffer.from("a\u2028b\u2029c\u0085d\n")]), ["a\u2028b\u2029c\u0085d"]);
});

test("a line of many chunks is put together", () => {
  const chunk = Buffer.alloc(64 * 1024, "x");
  const [line] = split([...Array<Buffer>(64).fill(chunk), Buffer.from("\n")], 8 * 1024 * 1024);
  assert.equal(line?.length, 64 * 64 * 1024);
});

test("a line longer than the limit is refused, before it is whole", () => {
  assert.throws(() => split([Buffer.from("12345"), Buffer.from("678901")], 10), RangeError);
  assert.deepEqual(split([Buffer.from("1234567890\n1234567890\n")], 10), ["1234567890", "1234567890"]);
});
