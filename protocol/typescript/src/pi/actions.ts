/**
 * The actions of the protocol, applied to pi.
 */
import type { Action } from "../types.ts";
import type { PiApi, PiContext } from "./host.ts";
import { statusText } from "./terminal.ts";

/** The statuses and widgets on the screen, so that those of a lost sidecar can be removed. */
export class DrawnElements {
  readonly #statuses = new Set<string>();
  readonly #widgets = new Set<string>();
  /** Those of them above the editor, which are about what is in progress. */
  readonly #above = new Set<string>();

  record(action: Action): void {
    if (action.type === "setStatus") toggle(this.#statuses, action.key, action.text !== null);
    if (action.type === "setWidget") toggle(this.#widgets, action.key, action.lines !== null);
    if (isAboutProgress(action)) toggle(this.#above, action.key, action.lines !== null);
  }

  /** True while something in progress is on the screen. */
  get showsProgress(): boolean {
    return this.#above.size > 0;
  }

  clearWidgets(ctx: PiContext): void {
    for (const key of this.#widgets) ctx.ui.setWidget(key, undefined);
    this.#widgets.clear();
    this.#above.clear();
  }

  clear(ctx: PiContext): void {
    this.clearWidgets(ctx);
    for (const key of this.#statuses) ctx.ui.setStatus(key, undefined);
    this.#statuses.clear();
  }
}

/** True for a widget about what is in progress, which typing may stop: it is above the editor. */
export const isAboutProgress = (action: Action): action is Extract<Action, { type: "setWidget" }> => action.type === "setWidget" && action.placement === "aboveEditor";

function toggle(set: Set<string>, key: string, on: boolean): void {
  if (on) set.add(key);
  else set.delete(key);
}

/** Applies one action. Actions of a later protocol are ignored. */
export function perform(action: Action, pi: PiApi, ctx: PiContext, timed: boolean): void {
  switch (action.type) {
    case "appendEntry":
      return pi.appendEntry(action.customType, action.data);
    case "sendMessage":
      return pi.sendMessage(action.message, action.options);
    case "sendUserMessage":
      return sendUserMessage(action.content, action.deliverAs, pi, ctx, timed);
    case "setSessionName":
      return pi.setSessionName(action.name);
    case "setStatus":
      return ctx.ui.setStatus(action.key, action.text === null ? undefined : statusText(action.text, ctx));
    case "setWidget":
      return ctx.ui.setWidget(action.key, action.lines ?? undefined, { placement: action.placement });
    case "setHints":
      return; // not one effect but a state: see PhaseHints
    case "notify":
      return notify(ctx, action.message, action.level);
  }
}

/**
 * Sends a message in the user's name. pi reports a message to a busy agent as an extension error instead of throwing,
 * so the agent's state is checked first (A11): a timed message is dropped then, any other one is sent after the run.
 */
function sendUserMessage(content: string, deliverAs: string | undefined, pi: PiApi, ctx: PiContext, timed: boolean): void {
  if (deliverAs === "steer" || deliverAs === "followUp") pi.sendUserMessage(content, { deliverAs });
  else if (ctx.isIdle()) pi.sendUserMessage(content);
  else if (!timed) pi.sendUserMessage(content, { deliverAs: "followUp" });
}

/** Notifies the user; without an interface, on standard error. */
export function notify(ctx: PiContext, message: string, level: "info" | "warning" | "error"): void {
  if (ctx.hasUI) ctx.ui.notify(message, level);
  else console.error(message);
}
