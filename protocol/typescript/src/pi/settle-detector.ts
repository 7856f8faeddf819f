/**
 * Detection of the agent's final stop.
 *
 * pi 0.80 and later report it: `agent_settled` comes after retries and queued messages. Earlier versions have only
 * `agent_end`, after which the host may retry if the provider failed: an end with an error is delayed by the pause
 * before such a retry. Each end is reported once.
 */
import type { HookEvent } from "../events.ts";
import type { PiApi, PiContext } from "./host.ts";

/** The pauses before retries in hosts without `agent_settled`, each with a margin. */
const RETRY_MS = [2_500, 4_500, 8_500];
const POLL_MS = 50;
const IDLE_POLLS = 40;

export class SettleDetector {
  readonly #report: (event: HookEvent, ctx: PiContext) => unknown;
  readonly #retryMs: readonly number[];
  #ended: HookEvent | undefined;
  #errors = 0;
  #delayed: NodeJS.Timeout | undefined;
  #isSupported = false;
  #onReported: (() => void)[] = [];

  constructor(pi: PiApi, report: (event: HookEvent, ctx: PiContext) => unknown, retryMs: readonly number[] = RETRY_MS) {
    this.#report = report;
    this.#retryMs = retryMs;
    pi.on("agent_end", (event, ctx) => this.#onEnd(event, ctx));
    pi.on("agent_start", () => this.cancel());
    const off = pi.on("agent_settled", (_, ctx) => this.#onSettled(ctx));
    // A host whose handlers can be removed is newer than `agent_settled`.
    this.#isSupported = typeof off === "function";
  }

  /** True if the host reports that the agent has settled. */
  get isSupported(): boolean {
    return this.#isSupported;
  }

  /** Resolves when the next end is reported, or when the agent does not start within some time. */
  async next(ctx: PiContext): Promise<void> {
    let isReported = false;
    this.#onReported.push(() => (isReported = true));
    for (let idle = 0; !isReported && idle < IDLE_POLLS; idle = ctx.isIdle() && !this.#delayed ? idle + 1 : 0) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Discards a delayed end. */
  cancel(): void {
    clearTimeout(this.#delayed);
    this.#delayed = undefined;
  }

  #onEnd(event: HookEvent, ctx: PiContext): unknown {
    this.#ended = event;
    if (this.#isSupported) return undefined;
    const pause = this.#pause(event);
    if (pause === undefined) return this.#flush(ctx);
    this.#delayed = setTimeout(() => void this.#flush(ctx), pause);
    return undefined;
  }

  #onSettled(ctx: PiContext): unknown {
    this.#isSupported = true;
    this.cancel();
    return this.#flush(ctx);
  }

  async #flush(ctx: PiContext): Promise<unknown> {
    const ended = this.#ended;
    this.#ended = undefined;
    if (!ended) return undefined;
    const answer = await this.#report(ended, ctx);
    for (const resolve of this.#onReported.splice(0)) resolve();
    return answer;
  }

  #pause(event: HookEvent): number | undefined {
    const messages = Array.isArray(event.messages) ? event.messages : [];
    const failed = messages.findLast((message) => message?.role === "assistant")?.stopReason === "error";
    const pause = failed ? this.#retryMs[this.#errors] : undefined;
    this.#errors = pause === undefined ? 0 : this.#errors + 1;
    return pause;
  }
}
