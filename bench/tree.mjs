/**
 * A session of pi with many entries, in pi's own session manager, and the walk that the extension
 * does through it.
 *
 * @module
 */

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { prose } from "./project.mjs";

const differential = new URL("../tests/differential/", import.meta.url);
const require = createRequire(differential);
const PI = new URL("node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js", differential);
const SHIM = fileURLToPath(new URL("../protocol/typescript/src/branch.ts", import.meta.url));

/** A session of so many entries; the run's stand where `at` says, 0 at the beginning and 1 at the end. */
export async function treeOf(entries, length, at) {
  const { SessionManager } = await import(PI.href);
  const tree = SessionManager.inMemory("/");
  const place = Math.floor(at * (length - entries.length));
  const said = { role: "user", content: prose(1000), timestamp: 0 };
  for (let i = 0; i < length - entries.length; i++) {
    if (i === place) append(tree, entries);
    tree.appendMessage(said);
  }
  if (place === length - entries.length) append(tree, entries);
  return tree;
}

function append(tree, entries) {
  for (const { customType, data } of entries) tree.appendCustomEntry(customType, data);
}

/** The walk from the leaf that the extension does. @returns {Promise<(tree: any, types: any) => any[]>} */
export async function leafWalk() {
  const { createJiti } = require("jiti");
  const { fromLeaf, newestOf } = await createJiti(import.meta.url).import(SHIM);
  return (tree, types) => newestOf(fromLeaf(tree), types);
}

/** The same entries as a list, for a host that ships the whole branch. */
export function list(entries, length) {
  const said = { type: "message", message: { role: "user", content: prose(900) } };
  return [...Array(Math.max(0, length - entries.length)).fill(said), ...entries];
}
