/**
 * What the harness knows of a session while a case runs: the definitions in force, the run's
 * state, the countdown, what the model was sent. The rules read it to work out what an intended
 * difference looks like here; nothing in it comes from our side but the entries it stored.
 *
 * @module
 */

import { withoutPhase } from "./differences/context.mjs";
import { place } from "./navigation.mjs";

/** The counts of reminders, as docs/BEHAVIOUR.md defines them. */
export const NO_PUSHES = { pushes: 0, stale: 0, parked: null };

export class World {
  /** @param {import("./types.mjs").Case} case_ */
  constructor(case_) {
    this.mode = case_.mode;
    /** @type {import("./navigation.mjs").Workflows} */
    this.workflows = Object.create(null);
    /** The run's state, null without a run. */
    this.state = null;
    /** How the package counts down, and so ours: in a widget, or after a message. @type {"widget" | "message" | null} */
    this.countdown = null;
    /** True while the package waits for a second cancel. */
    this.cancelPending = false;
    /** Whether this response of the model moved the run; null between responses. */
    this.turnMoved = null;
    /** What the conversation holds of what there is to tell. @type {import("./differences/context.mjs").SentContext} */
    this.sent = {};
    /** The push that was sent last, until the agent stopped again. @type {{started: boolean, usedTools: boolean} | null} */
    this.pushed = null;
    this.pace = NO_PUSHES;
  }

  /** The location of the active run, or null. */
  get place() {
    return this.state?.active ? place(this.workflows, this.state) : null;
  }

  /** Takes the session as it was restored; `taskId` as the entries have it. */
  restored(state, workflows, branch, taskId) {
    this.workflows = workflows;
    this.state = state && (state.active || !state.completionNotified) ? state : null;
    this.cancelPending = false;
    this.turnMoved = null;
    this.sent = {};
    this.pushed = null;
    this.pace = storedPace(branch, taskId);
  }

  /** The run was moved. */
  entered(state) {
    this.state = state;
    this.cancelPending = false;
    this.sent = withoutPhase(this.sent);
    this.pace = NO_PUSHES;
  }

  /** A run was begun. */
  started(state) {
    this.entered(state);
    this.sent = {};
  }

  /** The user said something. */
  userSpoke() {
    this.pushed = null;
    this.pace = NO_PUSHES;
  }

  /** The agent called a tool. */
  toolWasUsed() {
    if (this.pushed) this.pushed.usedTools = true;
  }
}

function storedPace(branch, taskId) {
  const entry = branch.findLast((e) => e.customType === "workflow:run" && e.data?.taskId === taskId);
  if (!entry) return NO_PUSHES;
  const { pushes, stale, parked = null } = entry.data;
  return { pushes, stale, parked };
}
