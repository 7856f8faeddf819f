/**
 * Intended differences in continuing automatically: the end of a countdown (B11 to B15), and the limits
 * of "Auto-continue".
 *
 * @module
 */

import { NO_REMINDERS } from "../session-model.mjs";

/** @typedef {import("./effects.mjs").Step} Step */

/** Returns the id of the difference by which the operation stops the countdown of ours, or null. @param {import("../types.mjs").Operation} operation @param {import("../session-model.mjs").SessionModel} session */
export function stopsCountdown(operation, session) {
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
      return operation.name === "cancel-workflow" && session.state?.active ? "B11" : null;
    default:
      return null;
  }
}

/** The effect that removes the widget of a stopped countdown. */
export const NO_WIDGET = { kind: "widget", key: "workflow-countdown", lines: null };

/** Returns the last assistant message's stop reason, and true for a question. */
function lastAssistant(messages) {
  const message = messages.findLast((m) => m?.role === "assistant");
  const text = message?.content?.findLast?.((part) => part.type === "text")?.text;
  return { stopReason: message?.stopReason, asks: typeof text === "string" && text.endsWith("?") };
}

/** Returns true if the user stopped the agent. */
export const wasAborted = (messages) => lastAssistant(messages).stopReason === "aborted";

/** Returns the action of the default limits after a stop, and the new counters. */
function afterStop({ counters, reminder }, { stopReason, asks }) {
  if (counters.paused !== null || stopReason === "aborted") return { counters, action: "none" };
  const stale = !reminder ? counters.stale : reminder.usedTools ? 0 : counters.stale + 1;
  const next = { ...counters, stale };
  const pause = (reason) => ({ counters: { ...next, paused: reason }, action: "pause" });
  if (stopReason === "error" || stopReason === "length") return pause("error");
  if (asks) return pause("question");
  if (next.reminders >= 8) return pause("max");
  if (next.stale >= 3) return pause("maxStale");
  return { counters: next, action: "count" };
}

/**
 * Applies the limits of "Auto-continue": a run is paused instead of reminded. Rewrites `expected`, updates
 * the counters, and returns true if the package's countdown must be removed.
 *
 * @param {Step} step
 */
export function bounded(step) {
  const { operation, session, expected, actual } = step;
  if (operation.op !== "agent_end" || session.mode === "unbounded" || !session.location) return false;
  const { counters, action } = afterStop(session, lastAssistant(operation.messages));
  step.counters = counters;
  if (action === "count") return false;
  const counted = expected.length > 0;
  expected.length = 0;
  if (action === "pause") {
    expected.push(pausedMessage(actual));
    step.wordingIsOurs = true;
  }
  return counted || action === "pause";
}

/** Returns the message of a paused run; its wording is free. */
function pausedMessage(actual) {
  const message = actual.find((e) => e.kind === "message" && e.customType === "workflow:paused");
  const content = message?.content ?? "";
  return {
    kind: "message",
    customType: "workflow:paused",
    content: content.includes("is paused") && content.includes("resumes") ? content : "why it is paused, and what resumes it",
    display: true,
    options: { triggerTurn: false },
  };
}

/** Counts a reminder after the countdown. @param {Step} step */
export function countReminder({ operation, session, expected }) {
  const reminder = operation.op === "advance" ? expected.find((e) => e.kind === "user") : undefined;
  if (!reminder) return;
  session.counters = { ...(session.counters ?? NO_REMINDERS), reminders: session.counters.reminders + 1 };
  session.reminder = { started: false, usedTools: false };
}
