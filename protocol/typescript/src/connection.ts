/**
 * One sidecar process and the lines to and from it.
 *
 * Responsible for framing, matching answers to calls, deadlines, and keeping the host's process alive while an answer
 * is due. It cannot be used after the process ended: the client starts another one. Independent of workflows.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { toSidecarError, isObject, SidecarError } from "./error.ts";
import { Lines } from "./lines.ts";
import type { HostMethods, Methods } from "./types.ts";

/** The host's handlers for requests of the sidecar. */
export type HostHandlers = {
  [M in Exclude<keyof HostMethods, "host/apply" | "host/cancel" | "ui/dismiss">]?: (
    params: HostMethods[M]["params"],
    /** Fires when the answer is no longer awaited: the question is settled, or the sidecar is gone. */
    signal: AbortSignal,
  ) => HostMethods[M]["result"] | Promise<HostMethods[M]["result"]>;
};

export interface ConnectionOptions {
  command: string;
  args: readonly string[];
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  handlers: HostHandlers;
  /** Called with each result, in the order of arrival and before its call resolves. */
  onResult?: ((result: unknown, sessionId: string) => void) | undefined;
  /** Called with the parameters of each `host/apply`, in order with the results. */
  onApply?: ((params: HostMethods["host/apply"]["params"]) => void) | undefined;
  /** Receives the sidecar's log; without it, the log goes to the host's standard error. */
  onStderr?: ((text: string) => void) | undefined;
  /** Called with a description of every line that could not be used. */
  onNoise?: ((what: string) => void) | undefined;
}

export interface RequestOptions {
  /** The deadline of the answer in milliseconds. */
  deadlineMs: number;
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** The answer may wait for the user or a program: after the deadline the call fails only if the sidecar does not answer another request. */
  patient?: boolean | undefined;
}

interface Pending {
  sessionId: string;
  /** The time of the last answer to a question that this call may have caused: the deadline starts again there. */
  answeredAt: number;
  resolve: (result: unknown) => void;
  reject: (error: SidecarError) => void;
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** The number of consecutive unusable lines that is tolerated; a program that begins with one is not a sidecar. */
const MAX_NOISE = 100;
/** The time to read remaining output after the process ended, even if a descendant keeps the pipe open. */
const FINAL_OUTPUT_MS = 100;

export class Connection {
  /** Resolves with the reason when the process ended. */
  readonly ended: Promise<SidecarError>;

  readonly #options: ConnectionOptions;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #endSignal = new AbortController();
  #ids = 0;
  /** The open requests of the sidecar by their ids, each with the id of the last call before it. */
  readonly #open = new Map<unknown, { after: number; ended: AbortController }>();
  #noiseCount = MAX_NOISE;
  #end: SidecarError | undefined;
  #mayBeRestoring = false;
  #settleEnd!: (error: SidecarError) => void;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => (this.#settleEnd = resolve));
    this.#child = spawnSidecar(options);
    this.#listen();
    this.#keepProcessAlive(false);
  }

  /** True if the sidecar may be restoring code. It finishes that after its input ended; if it is killed, the code is restored in part. */
  get mayBeRestoring(): boolean {
    return this.#mayBeRestoring;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  request<M extends keyof Methods>(method: M, params: Methods[M]["params"], options: RequestOptions): Promise<Methods[M]["result"]> {
    const { signal } = options;
    if (this.#end) return Promise.reject(this.#end);
    if (signal?.aborted) return Promise.reject(aborted(method));
    const id = (this.#ids += 1);

    return new Promise<unknown>((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#pending.delete(id);
        if (this.#pending.size === 0) this.#keepProcessAlive(false);
      };
      const fail = (error: SidecarError) => {
        finish();
        reject(error);
      };
      const onAbort = () => fail(aborted(method));
      const onDeadline = () => {
        const late = () => fail(new SidecarError("late", `${method} was not answered within ${options.deadlineMs} ms`));
        const wait = () => (timer = setTimeout(onDeadline, options.deadlineMs));
        // A dialog that was open before this call is unrelated to it, however long it stays open.
        const isAsking = [...this.#open.values()].some(({ after }) => after >= id);
        if (isAsking || Date.now() - pending.answeredAt < options.deadlineMs) wait();
        else if (options.patient) this.#probe(options.deadlineMs).then(() => this.#pending.has(id) && wait(), late);
        else late();
      };
      let timer = setTimeout(onDeadline, options.deadlineMs);
      signal?.addEventListener("abort", onAbort, { once: true });
      const sessionId = (params as { sessionId?: string }).sessionId ?? "";
      const pending: Pending = {
        sessionId,
        answeredAt: 0,
        reject: fail,
        resolve: (result) => {
          finish();
          resolve(result);
        },
      };
      this.#pending.set(id, pending);
      if (method === "hook/branch") this.#mayBeRestoring = true;
      this.#keepProcessAlive(true);
      this.#write({ id, method, params });
    }) as Promise<Methods[M]["result"]>;
  }

  /** Lets the sidecar finish the lines that it has read, and kills it if that takes longer than `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#keepProcessAlive(true);
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.kill(), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #listen(): void {
    const { stdin, stdout, stderr } = this.#child;
    const lines = new Lines((line) => this.#line(line), MAX_LINE_BYTES);
    const feedOrFail = (feed: () => void) => {
      try {
        feed();
      } catch (error) {
        this.#fail((error as Error).message);
      }
    };
    stdout?.on("data", (chunk: Buffer) => feedOrFail(() => lines.push(chunk)));
    stdout?.on("end", () => feedOrFail(() => lines.end()));
    stdout?.on("error", () => {});
    stdin?.on("error", () => {}); // the process has ended, which its exit reports
    if (this.#options.onStderr) stderr?.setEncoding("utf8").on("data", this.#options.onStderr);

    this.#child.on("error", (error) => {
      // Also emitted when a signal cannot be sent: the process continues then.
      if (this.#child.pid === undefined) this.#finish(startError(this.#options, error));
    });
    const onExit = (code: number | null, signal: NodeJS.Signals | null) =>
      this.#finish(new SidecarError("exited", `the sidecar ended (${signal ?? `exit code ${code}`})`));
    this.#child.on("exit", (code, signal) => setTimeout(onExit, FINAL_OUTPUT_MS, code, signal).unref());
    this.#child.on("close", onExit);
  }

  #finish(end: SidecarError): void {
    if (this.#end) return;
    this.#end = end;
    for (const { reject } of [...this.#pending.values()]) reject(end);
    this.#endSignal.abort(end);
    this.#settleEnd(end);
  }

  /** Keeps the host's process alive while a call is pending. An idle sidecar must not do so. */
  #keepProcessAlive(open: boolean): void {
    if (!open && this.#child.stdin?.writableEnded) return; // closing is awaited
    const { stdin, stdout, stderr } = this.#child;
    for (const handle of [this.#child, stdin as Socket | null, stdout as Socket | null, stderr as Socket | null]) {
      if (open) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  /** Resolves when the sidecar answers a request that never waits. */
  async #probe(deadlineMs: number): Promise<void> {
    try {
      await this.request("session/state", {}, { deadlineMs });
    } catch (error) {
      if ((error as SidecarError).code === undefined) throw error;
    }
  }

  #write(message: Record<string, unknown>): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #line(line: string): void {
    if (line === "" || this.#end) return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#noise(`the sidecar sent a line that is not JSON: ${line.slice(0, 200)}`);
      return;
    }
    if (!isObject(message)) this.#noise(`the sidecar sent a line that is no message: ${line.slice(0, 200)}`);
    else if (typeof message.method !== "string") this.#answer(message);
    else if (message.id === undefined) this.#notification(message.method, message.params);
    else void this.#question(message.id, message.method, message.params);
  }

  #answer(message: Record<string, unknown>): void {
    const pending = typeof message.id === "number" ? this.#pending.get(message.id) : undefined;
    if (!pending) {
      this.#noise(`an answer nobody waits for: ${JSON.stringify(message.id)}`);
    } else if ("error" in message) {
      pending.reject(toSidecarError(message.error));
    } else if (!("result" in message) || (message.result !== null && !isObject(message.result))) {
      pending.reject(new SidecarError("malformed", "the sidecar's answer holds no result"));
    } else {
      this.#noiseCount = 0;
      this.#options.onResult?.(message.result, pending.sessionId);
      pending.resolve(message.result);
    }
  }

  #notification(method: string, params: unknown): void {
    if (method === "host/apply") this.#options.onApply?.(params as HostMethods["host/apply"]["params"]);
    else if (method === "ui/dismiss" || method === "host/cancel") this.#open.get((params as { id?: unknown } | undefined)?.id)?.ended.abort();
    else this.#noise(`an unknown notification: ${method}`);
  }

  async #question(id: unknown, method: string, params: unknown): Promise<void> {
    const handler = this.#options.handlers[method as keyof HostHandlers] as
      | ((params: unknown, signal: AbortSignal) => unknown)
      | undefined;
    if (!handler) {
      this.#write({ id, error: { code: -32601, message: `this host does not answer ${method}` } });
      return;
    }
    const request = { after: this.#ids, ended: new AbortController() };
    this.#open.set(id, request);
    try {
      const signal = AbortSignal.any([this.#endSignal.signal, request.ended.signal]);
      const answer = await handler(params, signal);
      // A dialog that was closed has no answer, whatever the host makes of that.
      const isClosed = method !== "host/exec" && request.ended.signal.aborted;
      this.#write({ id, result: isClosed ? null : (answer ?? null) });
    } catch (error) {
      this.#write({ id, error: { code: -32603, message: error instanceof Error ? error.message : String(error) } });
    } finally {
      this.#open.delete(id);
      for (const [id, pending] of this.#pending) if (id <= request.after) pending.answeredAt = Date.now();
    }
  }

  #noise(what: string): void {
    this.#options.onNoise?.(what);
    this.#noiseCount += 1;
    if (this.#noiseCount > MAX_NOISE) this.#fail(what);
  }

  #fail(why: string): void {
    this.#finish(new SidecarError("malformed", `the sidecar's output cannot be understood: ${why}`));
    this.kill();
  }
}

const aborted = (method: string) => new SidecarError("aborted", `${method} was given up`);

function spawnSidecar(options: ConnectionOptions): ChildProcess {
  const { command, args, cwd, env, onStderr } = options;
  try {
    return spawn(command, [...args], {
      cwd,
      env,
      // The host's standard output is not inherited: it may carry another protocol.
      stdio: ["pipe", "pipe", onStderr ? "pipe" : "inherit"],
      windowsHide: true,
    });
  } catch (error) {
    throw startError(options, error as NodeJS.ErrnoException);
  }
}

/** Converts a failed start. It is `missing` only if there is no executable program; other causes may be temporary, so guards must stay closed. */
function startError({ command, cwd }: ConnectionOptions, error: NodeJS.ErrnoException): SidecarError {
  const isMissing = ["ENOENT", "EACCES", "ENOEXEC"].includes(error.code ?? "") && (cwd === undefined || existsSync(cwd));
  return new SidecarError(isMissing ? "missing" : "exited", `${command} cannot be started: ${error.message}`, { cause: error });
}
