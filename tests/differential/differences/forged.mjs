/**
 * Forged states: in a run whose definition is stored, ours leaves out a state that no transition leads
 * to from the one before. The package must behave like ours without that entry.
 *
 * @module
 */

import { drilled, follows, following } from "../navigation.mjs";
import { readState } from "./entries.mjs";

/** @param {import("../types.mjs").Entry[]} branch @param {(id: string) => void} note */
export function withoutForged(branch, note) {
  let state = null;
  let workflows = null;
  return branch.filter(({ type, customType, data }) => {
    if (type !== "custom" || data == null) return true;
    if (customType === "workflow:definition" && state && data.taskId === state.taskId) workflows = ofStored(data.workflows);
    if (customType !== "workflow:state" || data.workflowKey == null) return true;
    const next = readState(data);
    if (state?.active && workflows && !isLegal(state, next, workflows)) {
      note("Forged states");
      return false;
    }
    if (next?.taskId !== state?.taskId) workflows = null;
    state = next;
    return true;
  });
}

/** Converts stored workflows to those of the harness. */
function ofStored(stored) {
  const workflows = Object.create(null);
  for (const { key, loopable, phases } of stored) {
    workflows[key] = { key, loopable, phases: phases.map((entry) => (entry.subworkflow === undefined ? entry.phase : { ref: entry.subworkflow })) };
  }
  return workflows;
}

function isLegal(before, next, workflows) {
  if (!follows(before, workflows)) return true;
  const path = drilled(workflows, before.currentPath);
  if (!path) return true;
  if (!next) return false;
  // A run begins active. An ended state of another run would end this one, and its guards.
  if (next.taskId !== before.taskId) return next.active && next.globalStepCount === 0 && next.currentPath.every((s) => s.phaseIndex === 0);
  if (next.cancelled && !next.active) return true;
  const place = (active, step, at) => JSON.stringify([active, step, at.map((s) => [s.workflowKey, s.phaseIndex])]);
  const to = place(next.active, next.globalStepCount, drilled(workflows, next.currentPath) ?? next.currentPath);
  const step = before.globalStepCount + 1;
  const { currentPath } = before;
  const scope = currentPath[currentPath.length - 1].workflowKey;
  const looped = drilled(workflows, [...currentPath.slice(0, -1), { workflowKey: scope, phaseIndex: 0 }]);
  // From a reference `next` enters it, which is the same place one step later.
  const advanced = path.length > currentPath.length ? path : following(workflows, currentPath);
  if (to === place(true, before.globalStepCount, path)) return true;
  if (workflows[scope].loopable !== false && looped && to === place(true, step, looped)) return true;
  return advanced ? to === place(true, step, advanced) : !next.active;
}
