/**
 * Navigation in definitions: the phase of a path, the previous and the next phase, the status text.
 * The rules use it to compute the effects of intended differences. Pure functions.
 *
 * @module
 */

/** @typedef {import("./types.mjs").Segment} Segment */
/** @typedef {Record<string, import("./types.mjs").Workflow>} Workflows */

/** Returns the phase entry of a segment. @param {Workflows} workflows @param {Segment} segment @returns {import("./types.mjs").Phase | null} */
export function entryAt(workflows, segment) {
  return workflows[segment.workflowKey]?.phases[segment.phaseIndex] ?? null;
}

const last = (path) => path[path.length - 1];

/** Extends the path to a concrete phase, or returns null if there is none. @param {Workflows} workflows @param {Segment[]} path @returns {Segment[] | null} */
export function drilled(workflows, path) {
  const entry = entryAt(workflows, last(path));
  if (!entry) return null;
  return "ref" in entry ? drilled(workflows, [...path, { workflowKey: entry.ref, phaseIndex: 0 }]) : path;
}

/** Returns true if each segment is the one that its parent refers to, starting at the state's workflow. @param {any} state @param {Workflows} workflows */
export function follows({ workflowKey, currentPath }, workflows) {
  if (currentPath[0].workflowKey !== workflowKey) return false;
  return currentPath.every((segment, i) => i === 0 || entryAt(workflows, currentPath[i - 1])?.ref === segment.workflowKey);
}

/**
 * Returns the location of an active state, or null if the definitions do not have it.
 *
 * @param {Workflows} workflows @param {any} state
 */
export function locationOf(workflows, state) {
  if (!state?.active || !(state.workflowKey in workflows) || !follows(state, workflows)) return null;
  const leaf = drilled(workflows, state.currentPath);
  if (!leaf) return null;
  return { root: workflows[state.currentPath[0].workflowKey], leaf, phase: entryAt(workflows, last(leaf)), onReference: leaf.length > state.currentPath.length };
}

/** Returns an entry's display name: a phase's own, or the name of the workflow referred to. */
function entryName(workflows, entry) {
  return "ref" in entry ? (workflows[entry.ref]?.name ?? entry.ref) : entry.name;
}

/** Returns the path that `next` enters, or null if it completes the run. @param {Workflows} workflows @param {Segment[]} path @returns {Segment[] | null} */
export function following(workflows, path) {
  const rest = path.slice(0, -1);
  const here = last(path);
  const next = { ...here, phaseIndex: here.phaseIndex + 1 };
  if (entryAt(workflows, next)) return drilled(workflows, [...rest, next]);
  return rest.length > 0 ? following(workflows, rest) : null;
}

/** Returns the name of the phase that `next` will enter (B04). */
export function nextPhaseName(workflows, path) {
  const next = following(workflows, path);
  return next ? entryAt(workflows, last(next)).name : "DONE";
}

/** Returns the name of the previous entry in the scope, or of the one before the reference in the parent (B03). */
export function previousPhaseName(workflows, path) {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const { workflowKey, phaseIndex } = path[depth];
    if (phaseIndex > 0) return entryName(workflows, entryAt(workflows, { workflowKey, phaseIndex: phaseIndex - 1 }));
  }
  return "(start)";
}

/** The longest list of phases. */
const MAX_LENGTH = 400;

/** Cuts a list of phases. @param {string} line */
const shortened = (line) => (line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, "")}…` : line);

/** Formats all phases of a workflow, with those of subworkflows; null for one phase. @param {Workflows} workflows @param {string} key */
export function route(workflows, key) {
  const phases = (workflow) => workflow.phases.map((entry) => ("ref" in entry ? `${entryName(workflows, entry)} (${phases(workflows[entry.ref])})` : entry.name)).join(" → ");
  const line = phases(workflows[key]);
  return line.includes(" → ") ? shortened(line) : null;
}

/** Formats the phases around a path, with what is done; null for one phase. @param {Workflows} workflows @param {Segment[]} path */
export function checklist(workflows, path) {
  const scope = ([{ workflowKey, phaseIndex }, ...inner]) => {
    const { phases } = workflows[workflowKey];
    const shown = phases.map((entry, index) => {
      const mark = index < phaseIndex ? "✓" : index > phaseIndex ? "○" : "▸";
      const inside = index === phaseIndex && inner.length > 0 ? ` (${scope(inner)})` : "";
      return `${mark} ${entryName(workflows, entry)}${inside}`;
    });
    const [from, to] = [Math.max(0, phaseIndex - 6), phaseIndex + 7];
    return [...(from > 0 ? ["…"] : []), ...shown.slice(from, to), ...(to < phases.length ? ["…"] : [])].join(" ");
  };
  const isOne = path.every(({ workflowKey }) => workflows[workflowKey].phases.length === 1);
  return isOne ? null : shortened(scope(path));
}

/** Formats the status text for a path, or returns null if a segment does not exist. @param {Workflows} workflows @param {Segment[]} path */
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

/** Returns the variables of the context message, corrected for B03 and B04. @param {Workflows} workflows @param {any} state */
export function contextVariables(workflows, state) {
  const { root, leaf, phase, onReference } = locationOf(workflows, state);
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

/** Replaces variables in one pass: own properties only, and values are not scanned again. */
export function fill(template, variables) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(variables, name) ? variables[name] : whole));
}
