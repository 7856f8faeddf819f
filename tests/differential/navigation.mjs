/**
 * What the definitions say about a place in them: which phase a path stands on, what comes before
 * and after, how the place is written in the status bar. Used by the rules to work out what an
 * intended difference looks like; pure.
 *
 * @module
 */

/** @typedef {import("./types.mjs").Segment} Segment */
/** @typedef {Record<string, import("./types.mjs").Workflow>} Workflows */

/** What a segment stands on. @param {Workflows} workflows @param {Segment} segment @returns {import("./types.mjs").Phase | null} */
export function entryAt(workflows, segment) {
  return workflows[segment.workflowKey]?.phases[segment.phaseIndex] ?? null;
}

const last = (path) => path[path.length - 1];

/** The path down to a concrete phase, or null where the definitions do not lead to one. @param {Workflows} workflows @param {Segment[]} path @returns {Segment[] | null} */
export function drilled(workflows, path) {
  const entry = entryAt(workflows, last(path));
  if (!entry) return null;
  return "ref" in entry ? drilled(workflows, [...path, { workflowKey: entry.ref, phaseIndex: 0 }]) : path;
}

/** Whether each segment is what the one around it refers to, from the state's workflow on. @param {any} state @param {Workflows} workflows */
export function follows({ workflowKey, currentPath }, workflows) {
  if (currentPath[0].workflowKey !== workflowKey) return false;
  return currentPath.every((segment, i) => i === 0 || entryAt(workflows, currentPath[i - 1])?.ref === segment.workflowKey);
}

/**
 * The place an active state stands on; null if the definitions do not lead there.
 *
 * @param {Workflows} workflows @param {any} state
 */
export function place(workflows, state) {
  if (!state?.active || !(state.workflowKey in workflows) || !follows(state, workflows)) return null;
  const leaf = drilled(workflows, state.currentPath);
  if (!leaf) return null;
  return { root: workflows[state.currentPath[0].workflowKey], leaf, phase: entryAt(workflows, last(leaf)), onReference: leaf.length > state.currentPath.length };
}

/** An entry's display name: a phase's own, or the name of the workflow referred to. */
export function entryName(workflows, entry) {
  return "ref" in entry ? (workflows[entry.ref]?.name ?? entry.ref) : entry.name;
}

/** The path that `next` leads to, or null when it completes. @param {Workflows} workflows @param {Segment[]} path @returns {Segment[] | null} */
export function following(workflows, path) {
  const rest = path.slice(0, -1);
  const here = last(path);
  const next = { ...here, phaseIndex: here.phaseIndex + 1 };
  if (entryAt(workflows, next)) return drilled(workflows, [...rest, next]);
  return rest.length > 0 ? following(workflows, rest) : null;
}

/** B04: the name of the phase that `next` will really enter. */
export function nextPhaseName(workflows, path) {
  const next = following(workflows, path);
  return next ? entryAt(workflows, last(next)).name : "DONE";
}

/** B03: the entry before this one in its scope, else the one before the reference in the parent. */
export function previousPhaseName(workflows, path) {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const { workflowKey, phaseIndex } = path[depth];
    if (phaseIndex > 0) return entryName(workflows, entryAt(workflows, { workflowKey, phaseIndex: phaseIndex - 1 }));
  }
  return "(start)";
}

/** The status bar's text for a path, or null where a segment leads nowhere. @param {Workflows} workflows @param {Segment[]} path */
export function statusText(workflows, path) {
  const root = workflows[path[0].workflowKey];
  if (!root) return null;
  const parts = [root.name];
  for (const segment of path) {
    const entry = entryAt(workflows, segment);
    if (!entry) return null;
    const name = "ref" in entry ? entryName(workflows, entry) : `${entry.emoji} ${entry.name}`;
    parts.push(`${name} [${segment.phaseIndex + 1}/${workflows[segment.workflowKey].phases.length}]`);
  }
  return parts.join(" > ");
}

/** The variables of the context message, with B03 and B04 put right. @param {Workflows} workflows @param {any} state */
export function contextVariables(workflows, state) {
  const { root, leaf, phase, onReference } = place(workflows, state);
  return {
    workflowName: root.name,
    workflowKey: state.workflowKey,
    description: state.taskDescription,
    taskId: state.taskId,
    phaseId: phase.id,
    phaseName: phase.name,
    previousPhaseName: previousPhaseName(workflows, leaf),
    nextPhaseName: onReference ? phase.name : nextPhaseName(workflows, leaf),
    blockedToolsList: phase.blacklist?.length ? phase.blacklist.join(", ") : "(none)",
    toolName: "workflow_step",
    breadcrumbPath: state.currentPath.map((s) => workflows[s.workflowKey].name).join(" > "),
    globalStepCount: String(state.globalStepCount),
  };
}

/** One pass; own variables only; values are not scanned again. */
export function fill(template, variables) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(variables, name) ? variables[name] : whole));
}
