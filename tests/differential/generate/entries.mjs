/**
 * Stored entries that neither side wrote: of older versions, damaged, hostile, of other extensions.
 *
 * @module
 */

const custom = (data, customType = "workflow:state") => ({ type: "custom", customType, data });

/** Generates a valid path, to a phase or a reference. */
function path(random, models, workflowKey) {
  const { phases } = models.find((m) => m.key === workflowKey);
  const phaseIndex = random.int(0, phases.length - 1);
  const entry = phases[phaseIndex];
  const inner = entry && "ref" in entry && models.some((m) => m.key === entry.ref) && random.chance(0.6);
  return [{ workflowKey, phaseIndex }, ...(inner ? path(random, models, entry.ref) : [])];
}

/** Generates a valid state of the package. */
function sound(random, { models, now }) {
  const workflowKey = random.pick(models).key;
  return {
    active: random.chance(0.8),
    workflowKey,
    currentPath: path(random, models, workflowKey),
    globalStepCount: random.int(0, 9),
    taskId: `wf-${now}-abc${random.int(100, 999)}`,
    taskDescription: random.pick(["stored task", "{taskId}", "zwei\nZeilen", ""]),
    startedAt: now - random.int(0, 100_000),
    completionNotified: random.chance(0.2),
    cancelled: random.chance(0.2),
  };
}

const DAMAGES = [
  (s, r) => void (r.pick(s.currentPath).phaseIndex = r.pick([-1, 0.5, 1e9, 99, -0.0])),
  (s, r) => void (s.currentPath[0].phaseIndex = r.pick(["0", null, true])),
  (s, r) => void (s.currentPath = r.pick([[], {}, "x", null, [null], [5], [{}], [{ workflowKey: s.workflowKey }]])),
  (s, r) => void s.currentPath.push({ workflowKey: r.pick(["nowhere", s.workflowKey, "constructor"]), phaseIndex: r.int(0, 2) }),
  (s, r) => {
    s.workflowKey = r.pick(["constructor", "toString", "__proto__", "nowhere", ""]);
    s.currentPath[0].workflowKey = s.workflowKey;
  },
  (s, r) => void (s.workflowKey = r.pick(["nowhere", "constructor", 5, null, ""])),
  (s, r) => void (s.active = r.pick([1, "true", null])),
  (s) => void delete s.active,
  (s, r) => void (s.startedAt = r.pick([1e20, -1e20, "now", null, -5, 0, 1.5, 8.64e15, 8.64e15 + 1])),
  (s) => void delete s.startedAt,
  (s) => void delete s.taskDescription,
  (s, r) => void (s.taskDescription = r.pick([5, null, ["a"]])),
  (s) => void delete s.taskId,
  (s, r) => void (s.taskId = r.pick([5, null, ""])),
  (s) => void delete s.completionNotified,
  (s) => void delete s.cancelled,
  (s, r) => void (s.cancelled = r.pick(["no", null, 0])),
  (s, r) => void (s.completionNotified = r.pick(["no", null, 0])),
  (s, r) => void (s.globalStepCount = r.pick(["3", null, -1, 2.5, 1e15])),
  (s) => void delete s.globalStepCount,
  (s) => void (s._cancelPending = true),
  (s) => void (s.extra = { deep: [1, "x"] }),
  () => {},
  () => {},
  () => {},
];

/** @returns {import("../types.mjs").Entry} */
export function damagedEntry(random, scene) {
  if (random.chance(0.06)) return custom(random.pick([null, 5, "x", [], {}, { workflowKey: null }, undefined]));
  const state = sound(random, scene);
  random.pick(DAMAGES)(state, random);
  return custom(state);
}

/** Generates an entry of a version before subworkflows. @returns {import("../types.mjs").Entry} */
export function legacyEntry(random, scene) {
  const { currentPath, globalStepCount, ...state } = sound(random, scene);
  const index = random.weighted([[6, currentPath[0].phaseIndex], [1, "1"], [1, null], [1, -1], [1, 0.5]]);
  const both = random.chance(0.1) ? { currentPath } : {};
  const count = random.chance(0.3) ? { globalStepCount } : {};
  return custom({ ...state, currentPhaseIndex: index, ...both, ...count });
}

/** Generates an entry of another origin. @returns {import("../types.mjs").Entry} */
export function foreignEntry(random, scene) {
  return random.pick([
    { type: "message", message: { role: "user", content: "hello" } },
    custom({ x: 1 }, "other:state"),
    { type: "custom_message", customType: "workflow:state", content: "x", data: sound(random, scene) },
    { type: "message", customType: "workflow:state", data: sound(random, scene) },
    { type: "compaction", summary: "…" },
    custom({ version: 99, what: "later" }, "workflow:later"),
  ]);
}
