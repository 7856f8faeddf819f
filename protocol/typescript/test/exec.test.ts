import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { bounded, inDirectory, withEnv } from "../src/exec.ts";

const show = { command: "sh", args: ["-c", 'pwd; echo "$A $1"', "x", "$HOME it's"] };

test("a command without variables and directory stays as it is", () => {
  assert.deepEqual(inDirectory(withEnv(show), undefined), ["sh", show.args]);
});

test("variables and a directory are added without a change of the arguments", () => {
  const [command, args] = inDirectory(withEnv({ ...show, env: { A: "one two" } }), tmpdir());
  const [directory, text] = execFileSync(command, args, { encoding: "utf8" }).split("\n");
  assert.ok(directory?.endsWith(tmpdir()));
  assert.equal(text, "one two $HOME it's");
});

test("a directory that does not exist fails", () => {
  const [command, args] = inDirectory(["true", []], "/nonexistent/directory");
  assert.throws(() => execFileSync(command, args, { stdio: "ignore" }));
});

test("the beginning of a long output is left out", () => {
  const result = { stdout: "12345", stderr: "123", code: 0 };
  assert.deepEqual(bounded(result, { ...show, maxOutput: 3 }), { stdout: "345", stderr: "123", code: 0, truncated: true });
  assert.deepEqual(bounded(result, { ...show, maxOutput: 5 }), result);
  assert.deepEqual(bounded(result, show), result);
});
