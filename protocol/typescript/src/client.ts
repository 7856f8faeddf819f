/**
 * The client of a sidecar: starts one with the first call, and another one if it is lost.
 *
 * Responsible for starting, restoring and backing off. It starts nothing by itself and has no timer while idle, so a
 * host need not close it, and an idle sidecar does not keep the host's process alive. Independent of workflows.
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

/** A function that sends one request. */
export type Request = <M extends keyof Methods>(method: M, params: Methods[M]["params"], options?: Partial<RequestOptions>) => Promise<Methods[M]["result"]>;

/** The options of one call. */
export interface CallOptions extends RequestOptions {
  /**
   * Cancels an aborted call in the sidecar. The caller no longer waits, but the actions of the answer are applied;
   * without this, the sidecar is restored from the session.
   */
  cancel?: (request: Request) => Promise<unknown>;
}

export interface ClientOptions {
  /** The sidecar's binary, or a function that locates it. */
  command: string | (() => string);
  /** Its arguments; default `["serve"]`. */
  args?: readonly string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The parameters of the first request to each new sidecar. */
  initialize: () => InitializeParams;
  /** Restores the session in the sidecar: called after each start, and by `resync`. */
  restore?: (request: Request) => Promise<void>;
  /** Applies actions, in the order of their arrival: those of an answer before its call resolves. */
  apply?: (actions: readonly Action[], origin: { sessionId: string; timed: boolean }) => void;
  /** Answers the sidecar's questions. */
  handlers?: HostHandlers;
  /** The deadline of a call in milliseconds, unless its options have another. */
  deadlineMs?: number;
  /** The pauses between failed starts. */
  backOff?: { firstMs: number; maxMs: number };
  /** Called once for each sidecar that is lost after it was ready. */
  onLost?: (why: SidecarError) => void;
  onStderr?: ConnectionOptions["onStderr"];
  onNoise?: ConnectionOptions["onNoise"];
}

const DEADLINE_MS = 10_000;
const CLOSE_GRACE_MS = 2_000;
/** Restoring code with git may take minutes. Its end is not reported once standard input is closed, so the end of the process is awaited. */
const RESTORE_GRACE_MS = 5 * 60_000;
const BACK_OFF = { firstMs: 250, maxMs: 30_000 };
/** A call waits for the next attempt if it is due within this time, and fails at once otherwise. */
const MAX_RETRY_WAIT_MS = 1_000;

export class Client {
  readonly #options: ClientOptions;
  #connection: Connection | undefined;
  /** True once the current connection was ready. */
  #wasReady = false;
  #startedAt = 0;
  /** Resolves when the sidecar is started and restored. */
  #ready: Promise<Connection> | undefined;
  #manifest: Manifest | undefined;
  #failures = 0;
  #retryAt = 0;
  #closed = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The manifest of the sidecar that was started last. */
  get manifest(): Manifest | undefined {
    return this.#manifest;
  }

  /** The id of the running process. */
  get pid(): number | undefined {
    return this.#connection?.pid;
  }

  /** Starts and restores the sidecar, unless that is done. */
  async start(): Promise<Manifest> {
    await this.#sidecar();
    return this.#manifest as Manifest;
  }

  /**
   * Sends a request. If the sidecar is lost before it answers, another one is started and restored, and the request is sent once more.
   *
   * Rejects with a `SidecarError`.
   */
  async request<M extends keyof Methods>(method: M, params: Methods[M]["params"], options: Partial<CallOptions> = {}): Promise<Methods[M]["result"]> {
    const { cancel, signal } = options;
    for (let attempt = 1; ; attempt += 1) {
      let connection: Connection | undefined;
      try {
        connection = await unlessAborted(this.#sidecar(), signal);
        const answer = this.#requestOn(connection)(method, params, { ...options, signal: cancel ? undefined : signal });
        const result = await unlessAborted(answer, cancel && signal);
        this.#failures = 0;
        return result;
      } catch (error) {
        if (!(error instanceof SidecarError)) throw error;
        if (connection && error.kind === "aborted") void this.#abandon(connection, cancel);
        if (connection && error.isLoss) this.#onLoss(connection, error);
        const mayRetry = connection ? error.isLoss : error.kind === "exited";
        if (!mayRetry || attempt > 1 || this.#closed) throw error;
      }
    }
  }

  /** Restores the session in the sidecar again; calls made meanwhile wait for that. */
  async resync(): Promise<void> {
    const previous = this.#ready;
    const connection = this.#connection;
    if (!previous || !connection) {
      await this.#sidecar();
      return;
    }
    await this.#setReady(
      previous.then(
        (connection) => this.#restore(connection),
        () => this.#launch(),
      ),
    );
  }

  /** Lets the sidecar finish its work and end. All later calls are refused. */
  async close(graceMs?: number): Promise<void> {
    this.#closed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    this.#ready = undefined;
    await connection?.close(graceMs ?? (connection.mayBeRestoring ? RESTORE_GRACE_MS : CLOSE_GRACE_MS));
  }

  async #abandon(connection: Connection, cancel: CallOptions["cancel"]): Promise<void> {
    try {
      // Its state may have changed with an answer that was not applied.
      await (cancel ? cancel(this.#requestOn(connection)) : this.resync());
    } catch (error) {
      if (!(error instanceof SidecarError)) throw error;
      if (error.isLoss) this.#onLoss(connection, error);
      else if (cancel) await this.resync().catch(() => {});
    }
  }

  #sidecar(): Promise<Connection> {
    return this.#ready ?? this.#setReady(this.#launch());
  }

  #setReady(ready: Promise<Connection>): Promise<Connection> {
    this.#ready = ready;
    ready.catch(() => {
      if (this.#ready === ready) this.#ready = undefined;
    });
    return ready;
  }

  async #launch(): Promise<Connection> {
    await this.#waitForRetry();
    if (this.#closed) throw new SidecarError("closed", "the client was closed");
    const connection = this.#spawn();
    this.#connection = connection;
    this.#wasReady = false;
    this.#startedAt = Date.now();
    void connection.ended.then((why) => this.#onLoss(connection, why));
    try {
      this.#manifest = (await this.#requestOn(connection)("initialize", this.#options.initialize())) as Manifest;
    } catch (error) {
      this.#onLoss(connection, error as SidecarError);
      throw error;
    }
    return this.#restore(connection);
  }

  async #restore(connection: Connection): Promise<Connection> {
    try {
      await this.#options.restore?.(this.#requestOn(connection));
    } catch (error) {
      this.#onLoss(connection, error as SidecarError);
      throw error;
    }
    this.#wasReady = true;
    return connection;
  }

  #spawn(): Connection {
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
      this.#recordFailure();
      throw error;
    }
  }

  #requestOn(connection: Connection): Request {
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

  #onLoss(connection: Connection, why: SidecarError): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#ready = undefined;
    const isHangingStart = !this.#wasReady && why.kind === "late";
    this.#recordFailure(isHangingStart ? Date.now() - this.#startedAt : 0);
    connection.kill();
    if (this.#wasReady) this.#options.onLost?.(why);
  }

  /** Schedules the next start: at once after the first failure, then after pauses that double, and not before as much time has passed as callers waited for a start without an answer. */
  #recordFailure(waitedMs = 0): void {
    const { firstMs, maxMs } = this.#options.backOff ?? BACK_OFF;
    const pause = this.#failures === 0 ? 0 : Math.min(firstMs * 2 ** (this.#failures - 1), maxMs);
    this.#failures += 1;
    this.#retryAt = Date.now() + Math.max(pause, waitedMs);
  }

  async #waitForRetry(): Promise<void> {
    const pause = this.#retryAt - Date.now();
    if (pause > MAX_RETRY_WAIT_MS) {
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
