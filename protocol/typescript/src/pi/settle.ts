/**
 * When the agent has really stopped.
 *
 * pi 0.80 and later say so: `agent_settled` comes after retries and queued messages. Before that there is only
 * `agent_end`, after which the host may try again when the provider failed: an ending with an error is held back for
 * as long as that takes. Never tells of one ending twice.
 */
import type { HookEvent } from "../events.ts";
import type { PiApi, PiContext } from "./host.ts";

/** The pauses before the retries of hosts without `agent_settled`, and a little more. */
const RETRY_MS = [2_500, 4_500, 8_500];
const LOOK_MS = 50;
const IDLE_LOOKS = 40;

export class Settling {
  readonly #tell: (event: HookEvent, ctx: PiContext) => unknown;
  readonly #retryMs: readonly number[];
  #ended: HookEvent | undefined;
  #errors = 0;
  #held: NodeJS.Timeout | undefined;
  #known = false;
  #waiting: (() => void)[] = [];

  constructor(pi: PiApi, tell: (event: HookEvent, ctx: PiContext) => unknown, retryMs: readonly number[] = RETRY_MS) {
    this.#tell = tell;
    this.#retryMs = retryMs;
    pi.on("agent_end", (event, ctx) => this.#onEnd(event, ctx));
    pi.on("agent_start", () => this.cancel());
    const off = pi.on("agent_settled", (_, ctx) => this.#onSettled(ctx));
    // A host that gives handlers back is younger than `agent_settled`.
    this.#known = typeof off === "function";
  }

  /** Whether the host says when the agent has settled. */
  get known(): boolean {
    return this.#known;
  }

  /** Resolves when the next ending has been told, or when the agent seems not to start at all. */
  async next(ctx: PiContext): Promise<void> {
    let told = false;
    this.#waiting.push(() => (told = true));
    for (let idle = 0; !told && idle < IDLE_LOOKS; idle = ctx.isIdle() && !this.#held ? idle + 1 : 0) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Forgets an ending that is held back. */
  cancel(): void {
    clearTimeout(this.#held);
    this.#held = undefined;
  }

  #onEnd(event: HookEvent, ctx: PiContext): unknown {
    this.#ended = event;
    if (this.#known) return undefined;
    const pause = this.#pause(event);
    if (pause === undefined) return this.#flush(ctx);
    this.#held = setTimeout(() => void this.#flush(ctx), pause);
    return undefined;
  }

  #onSettled(ctx: PiContext): unknown {
    this.#known = true;
    this.cancel();
    return this.#flush(ctx);
  }

  async #flush(ctx: PiContext): Promise<unknown> {
    const ended = this.#ended;
    this.#ended = undefined;
    if (!ended) return undefined;
    const answer = await this.#tell(ended, ctx);
    for (const resolve of this.#waiting.splice(0)) resolve();
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
