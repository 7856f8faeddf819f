/**
 * Notices that are shown again after the conversation went back: pi draws the screen anew then, and a fork begins another
 * session.
 *
 * They are kept by the process, because the extension is created anew for the session, and some versions of pi load its
 * module anew as well.
 */
import type { Action } from "../types.ts";

export type Notice = Extract<Action, { type: "notify" }>;

const KEY = Symbol.for("workflow-sidecar.carried-notices");

const notices = (): Notice[] => ((globalThis as { [KEY]?: Notice[] })[KEY] ??= []);

/** Keeps a notice for the session that comes next. */
export function carry(notice: Notice): void {
  notices().push(notice);
}

/** Takes all notices that were kept. */
export function takeCarried(): Notice[] {
  return notices().splice(0);
}
