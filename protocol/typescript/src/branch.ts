/**
 * The session entries that a sidecar is restored from.
 *
 * The walk goes from the leaf towards the root and ends as soon as the newest entry of each type is found: pi's
 * own list of the branch is quadratic in its length on old hosts, and a session may have 100,000 entries.
 */
import { isObject } from "./error.ts";
import type { OfflineManifest } from "./offline.ts";

type EntryTypes = OfflineManifest["entryTypes"];

/** An entry of a session's tree, with the members that are used here. */
export interface TreeEntry {
  type: string;
  parentId: string | null;
  customType?: string;
  data?: unknown;
}

/** A session's tree. */
export interface Tree {
  getLeafId(): string | null;
  getEntry(id: string): object | undefined;
}

/** An entry of the sidecar, in the form of the protocol. */
export interface BranchEntry {
  type: "custom";
  customType: string;
  data: unknown;
}

/** Iterates over the entries from the leaf to the root. */
export const fromLeaf = (tree: Tree): Generator<TreeEntry> => upFrom(tree, tree.getLeafId());

/** Iterates over the entries from the given one to the root. */
export function* upFrom(tree: Tree, leaf: string | null): Generator<TreeEntry> {
  for (let id = leaf; id !== null; ) {
    const entry = tree.getEntry(id) as TreeEntry | undefined;
    if (!entry) return;
    yield entry;
    id = entry.parentId;
  }
}

/** Selects the newest entry of each type. Takes the entries newest first, and returns them oldest first. */
export function newestOf(entries: Iterable<Omit<TreeEntry, "parentId">>, types: EntryTypes): BranchEntry[] {
  const wanted = new Map(types.map((type) => [type.customType, type.mark?.key]));
  const found: BranchEntry[] = [];
  for (const { type, customType, data } of entries) {
    if (type !== "custom" || customType === undefined || !wanted.has(customType)) continue;
    const key = wanted.get(customType);
    if (key !== undefined && !memberOf(data, key)) continue;
    wanted.delete(customType);
    found.push({ type, customType, data });
    if (wanted.size === 0) break;
  }
  return found.reverse();
}

/** Returns true if an entry is marked as active. */
export function isActive(entries: readonly { customType: string; data: unknown }[], types: EntryTypes): boolean {
  return entries.some(({ customType, data }) => {
    const mark = types.find((type) => type.customType === customType)?.mark;
    return mark !== undefined && memberOf(data, mark.active) === true;
  });
}

const memberOf = (data: unknown, name: string): unknown => (isObject(data) && Object.hasOwn(data, name) ? data[name] : undefined);
