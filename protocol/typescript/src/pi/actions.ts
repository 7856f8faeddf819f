/**
 * Does what an answer asks of pi.
 */
import type { Action } from "../types.ts";
import type { PiApi, PiContext } from "./host.ts";

/** What of it is on the screen, to take away what a lost sidecar left there. */
export class Painted {
  readonly #statuses = new Set<string>();
  readonly #widgets = new Set<string>();

  note(action: Action): void {
    if (action.type === "setStatus") toggle(this.#statuses, action.key, action.text !== null);
    if (action.type === "setWidget") toggle(this.#widgets, action.key, action.lines !== null);
  }

  clearWidgets(ctx: PiContext): void {
    for (const key of this.#widgets) ctx.ui.setWidget(key, undefined);
    this.#widgets.clear();
  }

  clear(ctx: PiContext): void {
    this.clearWidgets(ctx);
    for (const key of this.#statuses) ctx.ui.setStatus(key, undefined);
    this.#statuses.clear();
  }
}

function toggle(set: Set<string>, key: string, on: boolean): void {
  if (on) set.add(key);
  else set.delete(key);
}

/** Does one action; one of a later protocol is passed over. */
export function perform(action: Action, pi: PiApi, ctx: PiContext, timed: boolean): void {
  switch (action.type) {
    case "appendEntry":
      return pi.appendEntry(action.customType, action.data);
    case "sendMessage":
      return pi.sendMessage(action.message, action.options);
    case "sendUserMessage":
      return say(action.content, action.deliverAs, pi, ctx, timed);
    case "setSessionName":
      return pi.setSessionName(action.name);
    case "setStatus":
      return ctx.ui.setStatus(action.key, action.text ?? undefined);
    case "setWidget":
      return ctx.ui.setWidget(action.key, action.lines ?? undefined, { placement: action.placement });
    case "notify":
      return tell(ctx, action.message, action.level);
  }
}

/**
 * pi reports a message to a busy agent as an extension error instead of throwing, so it is asked first (A11):
 * what time wanted to say is not needed any more then, and what somebody asked for is said afterwards.
 */
function say(content: string, deliverAs: string | undefined, pi: PiApi, ctx: PiContext, timed: boolean): void {
  if (deliverAs === "steer" || deliverAs === "followUp") pi.sendUserMessage(content, { deliverAs });
  else if (ctx.isIdle()) pi.sendUserMessage(content);
  else if (!timed) pi.sendUserMessage(content, { deliverAs: "followUp" });
}

/** Tells the user; without an interface, on standard error. */
export function tell(ctx: PiContext, message: string, level: "info" | "warning" | "error"): void {
  if (ctx.hasUI) ctx.ui.notify(message, level);
  else console.error(message);
}
