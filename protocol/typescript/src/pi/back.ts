/**
 * Where the conversation will stand after the user went back in it: pi says so of the fork, not of the way through the tree.
 */
import { type Tree, type TreeEntry, upFrom } from "../branch.ts";
import { isObject } from "../error.ts";
import type { HookEvent } from "../events.ts";

/** The events of pi before the conversation goes back; the protocol has one for both. */
export const GOING_BACK = ["session_before_fork", "session_before_tree"];

/** The last entry that stays, but for notes of the turn that began behind it; null is before the first one, and undefined is not known. */
export function newLeaf(event: HookEvent, tree: Tree): string | null | undefined {
  const { entryId, position, preparation } = event;
  const id = isObject(preparation) ? preparation.targetId : entryId;
  const entry = typeof id === "string" ? (tree.getEntry(id) as TreeEntry | undefined) : undefined;
  if (!entry) return undefined;
  // What the user said goes back into the editor, to be said anew.
  const isSaid = roleOf(entry) === "user" || entry.type === "custom_message";
  const before = isObject(preparation) ? isSaid : position !== "at";
  return before ? lastSaid(entry.parentId, tree) : (id as string);
}

const roleOf = (entry: object): string | undefined => (entry as { message?: { role?: string } }).message?.role;

/** Entries that somebody said; the others are notes, and what was set. */
const SAID = new Set(["message", "custom_message", "compaction", "branch_summary"]);

/** What is noted when a turn begins, pi stores before what the user said: it belongs to what comes. */
function lastSaid(leaf: string | null, tree: Tree): string | null {
  for (const entry of upFrom(tree, leaf)) {
    if (SAID.has(entry.type) && roleOf(entry) !== "system") return leaf;
    leaf = entry.parentId;
  }
  return leaf;
}
