/**
 * Intended differences in pushing the agent on: what stops a countdown (B11 to B15), and the
 * bounds of "Auto-continue".
 *
 * @module
 */

import { NO_PUSHES } from "../world.mjs";

/** @typedef {import("./effects.mjs").Step} Step */

/** What stops ours' countdown, by the id of the package's failing to do so; null if nothing does. @param {import("../types.mjs").Operation} operation @param {import("../world.mjs").World} world */
export function stopsCountdown(operation, world) {
  switch (operation.op) {
    case "session_start":
    case "session_tree":
      return "B14";
    case "before_agent_start":
    case "agent_start":
    case "turn_start":
    case "tool_call":
    case "input":
      return "B13";
    case "step":
      return operation.arguments.action === "cancel" ? "B11" : "B13";
    case "agent_end":
      return "B15";
    case "command":
      return operation.name === "cancel-workflow" && world.state?.active ? "B11" : null;
    default:
      return null;
  }
}

/** The widget that ours takes away when it stops a countdown. */
export const NO_WIDGET = { kind: "widget", key: "workflow-countdown", lines: null };

/** The last assistant message, as the stop is judged by it. */
function lastAssistant(messages) {
  const message = messages.findLast((m) => m?.role === "assistant");
  const text = message?.content?.findLast?.((part) => part.type === "text")?.text;
  return { stopReason: message?.stopReason, asks: typeof text === "string" && text.endsWith("?") };
}

/** Whether the person stopped the agent. */
export const wasAborted = (messages) => lastAssistant(messages).stopReason === "aborted";

/** What the defaults do about a stop, and how the counts go on. */
function afterStop({ pace, pushed }, { stopReason, asks }) {
  if (pace.parked !== null || stopReason === "aborted") return { pace, push: "rest" };
  const stale = !pushed ? pace.stale : pushed.usedTools ? 0 : pace.stale + 1;
  const next = { ...pace, stale };
  const park = (why) => ({ pace: { ...next, parked: why }, push: "park" });
  if (stopReason === "error" || stopReason === "length") return park("error");
  if (asks) return park("question");
  if (next.pushes >= 8) return park("max");
  if (next.stale >= 3) return park("maxStale");
  return { pace: next, push: "count" };
}

/**
 * "Auto-continue": where the bounds hold, a run is parked instead of pushed. Rewrites `expected`,
 * works out the counts and tells whether the package's countdown must go.
 *
 * @param {Step} step
 */
export function bounded(step) {
  const { operation, world, expected, actual } = step;
  if (operation.op !== "agent_end" || world.mode === "unbounded" || !world.place) return false;
  const { pace, push } = afterStop(world, lastAssistant(operation.messages));
  step.pace = pace;
  if (push === "count") return false;
  const counted = expected.length > 0;
  expected.length = 0;
  if (push === "park") {
    expected.push(parkedMessage(actual));
    step.wordingIsOurs = true;
  }
  return counted || push === "park";
}

/** The message that says a run is parked; its wording is ours to choose. */
function parkedMessage(actual) {
  const message = actual.find((e) => e.kind === "message" && e.customType === "workflow:parked");
  const content = message?.content ?? "";
  return {
    kind: "message",
    customType: "workflow:parked",
    content: content.includes("parked") && content.includes("resumes") ? content : "why it is parked, and what resumes it",
    display: true,
    options: { triggerTurn: false },
  };
}

/** Counts a push that time brought. @param {Step} step */
export function countPush({ operation, world, expected }) {
  const push = operation.op === "advance" ? expected.find((e) => e.kind === "user") : undefined;
  if (!push) return;
  world.pace = { ...(world.pace ?? NO_PUSHES), pushes: world.pace.pushes + 1 };
  world.pushed = { started: false, usedTools: false };
}
