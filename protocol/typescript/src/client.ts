/**
 * A sidecar that is there when it is asked: started at the first call, started again when it was lost.
 *
 * Owns starting, restoring and backing off. It starts nothing by itself and keeps no timer while idle, so that a
 * host may forget about it; a sidecar that is not asked keeps no process alive. Knows nothing of workflows.
 *
 * ```ts
 * const client = new Client({
 *   command: sidecarBinary(),
 *   initialize: () => ({ protocolVersion: 1, host: { name: "me", version: "1" }, cwd: process.cwd() }),
 *   restore: async (request) => void (await request("hook/session_start", { context: { branch } })),
 *   apply: (actions) => actions.forEach(perform),
 * });
 * const { block } = await client.request("hook/tool_call", { event: { toolName: "edit" } });
 * ```
 */
import { Connection, type ConnectionOptions, type HostHandlers, type RequestOptions } from "./connection.ts";
import { isObject, SidecarError } from "./error.ts";
import type { Action, InitializeParams, Manifest, Methods } from "./types.ts";

/** One call of the protocol. */
export type Request = <M extends keyof Methods>(method: M, params: Methods[M]["params"], options?: Partial<RequestOptions>) => Promise<Methods[M]["result"]>;

/** How one call is made. */
export interface CallOptions extends RequestOptions {
  /**
   * Has the sidecar answer a call that the signal ended. The caller waits no longer, but what the answer says is applied;
   * without this, the sidecar is told anew where the session stands.
   */
  cancel?: (request: Request) => Promise<unknown>;
}

export interface ClientOptions {
  /** The sidecar's binary, or where to look for it. */
  command: string | (() => string);
  /** Its arguments; `["serve"]` unless given. */
  args?: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The first call to each new sidecar. */
  initialize: () => InitializeParams;
  /** Brings a sidecar to where the session stands: called after each start, and by `resync`. */
  restore?: (request: Request) => Promise<void>;
  /** Applies actions, in the order in which they came: those of an answer before its call resolves. */
  apply?: (actions: readonly Action[], origin: { sessionId: string; timed: boolean }) => void;
  /** Answers the sidecar's questions. */
  handlers?: HostHandlers;
  /** How long an answer may take, in milliseconds, where a call says nothing else. */
  deadlineMs?: number;
  /** Pauses between one failed start and the next. */
  backOff?: { firstMs: number; maxMs: number };
  /** Called once for each sidecar that was lost after it had been ready. */
  onLost?: (why: SidecarError) => void;
  onStderr?: ConnectionOptions["onStderr"];
  onNoise?: ConnectionOptions["onNoise"];
}

const DEADLINE_MS = 10_000;
const CLOSE_GRACE_MS = 2_000;
/** Git may take minutes, and says nothing when it is done and nobody listens any more: the end of the sidecar is all there is to wait for. */
const BRING_BACK_GRACE_MS = 5 * 60_000;
const BACK_OFF = { firstMs: 250, maxMs: 30_000 };
/** A call waits for a pause that is shorter than this, and fails at once when it is longer. */
const WORTH_WAITING_MS = 1_000;

export class Client {
  readonly #options: ClientOptions;
  #connection: Connection | undefined;
  /** Whether that one has been ready. */
  #served = false;
  #startedAt = 0;
  /** The sidecar, once it has been started and restored. */
  #ready: Promise<Connection> | undefined;
  #manifest: Manifest | undefined;
  #failures = 0;
  #restUntil = 0;
  #closed = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** What the sidecar said of itself when it was started last. */
  get manifest(): Manifest | undefined {
    return this.#manifest;
  }

  /** The process that runs now. */
  get pid(): number | undefined {
    return this.#connection?.pid;
  }

  /** Starts and restores the sidecar, if that has not been done. */
  async start(): Promise<Manifest> {
    await this.#sidecar();
    return this.#manifest as Manifest;
  }

  /**
   * Asks the sidecar. If it is lost over the question, another one is started, restored and asked once more.
   *
   * Rejects with a `SidecarError`.
   */
  async request<M extends keyof Methods>(method: M, params: Methods[M]["params"], options: Partial<CallOptions> = {}): Promise<Methods[M]["result"]> {
    const { cancel, signal } = options;
    for (let asked = 1; ; asked += 1) {
      let connection: Connection | undefined;
      try {
        connection = await unlessAborted(this.#sidecar(), signal);
        const answer = this.#ask(connection)(method, params, { ...options, signal: cancel ? undefined : signal });
        const result = await unlessAborted(answer, cancel && signal);
        this.#failures = 0;
        return result;
      } catch (error) {
        if (!(error instanceof SidecarError)) throw error;
        if (connection && error.kind === "aborted") void this.#callOff(connection, cancel);
        if (connection && error.isLoss) this.#lose(connection, error);
        const again = connection ? error.isLoss : error.kind === "exited";
        if (!again || asked > 1 || this.#closed) throw error;
      }
    }
  }

  /** Tells the sidecar again where the session stands; calls made meanwhile wait for it. */
  async resync(): Promise<void> {
    const previous = this.#ready;
    const connection = this.#connection;
    if (!previous || !connection) {
      await this.#sidecar();
      return;
    }
    await this.#become(
      previous.then(
        (connection) => this.#restored(connection),
        () => this.#started(),
      ),
    );
  }

  /** Lets the sidecar finish and end. Every call from now on is refused. */
  async close(graceMs?: number): Promise<void> {
    this.#closed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    this.#ready = undefined;
    await connection?.close(graceMs ?? (connection.mayBringBack ? BRING_BACK_GRACE_MS : CLOSE_GRACE_MS));
  }

  async #callOff(connection: Connection, cancel: CallOptions["cancel"]): Promise<void> {
    try {
      // It may have moved on with an answer that nobody applied.
      await (cancel ? cancel(this.#ask(connection)) : this.resync());
    } catch (error) {
      if (!(error instanceof SidecarError)) throw error;
      if (error.isLoss) this.#lose(connection, error);
      else if (cancel) await this.resync().catch(() => {});
    }
  }

  #sidecar(): Promise<Connection> {
    return this.#ready ?? this.#become(this.#started());
  }

  #become(ready: Promise<Connection>): Promise<Connection> {
    this.#ready = ready;
    ready.catch(() => {
      if (this.#ready === ready) this.#ready = undefined;
    });
    return ready;
  }

  async #started(): Promise<Connection> {
    await this.#rested();
    if (this.#closed) throw new SidecarError("closed", "the client was closed");
    const connection = this.#spawned();
    this.#connection = connection;
    this.#served = false;
    this.#startedAt = Date.now();
    void connection.ended.then((why) => this.#lose(connection, why));
    try {
      this.#manifest = (await this.#ask(connection)("initialize", this.#options.initialize())) as Manifest;
    } catch (error) {
      this.#lose(connection, error as SidecarError);
      throw error;
    }
    return this.#restored(connection);
  }

  async #restored(connection: Connection): Promise<Connection> {
    try {
      await this.#options.restore?.(this.#ask(connection));
    } catch (error) {
      this.#lose(connection, error as SidecarError);
      throw error;
    }
    this.#served = true;
    return connection;
  }

  #spawned(): Connection {
    const { command, args = ["serve"], cwd, env, handlers = {}, onStderr, onNoise } = this.#options;
    try {
      return new Connection({
        command: typeof command === "string" ? command : command(),
        args,
        cwd,
        env,
        handlers,
        onStderr,
        onNoise,
        onResult: (result, sessionId) => this.#apply(isObject(result) ? result.actions : undefined, sessionId, false),
        onApply: (params) => this.#apply(params?.actions, params?.sessionId ?? "", true),
      });
    } catch (error) {
      this.#failed();
      throw error;
    }
  }

  #ask(connection: Connection): Request {
    const { deadlineMs = DEADLINE_MS } = this.#options;
    return (method, params, options) => connection.request(method, params, { deadlineMs, ...options });
  }

  #apply(actions: unknown, sessionId: string, timed: boolean): void {
    if (!Array.isArray(actions) || this.#closed) return;
    try {
      this.#options.apply?.(actions as Action[], { sessionId, timed });
    } catch (error) {
      this.#options.onNoise?.(`actions could not be applied: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #lose(connection: Connection, why: SidecarError): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#ready = undefined;
    this.#failed(this.#served ? 0 : Date.now() - this.#startedAt);
    connection.kill();
    if (this.#served) this.#options.onLost?.(why);
  }

  /** The first start after a loss is immediate, each further one waits twice as long; one that took its time at least as long again. */
  #failed(tookMs = 0): void {
    const { firstMs, maxMs } = this.#options.backOff ?? BACK_OFF;
    const pause = this.#failures === 0 ? 0 : Math.min(firstMs * 2 ** (this.#failures - 1), maxMs);
    this.#failures += 1;
    this.#restUntil = Date.now() + Math.max(pause, tookMs);
  }

  async #rested(): Promise<void> {
    const pause = this.#restUntil - Date.now();
    if (pause > WORTH_WAITING_MS) {
      throw new SidecarError("resting", `the sidecar failed ${this.#failures} times in a row; the next attempt is due in ${Math.ceil(pause / 1000)} s`);
    }
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new SidecarError("aborted", "the call was given up"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
