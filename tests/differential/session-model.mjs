/**
 * The harness's model of a session while a case runs: the definitions in force, the run's state, the
 * countdown, the context that was sent. The rules read it to compute the effects of intended
 * differences; of our side it uses only the stored entries.
 *
 * @module
 */

import { withoutPhase } from "./differences/context.mjs";
import { locationOf } from "./navigation.mjs";

/** The counts of reminders, as BEHAVIOUR.md defines them. */
export const NO_REMINDERS = { reminders: 0, stale: 0, paused: null };

export class SessionModel {
  /** @param {import("./types.mjs").Case} case_ */
  constructor(case_) {
    this.mode = case_.mode;
    /** @type {import("./navigation.mjs").Workflows} */
    this.workflows = Object.create(null);
    /** The run's state, null without a run. */
    this.state = null;
    /** The kind of countdown of both sides: in a widget, or after a message. @type {"widget" | "message" | null} */
    this.countdown = null;
    /** True while the package waits for a second cancel. */
    this.cancelPending = false;
    /** True if this response of the model moved the run; null between responses. */
    this.turnMoved = null;
    /** The context that the conversation contains. @type {import("./differences/context.mjs").SentContext} */
    this.sent = {};
    /** The last reminder, until the agent stops again. @type {{started: boolean, usedTools: boolean} | null} */
    this.reminder = null;
    this.counters = NO_REMINDERS;
  }

  /** The location of the active run, or null. */
  get location() {
    return this.state?.active ? locationOf(this.workflows, this.state) : null;
  }

  /** Sets the restored session; `taskId` as in the entries. */
  restored(state, workflows, branch, taskId) {
    this.workflows = workflows;
    this.state = state && (state.active || !state.completionNotified) ? state : null;
    this.cancelPending = false;
    this.turnMoved = null;
    this.sent = {};
    this.reminder = null;
    this.counters = storedCounters(branch, taskId);
  }

  /** Records a transition. */
  entered(state) {
    this.state = state;
    this.cancelPending = false;
    this.sent = withoutPhase(this.sent);
    this.counters = NO_REMINDERS;
  }

  /** Records a start. */
  started(state) {
    this.entered(state);
    this.sent = {};
  }

  /** Records input of the user. */
  userSpoke() {
    this.reminder = null;
    this.counters = NO_REMINDERS;
  }

  /** Records a tool call. */
  toolWasUsed() {
    if (this.reminder) this.reminder.usedTools = true;
  }
}

function storedCounters(branch, taskId) {
  const entry = branch.findLast((e) => e.customType === "workflow:run" && e.data?.taskId === taskId);
  if (!entry) return NO_REMINDERS;
  const { reminders, stale, paused = null } = entry.data;
  return { reminders, stale, paused };
}
