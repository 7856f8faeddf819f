/**
 * The entries a sidecar is restored from, and what they say without one.
 *
 * Walks from the leaf towards the root and stops as soon as the newest entry of each type is found: pi's own
 * list of the branch is quadratic in its length on old hosts, and a session may hold 100,000 entries.
 */
import { isObject } from "../error.ts";
import type { OfflineManifest } from "./offline.ts";
import type { PiEntry, PiSession } from "./host.ts";

type EntryTypes = OfflineManifest["entryTypes"];

/** An entry of ours, as the protocol wants it. */
export interface BranchEntry {
  type: "custom";
  customType: string;
  data: unknown;
}

/** The newest entry of each of the types on the way from the leaf to the root, oldest first. */
export function newestEntries(session: PiSession, types: EntryTypes): BranchEntry[] {
  const wanted = new Map(types.map((type) => [type.customType, type.mark?.key]));
  const found: BranchEntry[] = [];
  let id = session.getLeafId();
  while (id !== null && wanted.size > 0) {
    const entry = session.getEntry(id) as PiEntry | undefined;
    if (!entry) break;
    const { type, customType, data } = entry;
    if (type === "custom" && customType !== undefined && wanted.has(customType)) {
      const key = wanted.get(customType);
      if (key === undefined || memberOf(data, key) != null) {
        wanted.delete(customType);
        found.push({ type, customType, data });
      }
    }
    id = entry.parentId;
  }
  return found.reverse();
}

/** Whether these entries say that something is active. */
export function isActive(entries: readonly { customType: string; data: unknown }[], types: EntryTypes): boolean {
  return entries.some(({ customType, data }) => {
    const mark = types.find((type) => type.customType === customType)?.mark;
    return mark !== undefined && memberOf(data, mark.active) === true;
  });
}

const memberOf = (data: unknown, name: string): unknown => (isObject(data) && Object.hasOwn(data, name) ? data[name] : undefined);
