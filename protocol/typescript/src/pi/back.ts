/**
 * Where the conversation will stand after the user went back in it: pi says so of the fork, not of the way through the tree.
 */
import type { Tree, TreeEntry } from "../branch.ts";
import { isObject } from "../error.ts";
import type { HookEvent } from "../events.ts";

/** The events of pi before the conversation goes back; the protocol has one for both. */
export const GOING_BACK = ["session_before_fork", "session_before_tree"];

/** The entry that becomes the leaf; null is before the first one, and undefined is not known. */
export function newLeaf(event: HookEvent, tree: Tree): string | null | undefined {
  const { entryId, position, preparation } = event;
  const id = isObject(preparation) ? preparation.targetId : entryId;
  const entry = typeof id === "string" ? (tree.getEntry(id) as (TreeEntry & { message?: { role?: string } }) | undefined) : undefined;
  if (!entry) return undefined;
  // What the user said goes back into the editor, to be said anew.
  const isSaid = entry.message?.role === "user" || entry.type === "custom_message";
  const before = isObject(preparation) ? isSaid : position !== "at";
  return before ? entry.parentId : (id as string);
}
