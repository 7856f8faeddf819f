/**
 * The leaf of the conversation after the user goes back in it. pi reports it for a fork, not for a move in the tree.
 */
import { type Tree, type TreeEntry, upFrom } from "../branch.ts";
import { isObject } from "../error.ts";
import type { HookEvent } from "../events.ts";

/** pi's events before the user goes back in the conversation; the protocol has one hook for both. */
export const BRANCH_EVENTS = ["session_before_fork", "session_before_tree"];

/** Returns the last entry that stays, without entries of the turn that began after it; null before the first entry, undefined if unknown. */
export function newLeaf(event: HookEvent, tree: Tree): string | null | undefined {
  const { entryId, position, preparation } = event;
  const id = isObject(preparation) ? preparation.targetId : entryId;
  const entry = typeof id === "string" ? (tree.getEntry(id) as TreeEntry | undefined) : undefined;
  if (!entry) return undefined;
  // The user's message goes back into the editor, to be sent again.
  const isPrompt = roleOf(entry) === "user" || entry.type === "custom_message";
  const before = isObject(preparation) ? isPrompt : position !== "at";
  return before ? leafBeforeTurn(entry.parentId, tree) : (id as string);
}

const roleOf = (entry: object): string | undefined => (entry as { message?: { role?: string } }).message?.role;

/** The types of entries that are messages; the others are settings and entries of extensions. */
const MESSAGE_TYPES = new Set(["message", "custom_message", "compaction", "branch_summary"]);

/** Skips the entries before a user's message that pi stored when that turn began: they belong to it. */
function leafBeforeTurn(leaf: string | null, tree: Tree): string | null {
  for (const entry of upFrom(tree, leaf)) {
    if (MESSAGE_TYPES.has(entry.type) && roleOf(entry) !== "system") return leaf;
    leaf = entry.parentId;
  }
  return leaf;
}
