/**
 * Intended differences in reading stored entries. Each is a change of the entry: the package with the
 * changed entry must behave like ours with the stored one.
 *
 * @module
 */

import { follows } from "../navigation.mjs";
import { NO_SUCH_KEY } from "./substitute-keys.mjs";

const FIELDS = ["active", "workflowKey", "currentPath", "globalStepCount", "taskId", "taskDescription", "startedAt", "completionNotified", "cancelled"];
const LAST_MOMENT = 8.64e15;

const isWhole = (value) => Number.isInteger(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER;

/** An entry that the package does not restore, as ours does not restore the real one. */
const REFUSED = { workflowKey: "refused" };

/** @param {import("../types.mjs").Entry[]} branch @param {(id: string) => void} note */
export function readAsOurs(branch, note) {
  let newest = true;
  return branch.toReversed().map((entry) => {
    const data = entry.type === "custom" && entry.customType === "workflow:state" ? entry.data : null;
    if (data?.workflowKey == null) return entry;
    if (data.workflowKey === "") {
      if (newest) note("A08");
      return { ...entry, data: null };
    }
    const read = { ...entry, data: stateAsOurs(data, newest ? note : () => {}) };
    newest = false;
    return read;
  }).reverse();
}

/** Reads the data of a state entry as ours does; null if it is refused. */
export function readState(stored) {
  const state = stateAsOurs(stored, () => {});
  if (state === REFUSED || !packageAccepts(migrated(state))) return null;
  return { ...migrated(state), taskId: state.taskId ?? "", cancelled: state.cancelled ?? false };
}

/** @param {any} stored @param {(id: string) => void} note */
function stateAsOurs(stored, note) {
  const data = migrated(stored);
  if (!packageAccepts(data)) return stored;
  const refuse = (id) => {
    note(id);
    return REFUSED;
  };
  if (!data.currentPath.every((segment) => isWhole(segment.phaseIndex))) return refuse("B21");
  if (Math.abs(data.startedAt) > LAST_MOMENT) return refuse("B22");
  if (!isWhole(data.globalStepCount)) return refuse("A08");
  return completed(stored, data, note);
}

/** Completes the state to exactly its documented fields. */
function completed(stored, data, note) {
  const state = { ...stored };
  const set = (id, field, value) => {
    note(id);
    state[field] = value;
  };
  if ("_cancelPending" in state) {
    note("A04");
    delete state._cancelPending;
  }
  if (typeof state.taskDescription !== "string") set("B23", "taskDescription", "");
  if (state.taskId === undefined) set("B23", "taskId", "");
  if (!Number.isInteger(state.startedAt)) set("Entries", "startedAt", Math.trunc(data.startedAt));
  for (const flag of ["completionNotified", "cancelled"]) {
    if (state[flag] === undefined) set("Entries", flag, false);
  }
  for (const field of Object.keys(state)) {
    if (FIELDS.includes(field) || (field === "currentPhaseIndex" && !state.currentPath)) continue;
    note("Entries");
    delete state[field];
  }
  return state;
}

/** Applies the package's documented migrations. */
function migrated(stored) {
  const data = { ...stored };
  if (data.currentPhaseIndex !== undefined && !data.currentPath) {
    data.currentPath = [{ workflowKey: data.workflowKey, phaseIndex: data.currentPhaseIndex }];
  }
  if (data.currentPath && data.globalStepCount === undefined) data.globalStepCount = data.currentPath[0]?.phaseIndex ?? 0;
  return data;
}

/** Returns true if the package restores a migrated state. */
function packageAccepts(d) {
  const optional = (value, type) => value === undefined || typeof value === type;
  return (
    Array.isArray(d.currentPath) &&
    d.currentPath.length > 0 &&
    d.currentPath.every((s) => s && typeof s === "object" && typeof s.workflowKey === "string" && typeof s.phaseIndex === "number") &&
    typeof d.active === "boolean" &&
    typeof d.workflowKey === "string" &&
    typeof d.globalStepCount === "number" &&
    typeof d.startedAt === "number" &&
    optional(d.taskId, "string") &&
    optional(d.completionNotified, "boolean") &&
    optional(d.cancelled, "boolean")
  );
}

/**
 * B20 and B44 depend on the definitions: keys that only JavaScript's objects know, and paths whose
 * segments do not follow each other. The package reads a key that does not exist instead.
 *
 * @param {any} state      the state as the package restored it
 * @param {import("../navigation.mjs").Workflows} workflows
 * @returns {{ids: string[], change: (data: any) => any} | null}
 */
export function staleAsOurs(state, workflows) {
  if (!state) return null;
  const keys = [state.workflowKey, ...state.currentPath.map((s) => s.workflowKey)];
  const isOdd = (key) => !(key in workflows) && key in Object.prototype;
  const isStray = state.active && keys.slice(1).every((key) => key in workflows) && !follows(state, workflows);
  const ids = [...(keys.some(isOdd) ? ["B20"] : []), ...(isStray ? ["B44"] : [])];
  if (ids.length === 0) return null;
  const renamed = (key) => (isOdd(key) ? key + NO_SUCH_KEY : key);
  const change = (data) => {
    const path = data.currentPath || [{ workflowKey: data.workflowKey, phaseIndex: data.currentPhaseIndex }];
    const currentPath = path.map((s) => ({ ...s, workflowKey: renamed(s.workflowKey) }));
    if (isStray) currentPath[currentPath.length - 1].workflowKey += NO_SUCH_KEY;
    return { ...data, workflowKey: renamed(data.workflowKey), currentPath };
  };
  return { ids, change };
}
