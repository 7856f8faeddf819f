/**
 * Damaged states (A08): in a run whose definition is stored, the state before a damaged one counts. The package must behave
 * like ours without the damaged entry.
 *
 * @module
 */

import { readState } from "./entries.mjs";

/** @param {import("../types.mjs").Entry[]} branch @param {(id: string) => void} note */
export function withoutDamaged(branch, note) {
  const defined = new Set(branch.filter((entry) => entry.customType === "workflow:definition").map(({ data }) => data?.taskId));
  let state = null;
  return branch.filter(({ type, customType, data }) => {
    if (type !== "custom" || customType !== "workflow:state" || !data?.workflowKey) return true;
    const next = readState(data);
    if (!next && state && defined.has(state.taskId)) {
      note("A08");
      return false;
    }
    state = next;
    return true;
  });
}
